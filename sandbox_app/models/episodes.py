"""Episode: one Policy attempt at one Task, Scale and seed, as a leased job and its record.

The state says how the job went, the outcome how the attempt went: `succeeded` means that a trajectory is there
(whatever its outcome), `failed` that none is (worker or host lost: outcome infrastructure), `cancelled` that a person
ended it (no outcome, no reward). What lists filter on is a column; bodies are blobs.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from sandbox_app.reviews import Standing
from tasks_app.models import JobState, LeasedJob
from tasks_app.models.jobs import TERMINAL, LeasedJobQuerySet

RESERVATION = timedelta(minutes=5)


class EpisodeOutcome(models.TextChoices):
    PASSED = "passed", "passed"
    FAILED = "failed", "failed"
    STOPPED = "stopped", "stopped"
    INFRASTRUCTURE = "infrastructure", "infrastructure"


class EpisodeStanding(models.TextChoices):
    """What the reviews of an episode's verdict come to; computed by `reviews.standing` alone."""

    WAITING = Standing.WAITING.value, "waiting for a person"
    APPROVED = Standing.APPROVED.value, "approved"
    REJECTED = Standing.REJECTED.value, "rejected"
    OPEN = Standing.OPEN.value, "reviewers disagree"


SCORED = (EpisodeOutcome.PASSED, EpisodeOutcome.FAILED, EpisodeOutcome.STOPPED)


class EpisodeQuerySet(LeasedJobQuerySet):
    def ended(self) -> Self:
        return self.filter(state__in=TERMINAL)

    def reviewable(self) -> Self:
        """Those with a verdict: an infrastructure outcome was never scored, so there is nothing to judge."""
        return self.filter(state=JobState.SUCCEEDED, outcome__in=SCORED)

    def trainable(self) -> Self:
        """Passed, and people say that the verdict is right."""
        return self.filter(outcome=EpisodeOutcome.PASSED, standing=EpisodeStanding.APPROVED)

    def not_judged_by(self, user: Any) -> Self:
        return self.exclude(reviews__in=user.reviews.filter(undone_at=None))

    def free_for(self, user: Any) -> Self:
        """Not held by the reservation of another reviewer."""
        return self.filter(Q(reserved_until=None) | Q(reserved_until__lt=timezone.now()) | Q(reserved_by=user))

    def for_list(self) -> Self:
        return self.select_related("task", "task__domain", "created_by", "reserved_by")


class Episode(LeasedJob):
    Outcome = EpisodeOutcome
    Standing = EpisodeStanding

    task = models.ForeignKey("tasks_app.Task", on_delete=models.PROTECT, related_name="episodes")
    scale = models.CharField(max_length=40)
    rows = models.PositiveIntegerField()             # the size itself, so that an episode outlives its TaskScale
    files = models.PositiveIntegerField()
    seed = models.PositiveIntegerField()
    policy = models.CharField(max_length=120)        # "reference", "scripted", "local"
    policy_config = models.JSONField(default=dict)   # {"checkpoint": …, "fault": …, "temperature": …}
    mode = models.CharField(max_length=20, default="programmatic")
    source = models.CharField(max_length=80, blank=True, db_index=True)  # demo, person, run:<id>, evaluation:<id>
    outcome = models.CharField(max_length=20, choices=EpisodeOutcome.choices, blank=True)
    cause = models.CharField(max_length=60, blank=True)
    detail = models.TextField(blank=True)
    reward = models.FloatField(null=True)
    answer = models.TextField(blank=True)
    criteria = models.JSONField(default=list)        # [{name, passed, detail}]
    verifier = models.CharField(max_length=64, blank=True)
    steps_count = models.PositiveSmallIntegerField(default=0)
    calls_count = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True)
    trajectory = models.CharField(max_length=64, blank=True)   # sha256 of the blob
    standing = models.CharField(max_length=10, choices=EpisodeStanding.choices, default=EpisodeStanding.WAITING)
    request_key = models.CharField(max_length=64, blank=True)  # one press of one form: pressed twice is one episode
    retry_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="retries")
    dispatched_at = models.DateTimeField(null=True)            # when the broker was last asked to run it
    interrupts_asked = models.PositiveSmallIntegerField(default=0)
    reserved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+",
    )
    reserved_until = models.DateTimeField(null=True, blank=True)

    objects = EpisodeQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["-created_at", "-id"]),
            models.Index(fields=["outcome", "-created_at"]),
            models.Index(fields=["task", "-created_at"]),
            models.Index(fields=["standing", "-created_at", "-id"]),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome="", reward__isnull=True)
                | Q(outcome="passed", reward=1.0)
                | Q(outcome__in=["failed", "stopped"], reward=0.0)
                | Q(outcome="infrastructure", reward__isnull=True),
                name="reward_follows_outcome",
            ),
            models.UniqueConstraint(fields=["request_key"], condition=~Q(request_key=""), name="one_episode_per_press"),
            models.UniqueConstraint(
                fields=["retry_of"], condition=Q(retry_of__isnull=False), name="one_retry_per_episode",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} · {self.scale} · {self.policy}"

    @property
    def stream(self) -> str:
        return f"episode:{self.pk}"

    @property
    def reviewable(self) -> bool:
        return self.state == JobState.SUCCEEDED and self.outcome in SCORED

    @property
    def status(self) -> str:
        """The one word for lists: the outcome, or the job's state while there is none."""
        return self.outcome or self.state

    @property
    def criteria_met(self) -> int:
        return sum(bool(criterion.get("passed")) for criterion in self.criteria)

    @property
    def standing_mark(self) -> str:
        """The standing as the table of marks (tasks_app/templatetags/states.py) calls it."""
        return {"approved": "approve", "rejected": "reject"}.get(self.standing, self.standing)

    @property
    def reserved_now(self) -> bool:
        return self.reserved_until is not None and self.reserved_until > timezone.now()

    def reserve(self, user: Any) -> bool:
        """Hold the item for `user` for RESERVATION; False when somebody else holds it (see `reserved_by`)."""
        taken = Episode.objects.filter(pk=self.pk).free_for(user).update(
            reserved_by=user, reserved_until=timezone.now() + RESERVATION,
        )
        self.refresh_from_db(fields=["reserved_by", "reserved_until"])
        return bool(taken)

    def release(self, user: Any) -> None:
        Episode.objects.filter(pk=self.pk, reserved_by=user).update(reserved_by=None, reserved_until=None)

    def held_by_other(self, user: Any) -> bool:
        until = self.reserved_until
        return until is not None and until > timezone.now() and self.reserved_by_id not in (None, user.pk)

    def ask_interrupt(self) -> None:
        Episode.objects.filter(pk=self.pk, state=JobState.RUNNING).update(interrupts_asked=F("interrupts_asked") + 1)


class StepRow(models.Model):
    """A step as soon as it has ended, for live and later viewing; `body` is a trajectories.Step as JSON.

    The other columns are what the list of steps and the timeline show, so that neither opens a body.
    """

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="steps")
    index = models.PositiveSmallIntegerField()
    title = models.CharField(max_length=120, blank=True)
    kind = models.CharField(max_length=10, default="code")      # "code", "answer", "malformed"
    outcome = models.CharField(max_length=20, blank=True)
    calls = models.PositiveIntegerField(default=0)
    failed_calls = models.PositiveIntegerField(default=0)
    changed_rows = models.PositiveIntegerField(default=0)
    changed_files = models.PositiveIntegerField(default=0)
    returned_tokens = models.PositiveIntegerField(default=0)
    kept_tokens = models.PositiveIntegerField(default=0)       # results that stayed in variables
    touched = models.JSONField(default=list)        # tables and files it changed; read by steps.touched_from_json
    seconds = models.FloatField(default=0.0)
    body = models.CharField(max_length=64)                      # sha256 of the blob

    class Meta:
        ordering = ["episode", "index"]
        constraints = [models.UniqueConstraint(fields=["episode", "index"], name="step_once_per_episode")]

    def __str__(self) -> str:
        return f"{self.episode_id} step {self.index}"

    @property
    def erred(self) -> bool:
        return self.outcome not in ("", "ok") or self.failed_calls > 0

    @property
    def differs(self) -> bool:
        return bool(self.changed_rows or self.changed_files)
