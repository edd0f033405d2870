"""The admin of the sandbox: records are seen and never changed there; reasons are edited."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sandbox_app.models import ReviewReason
from tests.sandbox_app import records

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def test_episodes_and_reviews_are_seen_and_not_changed(root: Client) -> None:
    episode = records.make_episode("failed", whole=True)
    assert episode.task.title in root.get(reverse("admin:sandbox_app_episode_changelist")).content.decode()
    assert root.get(reverse("admin:sandbox_app_episode_change", args=[episode.pk])).status_code == 200
    assert root.post(reverse("admin:sandbox_app_episode_change", args=[episode.pk]), {"seed": 1}).status_code == 403
    assert root.get(reverse("admin:sandbox_app_review_changelist")).status_code == 200
    assert root.get(reverse("admin:sandbox_app_review_add")).status_code == 403


def test_reasons_are_seeded_and_edited(root: Client) -> None:
    assert list(ReviewReason.objects.values_list("key", flat=True)) == list(range(1, 10))
    reason = ReviewReason.objects.get(code="other")
    url = reverse("admin:sandbox_app_reviewreason_change", args=[reason.pk])
    sent = {"code": "other", "label": "Something else", "key": 9, "applies_to": "both"}
    assert root.post(url, sent).status_code == 302
    reason.refresh_from_db()
    assert reason.label == "Something else"
