"""Names of live streams and of the channel group that wakes those who follow one. Pure."""

from __future__ import annotations

import hashlib


def group_name(stream: str) -> str:
    """The channel group of a stream; channels allows few characters, so the stream's hash names it."""
    return f"events.{hashlib.sha256(stream.encode()).hexdigest()[:32]}"
