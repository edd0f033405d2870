"""Holding a LeasedJob while it runs: a thread renews the lease, and a lost lease stops the work's writing.

    with lease(job, worker) as held:
        if held is None: return            # somebody else has it, or it has ended
        for part in …:
            held.check()                   # raises LeaseLost, or Cancelled when a person asked for it
            held.progress(0.4)

Limit: the thread can't interrupt work that never calls `check`; its writes are refused by the fence all the same.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from tasks_app.models.jobs import HEARTBEAT, LeasedJob, LeaseLost


class Cancelled(Exception):
    """A person asked for this job to end."""


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


class Held:
    """A claimed job. `job` is the row as claimed; `lost` becomes true when a heartbeat was refused."""

    def __init__(self, job: LeasedJob) -> None:
        self.job = job
        self.lost = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"lease-{job.pk}", daemon=True)

    def _beat(self) -> None:
        try:
            while not self._stop.wait(HEARTBEAT.total_seconds()):
                self.job.heartbeat()
        except LeaseLost:
            self.lost.set()
        finally:
            connection.close()  # this thread's own connection

    def check(self) -> None:
        """Raise LeaseLost when another worker has the job, Cancelled when its end was asked for."""
        if self.lost.is_set():
            raise LeaseLost(f"{type(self.job).__name__} {self.job.pk} was taken over")
        asked = type(self.job)._default_manager.filter(pk=self.job.pk).values_list("cancel_asked", flat=True).first()
        if asked:
            raise Cancelled(f"{type(self.job).__name__} {self.job.pk} was cancelled")

    def progress(self, share: float) -> None:
        self.job.heartbeat(progress=share)

    def __enter__(self) -> Held:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@contextmanager
def lease(job: LeasedJob, worker: str = "") -> Iterator[Held | None]:
    """Claim `job` and keep it alive. Gives None when it can't be claimed."""
    if not job.claim(worker or worker_name()):
        yield None
        return
    with Held(job) as held:
        yield held
