"""The frame of every page: sign-in wall, policy, overview, health, search."""

from __future__ import annotations

import pytest
from django.test import Client


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
