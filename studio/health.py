"""/healthz: this process answers. /readyz: it can do its work (database migrated, broker there)."""

from __future__ import annotations

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


def database_problem() -> str:
    """What keeps the database from serving; "" when nothing does."""
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return f"the database does not answer: {error}"
    return f"{len(pending)} migrations are not applied; run `python manage.py migrate`" if pending else ""


def broker_problem() -> str:
    try:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
        with client:
            client.ping()
    except redis.RedisError as error:
        return f"the broker at {settings.REDIS_URL.split('@')[-1]} does not answer: {error}"
    return ""


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    found = {"database": database_problem(), "broker": broker_problem()}
    problems = {name: problem for name, problem in found.items() if problem}
    return JsonResponse({"ready": not problems, "problems": problems}, status=503 if problems else 200)
