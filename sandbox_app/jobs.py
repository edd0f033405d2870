"""Celery jobs of the sandbox, and the kernel host that the worker of the queue `sandbox` keeps as its child."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celery import shared_task
from celery.signals import worker_init, worker_shutdown
from django.conf import settings

from sandbox_app.hostkeeper import HostKeeper
from sandbox_app.models import Episode

QUEUE = "sandbox"
_keepers: list[HostKeeper] = []      # of this process: at most one


@shared_task(acks_late=True, ignore_result=True)
def run_episode_job(episode_id: str) -> None:
    from sandbox_app.services import run

    episode = Episode.objects.select_related("task__environment").filter(pk=episode_id).first()
    if episode is not None:
        run(episode=episode)


@worker_init.connect
def start_host(sender: Any = None, **_: Any) -> None:
    """Only the worker that consumes the sandbox queue owns kernels."""
    if QUEUE not in sender.app.amqp.queues.consume_from:
        return
    from sandbox_app.kernels.host import spawn

    keeper = HostKeeper(lambda: spawn(Path(settings.KERNEL_SOCKET), settings.SANDBOX_SLOTS))
    keeper.start()
    _keepers.append(keeper)


@worker_shutdown.connect
def stop_host(**_: Any) -> None:
    while _keepers:
        _keepers.pop().stop()
