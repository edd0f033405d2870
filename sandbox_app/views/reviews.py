"""Pages of review: the queue, the next one waiting, a decision and its undoing, and bulk decisions with a preview."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sandbox_app import filters, services
from sandbox_app.forms import BulkForm, DecisionForm, says
from sandbox_app.models import Episode, Review, ReviewReason
from sandbox_app.models.selecting import selected
from sandbox_app.services.reviewing import waiting_for
from sandbox_app.views.episodes import show_episode
from sandbox_app.views.listing import chip_groups, listed
from tasks_app.errors import Refused
from tasks_app.permissions import require_group

RECENT = 12


@require_GET
def review_queue(request: HttpRequest) -> HttpResponse:
    chosen = filters.parse(request.GET)
    waiting = waiting_for(chosen, request.user)
    context = listed(request, chosen, waiting) | {
        "groups": chip_groups(chosen),
        "disagreed": Episode.objects.reviewable().filter(standing=Episode.Standing.OPEN).count(),
        "judged": Review.objects.said().values("episode").distinct().count(),
        "recent": Review.objects.said().select_related("episode__task", "reviewer", "reason")[:RECENT],
    }
    return render(request, "sandbox_app/review_queue.html", context)


@require_group("annotator")
@require_GET
def review_next(request: HttpRequest) -> HttpResponse:
    """Open the oldest one waiting, reserved for this person; an empty queue says so."""
    return _to_next(request, filters.parse(request.GET))


def _to_next(request: HttpRequest, chosen: filters.EpisodeFilter, besides: Any = None) -> HttpResponse:
    found = services.next_waiting(chosen=chosen, user=request.user, besides=besides)
    if found is None:
        messages.info(request, "Nothing else waits for you here.")
        return redirect(f"{reverse('review_queue')}?{chosen.query()}")
    return redirect(_review_url(found.pk, chosen))


@require_group("annotator")
@require_POST
def review_decide(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Record the decision and open the next one; what can't be taken is said on the same page, with what was typed."""
    episode = get_object_or_404(Episode.objects.for_list().select_related("task__environment", "retry_of"), pk=pk)
    form = DecisionForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused(says(form), how="Choose again.", status=400)
        chosen = filters.parse(request.GET)
        sent = form.cleaned_data
        review = services.decide(
            episode=episode, by=request.user, decision=sent["decision"], reason=sent["reason"], note=sent["note"],
            seen=sent["seen"], verifier=sent["verifier"] or None,
        )
    except Refused as refused:
        episode.refresh_from_db()
        return show_episode(request, episode, status=refused.status, refused=refused, typed=request.POST)
    messages.success(request, f"{review.get_decision_display().capitalize()}: {episode}.")
    return _to_next(request, chosen, besides=episode.pk)


@require_group("annotator")
@require_POST
def review_undo(request: HttpRequest, pk: int) -> HttpResponse:
    review = get_object_or_404(Review.objects.select_related("episode", "reviewer"), pk=pk)
    services.undo(review=review, by=request.user)
    messages.info(request, f"Undone: your “{review.get_decision_display()}” no longer counts.")
    return redirect(_review_url(review.episode_id, filters.parse(request.GET)))


def _review_url(pk: UUID, chosen: filters.EpisodeFilter) -> str:
    return f"{reverse('episode', args=[pk])}?{urlencode([('review', '1'), *chosen.items()])}"


@require_group("annotator")
@require_http_methods(["GET", "POST"])
def review_bulk(request: HttpRequest) -> HttpResponse:
    """What the filter of the page holds; on POST the decision on exactly that set."""
    chosen = filters.parse(request.GET)
    ids = [str(UUID(value)) for value in request.GET.getlist("id") if _is_id(value)]
    if request.method == "GET":
        return _bulk_page(request, chosen, ids)
    form = BulkForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused(says(form), how="Choose again.", status=400)
        sent = form.cleaned_data
        count = services.bulk_decide(
            chosen=chosen, by=request.user, decision=sent["decision"], reason=sent["reason"], note=sent["note"],
            until=_moment(sent["until"]), pin=sent["pin"], bulk=str(sent["bulk"]), ids=ids,
        )
    except Refused as refused:
        return _bulk_page(request, chosen, ids, refused=refused, typed=request.POST, status=refused.status)
    done = f"{reverse('review_bulk')}?{chosen.query()}&done={sent['bulk']}"
    messages.success(request, f"{count:,} verdicts {Review.Decision(sent['decision']).label}.")
    return redirect(done)


def _is_id(value: str) -> bool:
    try:
        UUID(value)
    except ValueError as error:
        raise Refused(f"“{value[:60]}” is no episode.", how="Select rows in the list.", status=400) from error
    return True


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Refused("The preview's time can't be read.", how="Open the preview again.", status=400) from error


def _bulk_page(
    request: HttpRequest, chosen: filters.EpisodeFilter, ids: list[str], *, status: int = 200, **extra: Any,
) -> HttpResponse:
    done = request.GET.get("done", "")
    finished = Review.objects.standing_now().filter(bulk=done, reviewer=request.user).count() if done else 0
    preview = services.bulk_preview(chosen=chosen, user=request.user, ids=ids)
    context = {
        "preview": preview, "chosen": chosen,
        "holds": [("Outcomes", preview.outcomes), ("Domains", preview.domains), ("Scales", preview.scales),
                  ("Policies", preview.policies)],
        "shown": selected(chosen, request.user).count(), "reasons": ReviewReason.objects.all(), "ids": ids,
        "done": done if finished else "", "finished": finished,
    }
    return render(request, "sandbox_app/review_bulk.html", context | extra, status=status)


@require_group("annotator")
@require_POST
def review_bulk_undo(request: HttpRequest, bulk: UUID) -> HttpResponse:
    count = services.bulk_undo(bulk=str(bulk), by=request.user)
    messages.info(request, f"Undone: {count:,} verdicts wait again." if count else "There was nothing left to undo.")
    return redirect("review_queue")
