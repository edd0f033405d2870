"""People's judgements of verdicts: decide, undo, the next one waiting, and a bulk decision on a pinned set.

Nothing is overwritten: a changed mind undoes the earlier review and writes a new one. The standing of an episode is
recomputed in the same transaction as the review. Two people never judge the same verdict silently: the next one
waiting skips what somebody else has open, and a decision that was made without seeing another's newer review is not
taken until it is made again with that in sight.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from sandbox_app import reviews as reviewing
from sandbox_app.filters import EpisodeFilter
from sandbox_app.models import Episode, Review, ReviewReason
from sandbox_app.models.episodes import EpisodeQuerySet
from sandbox_app.models.selecting import selected
from tasks_app.errors import Refused

BULK_AT_MOST = 5_000
Decision = Review.Decision


@transaction.atomic
def decide(
    *, episode: Episode, by: Any, decision: str, reason: ReviewReason | None = None, note: str = "",
    seen: str | None = None, verifier: str | None = None,
) -> Review:
    """Record a judgement. `seen` is the token of the reviews that the page showed, `verifier` the version it showed.

    Saying the same twice (a double press) gives the review that is there. Raises Refused.
    """
    episode = Episode.objects.select_for_update().get(pk=episode.pk)
    _check(episode, decision, reason, note, verifier)
    live = list(episode.reviews.standing_now().select_related("reviewer"))
    mine = next((review for review in live if review.reviewer_id == by.pk), None)
    if mine is not None and _same(mine, decision, reason, note):
        return mine
    _check_seen(live, by, seen)
    if mine is not None:
        mine.undone_at = timezone.now()
        mine.save(update_fields=["undone_at"])
    review = Review.objects.create(
        episode=episode, reviewer=by, decision=decision, reason=reason, note=note.strip(), verifier=episode.verifier,
    )
    episode.release(by)
    settle([episode])
    return review


def _check(episode: Episode, decision: str, reason: ReviewReason | None, note: str, verifier: str | None) -> None:
    where = str(episode)
    if not episode.reviewable:
        raise Refused("This episode has no verdict to judge.", where=where,
                      how="Only what ended as passed, failed or stopped is reviewed.")
    if decision not in Decision.values:
        raise Refused(f"“{decision}” is no decision.", where=where, how="Approve, reject or skip.", status=400)
    if verifier is not None and verifier != episode.verifier:
        raise Refused("The verdict changed since you opened the page: another version of the verifier judged it.",
                      where=where, how="Reload the page and look again.")
    if decision == Decision.REJECT and reason is None:
        raise Refused("A rejection needs a reason.", where=where, how="Choose one with the keys 1–9.", status=400)
    if reason is not None and decision != Decision.SKIP and not reason.fits(decision):
        raise Refused(f"“{reason.label}” is no reason to {decision}.", where=where, how="Choose another one.",
                      status=400)
    if reason is not None and reason.code == "other" and not note.strip():
        raise Refused("“Other” needs a word in the note.", where=where, how="Write what is wrong.", status=400)


def _same(review: Review, decision: str, reason: ReviewReason | None, note: str) -> bool:
    return (review.decision, review.reason_id, review.note) == (decision, reason and reason.pk, note.strip())


def _check_seen(live: Iterable[Review], by: Any, seen: str | None) -> None:
    others = [review for review in live if review.reviewer_id != by.pk and review.decision != Decision.SKIP]
    if seen is None or seen == reviewing.seen_token(review.pk for review in others):
        return
    said = "; ".join(f"{review.reviewer} {review.get_decision_display()} it" for review in others)
    raise Refused(f"Meanwhile somebody else judged this: {said or 'a review was undone'}.",
                  where="Nothing was recorded for you",
                  how="Look again and decide with that in sight: what two people disagree on is shown as open.")


def settle(episodes: Iterable[Episode]) -> None:
    """Recompute the standing of these episodes from their live reviews."""
    ids = [episode.pk for episode in episodes]
    by_episode: dict[Any, list[reviewing.Judgement]] = {}
    for at in range(0, len(ids), 500):
        for review in Review.objects.said().filter(episode__in=ids[at:at + 500]):
            by_episode.setdefault(review.episode_id, []).append(review.judgement())
    changed: dict[str, list[Any]] = {}
    for episode in episodes:
        standing = reviewing.standing(by_episode.get(episode.pk, ()), episode.verifier).value
        if standing != episode.standing:
            episode.standing = standing
            changed.setdefault(standing, []).append(episode.pk)
    for standing, keys in changed.items():
        for at in range(0, len(keys), 500):
            Episode.objects.filter(pk__in=keys[at:at + 500]).update(standing=standing)


@transaction.atomic
def undo(*, review: Review, by: Any) -> Review:
    """Take one's own judgement back; it stays in the history. Undoing twice is undoing once."""
    if review.reviewer_id != by.pk:
        raise Refused("Only the person who judged can take it back.", where=f"by {review.reviewer}",
                      how="Judge it yourself: a disagreement is shown as open.", status=403)
    Review.objects.filter(pk=review.pk, undone_at=None).update(undone_at=timezone.now())
    settle([Episode.objects.select_for_update().get(pk=review.episode_id)])
    review.refresh_from_db()
    return review


def waiting_for(chosen: EpisodeFilter, user: Any) -> EpisodeQuerySet:
    """The queue of `user`: scored, judged by nobody, not skipped by them; or what `reviewed` asks for instead."""
    waiting = Episode.Standing.WAITING.value
    wanted = chosen if chosen.reviewed else chosen.having("reviewed", waiting)
    rows = selected(wanted, user).reviewable()
    return rows.not_judged_by(user) if wanted.reviewed == waiting else rows


def next_waiting(*, chosen: EpisodeFilter, user: Any, besides: Any = None) -> Episode | None:
    """The oldest one waiting that nobody else holds, reserved for `user`; None when the queue is empty."""
    rows = waiting_for(chosen, user).free_for(user)
    if chosen.reviewed != "skipped":
        rows = rows.not_judged_by(user)
    if besides is not None:
        rows = rows.exclude(pk=besides)
    for episode in rows.order_by("created_at", "pk")[:20]:
        if episode.reserve(user):        # another reviewer may have been a moment earlier
            return episode
    return None


@dataclass(frozen=True, slots=True)
class BulkPreview:
    """A set of episodes that a bulk decision would be about: what it holds, and the pin that names exactly it."""

    chosen: EpisodeFilter
    until: datetime
    count: int
    pin: str
    outcomes: tuple[tuple[str, int], ...]
    domains: tuple[tuple[str, int], ...]
    scales: tuple[tuple[str, int], ...]
    policies: tuple[tuple[str, int], ...]
    sample: tuple[Episode, ...]
    bulk: str                   # the id that the decision will carry: pressed twice is one decision


def _bulk_rows(chosen: EpisodeFilter, user: Any, until: datetime, ids: Iterable[str] = ()) -> list[Episode]:
    """Reviewable, let through by the filter, ended by `until`, and not judged by this person."""
    rows = selected(chosen, user).reviewable().not_judged_by(user)
    if ids:
        rows = rows.filter(pk__in=list(ids))
    rows = rows.filter(ended_at__lte=until).for_list().order_by("-created_at", "-pk")
    found = list(rows[: BULK_AT_MOST + 1])
    if len(found) > BULK_AT_MOST:
        raise Refused(f"More than {BULK_AT_MOST:,} episodes match.", where=chosen.says(),
                      how="Narrow the filter and decide in parts.")
    return found


def bulk_preview(*, chosen: EpisodeFilter, user: Any, ids: Iterable[str] = ()) -> BulkPreview:
    until = timezone.now()
    rows = _bulk_rows(chosen, user, until, ids)

    def counted(values: Iterable[str]) -> tuple[tuple[str, int], ...]:
        return tuple(Counter(values).most_common())

    return BulkPreview(
        chosen=chosen, until=until, count=len(rows), pin=reviewing.pin(str(row.pk) for row in rows),
        outcomes=counted(row.outcome for row in rows), domains=counted(row.task.domain.title for row in rows),
        scales=counted(row.scale for row in rows), policies=counted(row.policy for row in rows),
        sample=tuple(rows[:8]), bulk=str(uuid.uuid4()),
    )


@transaction.atomic
def bulk_decide(
    *, chosen: EpisodeFilter, by: Any, decision: str, until: datetime, pin: str, bulk: str,
    reason: ReviewReason | None = None, note: str = "", ids: Iterable[str] = (),
) -> int:
    """Decide on exactly the set that the preview pinned; how many. Pressed twice it is done once. Raises Refused."""
    done = Review.objects.filter(bulk=bulk, reviewer=by).count() if bulk else 0
    if done:
        return done
    if decision == Decision.SKIP or not bulk:
        raise Refused("A bulk decision approves or rejects.", how="Open the preview again.", status=400)
    rows = _bulk_rows(chosen, by, until, ids)
    if not rows or reviewing.pin(str(row.pk) for row in rows) != pin:
        raise Refused("The set changed since the preview: some of it was judged meanwhile.", where=chosen.says(),
                      how="Look at the preview again; it shows what is left.")
    for row in rows:
        _check(row, decision, reason, note, None)
    Review.objects.bulk_create(
        [Review(episode=row, reviewer=by, decision=decision, reason=reason, note=note.strip(), verifier=row.verifier,
                bulk=bulk) for row in rows],
        batch_size=500,
    )
    settle(rows)
    return len(rows)


@transaction.atomic
def bulk_undo(*, bulk: str, by: Any) -> int:
    """Take back what is left of one's own bulk decision; how many. Later single decisions stay."""
    live = Review.objects.standing_now().filter(bulk=bulk, reviewer=by)
    episodes = list(Episode.objects.filter(reviews__in=live))
    count = live.update(undone_at=timezone.now())
    settle(episodes)
    return count
