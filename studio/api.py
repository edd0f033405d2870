"""/api/v1: mounts each app's router behind token auth, and answers problems as what, where and how to mend it."""

from __future__ import annotations

import json
import logging
import re
import secrets
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.parser import Parser
from ninja.security import HttpBearer

from studio.models import ApiToken
from tasks_app.errors import Refused

logger = logging.getLogger("studio.api")
NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")     # as JSON writes it, but not a text that spells it
SEEN_EVERY = timedelta(minutes=1)
ROUTERS = ("tasks_app.api", "sandbox_app.api", "training_app.api")


def scope_of(request: HttpRequest) -> str:
    """What a request needs: export under /exports, write where it changes something, read otherwise."""
    if request.path_info.startswith("/api/v1/exports"):
        return "export"
    return "read" if request.method in ("GET", "HEAD", "OPTIONS") else "write"


class TokenAuth(HttpBearer):
    """`Authorization: Bearer studio_…`. Sets `request.user`, so that groups are checked as on the pages."""

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        found = ApiToken.objects.opened_by(token)
        if found is None:
            return None
        needed = scope_of(request)
        if not found.allows(needed):
            raise Refused(
                f"This token may not {needed}.",
                where=f"token {found}, scopes {', '.join(found.scopes) or 'none'}",
                how="Make one with this scope under API in the studio.",
                status=403,
            )
        now = timezone.now()
        if found.last_used_at is None or now - found.last_used_at > SEEN_EVERY:
            ApiToken.objects.filter(pk=found.pk).update(last_used_at=now)
        request.user = found.user
        return found


class Bodies(Parser):
    """JSON bodies of text that can be kept: half characters (lone surrogates) and NUL are refused at the door."""

    def parse_body(self, request: HttpRequest) -> Any:
        value = super().parse_body(request)
        try:
            text = json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half a character (a lone surrogate)") from None
        if NUL.search(text):
            raise ValueError("a NUL character")
        return value


api = NinjaAPI(
    parser=Bodies(),
    title="Studio",
    version="1",
    auth=TokenAuth(),
    urls_namespace="api_v1",
    description="Everything a page does. Problems come as {what, where, how, reference}.",
)


def problem(request: HttpRequest, status: int, what: str, where: object = "", how: str = "") -> HttpResponse:
    reference = secrets.token_hex(4)
    logger.info("problem %s at %s %s: %s", reference, request.method, request.path, what)
    body = {"what": what, "where": where or request.path, "how": how, "reference": reference}
    return api.create_response(request, body, status=status)


@api.exception_handler(AuthenticationError)
def not_signed_in(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    how = "Send `Authorization: Bearer <token>`; tokens are made under API in the studio."
    return problem(request, 401, "No valid token came with this request.", "header Authorization", how)


@api.exception_handler(Refused)
def refused(request: HttpRequest, error: Refused) -> HttpResponse:
    return problem(request, error.status, error.what, error.where, error.how)


@api.exception_handler(PermissionDenied)
def denied(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return problem(
        request, 403, str(error) or "Your account may not do this.", how="Ask an administrator for the group."
    )


@api.exception_handler(Http404)
def missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(request, 404, "There is nothing at this address.", how="Ask the list for what there is.")


@api.exception_handler(HttpError)
def unreadable(request: HttpRequest, error: HttpError) -> HttpResponse:
    how = "Send JSON in UTF-8, its text without NUL and lone surrogates. See /api/v1/docs."
    cause = error.__cause__
    return problem(request, error.status_code, f"{error}{f': {cause}' if cause else ''}.", how=how)


@api.exception_handler(Exception)
def broken(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("address broke: %s %s", request.method, request.path, exc_info=error)
    return problem(request, 500, "This address broke; the fault is ours.", how="Search the log for the reference.")


@api.exception_handler(ValidationError)
def malformed(request: HttpRequest, error: ValidationError) -> HttpResponse:
    where = [{"field": ".".join(str(part) for part in e["loc"]), "problem": e["msg"]} for e in error.errors]
    return problem(request, 422, "The request does not have the form this address takes.", where, "See /api/v1/docs.")


for name in ROUTERS:
    if find_spec(name) is not None:
        api.add_router("", import_module(name).router)
