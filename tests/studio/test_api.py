"""/api/v1: lists in pages, details with programs, problems that say what, where and how."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from studio.api import NUL
from studio.models import ApiToken
from tasks_app.services.content import load_folders
from tests.factory import library


@pytest.fixture
def get(annotator):
    _, secret = ApiToken.objects.issue(user=annotator, name="t", scopes=["read"])
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    return client.get


def test_the_list_gives_every_task_once_over_its_pages(get) -> None:
    load_folders([library(Path(settings.DATA_DIR), tasks=7)])
    seen, query = [], "?limit=3"
    while query:
        page = get(f"/api/v1/tasks{query}").json()
        seen += [item["key"] for item in page["items"]]
        query = page["next"]
    assert len(seen) == len(set(seen)) == page["total"] == 7


def test_filters_are_those_of_the_page(get, task) -> None:
    assert get("/api/v1/tasks?operator=filter").json()["total"] == 1
    assert get("/api/v1/tasks?tier=primer").json()["total"] == 0


def test_a_task_comes_with_programs_scales_and_plan(get, task) -> None:
    body = get(f"/api/v1/tasks/{task.key}").json()
    assert body["verifier"].startswith("def verify")
    assert [scale["name"] for scale in body["scales"]] == ["v0", "v1", "v2", "v3"]
    assert body["plan"]["domain"] == "library"


def test_environments_carry_their_tools(get, task) -> None:
    digest = get("/api/v1/environments").json()[0]["digest"]
    assert get(f"/api/v1/environments/{digest}").json()["tools"][0]["name"] == "books_list"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/tasks/none", 404),
        ("/api/v1/regenerations/not-an-id", 422),
        ("/api/v1/tasks?limit=x", 422),
        ("/api/v1/tasks?after=%21%21", 400),
    ],
)
def test_problems_say_what_where_and_how(get, db, path, status) -> None:
    answer = get(path)
    assert answer.status_code == status
    assert {"what", "where", "how"} <= set(answer.json())


def test_the_documentation_page_loads_nothing_from_elsewhere(client_of, annotator) -> None:
    answer = client_of(annotator).get("/api/v1/docs")
    assert answer.status_code == 200
    assert b"cdn." not in answer.content


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"note": "\\ud800"}', b'{"a": [{"\\u0000": 1}]}', b"[" * 50_000])
def test_a_body_that_can_not_be_read_or_kept_is_refused_with_a_word(annotator, task, body) -> None:
    _, secret = ApiToken.objects.issue(user=annotator, name="t", scopes=["write"])
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    answer = client.post("/api/v1/episodes", body, content_type="application/json")
    assert answer.status_code == 400
    assert {"what", "where", "how", "reference"} <= set(answer.json())


def test_text_that_only_spells_a_nul_is_taken() -> None:
    assert not NUL.search(rb'"\\u0000"')
    assert NUL.search(rb'"\\\u0000"')
