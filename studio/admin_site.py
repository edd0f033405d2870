"""The admin site: open to curators and engineers; what they may change there is what their group's rights say."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.sites import UnfoldAdminSite

from tasks_app.permissions import check_group, may


class StudioAdminSite(UnfoldAdminSite):
    def has_permission(self, request: HttpRequest) -> bool:
        return may(request.user, "curator")

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one sign-in page, the studio's; who is signed in and still comes here may not enter."""
        check_group(request.user, "curator")
        return redirect(request.GET.get("next") or "admin:index")
