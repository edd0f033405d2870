"""States as colour, sign and word, the same everywhere."""

from __future__ import annotations

from typing import NamedTuple

from django import template

register = template.Library()


class Mark(NamedTuple):
    css: str
    sign: str
    word: str


MARKS = {
    "passed": Mark("passed", "✓", "passed"),
    "failed": Mark("failed", "✕", "failed"),
    "stopped": Mark("stopped", "■", "stopped"),
    "infrastructure": Mark("infra", "⚡", "infrastructure"),
    "queued": Mark("", "○", "queued"),
    "running": Mark("running", "▸", "running"),
    "succeeded": Mark("passed", "✓", "done"),
    "cancelled": Mark("stopped", "■", "cancelled"),
    "proven": Mark("passed", "✓", "proven"),
    "unproven": Mark("", "○", "not proven"),
    "waiting": Mark("", "○", "waiting for a person"),
    "approved": Mark("passed", "✓", "approved"),
    "rejected": Mark("failed", "✕", "rejected"),
    "approve": Mark("passed", "✓", "approved"),
    "reject": Mark("failed", "✕", "rejected"),
    "skip": Mark("", "–", "skipped"),
    "open": Mark("stopped", "?", "open"),
    "held": Mark("passed", "✓", "held"),
    "broken": Mark("failed", "✕", "broken"),
    "unknown": Mark("", "○", "unknown"),
    "frozen": Mark("passed", "✓", "frozen"),
    "draft": Mark("", "○", "draft"),
}


@register.filter
def state_mark(state: object) -> Mark:
    """The mark of a state; one that is not in the table is shown by its own name, without colour."""
    return MARKS.get(str(state), Mark("", "·", str(state)))
