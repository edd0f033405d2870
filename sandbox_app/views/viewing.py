"""The viewer's context: one episode, one step, one panel. It depends on what stands in the address alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from sandbox_app import filters, live, steps
from sandbox_app.interfaces import OPEN, observation
from sandbox_app.models import Episode, Review, ReviewReason, StepRow
from sandbox_app.models.selecting import selected
from sandbox_app.reviews import seen_token
from sandbox_app.services.reviewing import waiting_for
from sandbox_app.trajectories import Step, step_from_json
from tasks_app.blobs import BlobMissing
from tasks_app.errors import Refused
from tasks_app.models import Event
from tasks_app.services import blobs, last_seq

PANELS = ("variables", "tables", "files", "verdict", "console")
FOLD = 6_000                         # characters of an output shown before it is unfolded
CALLS_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Address:
    """Where the reader stands; `url` changes parts of it and keeps the rest."""

    path: str
    step: int | None
    panel: str
    chosen: filters.EpisodeFilter
    review: bool
    whole: bool                      # long outputs unfolded
    call: int                        # the call whose result is shown, 0 for none

    def url(self, **changes: Any) -> str:
        values = {"step": self.step, "panel": self.panel, "whole": self.whole, "call": 0} | changes
        parts: list[tuple[str, Any]] = [(name, values[name]) for name in ("step", "panel") if values[name]]
        parts += [(name, "1") for name in ("whole",) if values[name]]
        parts += [("call", values["call"])] if values["call"] else []
        parts += [("review", "1")] if self.review else []
        return f"{self.path}?{urlencode([*parts, *self.chosen.items()])}"

    def neighbour(self, episode: Episode | None) -> str:
        if episode is None:
            return ""
        parts = [("review", "1")] if self.review else []
        return f"{reverse('episode', args=[episode.pk])}?{urlencode([*parts, *self.chosen.items()])}"


def read_address(request: HttpRequest, episode: Episode) -> Address:
    values = request.GET
    panel = values.get("panel", "")
    if panel and panel not in PANELS:
        raise Refused(f"There is no panel “{panel}”.", how=f"Choose one of {', '.join(PANELS)}.", status=404)
    step, call = (values.get(name, "") for name in ("step", "call"))
    if (step and not step.isdecimal()) or (call and not call.isdecimal()):
        raise Refused("Steps and calls are numbered from 1.", where=request.get_full_path()[:120],
                      how="Take the step from the list.", status=404)
    review = values.get("review") == "1"
    return Address(
        path=reverse("episode", args=[episode.pk]), step=int(step) if step else None,
        panel=panel or ("verdict" if review else "variables"), chosen=filters.parse(values), review=review,
        whole=values.get("whole") == "1", call=int(call) if call else 0,
    )


def viewer_context(request: HttpRequest, episode: Episode) -> dict[str, Any]:
    address = read_address(request, episode)
    # Read before the rows: an event that comes in between is then told twice, and never lost.
    after = last_seq(episode.stream)
    rows = list(episode.steps.all())
    running = _running(episode) if episode.live else None
    following = episode.live and address.step is None
    row = _chosen_row(address, rows, running, following)
    context = {
        "episode": episode, "address": address, "rows": rows, "row": row, "bars": steps.bars(rows),
        "running": running, "following": following, "after": after, "panels": PANELS,
        "evidence": steps.evidence(episode.criteria, rows), "chosen": address.chosen,
        "cause_says": "" if episode.cause == episode.status else episode.cause.replace("_", " "),
        "criteria_says": f"{episode.criteria_met} of {len(episode.criteria)} criteria",
    }
    context |= _ways(address, episode, rows, row) | _judged(request, episode, address)
    return context | (_step_context(address, row) if row is not None else {})


def _running(episode: Episode) -> live.InFlight | None:
    events = Event.objects.filter(stream=episode.stream)
    last = events.filter(kind="step").order_by("-seq").values_list("seq", flat=True).first() or 0
    return live.in_flight(events.filter(seq__gt=last).order_by("seq").values_list("kind", "data"))


def _chosen_row(
    address: Address, rows: list[StepRow], running: live.InFlight | None, following: bool,
) -> StepRow | None:
    """The step to show; None for the one that runs now, and where there is none yet."""
    if following:
        return None if running is not None else (rows[-1] if rows else None)
    if address.step is None:
        return rows[0] if rows else None
    if running is not None and address.step == running.index:
        return None
    found = next((row for row in rows if row.index == address.step), None)
    if found is None:
        raise Refused(f"There is no step {address.step}: steps of this episode so far: {len(rows)}.",
                      how="Take one from the list of steps.", status=404)
    return found


def _ways(address: Address, episode: Episode, rows: list[StepRow], row: StepRow | None) -> dict[str, Any]:
    """Addresses behind the keys: steps before and after, next error, next difference, items before and after."""
    at = row.index if row is not None else len(rows) + 1
    later = [other for other in rows if other.index > at]
    earlier = [other.index for other in rows if other.index < at]
    wrapped = later + [other for other in rows if other.index < at]

    def first(test: str) -> str:
        return next((address.url(step=other.index) for other in wrapped if getattr(other, test)), "")

    queue = selected(address.chosen)
    older = queue.filter(created_at__lt=episode.created_at).order_by("-created_at", "-pk").first()
    newer = queue.filter(created_at__gt=episode.created_at).order_by("created_at", "pk").first()
    return {
        "next_step": address.url(step=later[0].index) if later else "",
        "previous_step": address.url(step=earlier[-1]) if earlier else "",
        "next_error": first("erred"), "next_difference": first("differs"),
        "next_item": address.neighbour(older), "previous_item": address.neighbour(newer),
        "panel_urls": {name: address.url(panel=name) for name in PANELS},
        "whole_url": address.url(whole=not address.whole), "follow_url": address.url(step=None),
        "end_url": address.url(step=rows[-1].index, panel="verdict") if rows and not episode.live else "",
        "step_urls": {other.index: address.url(step=other.index) for other in rows},
        "running_url": address.url(step=None),
    }


def _judged(request: HttpRequest, episode: Episode, address: Address) -> dict[str, Any]:
    """Reviews of the verdict, and what the footer needs. Nobody's review is hidden: a disagreement shows both."""
    reviews = list(episode.reviews.select_related("reviewer", "reason"))
    live_reviews = [review for review in reviews if review.undone_at is None]
    others = [r for r in live_reviews if r.reviewer_id != request.user.pk and r.decision != Review.Decision.SKIP]
    mine = next((r for r in live_reviews if r.reviewer_id == request.user.pk), None)
    return {
        "reviews": reviews, "mine": mine, "others": others, "seen": seen_token(review.pk for review in others),
        "reasons": list(ReviewReason.objects.all()) if episode.reviewable else [],
        "held": episode.held_by_other(request.user),
        "waiting_count": waiting_for(address.chosen, request.user).order_by()[:1_001].count() if address.review else 0,
        "queue_query": address.chosen.query(),
        "last_mine": Review.objects.standing_now().of(request.user).select_related("episode__task").first(),
    }


def load_step(row: StepRow) -> Step:
    """Raises BlobMissing."""
    return step_from_json(json.loads(blobs().get(row.body)))


def _step_context(address: Address, row: StepRow) -> dict[str, Any]:
    try:
        step = load_step(row)
    except BlobMissing as missing:
        return {"missing": str(missing)}
    result = step.result
    said = step.message.split(OPEN, 1)[0].strip() if step.code is not None else step.message
    context: dict[str, Any] = {
        "step": step, "said": steps.fold(said, FOLD, whole=address.whole), "result": result,
        "touched": steps.touched_from_json(row.touched),
    }
    if result is None:
        return context
    shown = result.calls if address.whole else result.calls[:CALLS_SHOWN]
    return context | {
        "calls": [_call(address, number, call) for number, call in enumerate(shown, 1)],
        "calls_left": len(result.calls) - len(shown),
        "call_seconds": sum(call.milliseconds for call in result.calls) / 1_000,
        "entered": steps.fold(observation(result), FOLD, whole=address.whole),
        "console": steps.fold(result.stdout, 4 * FOLD, whole=address.whole),
        "tables": steps.changed_tables(result.rows),
        "variables": sorted(result.variables, key=lambda variable: variable.change == "same"),
        "changed_variables": sum(variable.change != "same" for variable in result.variables),
    }


def _call(address: Address, number: int, call: Any) -> dict[str, Any]:
    arguments = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in call.arguments.items()
    )
    opened = number == address.call
    return {
        "number": number, "call": call, "arguments": arguments, "open": opened,
        "url": address.url(call=0 if opened else number), "preview": call.value_preview if opened else "",
    }
