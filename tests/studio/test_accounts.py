"""Accounts: one-time links, tokens that are shown once and can be revoked, groups kept by the server."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from studio.accounts import ensure_owner
from studio.models import ApiToken, SignInLink
from tasks_app.permissions import may, role


def signed_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def test_a_link_signs_in_once(db) -> None:
    secret = SignInLink.objects.issue(ensure_owner())
    first, second = Client(), Client()
    first.get(f"/sign-in/{secret}/")
    answer = second.get(f"/sign-in/{secret}/", follow=True)
    assert signed_in(first)
    assert not signed_in(second)
    assert b"used already or is too old" in answer.content


def test_an_old_link_signs_nobody_in(db) -> None:
    secret = SignInLink.objects.issue(ensure_owner())
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    client = Client()
    client.get(f"/sign-in/{secret}/")
    assert not signed_in(client)


def test_the_database_holds_no_secret(db) -> None:
    link = SignInLink.objects.issue(ensure_owner())
    _, token = ApiToken.objects.issue(user=ensure_owner(), name="t", scopes=["read"])
    assert link not in str(SignInLink.objects.values())
    assert token not in str(ApiToken.objects.values())


def test_a_link_can_be_printed_for_an_account(db, capsys, curator) -> None:
    call_command("sign_in_link", "cur")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/sign-in/[\w-]+/\n", capsys.readouterr().out)
    with pytest.raises(CommandError, match="no active account"):
        call_command("sign_in_link", "nobody")


def test_password_sign_in_and_out(annotator) -> None:
    client = Client()
    wrong = client.post("/sign-in/", {"username": "ann", "password": "no"})
    assert b"Please enter a correct" in wrong.content
    client.post("/sign-in/", {"username": "ann", "password": "correct horse battery"})
    assert signed_in(client)
    client.post("/sign-out/")
    assert not signed_in(client)


def test_the_ladder_includes_what_is_below(annotator, curator, engineer) -> None:
    assert [role(user) for user in (annotator, curator, engineer)] == ["annotator", "curator", "engineer"]
    assert may(engineer, "annotator")
    assert not may(annotator, "curator")
    assert may(ensure_owner(), "engineer")


def make_token(client: Client, *scopes: str) -> str:
    text = client.post("/tokens/", {"name": "my script", "scopes": scopes}).content.decode()
    found = re.search(r'<code id="secret">(studio_[\w-]+)</code>', text)
    assert found, text
    return found.group(1)


def asked(secret: str, path: str = "/api/v1/tasks", method: str = "get", **kwargs):
    return getattr(Client(), method)(path, headers={"Authorization": f"Bearer {secret}"}, **kwargs)


def test_a_token_is_shown_once_works_and_can_be_revoked(client_of, annotator, task) -> None:
    client = client_of(annotator)
    secret = make_token(client, "read")
    assert secret not in client.get("/tokens/").content.decode()
    assert asked(secret).json()["total"] == 1
    client.post(f"/tokens/{ApiToken.objects.get().pk}/revoke/")
    answer = asked(secret)
    assert answer.status_code == 401
    assert {"what", "where", "how", "reference"} <= set(answer.json())


def test_only_an_engineer_makes_a_token_that_exports(client_of, annotator, engineer) -> None:
    assert b"Only engineers" in client_of(annotator).post("/tokens/", {"name": "x", "scopes": ["export"]}).content
    assert make_token(client_of(engineer), "export")


def test_nobody_revokes_the_token_of_another(client_of, annotator, curator) -> None:
    make_token(client_of(annotator), "read")
    token = ApiToken.objects.get()
    assert client_of(curator).post(f"/tokens/{token.pk}/revoke/").status_code == 404


def test_scopes_and_groups_are_kept_for_tokens_too(client_of, annotator, curator, task) -> None:
    path, size = f"/api/v1/tasks/{task.key}/regenerations", {"rows": 100, "files": 6}
    send = {"method": "post", "data": size, "content_type": "application/json"}
    reads = asked(make_token(client_of(annotator), "read"), path, **send)
    assert reads.status_code == 403
    assert "may not write" in reads.json()["what"]
    writes = asked(make_token(client_of(annotator), "write"), path, **send)
    assert writes.status_code == 403
    assert "curator or engineer" in writes.json()["what"]
    secret = make_token(client_of(curator), "write")
    first, second = asked(secret, path, **send), asked(secret, path, **send)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]


def test_a_token_for_a_program_is_printed_by_command(db, capsys, task) -> None:
    ensure_owner()
    call_command("api_token", "nightly", "--scopes", "read,export")
    assert asked(capsys.readouterr().out.strip()).json()["total"] == 1
    with pytest.raises(CommandError, match="no scope"):
        call_command("api_token", "x", "--scopes", "admin")
