"""What an instruction must be: short, without ids, tools or columns, one paragraph or two; checked on every task.

It reads text only and shares nothing with the templates that wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

TASK_WORDS = 120
PRIMER_WORDS = 40
_ID = re.compile(r"\b(?=\w*\d)(?=\w*[a-z])\w{16,}\b|\b\d{7,}\b")
_TOOLISH = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+[A-Z]\w*\b")
_PATH = re.compile(r"\b[\w/-]+\.(?:csv|md|txt|json)\b")


def faults(instruction: str, *, tier: str, tools: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Sentences on what is wrong with an instruction; empty when nothing is."""
    found = []
    limit = PRIMER_WORDS if tier == "primer" else TASK_WORDS
    words = len(instruction.split())
    if words > limit:
        found.append(f"{words} words, at most {limit} are allowed")
    prose = _PATH.sub(" ", re.sub(r"“[^”]*”|\"[^\"]*\"", " ", instruction))
    if match := _ID.search(prose):
        found.append(f"says an id: {match.group()}")
    names = set(tools) | {column for column in columns if "_" in column}
    spoken = {match.group() for match in _TOOLISH.finditer(prose)} | {name for name in names if name in prose}
    found += [f"says the name of a tool or column: {name}" for name in sorted(spoken)]
    if re.search(r"[{}\[\]]|  |\bNone\b", instruction):
        found.append("holds a slot that was not filled")
    if not instruction.endswith((".", "?", "!")):
        found.append("does not end as a sentence")
    return found
