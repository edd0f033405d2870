"""LeasedJob: the row decides a job's state, whatever the broker believes.

A worker claims a row by a compare-and-set that raises its fencing token, renews the lease by heartbeats, and writes
only while it still holds the token. A reaper finds leases that ran out.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

LEASE = timedelta(seconds=30)
HEARTBEAT = timedelta(seconds=10)


class JobState(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    SUCCEEDED = "succeeded", "succeeded"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


TERMINAL = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)


class LeaseLost(Exception):
    """Another worker holds the row now; what this one computed must not be written."""


class LeasedJobQuerySet(models.QuerySet):
    def expired(self) -> Self:
        return self.filter(state=JobState.RUNNING, lease_until__lt=timezone.now())


class LeasedJob(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED, db_index=True)
    fence = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    cancel_asked = models.BooleanField(default=False)
    worker = models.CharField(max_length=120, blank=True)
    error = models.TextField(blank=True)  # what, where, what to do
    progress = models.FloatField(default=0.0)  # 0 … 1
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    objects = LeasedJobQuerySet.as_manager()

    class Meta:
        abstract = True

    @property
    def live(self) -> bool:
        """Queued or running: it may still change."""
        return self.state not in TERMINAL

    def claim(self, worker: str) -> bool:
        """Take the job if it is free (queued, or its lease ran out). Returns False when somebody else has it."""
        now = timezone.now()
        free = Q(state=JobState.QUEUED) | Q(state=JobState.RUNNING, lease_until__lt=now)
        taken = (
            type(self)
            .objects.filter(free, pk=self.pk, fence=self.fence)
            .update(
                state=JobState.RUNNING,
                fence=F("fence") + 1,
                attempts=F("attempts") + 1,
                worker=worker,
                lease_until=now + LEASE,
                started_at=now,
            )
        )
        if taken:
            self.refresh_from_db()
        return bool(taken)

    def heartbeat(self, progress: float | None = None) -> None:
        """Renew the lease. Raises LeaseLost when the row was taken over."""
        values: dict[str, object] = {"lease_until": timezone.now() + LEASE}
        if progress is not None:
            values["progress"] = progress
        held = type(self).objects.filter(pk=self.pk, fence=self.fence, state=JobState.RUNNING).update(**values)
        if not held:
            raise LeaseLost(f"{type(self).__name__} {self.pk} is no longer held with fence {self.fence}")

    def finish(self, state: JobState, *, error: str = "", **fields: object) -> None:
        """Write the end together with its result, if the lease is still ours. Raises LeaseLost otherwise."""
        values = {"state": state, "error": error, "ended_at": timezone.now(), "lease_until": None, **fields}
        if state == JobState.SUCCEEDED:
            values["progress"] = 1.0
        held = type(self).objects.filter(pk=self.pk, fence=self.fence, state=JobState.RUNNING).update(**values)
        if not held:
            raise LeaseLost(f"{type(self).__name__} {self.pk} is no longer held with fence {self.fence}")
        self.refresh_from_db()


class Regeneration(LeasedJob):
    """Growing one task's environment to a size asked for, with its proof."""

    task = models.ForeignKey("tasks_app.Task", on_delete=models.CASCADE, related_name="regenerations")
    rows = models.PositiveIntegerField()
    files = models.PositiveIntegerField()
    scale = models.ForeignKey("tasks_app.TaskScale", null=True, on_delete=models.SET_NULL, related_name="+")
    proof = models.JSONField(default=list)  # [{rule, name, held, detail}], also when a rule did not hold

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "rows", "files"],
                condition=Q(state__in=["queued", "running"]),
                name="one_live_regeneration_per_size",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} to {self.rows} rows"
