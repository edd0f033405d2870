"""Runs: the list, the form with its forecast and mask, one run live, and what may be asked of it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from tasks_app.errors import Refused
from tasks_app.models import Event
from tasks_app.pages import Sort, chips, page
from tasks_app.permissions import require_group
from tasks_app.services import last_seq
from training_app import services
from training_app.forms import BaseForm, RlForm, SftForm
from training_app.models import Checkpoint, Snapshot, TrainingRun
from training_app.services.places import data_dir, folder_of
from training_app.thinning import thin
from training_app.tokens import Codec

SORTS = {
    "made": Sort("created_at", "made", descending=True),
    "name": Sort("name", "name"),
    "state": Sort("state", "state"),
    "progress": Sort("progress", "progress", descending=True, number=True),
}
KINDS = [("sft", "SFT"), ("rl", "RL")]
STATES = [(state, state) for state in ("queued", "running", "succeeded", "failed", "cancelled")]
DRAWN = 2_000  # points a chart shows at most
SECONDS_A_ROLLOUT = 1.0  # until a run of this machine says better


@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    found = TrainingRun.objects.select_related("snapshot", "start_from", "created_by")
    for name in ("kind", "state"):
        if request.GET.get(name):
            found = found.filter(**{name: request.GET[name]})
    filters = [chips(request.GET, "kind", "Kind", KINDS), chips(request.GET, "state", "State", STATES)]
    return render(
        request,
        "training_app/runs.html",
        {
            "page": page(found, request.GET, SORTS, "-made"),
            "filters": filters,
        },
    )


@require_group("engineer")
@require_http_methods(["GET", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """The form with its forecast and, for SFT, the mask; a POST launches and leads to the run's page."""
    kind = request.GET.get("kind", request.POST.get("kind", "sft"))
    return _new_rl(request) if kind == "rl" else _new_sft(request)


def _values(request: HttpRequest, defaults: dict[str, Any]) -> dict[str, Any]:
    """What the form stands at: the address over the newest choices over the defaults."""
    newest_snapshot, newest = Snapshot.objects.first(), Checkpoint.objects.filter(run=None).first()
    chosen = {"snapshot": newest_snapshot.pk if newest_snapshot else None, "start_from": newest.pk if newest else None}
    given = request.POST if request.method == "POST" else request.GET
    return {**defaults, **chosen, **{name: value for name, value in given.items() if value}}


def _new_sft(request: HttpRequest) -> HttpResponse:
    form = SftForm(_values(request, SftForm.DEFAULTS))
    context: dict[str, Any] = {"form": form, "kind": "sft", "base_form": BaseForm(), "missing": _missing()}
    if context["missing"] or not form.is_valid():
        return _form(request, context)
    snapshot, start = form.cleaned_data["snapshot"], form.cleaned_data["start_from"]
    config = form.config(str(folder_of(start)), str(data_dir() / snapshot.folder))
    if request.method == "POST":
        run = services.launch_sft(snapshot=snapshot, start_from=start, config=config, by=request.user)
        return redirect("run", pk=run.pk)
    try:
        expected, examples = services.forecast(snapshot, start, config)
    except Refused as refused:
        return _form(request, context | {"refused": refused})
    place = int(request.GET.get("example", "0")) if request.GET.get("example", "0").isdigit() else 0
    example, shown = services.mask_of(examples, place, Codec.load(folder_of(start)))
    return _form(
        request,
        context
        | {
            "forecast": expected,
            "example": example,
            "pieces": shown,
            "place": place,
            "count": len(examples.kept),
            "next_place": (place + 1) % max(1, len(examples.kept)),
            "previous_place": max(0, place - 1),
        },
    )


def _new_rl(request: HttpRequest) -> HttpResponse:
    form = RlForm(_values(request, RlForm.DEFAULTS))
    context: dict[str, Any] = {"form": form, "kind": "rl", "base_form": BaseForm()}
    if not Checkpoint.objects.exists():
        context["missing"] = ["a checkpoint"]
    if context.get("missing") or not form.is_valid():
        return _form(request, context)
    chosen = form.cleaned_data
    start = chosen["start_from"]
    attempts = services.train_attempts(
        tier=chosen["tier"],
        domain=chosen["domain"],
        scale=chosen["scale"],
        most=chosen["most"],
        seed=chosen["seed"],
    )
    config = services.rl_config(start, attempts=attempts, **{name: chosen[name] for name in RlForm.SETTINGS})
    if request.method == "POST":
        run = services.launch_rl(start_from=start, config=config, by=request.user)
        return redirect("run", pk=run.pk)
    rollouts = config.steps * config.group * config.tasks_per_step
    return _form(
        request,
        context
        | {
            "rl": {
                "tasks": len(attempts),
                "rollouts": rollouts,
                "seconds": rollouts * SECONDS_A_ROLLOUT / config.concurrency * 4,
            }
        },
    )


def _missing() -> list[str]:
    there = {
        "a snapshot of approved trajectories": Snapshot.objects.exists(),
        "a base model": Checkpoint.objects.exists(),
    }
    return [what for what, found in there.items() if not found]


def _form(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    fragment = request.headers.get("HX-Target") == "forecast"
    return render(request, "training_app/_forecast.html" if fragment else "training_app/run_new.html", context)


@require_group("engineer")
@require_POST
def base_create(request: HttpRequest) -> HttpResponse:
    form = BaseForm(request.POST)
    if not form.is_valid():
        raise Refused("There is no such preset.", how="Choose one of the list.", status=400)
    made = services.make_base_checkpoint(preset=form.cleaned_data["preset"])
    messages.success(request, f"{made.label} is ready.")
    return redirect(f"{request.POST.get('next', '/runs/new/')}?kind=sft&start_from={made.pk}")


@require_GET
def run(request: HttpRequest, pk: UUID) -> HttpResponse:
    found = get_object_or_404(TrainingRun.objects.select_related("snapshot", "start_from", "created_by"), pk=pk)
    step = int(request.GET["step"]) if request.GET.get("step", "").isdigit() else None
    target = request.headers.get("HX-Target", "")
    context: dict[str, Any] = {"run": found, "checkpoints": found.checkpoints.order_by("step")}
    if target in ("run-head", "checkpoints"):
        return render(request, f"training_app/_{target.replace('-', '_')}.html", context)
    if found.kind == "rl":
        shown = step if step is not None else found.summary.get("step")
        context |= {"step": shown, "episodes": services.episodes_of(found, shown) if shown is not None else []}
    if target == "rollouts":
        return render(request, "training_app/_rollouts.html", context)
    events = Event.objects.filter(stream=found.stream).order_by("seq")
    after = last_seq(found.stream)
    points = [event.data for event in events.filter(kind__in=["step", "validation", "resumed", "checkpoint"])]
    key = "rollout_reward" if found.kind == "rl" else "loss"
    return render(
        request,
        "training_app/run.html",
        context
        | {
            "points": thin(points, DRAWN, key),
            "after": after,
            "chart": {"kind": found.kind, "stream": found.stream, "live": found.live, "url": request.path},
        },
    )


@require_group("engineer")
@require_POST
def run_cancel(request: HttpRequest, pk: UUID) -> HttpResponse:
    services.cancel(job=get_object_or_404(TrainingRun, pk=pk))
    return redirect("run", pk=pk)


@require_group("engineer")
@require_POST
def run_resume(request: HttpRequest, pk: UUID) -> HttpResponse:
    services.resume(job=get_object_or_404(TrainingRun, pk=pk))
    return redirect("run", pk=pk)


@require_GET
def run_metrics(request: HttpRequest, pk: UUID) -> HttpResponse:
    """All that the charts are drawn from, as it was written."""
    found = get_object_or_404(TrainingRun, pk=pk)
    path = data_dir() / found.folder / "metrics.jsonl"
    body = path.read_bytes() if path.is_file() else b""
    return HttpResponse(
        body,
        content_type="application/x-ndjson",
        headers={
            "Content-Disposition": f'attachment; filename="metrics-{str(pk)[:8]}.jsonl"',
        },
    )
