"""Services of episodes and reviews: named ends, fences, double presses, bulk sets that stay what the preview showed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone

from sandbox_app import services
from sandbox_app.filters import EpisodeFilter
from sandbox_app.models import Episode, Review, ReviewReason, StepRow
from sandbox_app.services import episodes as making
from sandbox_app.services import running
from sandbox_app.services.reviewing import waiting_for
from sandbox_app.views.viewing import load_step
from tasks_app.errors import Refused
from tasks_app.models import Event, JobState
from tasks_app.models.content import TaskStatus
from tasks_app.models.jobs import LeaseLost
from tests.conftest import person
from tests.sandbox_app import records

pytestmark = pytest.mark.django_db
ALL = EpisodeFilter()


@pytest.fixture
def other(db: None) -> User:
    return person("ben", "annotator")


def reason(code: str = "false_fail") -> ReviewReason:
    return ReviewReason.objects.get(code=code)


def create(**fields: Any) -> Episode:
    return services.create_episode(**{
        "task": fields.pop("task", None) or records.make_task(), "scale": "v0", "policy": "reference",
        "source": "person",
    } | fields)


# ---- making and ending

def test_create_takes_the_size_of_its_scale_and_queues() -> None:
    episode = create()
    assert (episode.rows, episode.files, episode.state) == (200, 10, JobState.QUEUED)
    assert Event.objects.get(stream=episode.stream).data == {"state": "queued"}


def test_the_same_press_is_one_episode(annotator: User) -> None:
    task = records.make_task()
    first, second = (create(task=task, by=annotator, request_key="press-1") for _ in range(2))
    assert first == second
    assert Episode.objects.count() == 1


@pytest.mark.parametrize(("fields", "says"), [
    ({"scale": "v9"}, "no scale"), ({"policy": "magic"}, "no policy"),
    ({"policy": "local", "config": {"folder": "/nowhere"}}, "checkpoint's folder"),
])
def test_create_refuses_with_a_sentence(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(Refused, match=says):
        create(**fields)


def test_create_refuses_a_task_that_is_not_proven() -> None:
    with pytest.raises(Refused, match="not proven"):
        create(task=records.make_task(status=TaskStatus.FAILED))


def test_a_step_is_a_row_and_a_blob_as_soon_as_it_ended() -> None:
    episode = records.running_episode()
    step = records.steps(3)[1]
    running.record_step(episode=episode, step=step)
    row = StepRow.objects.get(episode=episode)
    assert load_step(row) == step
    assert (row.calls, row.failed_calls, row.changed_rows, row.changed_files, row.outcome) == (2, 1, 2, 1, "error")
    assert row.title == "Post announcements, part 2"
    assert Event.objects.filter(stream=episode.stream, kind="step").count() == 1


def test_a_worker_that_lost_its_lease_writes_nothing() -> None:
    episode = records.running_episode()
    Episode.objects.filter(pk=episode.pk).update(fence=episode.fence + 1)
    with pytest.raises(LeaseLost):
        running.record_step(episode=episode, step=records.steps()[0])
    assert not StepRow.objects.exists()
    running.finish(episode=episode, trajectory=records.trajectory("passed"))
    episode.refresh_from_db()
    assert (episode.state, episode.outcome) == (JobState.RUNNING, "")


@pytest.mark.parametrize(("kind", "reward"), [
    ("passed", 1.0), ("failed", 0.0), ("stopped", 0.0), ("infrastructure", None),
])
def test_finish_writes_outcome_and_reward_together(kind: str, reward: float | None) -> None:
    episode = records.running_episode()
    running.finish(episode=episode, trajectory=records.trajectory(kind))
    episode.refresh_from_db()
    assert (episode.state, episode.outcome, episode.reward) == (JobState.SUCCEEDED, kind, reward)
    assert Event.objects.filter(stream=episode.stream, kind="ended").count() == 1


def test_a_reward_without_its_outcome_is_refused_by_the_database() -> None:
    with pytest.raises(IntegrityError):
        records.make_episode("infrastructure", reward=0.0)


def test_text_that_no_database_takes_is_kept_readable() -> None:
    episode = records.running_episode()
    running.finish(episode=episode, trajectory=records.trajectory("failed", answer="a\x00b\ud800"))
    episode.refresh_from_db()
    assert episode.answer == "a␀b\ufffd"


def test_a_lost_worker_is_infrastructure_and_tried_again_at_most_three_times() -> None:
    episode = records.running_episode()
    for attempt in range(1, 5):
        Episode.objects.filter(state=JobState.RUNNING).update(lease_until=timezone.now() - timedelta(seconds=1))
        assert services.reap() == (1 if attempt <= 3 else 0)
        queued = Episode.objects.filter(state=JobState.QUEUED).first()
        if queued is not None:
            assert queued.claim("worker-2")
    episode.refresh_from_db()
    assert (episode.outcome, episode.cause, episode.reward) == ("infrastructure", "worker_lost", None)
    assert Episode.objects.count() == making.ATTEMPTS
    assert not Episode.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING]).exists()


def test_a_queued_episode_that_the_broker_forgot_is_asked_for_again() -> None:
    episode = create()
    Episode.objects.update(dispatched_at=timezone.now() - timedelta(hours=1))
    services.reap()
    episode.refresh_from_db()
    assert episode.dispatched_at is not None
    assert timezone.now() - episode.dispatched_at < timedelta(minutes=1)


def test_cancelling_leaves_no_outcome_and_no_reward(annotator: User) -> None:
    queued, run = create(), records.running_episode()
    services.cancel_episode(episode=queued, by=annotator)
    services.cancel_episode(episode=run, by=annotator)
    assert (queued.state, queued.outcome, queued.reward) == (JobState.CANCELLED, "", None)
    assert run.cancel_asked
    assert run.state == JobState.RUNNING
    assert not queued.claim("worker")


def test_only_what_broke_on_our_side_is_tried_again() -> None:
    broken = records.make_episode("infrastructure")
    again = services.retry_episode(episode=broken)
    assert again.retry_of == broken
    assert services.retry_episode(episode=broken) == again
    with pytest.raises(Refused, match="broke on our side"):
        services.retry_episode(episode=records.make_episode("failed"))


def test_a_recorded_trajectory_is_recorded_once() -> None:
    task = records.make_task()
    made = [
        running.record_trajectory(trajectory=records.trajectory("passed"), task=task, source="run:1", policy="local",
                                  policy_config={}, record_key="run-1-7", rows=1, files=1)
        for _ in range(2)
    ]
    assert made[0] == made[1]
    assert made[0].steps.count() == 3
    assert made[0].reward == 1.0


def test_the_first_start_queues_references_and_faults_once() -> None:
    for number in range(14):
        records.make_task(f"Task {number}", slug="calendar" if number % 2 else "classroom")
        records.make_task(f"Primer {number}", slug="calendar" if number % 2 else "classroom", tier="primer")
    assert services.queue_demo_episodes() >= 24
    assert services.queue_demo_episodes() == 0
    queued = Episode.objects.filter(source="demo")
    assert {episode.policy for episode in queued} == {"reference", "scripted"}
    assert len({episode.policy_config.get("fault") for episode in queued}) > 5
    assert {episode.task.domain.slug for episode in queued} == {"calendar", "classroom"}


def test_the_first_start_without_content_queues_nothing() -> None:
    assert services.queue_demo_episodes() == 0


# ---- reviewing

def test_a_review_names_who_when_and_which_verifier(annotator: User) -> None:
    episode = records.make_episode("failed")
    review = services.decide(episode=episode, by=annotator, decision="reject", reason=reason(), note=" row 8 ")
    assert (review.reviewer, review.verifier, review.note) == (annotator, records.VERIFIER, "row 8")
    episode.refresh_from_db()
    assert episode.standing == Episode.Standing.REJECTED


def test_pressed_twice_is_one_review(annotator: User) -> None:
    episode = records.make_episode()
    first = services.decide(episode=episode, by=annotator, decision="approve")
    assert services.decide(episode=episode, by=annotator, decision="approve") == first
    assert Review.objects.count() == 1


def test_a_changed_mind_keeps_the_history(annotator: User) -> None:
    episode = records.make_episode()
    services.decide(episode=episode, by=annotator, decision="approve")
    services.decide(episode=episode, by=annotator, decision="reject", reason=reason())
    assert Review.objects.count() == 2
    assert Review.objects.standing_now().get().decision == "reject"


def test_two_people_who_disagree_are_open_and_not_trained_on(annotator: User, other: User) -> None:
    episode = records.make_episode("passed")
    services.decide(episode=episode, by=annotator, decision="approve")
    assert list(Episode.objects.trainable()) == [episode]
    services.decide(episode=episode, by=other, decision="reject", reason=reason("false_pass"))
    episode.refresh_from_db()
    assert episode.standing == Episode.Standing.OPEN
    assert not Episode.objects.trainable().exists()


def test_a_decision_made_without_seeing_anothers_is_not_taken(annotator: User, other: User) -> None:
    episode = records.make_episode()
    seen = services.reviewing.reviewing.seen_token([])
    services.decide(episode=episode, by=other, decision="approve", seen=seen)
    with pytest.raises(Refused, match="ben approved it"):
        services.decide(episode=episode, by=annotator, decision="approve", seen=seen)
    assert Review.objects.count() == 1


def test_another_version_of_the_verifier_asks_to_look_again(annotator: User) -> None:
    with pytest.raises(Refused, match="another version"):
        services.decide(episode=records.make_episode(), by=annotator, decision="approve", verifier="old")


@pytest.mark.parametrize(("decision", "code", "note", "says"), [
    ("reject", None, "", "needs a reason"), ("approve", "false_fail", "", "no reason to approve"),
    ("reject", "other", " ", "needs a word"), ("maybe", None, "", "no decision"),
])
def test_decide_refuses_with_a_sentence(annotator: User, decision: str, code: str | None, note: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        services.decide(episode=records.make_episode(), by=annotator, decision=decision, note=note,
                        reason=reason(code) if code else None)


def test_what_broke_on_our_side_is_not_judged(annotator: User) -> None:
    with pytest.raises(Refused, match="no verdict"):
        services.decide(episode=records.make_episode("infrastructure", verifier=""), by=annotator, decision="approve")


def test_undo_brings_the_item_back_and_only_for_its_author(annotator: User, other: User) -> None:
    episode = records.make_episode()
    review = services.decide(episode=episode, by=annotator, decision="approve")
    with pytest.raises(Refused, match="Only the person"):
        services.undo(review=review, by=other)
    services.undo(review=review, by=annotator)
    episode.refresh_from_db()
    assert episode.standing == Episode.Standing.WAITING
    assert list(waiting_for(ALL, annotator)) == [episode]


def test_two_reviewers_get_different_items(annotator: User, other: User) -> None:
    first, second = records.make_episode(), records.make_episode()
    assert services.next_waiting(chosen=ALL, user=annotator) == first
    assert services.next_waiting(chosen=ALL, user=other) == second
    Episode.objects.update(reserved_until=timezone.now() - timedelta(seconds=1))
    assert services.next_waiting(chosen=ALL, user=other) == first


def test_a_skipped_item_waits_for_others_only(annotator: User, other: User) -> None:
    episode = records.make_episode()
    services.decide(episode=episode, by=annotator, decision="skip")
    assert services.next_waiting(chosen=ALL, user=annotator) is None
    assert services.next_waiting(chosen=ALL, user=other) == episode
    assert list(waiting_for(EpisodeFilter(reviewed="skipped"), annotator)) == [episode]


def test_a_disagreement_is_listed_for_all_and_reopened_for_a_third(annotator: User, other: User) -> None:
    episode = records.make_episode()
    services.decide(episode=episode, by=annotator, decision="approve")
    services.decide(episode=episode, by=other, decision="reject", reason=reason())
    disputed = EpisodeFilter(reviewed="open")
    assert list(waiting_for(disputed, annotator)) == [episode]
    assert services.next_waiting(chosen=disputed, user=annotator) is None
    assert services.next_waiting(chosen=disputed, user=person("cleo", "annotator")) == episode


# ---- bulk

def bulk(preview: services.BulkPreview, by: User, **fields: Any) -> int:
    return services.bulk_decide(**{
        "chosen": preview.chosen, "by": by, "decision": "approve", "until": preview.until, "pin": preview.pin,
        "bulk": preview.bulk,
    } | fields)


def test_the_preview_says_what_the_filter_holds(annotator: User) -> None:
    calendar = records.make_task(slug="calendar")
    for kind in ("passed", "passed", "failed", "infrastructure"):
        records.make_episode(kind, task=calendar)
    records.make_episode("passed")
    preview = services.bulk_preview(chosen=EpisodeFilter(domain="calendar"), user=annotator)
    assert (preview.count, preview.outcomes, preview.domains) == (3, (("passed", 2), ("failed", 1)), (("Calendar", 3),))


def test_a_bulk_decision_is_about_the_set_of_its_preview_and_undone_whole(annotator: User) -> None:
    first = [records.make_episode("passed") for _ in range(3)]
    preview = services.bulk_preview(chosen=EpisodeFilter(outcome="passed"), user=annotator)
    late = records.make_episode("passed")
    assert bulk(preview, annotator) == 3
    assert bulk(preview, annotator) == 3, "pressed twice it is done once"
    assert Review.objects.count() == 3
    late.refresh_from_db()
    assert late.standing == Episode.Standing.WAITING, "what ended later is not swept in"
    assert services.bulk_undo(bulk=preview.bulk, by=annotator) == 3
    assert {e.standing for e in Episode.objects.filter(pk__in=[e.pk for e in first])} == {"waiting"}


def test_a_set_that_changed_since_the_preview_is_refused(annotator: User) -> None:
    episodes = [records.make_episode("passed") for _ in range(2)]
    preview = services.bulk_preview(chosen=ALL, user=annotator)
    services.decide(episode=episodes[0], by=annotator, decision="approve")
    with pytest.raises(Refused, match="set changed"):
        bulk(preview, annotator)


def test_a_bulk_rejection_needs_a_reason_as_a_single_one_does(annotator: User) -> None:
    records.make_episode("passed")
    preview = services.bulk_preview(chosen=ALL, user=annotator)
    with pytest.raises(Refused, match="needs a reason"):
        bulk(preview, annotator, decision="reject")
    assert bulk(preview, annotator, decision="reject", reason=reason("false_pass")) == 1
