"""Who may do what: three groups, each including the one before it, enforced on the server.

annotator  sees everything, runs episodes, reviews
curator    regenerates tasks, makes task sets, uses the admin of tasks
engineer   trains, evaluates, exports, makes tokens
A superuser may do all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponseBase

from tasks_app.errors import Refused

LADDER = ("annotator", "curator", "engineer")
View = Callable[..., HttpResponseBase]


def rank(user: AbstractBaseUser | AnonymousUser) -> int:
    """0 for nobody, 1 annotator, 2 curator, 3 engineer or superuser. One query a user object."""
    if not user.is_authenticated or not user.is_active:
        return 0
    known = getattr(user, "_studio_rank", None)
    if known is None:
        names = set() if user.is_superuser else set(user.groups.values_list("name", flat=True))  # type: ignore[attr-defined]
        known = (
            len(LADDER) if user.is_superuser else max((LADDER.index(n) + 1 for n in names if n in LADDER), default=0)
        )  # type: ignore[attr-defined]
        user._studio_rank = known  # type: ignore[attr-defined]
    return known


def role(user: AbstractBaseUser | AnonymousUser) -> str:
    """What the top bar calls the person: the highest group, or "no group"."""
    level = rank(user)
    return LADDER[level - 1] if level else "no group"


def may(user: AbstractBaseUser | AnonymousUser, group: str) -> bool:
    return rank(user) > LADDER.index(group)


def check_group(user: AbstractBaseUser | AnonymousUser, group: str) -> None:
    """Raise Refused (403) that says who may."""
    if not may(user, group):
        allowed = " or ".join(LADDER[LADDER.index(group) :])
        raise Refused(
            f"This needs the group {allowed}.",
            where=f"signed in as {user} ({role(user)})",
            how="Ask an administrator to add you to the group, in the admin under Users.",
            status=403,
        )


def require_group(group: str) -> Callable[[View], View]:
    """Decorator of a view: `@require_group("curator")`. Others get a 403 page that says who may."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            check_group(request.user, group)
            return view(request, *args, **kwargs)

        return checked

    return decorate
