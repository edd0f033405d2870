"""Content: what ships with the code, as rows."""

from __future__ import annotations


def load_content() -> str:
    return "no content is there yet"
