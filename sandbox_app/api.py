"""/api/v1 of the sandbox: episodes, their steps and verdicts, reviews. Lists page by key; filters are the pages'."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status

from sandbox_app import filters, services
from sandbox_app.models import Episode, Review, ReviewReason, StepRow
from sandbox_app.models.selecting import page, selected
from tasks_app.errors import Refused
from tasks_app.models import Task
from tasks_app.permissions import check_group
from tasks_app.services import blobs

router = Router(tags=["episodes and reviews"])
AT_MOST = 200


class EpisodeOut(Schema):
    id: UUID
    task: str
    title: str
    domain: str
    tier: str
    scale: str
    rows: int
    files: int
    seed: int
    policy: str
    policy_config: dict[str, Any]
    mode: str
    source: str
    state: str
    outcome: str | None
    cause: str
    detail: str
    reward: float | None
    standing: str
    steps: int
    calls: int
    seconds: float | None
    created_at: datetime
    ended_at: datetime | None


class VerdictOut(Schema):
    episode: UUID
    outcome: str | None
    reward: float | None
    verifier: str
    criteria: list[dict[str, Any]]
    answer: str
    standing: str


class StepOut(Schema):
    index: int
    title: str
    kind: str
    outcome: str
    calls: int
    failed_calls: int
    changed_rows: int
    changed_files: int
    returned_tokens: int
    kept_tokens: int
    seconds: float


class ReviewOut(Schema):
    id: int
    episode: UUID
    reviewer: str
    decision: str
    reason: str | None
    note: str
    verifier: str
    bulk: str
    created_at: datetime
    undone_at: datetime | None


class EpisodeList(Schema):
    items: list[EpisodeOut]
    next: str | None


class VerdictList(Schema):
    items: list[VerdictOut]
    next: str | None


class ReviewList(Schema):
    items: list[ReviewOut]
    next: str | None


class Filters(Schema):
    """As in the addresses of the pages; `after` is the `next` of the page before."""

    outcome: str = ""
    domain: str = ""
    tier: str = ""
    scale: str = ""
    policy: str = ""
    source: str = ""
    reviewed: str = ""
    task: str = ""
    q: str = ""
    after: str = ""
    limit: int = 50


class EpisodeIn(Schema):
    task: str
    scale: str
    policy: str = "reference"
    config: dict[str, Any] = {}
    seed: int | None = None
    request_key: str = ""


class ReviewIn(Schema):
    """`verifier` is the version whose verdict was judged, as the verdict gives it."""

    decision: str
    reason: str | None = None
    note: str = ""
    verifier: str


class BulkPreviewOut(Schema):
    """What a bulk decision would be about; `until`, `pin` and `bulk` go into the decision."""

    count: int
    outcomes: dict[str, int]
    domains: dict[str, int]
    scales: dict[str, int]
    policies: dict[str, int]
    until: datetime
    pin: str
    bulk: UUID


class BulkIn(Schema):
    decision: str
    reason: str | None = None
    note: str = ""
    until: datetime
    pin: str
    bulk: UUID


class BulkOut(Schema):
    bulk: UUID
    count: int


def _episode_out(episode: Episode) -> EpisodeOut:
    task = episode.task
    return EpisodeOut(
        id=episode.pk, task=task.key, title=task.title, domain=task.domain.slug, tier=task.tier, scale=episode.scale,
        rows=episode.rows, files=episode.files, seed=episode.seed, policy=episode.policy,
        policy_config=episode.policy_config, mode=episode.mode, source=episode.source, state=episode.state,
        outcome=episode.outcome or None, cause=episode.cause, detail=episode.detail, reward=episode.reward,
        standing=episode.standing, steps=episode.steps_count, calls=episode.calls_count, seconds=episode.seconds,
        created_at=episode.created_at, ended_at=episode.ended_at,
    )


def _verdict_out(episode: Episode) -> VerdictOut:
    return VerdictOut(
        episode=episode.pk, outcome=episode.outcome or None, reward=episode.reward, verifier=episode.verifier,
        criteria=episode.criteria, answer=episode.answer, standing=episode.standing,
    )


def _review_out(review: Review) -> ReviewOut:
    return ReviewOut(
        id=review.pk, episode=review.episode_id, reviewer=str(review.reviewer), decision=review.decision,
        reason=review.reason.code if review.reason else None, note=review.note, verifier=review.verifier,
        bulk=review.bulk, created_at=review.created_at, undone_at=review.undone_at,
    )


def _page(request: HttpRequest, asked: Filters, *, scored: bool = False) -> tuple[list[Episode], str | None]:
    rows = selected(filters.parse(asked.dict()), request.user).for_list()
    found = page(rows.reviewable() if scored else rows, after=asked.after, size=max(1, min(asked.limit, AT_MOST)))
    return found.rows, found.older or None


def _one(pk: UUID) -> Episode:
    return get_object_or_404(Episode.objects.for_list(), pk=pk)


@router.get("/episodes", response=EpisodeList)
def list_episodes(request: HttpRequest, asked: Query[Filters]) -> EpisodeList:
    rows, following = _page(request, asked)
    return EpisodeList(items=[_episode_out(row) for row in rows], next=following)


@router.post("/episodes", response={201: EpisodeOut})
def start_episode(request: HttpRequest, sent: EpisodeIn) -> Status[EpisodeOut]:
    """Queue an attempt. The same `request_key` gives the same episode."""
    check_group(request.user, "annotator")
    if sent.policy == "local":
        raise Refused("A checkpoint is run by an evaluation.", how="Start one under /evaluations.", status=400)
    made = services.create_episode(
        task=get_object_or_404(Task, key=sent.task), scale=sent.scale, policy=sent.policy, config=sent.config,
        seed=sent.seed, source="person", by=request.user, request_key=sent.request_key,
    )
    return Status(201, _episode_out(_one(made.pk)))


@router.get("/episodes/{pk}", response=EpisodeOut)
def get_episode(request: HttpRequest, pk: UUID) -> EpisodeOut:
    return _episode_out(_one(pk))


@router.post("/episodes/{pk}/cancel", response=EpisodeOut)
def cancel(request: HttpRequest, pk: UUID) -> EpisodeOut:
    check_group(request.user, "annotator")
    services.cancel_episode(episode=_one(pk), by=request.user)
    return _episode_out(_one(pk))


@router.post("/episodes/{pk}/interrupt", response=EpisodeOut)
def interrupt(request: HttpRequest, pk: UUID) -> EpisodeOut:
    """Ask the running cell to stop; the episode goes on."""
    check_group(request.user, "annotator")
    services.interrupt_episode(episode=_one(pk))
    return _episode_out(_one(pk))


@router.post("/episodes/{pk}/retry", response={201: EpisodeOut})
def retry(request: HttpRequest, pk: UUID) -> Status[EpisodeOut]:
    """A new attempt at what broke on our side or was cancelled."""
    check_group(request.user, "annotator")
    return Status(201, _episode_out(_one(services.retry_episode(episode=_one(pk), by=request.user).pk)))


@router.get("/episodes/{pk}/steps", response=list[StepOut])
def list_steps(request: HttpRequest, pk: UUID) -> list[StepRow]:
    return list(_one(pk).steps.all())


@router.get("/episodes/{pk}/steps/{index}", response=dict[str, Any])
def get_step(request: HttpRequest, pk: UUID, index: int) -> dict[str, Any]:
    """The step's whole record: message, cell, output, error, calls, variables, changes."""
    row = get_object_or_404(StepRow, episode=pk, index=index)
    record: dict[str, Any] = json.loads(blobs().get(row.body))
    return record


@router.get("/episodes/{pk}/verdict", response=VerdictOut)
def get_verdict(request: HttpRequest, pk: UUID) -> VerdictOut:
    return _verdict_out(_one(pk))


@router.get("/verdicts", response=VerdictList)
def list_verdicts(request: HttpRequest, asked: Query[Filters]) -> VerdictList:
    rows, following = _page(request, asked, scored=True)
    return VerdictList(items=[_verdict_out(row) for row in rows], next=following)


@router.get("/reviews", response=ReviewList)
def list_reviews(
    request: HttpRequest, episode: UUID | None = None, after: int | None = None, limit: int = 50,
) -> ReviewList:
    """Newest first, undone ones included; `after` is the `next` of the page before."""
    rows = Review.objects.select_related("reviewer", "reason").order_by("-pk")
    rows = rows.filter(episode=episode) if episode else rows
    rows = rows.filter(pk__lt=after) if after is not None else rows
    size = max(1, min(limit, AT_MOST))
    found = list(rows[: size + 1])
    following = str(found[size - 1].pk) if len(found) > size else None
    return ReviewList(items=[_review_out(review) for review in found[:size]], next=following)


@router.get("/reviews/{pk}", response=ReviewOut)
def get_review(request: HttpRequest, pk: int) -> ReviewOut:
    return _review_out(get_object_or_404(Review.objects.select_related("reviewer", "reason"), pk=pk))


@router.post("/episodes/{pk}/reviews", response={201: ReviewOut})
def post_review(request: HttpRequest, pk: UUID, sent: ReviewIn) -> Status[ReviewOut]:
    """Judge a verdict. The same judgement sent twice is one."""
    check_group(request.user, "annotator")
    review = services.decide(
        episode=_one(pk), by=request.user, decision=sent.decision, reason=_reason(sent.reason), note=sent.note,
        verifier=sent.verifier,
    )
    return Status(201, _review_out(review))


def _reason(code: str | None) -> ReviewReason | None:
    reason = ReviewReason.objects.filter(code=code).first() if code else None
    if code and reason is None:
        known = ", ".join(ReviewReason.objects.values_list("code", flat=True))
        raise Refused(f"There is no reason “{code}”.", how=f"Choose one of {known}.", status=400)
    return reason


@router.post("/reviews/{pk}/undo", response=ReviewOut)
def undo_review(request: HttpRequest, pk: int) -> ReviewOut:
    check_group(request.user, "annotator")
    review = get_object_or_404(Review.objects.select_related("reviewer", "reason", "episode"), pk=pk)
    return _review_out(services.undo(review=review, by=request.user))


@router.get("/bulk-reviews/preview", response=BulkPreviewOut)
def preview_bulk(request: HttpRequest, asked: Query[Filters]) -> BulkPreviewOut:
    check_group(request.user, "annotator")
    found = services.bulk_preview(chosen=filters.parse(asked.dict()), user=request.user)
    return BulkPreviewOut(
        count=found.count, outcomes=dict(found.outcomes), domains=dict(found.domains), scales=dict(found.scales),
        policies=dict(found.policies), until=found.until, pin=found.pin, bulk=UUID(found.bulk),
    )


@router.post("/bulk-reviews", response={201: BulkOut})
def decide_bulk(request: HttpRequest, asked: Query[Filters], sent: BulkIn) -> Status[BulkOut]:
    """Decide on exactly the set that the preview with the same filter named."""
    check_group(request.user, "annotator")
    count = services.bulk_decide(
        chosen=filters.parse(asked.dict()), by=request.user, decision=sent.decision, reason=_reason(sent.reason),
        note=sent.note, until=sent.until, pin=sent.pin, bulk=str(sent.bulk),
    )
    return Status(201, BulkOut(bulk=sent.bulk, count=count))


@router.post("/bulk-reviews/{bulk}/undo", response=BulkOut)
def undo_bulk(request: HttpRequest, bulk: UUID) -> BulkOut:
    check_group(request.user, "annotator")
    return BulkOut(bulk=bulk, count=services.bulk_undo(bulk=str(bulk), by=request.user))
