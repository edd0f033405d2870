"""Pages of episodes and review: addresses, rights, filters, live state, hostile text, and few queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sandbox_app.models import Episode, Review
from sandbox_app.services import running
from tasks_app.models import JobState
from tasks_app.services import publish
from tests.conftest import person
from tests.sandbox_app import records

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]


@pytest.fixture
def ann(client_of: ClientOf, annotator: User) -> Client:
    return client_of(annotator)


def viewer(episode: Episode, query: str = "") -> str:
    return f"{reverse('episode', args=[episode.pk])}{query}"


def text(response: object) -> str:
    return response.content.decode()  # type: ignore[attr-defined]


# ---- lists

def test_a_filter_in_the_address_narrows_the_list_and_can_be_cleared(ann: Client) -> None:
    records.make_episode("passed", task=records.make_task("Alpha"))
    records.make_episode("failed", task=records.make_task("Beta", slug="calendar"))
    page = text(ann.get(reverse("episodes"), {"outcome": "failed"}))
    assert "Beta" in page
    assert "Alpha" not in page
    assert "outcome failed" in page
    assert "Alpha" in text(ann.get(reverse("episodes"), {"domain": "classroom"}))
    assert "Clear all" in page


@pytest.mark.parametrize(("query", "count"), [
    ({"outcome": "running"}, 1), ({"state": "running"}, 1), ({"reviewed": "waiting"}, 2), ({"scale": "larger"}, 1),
    ({"tier": "primer"}, 1), ({"source": "run"}, 1), ({"q": "beta"}, 1), ({"policy": "scripted"}, 2),
])
def test_each_filter_counts_what_it_says(ann: Client, query: dict[str, str], count: int) -> None:
    records.make_episode("passed", task=records.make_task("Alpha"), scale="r900-f20", source="run:12")
    records.make_episode("failed", task=records.make_task("Beta", tier="primer"))
    records.running_episode()
    assert len(ann.get(reverse("episodes"), query).context["rows"]) == count


def test_an_unknown_filter_value_is_refused_with_the_known_ones(ann: Client) -> None:
    response = ann.get(reverse("episodes"), {"outcome": "nice"})
    assert response.status_code == 400
    assert "passed, failed, stopped" in text(response)


def test_pages_follow_by_key_both_ways_and_lose_nothing(ann: Client) -> None:
    task = records.make_task()
    made = [records.make_episode(task=task) for _ in range(120)]
    Episode.objects.update(created_at=timezone.now())      # equal times: the id decides
    seen: list[Episode] = []
    url = reverse("episodes")
    while url:
        context = ann.get(url).context
        seen += context["rows"]
        last = context
        url = reverse("episodes") + context["older_url"] if context["older_url"] else ""
    assert len(seen) == len(set(seen)) == len(made)
    before = ann.get(reverse("episodes") + last["newer_url"]).context["rows"]
    assert before == seen[50:100]


@pytest.mark.parametrize("name", ["episodes", "review_queue"])
def test_a_list_takes_as_many_queries_for_100_rows_as_for_10(
    ann: Client, name: str, django_assert_max_num_queries: Callable[[int], object],
) -> None:
    for count in (10, 90):
        for _ in range(count):
            records.make_episode()
        ann.get(reverse(name))                             # counts of the rail are cached
        with django_assert_max_num_queries(16):            # type: ignore[attr-defined]
            ann.get(reverse(name))


def test_empty_lists_teach(ann: Client) -> None:
    assert "one attempt of a policy" in text(ann.get(reverse("episodes")))
    assert "Nothing waits for you now" in text(ann.get(reverse("review_queue")))


# ---- viewer

def test_every_step_and_panel_has_its_own_address(ann: Client) -> None:
    episode = records.make_episode("failed", whole=True)
    assert "Post announcements, part 1" in text(ann.get(viewer(episode, "?step=1")))
    page = text(ann.get(viewer(episode, "?step=2&panel=tables")))
    assert "UNAVAILABLE" in page
    assert "Osmosis lab: 5" in page
    assert "missing.csv" in text(ann.get(viewer(episode, "?step=2&panel=files")))
    assert "12 rows expected, 13 found" in text(ann.get(viewer(episode, "?panel=verdict")))
    assert "Traceback" in text(ann.get(viewer(episode, "?step=2&panel=console")))
    assert "Answer to the user" in text(ann.get(viewer(episode, "?step=3")))


def test_results_of_calls_come_on_demand(ann: Client) -> None:
    episode = records.make_episode("failed", whole=True)
    assert "PUBLISHED&quot;}" not in text(ann.get(viewer(episode, "?step=1&panel=variables")))
    assert "PUBLISHED&quot;}" in text(ann.get(viewer(episode, "?step=1&panel=variables&call=1")))


def test_a_criterion_links_to_the_steps_that_touched_what_it_names(ann: Client) -> None:
    episode = records.make_episode("failed", whole=True)
    found = {item.name: item.steps for item in ann.get(viewer(episode, "?panel=verdict")).context["evidence"]}
    assert found == {
        "announcement: inserted": (1, 2), "missing.csv": (1, 2), "answer": (3,), "nothing else changed": (),
    }


def test_next_error_and_next_difference_are_one_key_away(ann: Client) -> None:
    context = ann.get(viewer(records.make_episode(whole=True), "?step=1")).context
    assert "step=2" in context["next_error"]
    assert "step=2" in context["next_difference"]


@pytest.mark.parametrize("query", ["?step=99", "?panel=nope", "?step=x"])
def test_an_address_that_is_none_says_so(ann: Client, query: str) -> None:
    assert ann.get(viewer(records.make_episode(whole=True), query)).status_code == 404


def test_a_module_gets_the_viewer_alone(ann: Client) -> None:
    page = text(ann.get(viewer(records.make_episode(whole=True)), headers={"HX-Request": "true"}))
    assert page.strip().startswith("<div id=\"viewer\"")
    assert "<html" not in page


def test_a_missing_blob_is_said_and_the_rest_is_shown(ann: Client) -> None:
    episode = records.make_episode("failed", whole=True)
    episode.steps.update(body="0" * 64)
    page = text(ann.get(viewer(episode)))
    assert "can&#x27;t be read" in page or "can't be read" in page
    assert "Post announcements, part 2" in page


def test_hostile_text_is_shown_and_never_run(ann: Client) -> None:
    evil = records.EVIL
    outcome = records.result(
        stdout=evil, returned=evil, calls=(records.call(text=evil), records.call("x", ok=False, text=evil)),
        variables=(records.Variable(evil, evil, evil, evil, "new"),),
        rows=(records.RowChange(evil, {"id": evil}, None, {evil: evil}),),
        files=(records.FileChange(evil, "added", 1, evil),),
        error=records.CellError(evil, evil, evil), outcome="error",
    )
    step = records.Step(1, evil, f"print('{evil}')", outcome)
    record = records.trajectory("failed", steps=(step,), answer=evil,
                                criteria=({"name": evil, "passed": False, "detail": evil},))
    episode = records.make_episode("failed", whole=True, record=record, task=records.make_task(evil, instruction=evil))
    for panel in ("variables", "tables", "files", "verdict", "console"):
        page = text(ann.get(viewer(episode, f"?step=1&panel={panel}&call=1&whole=1")))
        assert "<script>alert" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "&lt;script&gt;alert" in page
        assert not re.search(r'="[^"]*<span class="hidden-mark', page), "marks stand in text, never in attributes"
    assert "\u202e" not in text(ann.get(reverse("episodes")))


def test_no_page_has_inline_script_or_style(ann: Client) -> None:
    episode = records.make_episode("failed", whole=True)
    for url in (viewer(episode), reverse("episodes"), reverse("review_queue"), reverse("review_bulk"),
                reverse("episode_run", args=[episode.task.key])):
        page = text(ann.get(url))
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page), url


def test_a_running_episode_shows_after_a_reload_what_was_printed(ann: Client) -> None:
    episode = records.running_episode()
    running.record_step(episode=episode, step=records.steps(3)[0])
    publish(episode.stream, "step_started", {"index": 2, "code": "print('slow')"})
    event = publish(episode.stream, "output", {"index": 2, "text": "line one\n"})
    response = ann.get(viewer(episode))
    page = text(response)
    assert "line one" in page
    assert "data-following" in page
    assert f'data-after="{event.seq}"' in page
    assert "data-following" not in text(ann.get(viewer(episode, "?step=1"))), "the reader stepped back"


def test_a_queued_episode_is_no_endless_spinner(ann: Client) -> None:
    episode = Episode.objects.create(task=records.make_task(), scale="v0", rows=1, files=1, seed=1, policy="reference")
    page = text(ann.get(viewer(episode)))
    assert "Queued" in page
    assert "Cancel episode" in page


def test_an_infrastructure_outcome_says_that_it_is_never_scored(ann: Client) -> None:
    page = text(ann.get(viewer(records.make_episode("infrastructure", whole=True), "?panel=verdict")))
    assert "broke on our side" in page
    assert "reward 0" not in page
    assert "Try again" in page


# ---- what people ask of one that runs

def test_run_makes_one_episode_however_often_it_is_pressed(ann: Client) -> None:
    task = records.make_task()
    sent = {"scale": "v1", "policy": "no_op", "request_key": "k1"}
    first, second = (ann.post(reverse("episode_run", args=[task.key]), sent) for _ in range(2))
    assert first.url == second.url  # type: ignore[attr-defined]
    assert Episode.objects.get().source == "person"


def test_run_shows_what_is_wrong_and_keeps_what_was_typed(ann: Client) -> None:
    task = records.make_task()
    response = ann.post(reverse("episode_run", args=[task.key]), {"scale": "v9", "policy": "no_op", "seed": "41"})
    assert response.status_code == 400
    assert 'value="41"' in text(response)


def test_interrupt_and_cancel_reach_the_row(ann: Client) -> None:
    episode = records.running_episode()
    ann.post(reverse("episode_interrupt", args=[episode.pk]))
    ann.post(reverse("episode_cancel", args=[episode.pk]))
    episode.refresh_from_db()
    assert (episode.interrupts_asked, episode.cancel_asked) == (1, True)


@pytest.mark.parametrize("name", ["episode_interrupt", "episode_cancel", "episode_retry", "review_decide"])
def test_changing_needs_a_group_and_a_post(client_of: ClientOf, name: str) -> None:
    episode = records.running_episode()
    nobody = client_of(User.objects.create_user("nobody"))
    assert nobody.post(reverse(name, args=[episode.pk])).status_code == 403
    assert client_of(person("ben", "annotator")).get(reverse(name, args=[episode.pk])).status_code == 405
    assert nobody.get(viewer(episode)).status_code == 200, "everybody who is signed in may look"


def test_without_signing_in_nothing_is_shown(client: Client) -> None:
    assert client.get(viewer(records.make_episode())).status_code == 302


# ---- review

def test_review_next_opens_the_oldest_and_holds_it(ann: Client, client_of: ClientOf) -> None:
    first, second = records.make_episode(whole=True), records.make_episode(whole=True)
    assert str(first.pk) in ann.get(reverse("review_next")).url  # type: ignore[attr-defined]
    ben = client_of(person("ben", "annotator"))
    assert str(second.pk) in ben.get(reverse("review_next")).url  # type: ignore[attr-defined]
    assert "ann has this open" in text(ben.get(viewer(first, "?review=1")))


def decide(client: Client, episode: Episode, query: str = "", **sent: str) -> object:
    page = client.get(viewer(episode, "?review=1"))
    defaults = {"seen": page.context["seen"], "verifier": episode.verifier}
    return client.post(reverse("review_decide", args=[episode.pk]) + query, defaults | sent)


def test_a_decision_opens_the_next_one_with_the_same_filter(ann: Client) -> None:
    first = records.make_episode("failed", whole=True)
    records.make_episode("passed", whole=True)
    third = records.make_episode("failed", whole=True)
    response = decide(ann, first, "?review=1&outcome=failed", decision="approve")
    assert str(third.pk) in response.url  # type: ignore[attr-defined]
    assert "outcome=failed" in response.url  # type: ignore[attr-defined]
    assert "Undo" in text(ann.get(response.url))  # type: ignore[attr-defined]


def test_a_rejection_without_reason_keeps_the_note(ann: Client) -> None:
    response = decide(ann, records.make_episode(whole=True), decision="reject", note="row 8 is right")
    assert response.status_code == 400  # type: ignore[attr-defined]
    assert "needs a reason" in text(response)
    assert "row 8 is right" in text(response)


def test_what_somebody_judged_meanwhile_is_shown_before_one_decides(ann: Client, client_of: ClientOf) -> None:
    episode = records.make_episode(whole=True)
    seen = ann.get(viewer(episode)).context["seen"]
    decide(client_of(person("ben", "annotator")), episode, decision="approve")
    sent = {"decision": "reject", "reason": "false_fail", "seen": seen, "verifier": episode.verifier}
    response = ann.post(reverse("review_decide", args=[episode.pk]), sent)
    assert response.status_code == 409
    assert "ben approved it" in text(response)
    decide(ann, episode, decision="reject", reason="false_fail")
    assert "people disagree" in text(ann.get(viewer(episode)))


def test_undo_returns_to_the_item(ann: Client) -> None:
    episode = records.make_episode(whole=True)
    decide(ann, episode, decision="approve")
    response = ann.post(reverse("review_undo", args=[Review.objects.get().pk]))
    assert str(episode.pk) in response.url  # type: ignore[attr-defined]
    assert "no longer counts" in text(ann.get(response.url))  # type: ignore[attr-defined]


def test_an_empty_queue_says_so(ann: Client) -> None:
    assert "Nothing else waits" in text(ann.get(reverse("review_next"), follow=True))


def test_a_filtered_list_is_approved_in_bulk_after_its_preview_and_undone(ann: Client) -> None:
    for kind in ("passed", "passed", "failed"):
        records.make_episode(kind)
    url = reverse("review_bulk") + "?outcome=passed"
    page = ann.get(url)
    assert "Decide on 2 verdicts" in text(page)
    preview = page.context["preview"]
    sent = {"decision": "approve", "until": preview.until.isoformat(), "pin": preview.pin, "bulk": preview.bulk}
    records.make_episode("passed")
    done = ann.post(url, sent, follow=True)
    assert "2 verdicts approved" in text(done)
    assert ann.post(url, sent).status_code == 302
    assert Review.objects.count() == 2
    ann.post(reverse("review_bulk_undo", args=[preview.bulk]))
    assert not Episode.objects.exclude(standing="waiting").exists()


def test_a_selection_is_previewed_alone(ann: Client) -> None:
    chosen, _ = records.make_episode("passed"), records.make_episode("passed")
    assert ann.get(reverse("review_bulk"), {"id": str(chosen.pk)}).context["preview"].count == 1
    assert ann.get(reverse("review_bulk"), {"id": "nonsense"}).status_code == 400


def test_the_viewer_takes_few_queries(ann: Client, django_assert_max_num_queries: Callable[[int], object]) -> None:
    episode = records.make_episode("failed", whole=True, record=records.trajectory(count=30))
    ann.get(viewer(episode))
    with django_assert_max_num_queries(22):                # type: ignore[attr-defined]
        ann.get(viewer(episode, "?step=9"))


def test_a_lost_reservation_ends_by_itself(ann: Client, client_of: ClientOf) -> None:
    episode = records.make_episode(whole=True)
    ann.get(viewer(episode, "?review=1"))
    Episode.objects.update(reserved_until=timezone.now() - timedelta(seconds=1))
    ben = client_of(person("ben", "annotator"))
    assert "has this open" not in text(ben.get(viewer(episode, "?review=1")))


def test_a_cancelled_episode_has_no_reward(ann: Client) -> None:
    episode = records.make_episode("failed", outcome="", reward=None, state=JobState.CANCELLED, criteria=[])
    assert "cancelled" in text(ann.get(viewer(episode)))


@pytest.mark.parametrize("until", [
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-12-01T00:00:00", "nonsense",
])
def test_a_bulk_decision_of_an_impossible_time_is_refused(client_of, annotator, until: str) -> None:
    answer = client_of(annotator).post("/review/bulk/", {
        "decision": "approve", "until": until, "pin": "x", "bulk": "00000000-0000-4000-8000-000000000000",
    })
    assert answer.status_code in (400, 409)
