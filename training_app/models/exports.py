"""Export: episodes chosen by a filter, written as hashed parts of JSON lines with a manifest."""

from __future__ import annotations

from django.db import models

from tasks_app.models import LeasedJob


class Export(LeasedJob):
    """`parts` is read by `exporting.parts_of`: [{name, rows, bytes, sha256}], complete when the job has succeeded."""

    filters = models.JSONField(default=dict)
    folder = models.CharField(max_length=300, blank=True)  # relative to DATA_DIR
    rows_count = models.PositiveIntegerField(default=0)
    parts = models.JSONField(default=list)
    digest = models.CharField(max_length=64, blank=True)  # sha256 of the manifest
    launch_key = models.CharField(max_length=64, unique=True)  # one press of one form is one export

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"export {str(self.pk)[:8]}"

    @property
    def stream(self) -> str:
        return f"export:{self.pk}"
