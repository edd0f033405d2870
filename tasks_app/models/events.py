"""Events of live pages: rows with a sequence number a stream, so that a reload or a lost socket loses nothing."""

from __future__ import annotations

from django.db import models


class Event(models.Model):
    """`stream` names what is watched ("episode:<id>", "run:<id>", "regeneration:<id>"); `seq` rises by one in it."""

    stream = models.CharField(max_length=80)
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    data = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["stream", "seq"]
        constraints = [models.UniqueConstraint(fields=["stream", "seq"], name="event_seq_once_per_stream")]

    def __str__(self) -> str:
        return f"{self.stream} #{self.seq} {self.kind}"
