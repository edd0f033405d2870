"""Environment variables: read typed, or the start ends with a sentence. Nothing falls back in silence."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from studio import variables


@pytest.mark.parametrize("value", ["eighty", "0", "70000", "-1", "8.5"])
def test_a_number_that_is_none_stops_the_start(monkeypatch, value) -> None:
    monkeypatch.setenv("PORT", value)
    with pytest.raises(ImproperlyConfigured, match="PORT="):
        variables.whole_number("PORT", 8000, 1, 65535)


def test_an_empty_variable_is_an_unset_one(monkeypatch) -> None:
    monkeypatch.setenv("PORT", " ")
    assert variables.whole_number("PORT", 8000, 1, 65535) == 8000


def test_a_switch_is_yes_or_no(monkeypatch) -> None:
    monkeypatch.setenv("BEHIND_TLS", "perhaps")
    with pytest.raises(ImproperlyConfigured, match="neither yes nor no"):
        variables.switch("BEHIND_TLS", False)


def test_the_secret_key_is_made_once_and_kept_private(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    first = variables.secret_key(tmp_path)
    assert first == variables.secret_key(tmp_path)
    assert len(first) > 50
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["secret_key"]


def test_a_folder_that_can_not_be_made_is_named(monkeypatch, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "file" / "below"))
    with pytest.raises(ImproperlyConfigured, match="can't be made"):
        variables.folder("DATA_DIR", tmp_path)


def test_postgresql_is_read_from_its_url() -> None:
    found = variables.database("postgresql://me:p%40ss@db.example:5433/studio?sslmode=require", Path("x"))
    assert (found["NAME"], found["PASSWORD"], found["HOST"], found["PORT"]) == ("studio", "p@ss", "db.example", "5433")
    assert found["OPTIONS"] == {"pool": True, "sslmode": "require"}


@pytest.mark.parametrize("url", ["mysql://x/y", "postgresql://host", "sqlite://"])
def test_a_database_that_is_not_known_is_refused(url) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        variables.database(url, Path("x"))


def test_redis_urls_are_spelled_for_both_clients() -> None:
    assert variables.redis_urls("unix:///run/x.sock") == ("unix:///run/x.sock", "redis+socket:///run/x.sock")
    assert variables.redis_urls("redis://h:1/0") == ("redis://h:1/0", "redis://h:1/0")
    with pytest.raises(ImproperlyConfigured, match="REDIS_URL"):
        variables.redis_urls("amqp://x")


def test_a_long_data_dir_gets_a_short_folder_for_sockets(tmp_path) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    found = variables.run_folder(long)
    assert len(str(found / "kernels.sock")) < 108
    assert variables.run_folder(long) == found
    found.rmdir()
