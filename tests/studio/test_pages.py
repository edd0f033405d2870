"""The frame of every page: sign-in wall, policy, overview, health, search."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from studio.dashboard import RAIL


@pytest.mark.django_db
def test_a_stranger_is_sent_to_sign_in() -> None:
    answer = Client().get("/")
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in/?next=/"


@pytest.mark.django_db
def test_sign_in_page_opens() -> None:
    assert b"Sign in" in Client().get("/sign-in/").content


def test_overview_opens_without_any_data(client_of, annotator) -> None:
    answer = client_of(annotator).get("/")
    assert answer.status_code == 200
    assert b"Needs a person" in answer.content
    policy = answer["Content-Security-Policy"]
    assert "unsafe-inline" not in policy
    assert "'nonce-" in policy


def test_search_finds_tasks_and_tools_and_shows_hidden_marks(client_of, annotator, task) -> None:
    text = client_of(annotator).get("/search/?q=books").content.decode()
    assert f"/tasks/{task.key}/" in text
    assert "books_list" in text
    assert "<script>alert" not in text
    assert b"Nothing has" in client_of(annotator).get("/search/?q=zebra").content


def test_every_line_of_the_rail_leads_somewhere(client_of, engineer) -> None:
    client = client_of(engineer)
    for entry in RAIL:
        assert client.get(reverse(entry.url_name)).status_code == 200, entry.label


def test_overview_counts_and_says_what_is_next(client_of, annotator, task) -> None:
    text = client_of(annotator).get("/").content.decode()
    assert "1 proven" in text
    assert "press Run" in text


def test_a_wrong_address_teaches(client_of, annotator) -> None:
    answer = client_of(annotator).get("/no/such/page/")
    assert answer.status_code == 404
    assert b"Search with /" in answer.content


@pytest.mark.django_db
def test_healthz_answers_without_sign_in_and_readyz_names_what_is_missing(monkeypatch) -> None:
    assert Client().get("/healthz").status_code == 200
    monkeypatch.setattr("studio.health.broker_problem", lambda: "the broker does not answer")
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["problems"] == {"broker": "the broker does not answer"}


def test_a_refusal_is_a_page_that_says_what_where_and_how(client_of, curator, task) -> None:
    answer = client_of(curator).post(f"/tasks/{task.key}/regenerate/", {"rows": 3, "files": 6})
    assert answer.status_code == 400
    assert b"Choose 10 to 100,000" in answer.content


def test_static_files_come_with_their_type_and_no_warning(db) -> None:
    answer = Client().get("/static/studio/keys.js")
    assert answer.status_code == 200
    assert "javascript" in answer["Content-Type"]


def test_vendored_files_are_those_on_record() -> None:
    call_command("vendor", "--check")
