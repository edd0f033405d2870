"""Pages of episodes: the list, the viewer, and what a person may ask of one that runs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sandbox_app import filters, services
from sandbox_app.forms import RunForm
from sandbox_app.kernels.session import Limits
from sandbox_app.models import Episode
from sandbox_app.models.selecting import selected
from sandbox_app.views.listing import chip_groups, listed
from sandbox_app.views.viewing import viewer_context
from tasks_app.models import Task
from tasks_app.permissions import require_group


@require_GET
def episodes(request: HttpRequest) -> HttpResponse:
    chosen = filters.parse(request.GET)
    context = listed(request, chosen, selected(chosen, request.user)) | {"groups": chip_groups(chosen)}
    return render(request, "sandbox_app/episodes.html", context)


@require_GET
def episode(request: HttpRequest, pk: UUID) -> HttpResponse:
    return show_episode(request, _episode(pk))


def show_episode(request: HttpRequest, found: Episode, *, status: int = 200, **extra: Any) -> HttpResponse:
    """The viewer, or its inside when a module asks for it. Opening it for review holds it for this person."""
    context = viewer_context(request, found)
    if context["address"].review and found.reviewable and not context["held"]:
        found.reserve(request.user)
    fragment = bool(request.headers.get("HX-Request"))
    template = "sandbox_app/_viewer.html" if fragment else "sandbox_app/episode.html"
    return render(request, template, context | extra, status=status)


def _episode(pk: UUID) -> Episode:
    return get_object_or_404(Episode.objects.for_list().select_related("task__environment", "retry_of"), pk=pk)


@require_group("annotator")
@require_http_methods(["GET", "POST"])
def episode_run(request: HttpRequest, key: str) -> HttpResponse:
    """A form on GET (what will run, at which size); on POST the episode, at whose page its steps arrive."""
    task = get_object_or_404(Task.objects.select_related("domain"), key=key)
    form = RunForm(request.POST or None, task=task, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        made = services.create_episode(
            task=task, scale=form.cleaned_data["scale"], policy=form.cleaned_data["policy"], config=form.config(),
            seed=form.cleaned_data["seed"], source="person", by=request.user,
            request_key=form.cleaned_data["request_key"],
        )
        return redirect("episode", pk=made.pk)
    status = 400 if request.method == "POST" else 200
    return render(request, "sandbox_app/run.html", {"task": task, "form": form, "limits": Limits()}, status=status)


@require_group("annotator")
@require_POST
def episode_interrupt(request: HttpRequest, pk: UUID) -> HttpResponse:
    services.interrupt_episode(episode=_episode(pk))
    messages.info(request, "The running cell was asked to stop; the episode goes on.")
    return redirect("episode", pk=pk)


@require_group("annotator")
@require_POST
def episode_cancel(request: HttpRequest, pk: UUID) -> HttpResponse:
    found = _episode(pk)
    services.cancel_episode(episode=found, by=request.user)
    messages.info(request, "Cancelled: without outcome and reward." if not found.live else
                  "Cancelling: the worker closes the kernel, then the episode ends without outcome and reward.")
    return redirect("episode", pk=pk)


@require_group("annotator")
@require_POST
def episode_retry(request: HttpRequest, pk: UUID) -> HttpResponse:
    return redirect("episode", pk=services.retry_episode(episode=_episode(pk), by=request.user).pk)

