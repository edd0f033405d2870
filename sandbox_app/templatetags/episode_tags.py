"""Filters of the viewer's templates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from sandbox_app.steps import touched_from_json
from tasks_app.templatetags.safe_text import HIDDEN

register = template.Library()
PANEL_KEYS: Mapping[str, str] = {"variables": "v", "tables": "t", "files": "g f", "verdict": "y", "console": "x"}


@register.filter
def item(mapping: Mapping[Any, Any], key: Any) -> Any:
    return mapping.get(key, "")


@register.filter
def plain(text: Any) -> str:
    """Text for an attribute (`shown` gives markup): what can't be seen, or turns the reading direction, becomes ·."""
    return HIDDEN.sub("·", str(text))


@register.filter
def breakable(html: SafeString) -> SafeString:
    """Long names may break after an underscore. Takes what `shown` gives."""
    return mark_safe(html.replace("_", "_<wbr>"))  # noqa: S308  (only adds a break to markup that is safe already)


@register.filter
def words(name: str) -> str:
    """A cause or fault as words: kernel_killed_by_policy → "kernel killed by policy"."""
    return name.replace("_", " ")


@register.filter
def panel_key(name: str) -> str:
    return PANEL_KEYS[name]


@register.filter
def milliseconds(value: float | None) -> str:
    """0.4 → "0.4 ms", 214 → "214 ms", 3140 → "3.1 s"."""
    if value is None:
        return "–"
    if value < 10:
        return f"{value:.1f} ms"
    return f"{value:.0f} ms" if value < 1_000 else f"{value / 1_000:.1f} s"


@register.filter
def reward(value: float | None) -> str:
    """Unscored is "–", never 0."""
    return "–" if value is None else f"{value:g}"


@register.filter
def cell_value(value: Any) -> str:
    """A column's value as text: null is said, structures are JSON."""
    if value is None:
        return "null"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@dataclass(frozen=True, slots=True)
class Place:
    step: int
    kind: str
    name: str
    says: str


@register.filter
def elsewhere(rows: Iterable[Any], index: int) -> list[Place]:
    """What the other steps changed."""
    return [
        Place(row.index, part.kind, part.name, part.says)
        for row in rows if row.index != index for part in touched_from_json(row.touched)
    ]


@register.filter
def of_kind(places: Sequence[Place], kind: str) -> list[Place]:
    return [place for place in places if place.kind == kind]
