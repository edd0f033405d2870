"""Where the studio keeps files: its blobs, and the folders that rows name relative to DATA_DIR."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from tasks_app.blobs import Blobs


def blobs() -> Blobs:
    """The studio's own store of blobs."""
    return Blobs(Path(settings.MEDIA_ROOT) / "blobs")


def in_data_dir(folder: str) -> Path:
    """The folder that a row names, as a path. Raises ValueError when it points outside of DATA_DIR."""
    root = Path(settings.DATA_DIR).resolve()
    path = (root / folder).resolve()
    if not path.is_relative_to(root):
        raise ValueError(f"{folder!r} is outside of {root}")
    return path
