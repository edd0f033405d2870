"""/api/v1 of episodes, steps, verdicts and reviews, with tokens."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sandbox_app.models import Episode, Review
from studio.models import ApiToken
from tests.sandbox_app import records

pytestmark = pytest.mark.django_db


def client_with(user: User, *scopes: str) -> Client:
    _, opened = ApiToken.objects.issue(user=user, name="t", scopes=list(scopes))
    return Client(headers={"Authorization": f"Bearer {opened}"})


@pytest.fixture
def api(annotator: User) -> Client:
    return client_with(annotator, "read", "write")


def get(api: Client, path: str, **query: Any) -> Any:
    response = api.get(f"/api/v1{path}", query)
    assert response.status_code == 200, response.content
    return response.json()


def test_episodes_page_by_key_and_take_the_pages_filters(api: Client) -> None:
    task = records.make_task()
    for _ in range(5):
        records.make_episode("passed", task=task)
    records.make_episode("failed", task=task)
    first = get(api, "/episodes", outcome="passed", limit=3)
    second = get(api, "/episodes", outcome="passed", limit=3, after=first["next"])
    assert [len(first["items"]), len(second["items"]), second["next"]] == [3, 2, None]
    assert len({item["id"] for item in first["items"] + second["items"]}) == 5


def test_an_episode_its_steps_and_its_verdict_are_read_whole(api: Client) -> None:
    episode = records.make_episode("failed", whole=True)
    assert get(api, f"/episodes/{episode.pk}")["reward"] == 0.0
    assert [row["index"] for row in get(api, f"/episodes/{episode.pk}/steps")] == [1, 2, 3]
    assert get(api, f"/episodes/{episode.pk}/steps/2")["result"]["error"]["name"] == "ToolError"
    assert len(get(api, f"/episodes/{episode.pk}/verdict")["criteria"]) == 4
    assert len(get(api, "/verdicts")["items"]) == 1


def test_unscored_is_null_never_zero(api: Client) -> None:
    episode = records.make_episode("infrastructure", whole=True)
    assert get(api, f"/episodes/{episode.pk}")["reward"] is None
    assert get(api, "/verdicts")["items"] == []


def test_a_review_over_the_api_is_the_same_as_on_the_page(api: Client) -> None:
    episode = records.make_episode("failed")
    body = {"decision": "reject", "reason": "false_fail", "note": "row 8", "verifier": records.VERIFIER}
    sent = [api.post(f"/api/v1/episodes/{episode.pk}/reviews", body, content_type="application/json") for _ in range(2)]
    assert [response.status_code for response in sent] == [201, 201]
    assert Review.objects.count() == 1
    review = sent[0].json()
    assert get(api, f"/reviews/{review['id']}")["reason"] == "false_fail"
    api.post(f"/api/v1/reviews/{review['id']}/undo")
    assert get(api, "/reviews", episode=episode.pk)["items"][0]["undone_at"]
    assert Episode.objects.get().standing == "waiting"


def test_problems_say_what_and_how(api: Client) -> None:
    episode = records.make_episode("failed")
    body = {"decision": "reject", "verifier": records.VERIFIER}
    response = api.post(f"/api/v1/episodes/{episode.pk}/reviews", body, content_type="application/json")
    assert response.status_code == 400
    assert "needs a reason" in response.json()["what"]


def test_a_token_that_may_only_read_changes_nothing(annotator: User) -> None:
    episode = records.make_episode("failed")
    body = {"decision": "approve", "verifier": records.VERIFIER}
    reader = client_with(annotator, "read")
    path = f"/api/v1/episodes/{episode.pk}/reviews"
    assert reader.post(path, body, content_type="application/json").status_code == 403
    nobody = client_with(User.objects.create_user("visitor"), "read", "write")
    assert nobody.post(path, body, content_type="application/json").status_code == 403
    assert Client().get("/api/v1/episodes").status_code == 401


def test_an_episode_is_started_once_for_one_key(api: Client) -> None:
    task = records.make_task()
    body = {"task": task.key, "scale": "v0", "policy": "reference", "request_key": "once"}
    ids = {api.post("/api/v1/episodes", body, content_type="application/json").json()["id"] for _ in range(2)}
    assert len(ids) == 1


def post(api: Client, path: str, body: Any = None) -> Any:
    return api.post(f"/api/v1{path}", body, content_type="application/json")


def test_a_bulk_decision_over_the_api_is_previewed_pinned_and_undone(api: Client) -> None:
    for kind in ("passed", "passed", "failed"):
        records.make_episode(kind)
    preview = get(api, "/bulk-reviews/preview", outcome="passed")
    assert (preview["count"], preview["outcomes"]) == (2, {"passed": 2})
    body = {"decision": "approve", **{name: preview[name] for name in ("until", "pin", "bulk")}}
    assert post(api, "/bulk-reviews?outcome=failed", body).status_code == 409, "another filter is another set"
    done = [post(api, "/bulk-reviews?outcome=passed", body).json()["count"] for _ in range(2)]
    assert done == [2, 2]
    assert Review.objects.count() == 2
    assert post(api, f"/bulk-reviews/{preview['bulk']}/undo").json()["count"] == 2


def test_interrupt_cancel_and_retry_over_the_api(api: Client) -> None:
    running, broken = records.running_episode(), records.make_episode("infrastructure")
    assert post(api, f"/episodes/{running.pk}/interrupt").status_code == 200
    assert post(api, f"/episodes/{running.pk}/cancel").status_code == 200
    running.refresh_from_db()
    assert (running.interrupts_asked, running.cancel_asked) == (1, True)
    assert post(api, f"/episodes/{broken.pk}/retry").json()["state"] == "queued"
    assert post(api, f"/episodes/{broken.pk}/interrupt").status_code == 409
