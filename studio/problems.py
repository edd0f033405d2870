"""Pages for what went wrong: not allowed, not there, broken. Each says what to do, and what to search the log for."""

from __future__ import annotations

import logging
import secrets

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

logger = logging.getLogger("studio.pages")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(
        request,
        "studio/problem.html",
        {
            "title": "Not allowed",
            "says": str(exception) or "Your account may not do this.",
            "how": "Ask an administrator for the group.",
        },
        status=403,
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(
        request,
        "studio/problem.html",
        {
            "title": "Nothing here",
            "says": f"There is no page at {request.path}, or what it showed is gone.",
            "how": "Search with / or go on from the list on the left.",
        },
        status=404,
    )


def broken(request: HttpRequest) -> HttpResponse:
    reference = secrets.token_hex(4)
    logger.error("page broke, reference %s: %s", reference, request.path)
    return render(
        request,
        "studio/problem.html",
        {
            "title": "This page broke",
            "says": "The fault is ours, and what you did may not have been saved.",
            "how": f"Go back and try again; if it stays, search the log for {reference}.",
        },
        status=500,
    )
