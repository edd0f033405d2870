"""Lists in pages by key, not by offset, with sort and filters in the address."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

from tasks_app.errors import Refused

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class Sort:
    """A way to sort: `field` must be a column that is never null. `descending` is how it is meant at first."""

    field: str
    label: str
    descending: bool = False
    number: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """A sortable column's head: where a press leads and how it stands now ("ascending", "descending" or "none")."""

    label: str
    url: str
    order: str
    sign: str
    number: bool


@dataclass(frozen=True, slots=True)
class Page:
    rows: Sequence[Any]
    total: int
    size: int
    next_url: str
    first_url: str
    heads: Mapping[str, Head]
    sort: str


@dataclass(frozen=True, slots=True)
class Chip:
    label: str
    url: str
    on: bool


@dataclass(frozen=True, slots=True)
class Chips:
    name: str
    chips: tuple[Chip, ...]


def address(params: QueryDict, **changes: str | None) -> str:
    """The query string with some values set (or, with None, left out); a change of filter leaves the page."""
    fresh = params.copy()
    fresh.pop("after", None)
    for name, value in changes.items():
        if value is None:
            fresh.pop(name, None)
        else:
            fresh[name] = value
    return "?" + fresh.urlencode()


def chips(params: QueryDict, name: str, label: str, options: Sequence[tuple[str, str]]) -> Chips:
    """One line of filter chips: pressing the one that is on takes it off."""
    now = params.get(name, "")
    made = [
        Chip(text, address(params, **{name: None if value == now else value}), value == now) for value, text in options
    ]
    return Chips(label, tuple(made))


def _encode(value: Any, pk: Any) -> str:
    shown = value.isoformat() if isinstance(value, datetime) else value
    return base64.urlsafe_b64encode(json.dumps([shown, str(pk)]).encode()).decode().rstrip("=")


def _decode(cursor: str) -> tuple[Any, str]:
    try:
        value, pk = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error) as error:
        raise Refused(
            "This page's address is damaged.", where="after=…", how="Go back to the first page.", status=400
        ) from error
    return value, pk


def _value(row: Model, field: str) -> Any:
    value: Any = row
    for part in field.split("__"):
        value = getattr(value, part)
    return value


def _heads(params: QueryDict, sorts: Mapping[str, Sort], now: str, descending: bool) -> dict[str, Head]:
    heads = {}
    for name, sort in sorts.items():
        on = name == now
        down = not descending if on else sort.descending
        order = ("descending" if descending else "ascending") if on else "none"
        sign = {"ascending": "↑", "descending": "↓", "none": ""}[order]
        heads[name] = Head(sort.label, address(params, sort=f"-{name}" if down else name), order, sign, sort.number)
    return heads


def page(
    queryset: QuerySet[Any],
    params: QueryDict,
    sorts: Mapping[str, Sort],
    default: str,
    size: int = PAGE_SIZE,
) -> Page:
    """One page of `queryset`, sorted as ?sort= says ("-name" goes down), after the row that ?after= names."""
    asked = params.get("sort", default)
    if asked.lstrip("-") not in sorts:
        asked = default
    name, descending = asked.lstrip("-"), asked.startswith("-")
    field = sorts[name].field
    sign = "-" if descending else ""
    ordered = queryset.order_by(f"{sign}{field}", f"{sign}pk")
    if cursor := params.get("after"):
        value, pk = _decode(cursor)
        beyond = "lt" if descending else "gt"
        try:
            ordered = ordered.filter(Q(**{f"{field}__{beyond}": value}) | Q(**{field: value, f"pk__{beyond}": pk}))
        except (ValueError, TypeError) as error:
            raise Refused(
                "This page's address is damaged.", where="after=…", how="Go back to the first page.", status=400
            ) from error
    rows = list(ordered[: size + 1])
    more = len(rows) > size
    rows = rows[:size]
    next_url = ""
    if more:
        following = params.copy()
        following["after"] = _encode(_value(rows[-1], field), rows[-1].pk)
        next_url = "?" + following.urlencode()
    first_url = address(params) if cursor else ""
    return Page(rows, queryset.count(), size, next_url, first_url, _heads(params, sorts, name, descending), asked)
