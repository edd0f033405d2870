"""Configs of the subprocesses: limits that what ships fits in."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from tasks_app.tasks import cells
from training_app.configs import MOST_TURNS

CONTENT = Path(__file__).resolve().parent.parent.parent / "content"


def test_the_longest_reference_that_ships_and_its_answer_fit_an_episode() -> None:
    longest = 0
    for archive in CONTENT.glob("*.zip"):
        with zipfile.ZipFile(io.BytesIO(archive.read_bytes())) as body:
            names = [name for name in body.namelist() if name.endswith("/reference.py")]
            longest = max(longest, *(len(cells(body.read(name).decode())) for name in names))
    assert 1 < longest + 1 <= MOST_TURNS
