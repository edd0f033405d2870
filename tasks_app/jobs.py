"""Jobs of the tasks app, on the queue cpu (settings route them): ids in, the row decides."""

from __future__ import annotations

from celery import shared_task

from tasks_app.models import Regeneration


@shared_task(acks_late=True, ignore_result=True)
def regenerate(regeneration_id: str) -> None:
    """Grow and prove one environment."""
    from tasks_app.services import regenerations

    regenerations.run(Regeneration.objects.select_related("task__environment").get(pk=regeneration_id))
