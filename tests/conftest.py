"""Fixtures for all tests: people with their groups, and a client signed in as one of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client


@pytest.fixture(autouse=True)
def _no_stale_counts() -> None:
    cache.clear()


def person(name: str, group: str) -> User:
    user = User.objects.create_user(name, password="correct horse battery")
    user.groups.add(Group.objects.get_or_create(name=group)[0])
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
def client_of() -> Callable[[User], Client]:
    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client
    return signed_in
