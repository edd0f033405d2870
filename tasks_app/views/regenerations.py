"""The slider: its forecast, the press, and the page of the job with what grew and what provably stayed."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from tasks_app.errors import Refused
from tasks_app.forecasts import Point, forecast
from tasks_app.forms import SizeForm
from tasks_app.measures import read_proof
from tasks_app.models import Event, JobState, Regeneration, Task
from tasks_app.permissions import require_group
from tasks_app.services import last_seq
from tasks_app.services import regenerations as jobs


def _points(task: Task) -> list[Point]:
    return [Point(s.rows, s.files, s.database_bytes, s.tokens, s.calls, s.seconds) for s in task.scales.all()]


def _size(task: Task, form: SizeForm) -> tuple[int, int]:
    if not form.is_valid():
        said = " ".join(f"{name}: {' '.join(problems)}" for name, problems in form.errors.items())
        raise Refused(
            "This size can't be made.", where=said, how="Choose whole numbers within the slider's ends.", status=400
        )
    rows, files = form.cleaned_data["rows"], form.cleaned_data["files"]
    jobs.check_size(task, rows, files)
    return rows, files


@require_safe
def forecast_view(request: HttpRequest, key: str) -> HttpResponse:
    """The forecast of a size as a fragment, or the reason why that size can't be made."""
    task = get_object_or_404(Task, key=key)
    try:
        rows, files = _size(task, SizeForm(request.GET))
    except Refused as refused:
        return render(request, "tasks_app/_forecast.html", {"refused": refused})
    return render(request, "tasks_app/_forecast.html", {"forecast": forecast(_points(task), rows, files), "task": task})


@require_POST
@require_group("curator")
def regenerate(request: HttpRequest, key: str) -> HttpResponse:
    task = get_object_or_404(Task, key=key)
    rows, files = _size(task, SizeForm(request.POST))
    job, new = jobs.ask(task=task, rows=rows, files=files, by=request.user)
    if not new:
        messages.info(request, "This size was asked for already; here is that job.")
    return redirect("regeneration", pk=job.pk)


@require_safe
def regeneration(request: HttpRequest, pk: str) -> HttpResponse:
    job = get_object_or_404(Regeneration.objects.select_related("task__domain", "scale", "created_by"), pk=pk)
    stream = jobs.stream(job)
    after = last_seq(stream)
    scales = list(job.task.scales.all())
    compared = [s for s in scales if not s.regenerated or s == job.scale]
    return render(
        request,
        "tasks_app/regeneration.html",
        {
            "job": job,
            "task": job.task,
            "stream": stream,
            "busy": job.state in jobs.BUSY,
            "last_seq": after,
            "doing": _doing(stream),
            "proof": read_proof(job.proof),
            "compared": compared,
            "took": (job.ended_at - job.started_at).total_seconds() if job.ended_at and job.started_at else None,
        },
    )


def _doing(stream: str) -> str:
    event = Event.objects.filter(stream=stream, kind="progress").last()
    return str(event.data.get("doing", "")) if event is not None else "waiting for a free worker"


@require_POST
@require_group("curator")
def regeneration_cancel(request: HttpRequest, pk: str) -> HttpResponse:
    """Ask a job to end; one that only waits ends at once."""
    waiting = Regeneration.objects.filter(pk=pk, state=JobState.QUEUED)
    if waiting.update(state=JobState.CANCELLED, error="cancelled before it began"):
        jobs.publish(jobs.stream(Regeneration.objects.get(pk=pk)), "ended", {"state": "cancelled", "error": ""})
    Regeneration.objects.filter(pk=pk, state=JobState.RUNNING).update(cancel_asked=True)
    return redirect("regeneration", pk=pk)
