"""Fixtures for all tests: people with their groups, and a client signed in as one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client

from studio.accounts import ensure_groups
from tasks_app.models import Task
from tasks_app.services.content import load_folders
from tests.factory import library


@pytest.fixture(autouse=True)
def _no_stale_counts() -> None:
    cache.clear()


def person(name: str, group: str) -> User:
    ensure_groups()
    user = User.objects.create_user(name, password="correct horse battery")
    user.groups.add(Group.objects.get(name=group))
    return user


@pytest.fixture
def annotator(db: None) -> User:
    return person("ann", "annotator")


@pytest.fixture
def curator(db: None) -> User:
    return person("cur", "curator")


@pytest.fixture
def engineer(db: None) -> User:
    return person("eng", "engineer")


@pytest.fixture
def task(db: None) -> Task:
    """A small task over a small library, loaded as rows."""
    load_folders([library(Path(settings.DATA_DIR))])
    return Task.objects.get()


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in
