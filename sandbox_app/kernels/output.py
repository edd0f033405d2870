"""Output: what a cell printed: kept in full up to a limit, and the part of it that goes back to the policy."""

from __future__ import annotations

import re

# CSI, OSC and two-byte escape sequences; also the C1 forms of the first two.
_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]|\x1b")
_HEAD = 0.7


def strip_ansi(text: str) -> str:
    return _ANSI.sub("", text)


def capped(text: str, characters: int) -> str:
    """`text` within `characters`: its first 70 % and last 30 %, and between them how much is left out."""
    if len(text) <= characters:
        return text
    head = int(characters * _HEAD)
    tail = characters - head
    cut = len(text) - head - tail
    return f"{text[:head]}\n[… {cut:,} characters left out …]\n{text[len(text) - tail:]}"


class Output:
    """Text as it comes; beyond `limit` bytes it is counted but no longer kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self.bytes = 0

    def add(self, text: str) -> str:
        """Take what came; the part of it that is kept."""
        room = self._limit - self.bytes
        size = len(text.encode("utf-8", errors="replace"))
        self.bytes += size
        kept = text if size <= room else text[: max(0, room)]
        if kept:
            self._parts.append(kept)
        return kept

    @property
    def over(self) -> bool:
        return self.bytes > self._limit

    def text(self) -> str:
        return "".join(self._parts)
