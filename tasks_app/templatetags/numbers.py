"""Numbers as people read them. Unknown is "–", never 0."""

from __future__ import annotations

from django import template

register = template.Library()
UNKNOWN = "–"


@register.filter
def grouped(value: float | None) -> str:
    """12345 → "12,345"."""
    return UNKNOWN if value is None or value == "" else f"{value:,}"


@register.filter
def percent(share: float | None) -> str:
    """0.614 → "61%"; with a decimal under 10%."""
    if share is None:
        return UNKNOWN
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


@register.filter
def kilo(value: float | None) -> str:
    """6132 → "6.1k", 41020 → "41k", 812 → "812"."""
    if value is None:
        return UNKNOWN
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.1f}{unit}" if value < 10 * size else f"{value / size:.0f}{unit}"
    return f"{value:.0f}"


@register.filter
def size(value: int | None) -> str:
    """Bytes: 99_000 → "99 KB", 2_200_000 → "2.2 MB"."""
    if value is None:
        return UNKNOWN
    if value < 1000:
        return f"{value} B"
    return f"{value / 1000:,.0f} KB" if value < 1_000_000 else f"{value / 1e6:.1f} MB"


@register.filter
def seconds(value: float | None) -> str:
    """0.042 → "42 ms", 3.14 → "3.1 s", 125 → "2 min 5 s"."""
    if value is None:
        return UNKNOWN
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 60 else f"{value // 60:.0f} min {value % 60:.0f} s"


@register.filter
def in_words(name: str) -> str:
    """A name from code as words: "batch_update" → "batch update"."""
    return str(name).replace("_", " ")
