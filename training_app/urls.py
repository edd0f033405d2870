"""Addresses of the training pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from training_app.views import evaluations, exports, runs, snapshots

urlpatterns: list[URLPattern] = [
    path("snapshots/", snapshots.snapshots, name="snapshots"),
    path("snapshots/create/", snapshots.snapshot_create, name="snapshot_create"),
    path("snapshots/<slug:digest>/", snapshots.snapshot, name="snapshot"),
    path("runs/", runs.runs, name="runs"),
    path("runs/new/", runs.run_new, name="run_new"),
    path("runs/<uuid:pk>/", runs.run, name="run"),
    path("runs/<uuid:pk>/cancel/", runs.run_cancel, name="run_cancel"),
    path("runs/<uuid:pk>/resume/", runs.run_resume, name="run_resume"),
    path("runs/<uuid:pk>/metrics.jsonl", runs.run_metrics, name="run_metrics"),
    path("checkpoints/base/", runs.base_create, name="base_create"),
    path("evaluations/", evaluations.evaluations, name="evaluations"),
    path("evaluations/new/", evaluations.evaluation_new, name="evaluation_new"),
    path("evaluations/<uuid:pk>/", evaluations.evaluation, name="evaluation"),
    path("evaluations/<uuid:pk>/cancel/", evaluations.evaluation_cancel, name="evaluation_cancel"),
    path("evaluations/<uuid:pk>/resume/", evaluations.evaluation_resume, name="evaluation_resume"),
    path("exports/", exports.exports, name="exports"),
    path("exports/create/", exports.export_create, name="export_create"),
    path("exports/<uuid:pk>/", exports.export, name="export"),
]
