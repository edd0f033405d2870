"""What the sandbox app does across several rows. One keyword-only function each, atomic; errors are `Refused`."""

from sandbox_app.services.demo import queue_demo_episodes
from sandbox_app.services.episodes import (
    cancel_episode,
    create_episode,
    interrupt_episode,
    reap,
    retry_episode,
)
from sandbox_app.services.reviewing import (
    BulkPreview,
    bulk_decide,
    bulk_preview,
    bulk_undo,
    decide,
    next_waiting,
    undo,
)
from sandbox_app.services.running import record_trajectory, run

__all__ = [
    "BulkPreview", "bulk_decide", "bulk_preview", "bulk_undo", "cancel_episode", "create_episode", "decide",
    "interrupt_episode", "next_waiting", "queue_demo_episodes", "reap", "record_trajectory",
    "retry_episode", "run", "undo",
]
