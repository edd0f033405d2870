"""What lists of episodes share: filter chips with their addresses, a page of rows, a count that stays cheap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest

from sandbox_app.filters import CHOICES, LABELS, EpisodeFilter
from sandbox_app.models.episodes import EpisodeQuerySet
from sandbox_app.models.selecting import Page, page
from tasks_app.models import Domain

PAGE_SIZE = 50
COUNTED_AT_MOST = 10_000
WORDS: Mapping[str, str] = {
    "task": "full tasks", "primer": "primers", "no_op": "no-op", "waiting": "waiting", "open": "open: people disagree",
    "mine": "judged by me", "skipped": "skipped by me", "person": "started by a person", "run": "training",
}


@dataclass(frozen=True, slots=True)
class Choice:
    word: str
    url: str
    on: bool


@dataclass(frozen=True, slots=True)
class ChipGroup:
    """One filter: its name, what is chosen ("" for any), the address that clears it, and the choices."""

    name: str
    label: str
    chosen: str
    clear_url: str
    choices: tuple[Choice, ...]


def chip_groups(chosen: EpisodeFilter, *, hide: tuple[str, ...] = ()) -> list[ChipGroup]:
    choices: dict[str, list[tuple[str, str]]] = {
        name: [(value, WORDS.get(value, value)) for value in values] for name, values in CHOICES.items()
    }
    choices["domain"] = list(Domain.objects.values_list("slug", "title"))
    return [_group(chosen, name, choices[name]) for name in LABELS if name in choices and name not in hide]


def _group(chosen: EpisodeFilter, name: str, choices: list[tuple[str, str]]) -> ChipGroup:
    value = getattr(chosen, name)
    return ChipGroup(
        name=name, label=LABELS[name], chosen=dict(choices).get(value, value), clear_url=_url(chosen.having(name, "")),
        choices=tuple(Choice(word, _url(chosen.having(name, one)), one == value) for one, word in choices),
    )


def _url(chosen: EpisodeFilter) -> str:
    return f"?{chosen.query()}"


def listed(request: HttpRequest, chosen: EpisodeFilter, rows: EpisodeQuerySet) -> dict[str, Any]:
    """The context of a list: its page, count and chips. Three queries, whatever the number of rows."""
    found: Page = page(rows.for_list(), after=request.GET.get("after", ""), before=request.GET.get("before", ""),
                       size=PAGE_SIZE)
    count = rows.order_by()[: COUNTED_AT_MOST + 1].count()
    return {
        "rows": found.rows, "chosen": chosen, "query": chosen.query(),
        "older_url": _paged(chosen, "after", found.older), "newer_url": _paged(chosen, "before", found.newer),
        "count": f"{count:,}" if count <= COUNTED_AT_MOST else f"over {COUNTED_AT_MOST:,}",
        "counted": count,
    }


def _paged(chosen: EpisodeFilter, direction: str, key: str) -> str:
    return f"?{urlencode([*chosen.items(), (direction, key)])}" if key else ""
