"""Celery jobs of the training app, on the queues gpu and cpu (settings route them). The row decides; a job delivered
twice finds it taken.
"""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from training_app.models import Evaluation, Export, TrainingRun


@shared_task(acks_late=True, ignore_result=True)
def train_job(run_id: str) -> None:
    from training_app.services import supervise

    run = TrainingRun.objects.filter(pk=run_id).first()
    if run is not None:
        supervise(run)


@shared_task(acks_late=True, ignore_result=True)
def evaluate_job(evaluation_id: str) -> None:
    from training_app.services import supervise

    evaluation = Evaluation.objects.filter(pk=evaluation_id).first()
    if evaluation is not None:
        supervise(evaluation)


@shared_task(acks_late=True, ignore_result=True)
def export_job(export_id: str) -> None:
    from training_app.services import write_export

    export = Export.objects.filter(pk=export_id).first()
    if export is not None:
        write_export(export)


@worker_shutting_down.connect
def worker_ends(**_: Any) -> None:
    """Let the loops over subprocesses return: the subprocesses themselves go on, or are stopped by `up`."""
    from training_app.services.supervising import WORKER_ENDS

    WORKER_ENDS.set()
