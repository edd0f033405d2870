"""Pages of the sandbox app: episodes, the episode viewer, the review queue and bulk decisions."""

from sandbox_app.views.episodes import episode, episode_cancel, episode_interrupt, episode_retry, episode_run, episodes
from sandbox_app.views.reviews import (
    review_bulk,
    review_bulk_undo,
    review_decide,
    review_next,
    review_queue,
    review_undo,
)

__all__ = [
    "episode", "episode_cancel", "episode_interrupt", "episode_retry", "episode_run", "episodes", "review_bulk",
    "review_bulk_undo", "review_decide", "review_next", "review_queue", "review_undo",
]
