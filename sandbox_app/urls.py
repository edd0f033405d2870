"""Addresses of episodes and reviews."""

from __future__ import annotations

from django.urls import URLPattern, path

from sandbox_app import views

urlpatterns: list[URLPattern] = [
    path("episodes/", views.episodes, name="episodes"),
    path("episodes/<uuid:pk>/", views.episode, name="episode"),
    path("episodes/<uuid:pk>/review/", views.review_decide, name="review_decide"),
    path("episodes/<uuid:pk>/interrupt/", views.episode_interrupt, name="episode_interrupt"),
    path("episodes/<uuid:pk>/cancel/", views.episode_cancel, name="episode_cancel"),
    path("episodes/<uuid:pk>/retry/", views.episode_retry, name="episode_retry"),
    path("tasks/<str:key>/run/", views.episode_run, name="episode_run"),
    path("review/", views.review_queue, name="review_queue"),
    path("review/next/", views.review_next, name="review_next"),
    path("review/bulk/", views.review_bulk, name="review_bulk"),
    path("review/bulk/<uuid:bulk>/undo/", views.review_bulk_undo, name="review_bulk_undo"),
    path("review/<int:pk>/undo/", views.review_undo, name="review_undo"),
]
