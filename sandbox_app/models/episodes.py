"""Episode: one Policy attempt at one Task, Scale and seed, as a leased job and its record."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from tasks_app.models import LeasedJob


class EpisodeOutcome(models.TextChoices):
    PASSED = "passed", "passed"
    FAILED = "failed", "failed"
    STOPPED = "stopped", "stopped"
    INFRASTRUCTURE = "infrastructure", "infrastructure"


class Episode(LeasedJob):
    Outcome = EpisodeOutcome

    task = models.ForeignKey("tasks_app.Task", on_delete=models.PROTECT, related_name="episodes")
    scale = models.CharField(max_length=40)
    rows = models.PositiveIntegerField()             # the size itself, so that an episode outlives its TaskScale
    files = models.PositiveIntegerField()
    seed = models.PositiveIntegerField()
    policy = models.CharField(max_length=120)        # "reference", "scripted", "local"
    policy_config = models.JSONField(default=dict)   # {"checkpoint": …, "fault": …, "temperature": …}
    mode = models.CharField(max_length=20, default="programmatic")
    source = models.CharField(max_length=80, blank=True, db_index=True)  # "demo", "person", "run:<id>", "evaluation:<id>"
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

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["outcome", "-created_at"]), models.Index(fields=["task", "-created_at"])]
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome="", reward__isnull=True)
                | Q(outcome="passed", reward=1.0)
                | Q(outcome__in=["failed", "stopped"], reward=0.0)
                | Q(outcome="infrastructure", reward__isnull=True),
                name="reward_follows_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} · {self.scale} · {self.policy}"


class StepRow(models.Model):
    """A step as soon as it has ended, for live and later viewing; `body` is a trajectories.Step as JSON."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="steps")
    index = models.PositiveSmallIntegerField()
    outcome = models.CharField(max_length=20, blank=True)
    calls = models.PositiveIntegerField(default=0)
    failed_calls = models.PositiveIntegerField(default=0)
    returned_tokens = models.PositiveIntegerField(default=0)
    kept_tokens = models.PositiveIntegerField(default=0)       # results that stayed in variables
    body = models.CharField(max_length=64)                      # sha256 of the blob

    class Meta:
        ordering = ["episode", "index"]
        constraints = [models.UniqueConstraint(fields=["episode", "index"], name="step_once_per_episode")]

    def __str__(self) -> str:
        return f"{self.episode_id} step {self.index}"
