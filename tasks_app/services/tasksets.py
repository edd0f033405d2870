"""Task sets: chosen by filter, frozen once and for all, and gone on with in a new version."""

from __future__ import annotations

import hashlib

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from tasks_app.errors import Refused
from tasks_app.models import Task, TaskSet, TaskSetMember


def digest_of(keys: list[str]) -> str:
    """sha256 over the sorted keys, a line each: the same tasks give the same hash."""
    return hashlib.sha256("\n".join(sorted(keys)).encode()).hexdigest()


def check_open(task_set: TaskSet) -> None:
    if task_set.frozen:
        raise Refused(f"{task_set} is frozen.", where=f"task set {task_set.pk}", how="Make a new version to change it.")


@transaction.atomic
def add_tasks(*, task_set: TaskSet, tasks: list[Task]) -> int:
    """Put tasks into an open set; those in it stay. Returns how many are new."""
    check_open(task_set)
    known = set(task_set.members.values_list("task_id", flat=True))
    new = [TaskSetMember(task_set=task_set, task=task) for task in tasks if task.pk not in known]
    TaskSetMember.objects.bulk_create(new)
    return len(new)


@transaction.atomic
def freeze(*, task_set: TaskSet) -> TaskSet:
    """Hash and close a set. Final: the database itself refuses any later change."""
    check_open(task_set)
    keys = list(task_set.tasks.values_list("key", flat=True))
    if not keys:
        raise Refused(f"{task_set} has no tasks.", where="tasks", how="Choose some by the filter, then freeze.")
    task_set.digest, task_set.frozen_at = digest_of(keys), timezone.now()
    task_set.save(update_fields=["digest", "frozen_at"])
    return task_set


@transaction.atomic
def new_version(*, task_set: TaskSet, by: User | None) -> TaskSet:
    """An open copy with the next number, holding the same tasks; one that is open still is given again."""
    versions = TaskSet.objects.filter(name=task_set.name)
    last = versions.aggregate(last=Max("version"))["last"]
    waiting = versions.filter(version=last, frozen_at=None).exclude(pk=task_set.pk).first()
    if waiting is not None:
        return waiting
    fresh = TaskSet.objects.create(
        name=task_set.name,
        version=last + 1,
        description=task_set.description,
        created_by=by,
    )
    add_tasks(task_set=fresh, tasks=list(task_set.tasks.all()))
    return fresh
