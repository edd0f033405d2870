"""HostKeeper: keeps the kernel host alive beside the sandbox worker, as its child, and ends it with the worker.

A host that dies is started again after a pause that grows while it keeps dying. Limits: it watches one process by
its exit alone; a host that hangs is noticed by the episodes' start deadline, as an infrastructure outcome.
"""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from sandbox_app.errors import StartFailed

logger = logging.getLogger(__name__)
PAUSES = (0.2, 1.0, 3.0, 10.0)
STEADY = 30.0                        # seconds of life after which an earlier death is forgotten
GRACE = 5.0


class HostKeeper:
    """`spawn` starts the host and returns its process."""

    def __init__(self, spawn: Callable[[], subprocess.Popen[Any]]) -> None:
        self._spawn = spawn
        self._stopping = threading.Event()
        self._process: subprocess.Popen[Any] | None = None
        self._thread = threading.Thread(target=self._keep, name="kernel-host", daemon=True)

    @property
    def process(self) -> subprocess.Popen[Any] | None:
        """The host as it runs now; None before the start, or while it can't be started."""
        return self._process

    def start(self) -> None:
        """Start the host, and go on trying when it can't be: episodes say meanwhile that no host answers."""
        self._process = self._try()
        self._thread.start()

    def stop(self) -> None:
        """End the host, by force after GRACE seconds; idempotent."""
        self._stopping.set()
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _keep(self) -> None:
        deaths = 0
        while not self._stopping.is_set():
            started = time.monotonic()
            process = self._process
            code = process.wait() if process is not None else None
            if self._stopping.is_set():
                return
            deaths = 0 if time.monotonic() - started > STEADY else deaths
            pause = PAUSES[min(deaths, len(PAUSES) - 1)]
            deaths += 1
            logger.error("the kernel host ended with %s; it is started again in %s s", code, pause)
            if self._stopping.wait(pause):
                return
            self._process = self._try()

    def _try(self) -> subprocess.Popen[Any] | None:
        try:
            return self._spawn()
        except (OSError, StartFailed) as error:
            logger.error("the kernel host can't be started: %s", error)
            return None
