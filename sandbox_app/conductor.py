"""Conductor: runs one episode on an event loop in a thread of its own, and hands over what it sees.

The loop runs kernels and policies and must never touch the database; the job's own thread writes rows and must never
wait for a kernel. Between them lies a queue. The job takes observations in batches, a few a second, and may ask for an
interrupt of the running cell or for the end of the whole episode.

Limits: printed text of a step beyond OUTPUT_BUDGET characters is not handed over live (it is in the step, once ended).
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from sandbox_app.kernels.session import Session, SessionSpec
from sandbox_app.trajectories import Call, Step, Trajectory

OUTPUT_BUDGET = 64_000
CUT = "\n… more is printed; the whole is shown when the cell has ended\n"


class Host(Protocol):
    async def open(self, spec: SessionSpec) -> Session:
        """A session on a kernel of its own."""


@dataclass(frozen=True, slots=True)
class StepStarted:
    index: int
    message: str
    code: str | None


@dataclass(frozen=True, slots=True)
class Printed:
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class Called:
    index: int
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class StepEnded:
    step: Step


Observation = StepStarted | Printed | Called | StepEnded


class Watched:
    """A Host that remembers the session it opened last, so that its cell can be interrupted from outside."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.session: Session | None = None

    async def open(self, spec: SessionSpec) -> Session:
        self.session = await self._host.open(spec)
        return self.session


class Feed:
    """The episode's Observer: puts what it is told into the queue, printed text up to its budget a step."""

    def __init__(self, seen: queue.SimpleQueue[Observation]) -> None:
        self._seen = seen
        self._left = OUTPUT_BUDGET

    def on_step_started(self, index: int, message: str, code: str | None) -> None:
        self._left = OUTPUT_BUDGET
        self._seen.put(StepStarted(index, message, code))

    def on_output(self, index: int, text: str) -> None:
        if self._left <= 0:
            return
        part = text[: self._left]
        self._left -= len(part)
        self._seen.put(Printed(index, part if self._left > 0 else part + CUT))

    def on_call(self, index: int, call: Call) -> None:
        self._seen.put(Called(index, (call,)))

    def on_step(self, step: Step) -> None:
        self._seen.put(StepEnded(step))


Start = Callable[[Watched, Feed], Coroutine[Any, Any, Trajectory]]


class Conductor:
    """Use: `start()`, then `take()` until `done`, then `result()`, which raises what the episode raised."""

    def __init__(self, start: Start, host: Host) -> None:
        self._seen: queue.SimpleQueue[Observation] = queue.SimpleQueue()
        self._watched = Watched(host)
        self._start = start
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Trajectory] | None = None
        self._cancelled = False
        self._trajectory: Trajectory | None = None
        self._raised: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="episode", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def take(self, wait: float) -> list[Observation]:
        """What was seen, after `wait` seconds; printed texts, and calls, that follow each other are joined."""
        time.sleep(wait)
        found: list[Observation] = []
        while not self._seen.empty():
            item = self._seen.get()
            last = found[-1] if found else None
            if isinstance(item, Printed) and isinstance(last, Printed) and last.index == item.index:
                found[-1] = Printed(item.index, last.text + item.text)
            elif isinstance(item, Called) and isinstance(last, Called) and last.index == item.index:
                found[-1] = Called(item.index, last.calls + item.calls)
            else:
                found.append(item)
        return found

    def interrupt(self) -> None:
        """Ask the running cell to stop; the episode goes on."""
        session, loop = self._watched.session, self._loop
        if session is not None and loop is not None and not loop.is_closed():
            asyncio.run_coroutine_threadsafe(session.interrupt(), loop)

    def cancel(self) -> None:
        """Ask for the end; `result()` then raises asyncio.CancelledError, after the session was closed."""
        self._cancelled = True
        if self._loop is not None and self._task is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)

    def result(self) -> Trajectory:
        self._thread.join()
        if self._raised is not None:
            raise self._raised
        if self._trajectory is None:
            raise RuntimeError("the episode's thread ended without a trajectory")
        return self._trajectory

    def _run(self) -> None:
        try:
            self._trajectory = asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001  (crosses to the job's thread, which raises it in `result`)
            self._raised = error

    async def _main(self) -> Trajectory:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._start(self._watched, Feed(self._seen)))
        if self._cancelled:
            self._task.cancel()
        return await self._task
