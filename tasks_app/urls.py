"""Addresses of the tasks app."""

from __future__ import annotations

from django.urls import URLPattern, path

from tasks_app import views

urlpatterns: list[URLPattern] = [
    path("tools/", views.tools, name="tools"),
    path("domains/", views.domains, name="domains"),
    path("domains/<slug:slug>/", views.domain, name="domain"),
    path("environments/", views.environments, name="environments"),
    path("tasks/", views.tasks, name="tasks"),
    path("tasks/<str:key>/", views.task, name="task"),
    path("tasks/<str:key>/forecast/", views.forecast_view, name="forecast"),
    path("tasks/<str:key>/regenerate/", views.regenerate, name="regenerate"),
    path("regenerations/<uuid:pk>/", views.regeneration, name="regeneration"),
    path("regenerations/<uuid:pk>/cancel/", views.regeneration_cancel, name="regeneration_cancel"),
    path("task-sets/", views.task_sets, name="task_sets"),
    path("task-sets/<int:pk>/", views.task_set, name="task_set"),
    path("task-sets/<int:pk>/freeze/", views.task_set_freeze, name="task_set_freeze"),
    path("task-sets/<int:pk>/version/", views.task_set_version, name="task_set_version"),
]
