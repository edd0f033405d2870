"""Review: a person's judgement of a Verdict: right or wrong, why, on which version of the verifier."""

from __future__ import annotations

from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from sandbox_app.reviews import Judgement


class ReviewReason(models.Model):
    class AppliesTo(models.TextChoices):
        APPROVE = "approve", "approve"
        REJECT = "reject", "reject"
        BOTH = "both", "both"

    code = models.SlugField(unique=True)
    label = models.CharField(max_length=120)
    key = models.PositiveSmallIntegerField(unique=True)         # 1 … 9 on the keyboard
    applies_to = models.CharField(max_length=10, choices=AppliesTo.choices)

    class Meta:
        ordering = ["key"]
        constraints = [
            models.CheckConstraint(condition=Q(key__gte=1, key__lte=9), name="reason_key_is_a_digit"),
        ]

    def __str__(self) -> str:
        return self.label

    def fits(self, decision: str) -> bool:
        return self.applies_to in (self.AppliesTo.BOTH, decision)


class ReviewDecision(models.TextChoices):
    APPROVE = "approve", "approved"
    REJECT = "reject", "rejected"
    SKIP = "skip", "skipped"


class ReviewQuerySet(models.QuerySet):
    def standing_now(self) -> Self:
        """Not undone, skips included."""
        return self.filter(undone_at=None)

    def said(self) -> Self:
        """Not undone, and a judgement."""
        return self.standing_now().exclude(decision=ReviewDecision.SKIP)

    def of(self, user: Any) -> Self:
        return self.filter(reviewer=user)


class Review(models.Model):
    Decision = ReviewDecision

    episode = models.ForeignKey("sandbox_app.Episode", on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="reviews")
    decision = models.CharField(max_length=10, choices=ReviewDecision.choices)
    reason = models.ForeignKey(ReviewReason, null=True, blank=True, on_delete=models.PROTECT)
    note = models.TextField(blank=True)
    verifier = models.CharField(max_length=64)                  # the version judged
    bulk = models.CharField(max_length=36, blank=True, db_index=True)  # one id for all reviews of one bulk decision
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["episode", "reviewer"], condition=Q(undone_at__isnull=True), name="one_live_review_per_person",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} {self.decision} {self.episode_id}"

    def judgement(self) -> Judgement:
        undone = self.undone_at is not None
        return Judgement(self.reviewer_id, self.decision, self.verifier, undone)
