"""Evaluations: the list, the form, one of them with its intervals and controls."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from tasks_app.pages import Sort, page
from tasks_app.permissions import require_group
from tasks_app.services import last_seq
from training_app import services
from training_app.evaluation import NO_OP, REFERENCE
from training_app.forms import EvaluationForm
from training_app.models import Checkpoint, Evaluation

SORTS = {
    "made": Sort("created_at", "made", descending=True),
    "name": Sort("name", "name"),
    "state": Sort("state", "state"),
}
CONTROLS = {REFERENCE: "reference (all must pass)", NO_OP: "no-op (none may pass)"}


@require_GET
def evaluations(request: HttpRequest) -> HttpResponse:
    found = Evaluation.objects.select_related("created_by").prefetch_related("checkpoints")
    return render(request, "training_app/evaluations.html", {"page": page(found, request.GET, SORTS, "-made")})


@require_group("engineer")
@require_http_methods(["GET", "POST"])
def evaluation_new(request: HttpRequest) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    values: dict[str, Any] = {**EvaluationForm.DEFAULTS, **{name: given[name] for name in given if given[name]}}
    values["checkpoints"] = given.getlist("checkpoints") or _suggested(given.get("run", ""))
    form = EvaluationForm(values)
    context: dict[str, Any] = {"form": form, "empty": not Checkpoint.objects.exists()}
    if form.is_valid():
        chosen = form.cleaned_data
        attempts = services.held_out_attempts_of_tiers(
            **{name: chosen[name] for name in ("primers", "tasks", "domain", "scale", "seed")}
        )
        if request.method == "POST":
            made = services.launch_evaluation(
                checkpoints=sorted(chosen["checkpoints"], key=lambda row: row.created_at),
                attempts=attempts,
                label=f"Held-out {chosen['scale']}",
                by=request.user,
            )
            return redirect("evaluation", pk=made.pk)
        rows = len(chosen["checkpoints"]) + len(CONTROLS)
        primers = len(attempts) if not chosen["tasks"] else min(len(attempts), chosen["primers"])
        context |= {
            "primers": primers,
            "tasks": len(attempts) - primers,
            "rows": rows,
            "episodes": rows * len(attempts),
        }
    fragment = request.headers.get("HX-Target") == "forecast"
    return render(
        request, "training_app/_evaluation_forecast.html" if fragment else "training_app/evaluation_new.html", context
    )


def _suggested(run: str) -> list[str]:
    """The line of a run's newest checkpoint: itself, what it began from, and so on to the base."""
    newest = Checkpoint.objects.filter(run__isnull=False)
    if run:
        try:
            newest = newest.filter(run=UUID(run))
        except ValueError:
            newest = newest.none()
    at: Checkpoint | None = newest.order_by("-created_at").first() or Checkpoint.objects.first()
    line: list[str] = []
    while at is not None and str(at.pk) not in line:
        line.append(str(at.pk))
        at = at.run.start_from if at.run else None
    return line


@require_GET
def evaluation(request: HttpRequest, pk: UUID) -> HttpResponse:
    found = get_object_or_404(Evaluation.objects.prefetch_related("checkpoints"), pk=pk)
    after = last_seq(found.stream)  # before what is shown is read: nothing that comes in between is missed
    labels = {**CONTROLS, **{str(row.pk): row.label for row in found.checkpoints.all()}}
    result = found.result if not found.live and found.result else services.result_of(found)
    rows = [
        {**row, "label": labels.get(row["policy"], row["policy"]), "control": row["policy"] in CONTROLS}
        for row in result["rows"]
    ]
    pairs = [
        {**pair, "first": labels.get(pair["first"]), "second": labels.get(pair["second"])} for pair in result["paired"]
    ]
    context = {
        "evaluation": found,
        "rows": rows,
        "pairs": pairs,
        "result": result,
        "final": not found.live,
        "attempts": len(found.config["attempts"]),
    }
    if request.headers.get("HX-Target") == "result":
        return render(request, "training_app/_evaluation_result.html", context)
    return render(
        request,
        "training_app/evaluation.html",
        context | {"chart": {"stream": found.stream, "after": after, "live": found.live, "url": request.path}},
    )


@require_group("engineer")
@require_POST
def evaluation_cancel(request: HttpRequest, pk: UUID) -> HttpResponse:
    services.cancel(job=get_object_or_404(Evaluation, pk=pk))
    return redirect("evaluation", pk=pk)


@require_group("engineer")
@require_POST
def evaluation_resume(request: HttpRequest, pk: UUID) -> HttpResponse:
    services.resume(job=get_object_or_404(Evaluation, pk=pk))
    return redirect("evaluation", pk=pk)
