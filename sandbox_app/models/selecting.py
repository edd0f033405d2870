"""How an EpisodeFilter narrows rows, and pages by key: the one place where its words become conditions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from sandbox_app.filters import EpisodeFilter
from sandbox_app.models.episodes import Episode, EpisodeQuerySet
from sandbox_app.models.reviews import ReviewDecision
from tasks_app.errors import Refused
from tasks_app.models import JobState

PRESETS = ("v0", "v1", "v2", "v3")
STATES = (JobState.RUNNING, JobState.QUEUED, JobState.CANCELLED)   # "failed" is an outcome too: that one is meant


def selected(chosen: EpisodeFilter, user: Any = None) -> EpisodeQuerySet:
    """Episodes that the filter lets through. `user` is whom "mine" and "skipped" mean."""
    where = _outcome(chosen.outcome) & _scale(chosen.scale) & _reviewed(chosen.reviewed, user)
    plain = {
        "task__domain__slug": chosen.domain, "task__tier": chosen.tier, "policy": chosen.policy,
        "task__key": chosen.task, "task__title__icontains": chosen.q,
    }
    where &= Q(**{name: value for name, value in plain.items() if value})
    if chosen.source:
        where &= Q(source=chosen.source) | Q(source__startswith=f"{chosen.source}:")
    return Episode.objects.filter(where)


def _outcome(value: str) -> Q:
    if not value:
        return Q()
    return Q(state=value, outcome="") if value in STATES else Q(outcome=value)


def _scale(value: str) -> Q:
    if value == "larger":
        return ~Q(scale__in=PRESETS)
    return Q(scale=value) if value else Q()


def _reviewed(value: str, user: Any) -> Q:
    if not value:
        return Q()
    if value in ("mine", "skipped"):
        mine = user.reviews.filter(undone_at=None) if user is not None else []
        if user is not None:
            skip = ReviewDecision.SKIP
            mine = mine.filter(decision=skip) if value == "skipped" else mine.exclude(decision=skip)
        return Q(pk__in=mine.values("episode")) if user is not None else Q(pk__in=[])
    reviewable = Q(state=JobState.SUCCEEDED) & ~Q(outcome="infrastructure")
    return reviewable & Q(standing=value)


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of one page, newest first, and the keys of its neighbours ("" where there is none)."""

    rows: list[Episode]
    older: str
    newer: str


def key_of(episode: Episode) -> str:
    return f"{episode.created_at.isoformat()}~{episode.pk}"


def _read_key(key: str) -> tuple[datetime, UUID]:
    try:
        moment, _, identity = key.partition("~")
        return datetime.fromisoformat(moment.replace(" ", "+")), UUID(identity)
    except ValueError as error:
        raise Refused("This page's place in the list can't be read.", where=key[:80],
                      how="Go back to the list's beginning.", status=400) from error


def page(rows: EpisodeQuerySet, *, after: str = "", before: str = "", size: int = 50) -> Page:
    """Keyset paging over (-created_at, -id): `after` a key gives older ones, `before` a key newer ones."""
    if before:
        moment, identity = _read_key(before)
        newer = rows.filter(Q(created_at__gt=moment) | Q(created_at=moment, pk__gt=identity))
        found = list(newer.order_by("created_at", "pk")[: size + 1])
        more, found = len(found) > size, found[:size][::-1]
        return Page(found, key_of(found[-1]) if found else "", key_of(found[0]) if more else "")
    if after:
        moment, identity = _read_key(after)
        rows = rows.filter(Q(created_at__lt=moment) | Q(created_at=moment, pk__lt=identity))
    found = list(rows.order_by("-created_at", "-pk")[: size + 1])
    more, found = len(found) > size, found[:size]
    return Page(found, key_of(found[-1]) if more else "", key_of(found[0]) if after and found else "")
