"""Readers of environment variables: each gives a typed value or stops the start with what, where and what to do.

A setting that is there but can't be read is never replaced by its default.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str) -> str:
    value = os.environ.get(name, "").strip()
    return value or default


def whole_number(name: str, default: int, low: int, high: int) -> int:
    raw = os.environ.get(name, "").strip()
    if not raw:
        return default
    if not raw.isdecimal() or not low <= int(raw) <= high:
        raise ImproperlyConfigured(f"{name}={raw!r} is not a whole number from {low} to {high}; change it or unset it")
    return int(raw)


def switch(name: str, default: bool) -> bool:
    raw = os.environ.get(name, "").strip().lower()
    if not raw:
        return default
    if raw in ("1", "true", "yes", "on"):
        return True
    if raw in ("0", "false", "no", "off"):
        return False
    raise ImproperlyConfigured(f"{name}={raw!r} is neither yes nor no; write 1 or 0, or unset it")


def names(name: str, default: list[str]) -> list[str]:
    raw = os.environ.get(name, "").strip()
    return [part.strip() for part in raw.split(",") if part.strip()] if raw else default


def folder(name: str, default: Path) -> Path:
    """An absolute folder, made when missing. Fails when it can't be made or written to."""
    path = Path(os.environ.get(name, "").strip() or default).expanduser().resolve()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}={path} can't be made ({error.strerror}); choose another folder") from error
    if not os.access(path, os.W_OK):
        raise ImproperlyConfigured(f"{name}={path} can't be written to; choose another folder or change its rights")
    return path


def secret_key(data_dir: Path) -> str:
    """SECRET_KEY, or the one kept in DATA_DIR, which the first start makes (mode 0600, written in one step)."""
    given = os.environ.get("SECRET_KEY", "").strip()
    if given:
        return given
    kept = data_dir / "secret_key"
    if not kept.exists():
        fresh = data_dir / f"secret_key.{os.getpid()}"
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_urlsafe(50))
        try:
            os.link(fresh, kept)  # the first of two processes wins, the other one reads it
        except FileExistsError:
            pass  # made meanwhile by the other one: what is kept counts
        finally:
            fresh.unlink()
    return kept.read_text().strip()


SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}


def database(url: str, default_file: Path) -> dict[str, object]:
    """DATABASE_URL as Django's dictionary: "" (SQLite in DATA_DIR), sqlite:///path or postgresql://user:pw@host/name."""
    if not url:
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": default_file, "OPTIONS": SQLITE_OPTIONS}
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        path = unquote(parts.path[1:] if parts.path.startswith("//") else parts.path)
        if not path or path == "/":
            raise ImproperlyConfigured(f"DATABASE_URL={url!r} names no file; write sqlite:////absolute/path.sqlite3")
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": path, "OPTIONS": SQLITE_OPTIONS}
    if parts.scheme in ("postgres", "postgresql"):
        name = unquote(parts.path.lstrip("/"))
        if not name:
            raise ImproperlyConfigured(
                "DATABASE_URL names no database; write postgresql://user:password@host:5432/name"
            )
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": name,
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "CONN_MAX_AGE": 0,
            "OPTIONS": {"pool": True, **dict(parse_qsl(parts.query))},
        }
    raise ImproperlyConfigured(f"DATABASE_URL begins with {parts.scheme!r}; the studio knows sqlite and postgresql")


def run_folder(data_dir: Path) -> Path:
    """Where sockets lie. A socket's path must stay under 108 bytes, so a long DATA_DIR gets a private short folder."""
    inside = data_dir / "run"
    if len(os.fsencode(inside)) > 80:
        name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
        inside = Path(tempfile.gettempdir()) / f"studio-{os.getuid()}-{name}"
    inside.mkdir(mode=0o700, exist_ok=True)
    if inside.stat().st_uid != os.getuid():
        raise ImproperlyConfigured(f"{inside} belongs to another user; remove it or choose a shorter DATA_DIR")
    return inside


def redis_urls(url: str) -> tuple[str, str]:
    """REDIS_URL for redis-py and channels, and the same for Celery, which spells sockets redis+socket://."""
    parts = urlsplit(url)
    if parts.scheme in ("redis", "rediss"):
        return url, url
    if parts.scheme == "unix" and parts.path:
        return url, f"redis+socket://{parts.path}"
    raise ImproperlyConfigured(f"REDIS_URL={url!r} must begin with redis://, rediss:// or unix:///")
