"""Snapshots: the list, what a choice would freeze, and one of them."""

from __future__ import annotations

from dataclasses import asdict

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from tasks_app.pages import Sort, page
from tasks_app.permissions import require_group
from training_app import services
from training_app.forms import ChoiceForm
from training_app.models import Checkpoint, Snapshot

SORTS = {
    "made": Sort("created_at", "made", descending=True),
    "episodes": Sort("episodes_count", "episodes", descending=True, number=True),
}


def _choice(form: ChoiceForm) -> services.Choice:
    return (
        services.Choice(**{name: form.cleaned_data[name] for name in form.fields})
        if form.is_valid()
        else services.Choice()
    )


@require_GET
def snapshots(request: HttpRequest) -> HttpResponse:
    form = ChoiceForm(request.GET)
    choice = _choice(form)
    entering, left_out = services.preview(choice)
    context = {
        "form": ChoiceForm(initial=asdict(choice)),
        "entering": entering.count(),
        "left_out": left_out,
        "choice": choice,
        "page": page(Snapshot.objects.all(), request.GET, SORTS, "-made"),
    }
    fragment = request.headers.get("HX-Target") == "entering"
    return render(request, "training_app/_entering.html" if fragment else "training_app/snapshots.html", context)


@require_group("engineer")
@require_POST
def snapshot_create(request: HttpRequest) -> HttpResponse:
    made = services.create_snapshot(choice=_choice(ChoiceForm(request.POST)), by=request.user)
    if not Checkpoint.objects.filter(run=None).exists():
        base = services.make_base_checkpoint(preset="nano")
        messages.success(request, f"{base.label} was made: a fresh model with a tokenizer of the train split's text.")
    return redirect("snapshot", digest=made.digest)


@require_GET
def snapshot(request: HttpRequest, digest: str) -> HttpResponse:
    found = get_object_or_404(Snapshot, digest=digest)
    episodes = found.episodes.select_related("task").order_by("task__title", "scale")[:200]
    runs = found.runs.select_related("start_from")
    return render(request, "training_app/snapshot.html", {"snapshot": found, "episodes": episodes, "runs": runs})
