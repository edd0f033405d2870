"""Rows of the sandbox app: episodes, their steps, and people's reviews of their verdicts."""

from sandbox_app.models.episodes import Episode, StepRow
from sandbox_app.models.reviews import Review, ReviewReason

__all__ = ["Episode", "Review", "ReviewReason", "StepRow"]
