"""Pages of task sets: what is in one, its hash, freezing it, going on in a new version."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from tasks_app.models import TaskSet
from tasks_app.pages import Sort, page
from tasks_app.permissions import require_group
from tasks_app.services import tasksets

SORTS = {"title": Sort("title", "title"), "tier": Sort("tier", "tier"), "split": Sort("split", "split")}


@require_safe
def task_sets(request: HttpRequest) -> HttpResponse:
    rows = TaskSet.objects.annotate(
        size=Count("members"),
        held_out=Count("members", filter=Q(members__task__split="test")),
    )
    return render(request, "tasks_app/task_sets.html", {"task_sets": rows})


@require_safe
def task_set(request: HttpRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(TaskSet, pk=pk)
    rows = row.tasks.select_related("domain").defer("domain__model", "checks")
    return render(
        request, "tasks_app/task_set.html", {"task_set": row, "page": page(rows, request.GET, SORTS, "title")}
    )


@require_POST
@require_group("curator")
def task_set_freeze(request: HttpRequest, pk: int) -> HttpResponse:
    row = tasksets.freeze(task_set=get_object_or_404(TaskSet, pk=pk))
    messages.success(request, f"{row} is frozen; its hash is {row.digest[:12]}….")
    return redirect("task_set", pk=pk)


@require_POST
@require_group("curator")
def task_set_version(request: HttpRequest, pk: int) -> HttpResponse:
    fresh = tasksets.new_version(task_set=get_object_or_404(TaskSet, pk=pk), by=request.user)
    messages.success(request, f"{fresh} is open and holds the same tasks.")
    return redirect("task_set", pk=fresh.pk)
