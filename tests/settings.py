"""Settings of the tests: the studio's own, with a temporary DATA_DIR, no broker and nothing started."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="studio-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
for _name in ("DATABASE_URL", "REDIS_URL", "KERNEL_SOCKET", "ALLOWED_HOSTS", "PORT", "BEHIND_TLS", "TRUSTED_ORIGINS"):
    os.environ.pop(_name, None)
os.environ["DATA_DIR"] = _folder
os.environ["SECRET_KEY"] = "only-for-tests"

if _url := os.environ.get("TEST_DATABASE_URL"):          # to run the tests on PostgreSQL
    os.environ["DATABASE_URL"] = _url

from studio.settings import *  # noqa: E402, F403

ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
# A file, as in real use: the in-memory database of tests locks whole tables between threads.
if not _url:
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
CELERY_BROKER_URL = "memory://"
CELERY_RESULT_BACKEND = "cache+memory://"
