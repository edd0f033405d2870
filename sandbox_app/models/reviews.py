"""Review: a person's judgement of a Verdict: right or wrong, why, on which version of the verifier."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class ReviewReason(models.Model):
    code = models.SlugField(unique=True)
    label = models.CharField(max_length=120)
    key = models.PositiveSmallIntegerField(unique=True)         # 1 … 9 on the keyboard
    applies_to = models.CharField(max_length=10, choices=[("approve", "approve"), ("reject", "reject"), ("both", "both")])

    class Meta:
        ordering = ["key"]

    def __str__(self) -> str:
        return self.label


class ReviewDecision(models.TextChoices):
    APPROVE = "approve", "approved"
    REJECT = "reject", "rejected"
    SKIP = "skip", "skipped"


class Review(models.Model):
    Decision = ReviewDecision

    episode = models.ForeignKey("sandbox_app.Episode", on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="reviews")
    decision = models.CharField(max_length=10, choices=ReviewDecision.choices)
    reason = models.ForeignKey(ReviewReason, null=True, blank=True, on_delete=models.PROTECT)
    note = models.TextField(blank=True)
    verifier = models.CharField(max_length=64)                  # the version judged
    bulk = models.CharField(max_length=36, blank=True)          # one id for all reviews of one bulk decision
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["episode", "reviewer"], condition=Q(undone_at__isnull=True), name="one_live_review_per_person",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} {self.decision} {self.episode_id}"
