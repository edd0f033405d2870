"""Snapshot → TrainingRun → Checkpoint → Evaluation. Each knows what it was derived from."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from tasks_app.models import LeasedJob


class Snapshot(models.Model):
    """Approved trajectories, frozen: a folder named by the hash of its content, split by lineage."""

    digest = models.CharField(max_length=64, unique=True)
    folder = models.CharField(max_length=300)  # relative to DATA_DIR
    filters = models.JSONField(default=dict)  # how the episodes were chosen
    episodes_count = models.PositiveIntegerField()
    train_count = models.PositiveIntegerField()
    validation_count = models.PositiveIntegerField()
    left_out = models.JSONField(default=dict)  # reason → count
    episodes = models.ManyToManyField("sandbox_app.Episode", related_name="snapshots")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"snapshot {self.digest[:8]} ({self.episodes_count} episodes)"


class TrainingRun(LeasedJob):
    kind = models.CharField(max_length=4, choices=[("sft", "SFT"), ("rl", "RL")])
    name = models.CharField(max_length=120)
    snapshot = models.ForeignKey(Snapshot, null=True, blank=True, on_delete=models.PROTECT, related_name="runs")
    start_from = models.ForeignKey(
        "Checkpoint",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="continued_by",
    )
    config = models.JSONField(default=dict)
    folder = models.CharField(max_length=300, blank=True)
    launch_key = models.CharField(max_length=64, unique=True)  # the same form sent twice is one run
    ingested = models.PositiveIntegerField(default=0)  # bytes of metrics.jsonl already turned into events
    summary = models.JSONField(default=dict)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=~Q(kind="sft") | Q(snapshot__isnull=False), name="sft_has_a_snapshot"),
            models.CheckConstraint(
                condition=~Q(kind="rl") | Q(start_from__isnull=False), name="rl_starts_from_a_checkpoint"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def stream(self) -> str:
        return f"run:{self.pk}"

    @property
    def label(self) -> str:
        return {"sft": "SFT", "rl": "GRPO"}[self.kind]


class Checkpoint(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(TrainingRun, null=True, blank=True, on_delete=models.CASCADE, related_name="checkpoints")
    label = models.CharField(max_length=120)  # "base", "SFT 3 · step 240"
    step = models.PositiveIntegerField(default=0)
    folder = models.CharField(max_length=300)
    digest = models.CharField(max_length=64)  # sha256 over the weights
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["run", "step"], name="checkpoint_once_per_step")]

    def __str__(self) -> str:
        return self.label


class Evaluation(LeasedJob):
    """Checkpoints and the two control policies × held-out tasks × k episodes → pass rates with intervals."""

    name = models.CharField(max_length=120)
    launch_key = models.CharField(max_length=64, unique=True)
    config = models.JSONField(default=dict)  # {checkpoints, tier, scale, n, seeds}
    folder = models.CharField(max_length=300, blank=True)
    ingested = models.PositiveIntegerField(default=0)  # bytes of metrics.jsonl already turned into rows
    checkpoints = models.ManyToManyField(Checkpoint, related_name="evaluations")
    result = models.JSONField(default=dict)  # rows by policy: {passed, n, rate, low, high, infrastructure}; void + why

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def stream(self) -> str:
        return f"evaluation:{self.pk}"


class EvaluationEpisode(models.Model):
    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="entries")
    episode = models.ForeignKey("sandbox_app.Episode", on_delete=models.CASCADE, related_name="+")
    policy = models.CharField(max_length=120)  # "reference", "no_op", or a checkpoint's id
    nothing_to_do = models.BooleanField(default=False)  # a no-op passes here, and rightly so

    class Meta:
        constraints = [models.UniqueConstraint(fields=["evaluation", "episode"], name="episode_once_per_evaluation")]

    def __str__(self) -> str:
        return f"{self.policy} in {self.evaluation}"
