"""Addresses: accounts, health and the overview here; each app brings its own."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path

from studio import accounts, dashboard, health, search
from studio.api import api

urlpatterns = [
    path("", dashboard.overview, name="overview"),
    path("search/", search.search, name="search"),
    path("sign-in/", accounts.sign_in, name="sign_in"),
    path("sign-in/<str:secret>/", accounts.sign_in_by_link, name="sign_in_by_link"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("tokens/", accounts.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", accounts.token_revoke, name="token_revoke"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
    path("", include("tasks_app.urls")),
    path("", include("sandbox_app.urls")),
    path("", include("training_app.urls")),
]

handler403 = "studio.problems.forbidden"
handler404 = "studio.problems.not_found"
handler500 = "studio.problems.broken"
