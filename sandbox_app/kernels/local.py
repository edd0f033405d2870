"""LocalHost: sessions whose kernels are children of this process, for commands, tests and the host itself.

A `KernelSession` is one confined kernel, its tool server and its workspace. At most four kernels start at once in a
process (a start is a second of CPU; hundreds together time each other out).

Time-out: SIGINT, 2 s, SIGINT, 2 s, SIGKILL. Whoever reads the result learns whether the variables survived. A kernel
that ends is the policy's doing when it exited, crashed, ran out of memory or had started or signalled processes; a
SIGKILL out of nowhere is ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox_app.errors import KernelKilledFromOutside, SessionLost, StartFailed
from sandbox_app.kernels import provisioner, workspace
from sandbox_app.kernels.cell import Cell, End, first
from sandbox_app.kernels.isolation import CHANNEL, Confined, Ended
from sandbox_app.kernels.output import Output, capped, strip_ansi
from sandbox_app.kernels.session import SessionSpec
from sandbox_app.kernels.variables import compare
from sandbox_app.toolserver import toolbox
from sandbox_app.toolserver.server import StepRecord, ToolServer
from sandbox_app.trajectories import Call, CellOutcome, CellResult, FileChange
from tasks_app.environments.state import State

_STARTS = 4
_GRACE = 2.0
_DESCRIBED = 0.5
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)
_BRIDGE = (Path(__file__).resolve().parent.parent / "toolserver" / "bridge.py").read_text()
_gates: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()


def _gate() -> asyncio.Semaphore:
    """The start gate of this event loop."""
    return _gates.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_STARTS))


class LocalHost:
    """Opens sessions in this process. `tier`: see `isolation`."""

    def __init__(self, tier: str | None = None) -> None:
        self._tier = tier

    async def open(self, spec: SessionSpec) -> KernelSession:
        async with _gate():
            return await KernelSession.start(spec, self._tier)


class KernelSession:
    """One episode's kernel, tools and workspace in this process; see `session.Session`."""

    def __init__(self, spec: SessionSpec, manager: provisioner.EpisodeKernelManager, confined: Confined) -> None:
        self._spec, self._limits = spec, spec.limits
        self._manager, self._confined = manager, confined
        self._client = manager.client()
        self._loop = asyncio.get_running_loop()
        self._cell: Cell | None = None
        self._fault = asyncio.Event()
        self._variables: dict[str, list[Any]] = {}
        self._server = ToolServer(
            confined.channel, toolbox.load(spec.package, spec.tools), spec.state, spec.limits.calls,
            self._on_fault,
        )
        self._pump: asyncio.Task[None] | None = None
        self._closed = self._over = False

    def _on_fault(self) -> None:
        self._loop.call_soon_threadsafe(self._fault.set)

    @classmethod
    async def start(cls, spec: SessionSpec, tier: str | None = None) -> KernelSession:
        """Raises `NoIsolation`, `StartFailed`; nothing is left behind then."""
        manager, confined = await provisioner.start(spec.limits, spec.seed, tier)
        try:
            session = cls(spec, manager, confined)
        except BaseException:
            await confined.close()
            provisioner.release(manager)
            raise
        try:
            workspace.write(confined.workspace, spec.state.files, confined.uid)
            async with asyncio.timeout(spec.limits.start_seconds):
                await session._become_ready()
        except TimeoutError:
            log = confined.log()
            await session.close()
            raise StartFailed(f"the kernel did not answer within {spec.limits.start_seconds:g} s: {log}") from None
        except BaseException:
            await session.close()
            raise
        return session

    async def _become_ready(self) -> None:
        """Wait for the kernel's sockets, subscribe, and send the bridge in."""
        self._server.start()
        waiting = asyncio.create_task(self._first_sign())
        await first(None, sign=waiting, dead=self._confined.ended)
        if not waiting.done():
            waiting.cancel()
            raise StartFailed(f"the kernel {self._confined.ended.result()} at its start: {self._confined.log()}")
        waiting.result()
        names = json.dumps(list(self._spec.tools))
        code = (
            f"__import__('sys').modules['_bridge'] = __import__('types').ModuleType('_bridge')\n"
            f"exec(compile({_BRIDGE!r}, '<bridge>', 'exec'), __import__('sys').modules['_bridge'].__dict__)\n"
            f"__import__('sys').modules['_bridge'].install(get_ipython(), {names}, {self._spec.seed}, {CHANNEL}, "
            f"{self._limits.output})\n"
        )
        end = await self._run(code, silent=True, seconds=self._limits.start_seconds)
        if end != "idle" or self._cell is None or self._cell.error is not None:
            reason = self._cell.error.traceback if self._cell is not None and self._cell.error is not None else end
            raise StartFailed(f"the bridge did not enter the kernel: {reason}")
        self._cell = None

    async def _first_sign(self) -> None:
        """Until the subscription stands: the kernel answers on both of its channels."""
        while not _there("k-1", self._confined.run) or not _there("k-2", self._confined.run):
            await asyncio.sleep(0.005)
        self._client.start_channels(stdin=False, hb=False)
        heard = False
        while not heard:
            self._client.kernel_info()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    await self._client.iopub_channel.get_msg(timeout=None)
                    heard = True
        self._pump = asyncio.create_task(self._take_messages())

    async def _take_messages(self) -> None:
        """Hand the kernel's messages to the cell that runs; replies carry nothing that is not in them."""
        while True:
            try:
                message = await self._client.iopub_channel.get_msg(timeout=None)
            except (ValueError, KeyError, TypeError):
                continue  # no message of the protocol: code in the kernel has written to its sockets
            if self._cell is not None:
                self._cell.take(message)

    async def execute(
        self,
        code: str,
        *,
        on_output: Callable[[str], None] | None = None,
        on_call: Callable[[Call], None] | None = None,
    ) -> CellResult:
        """See `session.Session`. Raises the fault that ended the episode, and `SessionLost` after `close`."""
        self._check()
        if self._confined.ended.done():
            return self._dead_already()
        begun = time.monotonic()
        before = workspace.scan(self._confined.workspace)
        self._server.begin_step(self._in_loop(on_call))
        end = await self._run(code, silent=False, seconds=self._limits.cell_seconds, on_output=on_output)
        survived = await self._settle(end)
        self._over = not survived
        record = await asyncio.to_thread(self._server.end_step)
        self._raise_fault()
        cell, self._cell = self._cell, None
        if cell is None:
            raise SessionLost("the session was closed while a cell was running")
        after = workspace.scan(self._confined.workspace)
        files = workspace.changes(self._confined.workspace, before, after)
        return self._result(cell, end, survived, record, files, (time.monotonic() - begun) * 1_000)

    def _in_loop(self, on_call: Callable[[Call], None] | None) -> Callable[[Call], None] | None:
        """The server calls from its own thread; whoever watches is called in the event loop."""
        if on_call is None:
            return None
        watching = on_call

        def heard(call: Call) -> None:
            self._loop.call_soon_threadsafe(watching, call)

        return heard

    async def _run(
        self, code: str, *, silent: bool, seconds: float, on_output: Callable[[str], None] | None = None,
    ) -> End:
        message = self._client.session.msg("execute_request", {
            "code": code, "silent": silent, "store_history": not silent, "user_expressions": {},
            "allow_stdin": False, "stop_on_error": True,
        })
        request = message["header"]["msg_id"]
        self._cell = Cell(request, Output(self._limits.output), on_output)
        self._client.shell_channel.send(message)
        events: dict[str, Any] = {
            "fault": self._fault, "idle": self._cell.done, "dead": self._confined.ended, "flood": self._cell.flooded,
        }
        found = await first(seconds, **events)
        return found or "late"  # type: ignore[return-value]

    async def _settle(self, end: End) -> bool:
        """Bring the kernel to rest after a cell; whether its variables survived."""
        if end in ("idle", "flood") and self._cell is not None and self._cell.done.is_set():
            await asyncio.to_thread(self._server.described.wait, _DESCRIBED)
            return True
        if end in ("dead", "fault") or self._cell is None:
            return False
        for _ in range(2):
            self._confined.signal(signal.SIGINT)
            found = await first(_GRACE, idle=self._cell.done, dead=self._confined.ended)
            if found == "idle":
                return True
            if found == "dead":
                return False
        self._confined.signal(signal.SIGKILL)
        await first(_GRACE, dead=self._confined.ended)
        return False

    def _raise_fault(self) -> None:
        if self._server.fault is not None:
            raise self._server.fault
        if self._closed:
            raise SessionLost("the session is closed")

    def _check(self) -> None:
        self._raise_fault()
        if self._over:
            raise SessionLost("the kernel has ended in an earlier cell")

    def _dead_already(self) -> CellResult:
        """The kernel ended between two cells, by what an earlier one had left running. Raises as `_death` does."""
        outcome, detail = self._death(self._confined.ended.result())
        self._over = True
        self._variables, variables = compare(self._variables, [])
        return CellResult(outcome, "", "", None, (), variables, (), (), 0.0, state_survived=False,
                          detail=f"{detail}, between two cells")

    def _result(
        self, cell: Cell, end: End, survived: bool, record: StepRecord, files: tuple[FileChange, ...], spent: float,
    ) -> CellResult:
        outcome, detail = self._outcome(cell, end, survived, record)
        text = cell.output.text()
        self._variables, variables = compare(self._variables, record.variables if survived else [])
        return CellResult(
            outcome=outcome, stdout=text, returned=capped(strip_ansi(text), self._limits.returned_characters),
            error=cell.error, calls=record.calls, variables=variables, rows=record.rows, files=files,
            milliseconds=spent, state_survived=survived, detail=detail,
        )

    def _outcome(self, cell: Cell, end: End, survived: bool, record: StepRecord) -> tuple[CellOutcome, str]:
        limits = self._limits
        if end == "late":
            return "timeout", f"the cell ran longer than {limits.cell_seconds:g} s"
        printed_out = cell.error is not None and cell.error.name == "OutputLimit"
        if end == "flood" or cell.output.over or printed_out:
            return "output_limit", f"the cell printed more than {limits.output:,} bytes"
        if end == "dead" or not survived:
            return self._death(self._confined.ended.result())
        if record.violation:
            return "protocol_error", record.violation
        if cell.error is not None and cell.error.name.endswith("MemoryError"):
            return "oom", f"the limit is {_mib(limits.memory)}, the peak so far {_mib(record.peak)}"
        return ("error" if cell.error is not None else "ok"), ""

    def _death(self, ended: Ended) -> tuple[CellOutcome, str]:
        """Raises `KernelKilledFromOutside` when nothing in the episode can have ended the kernel."""
        starved = ended.signal in _CRASHES and ended.peak > 0.75 * self._limits.memory  # C code met the limit
        if ended.oom or starved:
            return "oom", f"the limit is {_mib(self._limits.memory)}, the peak was {_mib(ended.peak)}"
        if ended.status is None or (ended.signal == signal.SIGKILL and not self._server.evidence):
            raise KernelKilledFromOutside(f"the kernel was ended by nothing in its episode: {ended}")
        why = f" after {self._server.evidence}" if self._server.evidence else ""
        return "kernel_dead", f"the kernel {ended}{why}"

    @property
    def pid(self) -> int:
        """The launcher's pid: the root of all processes of this session."""
        return self._confined.pid

    async def interrupt(self) -> None:
        self._confined.signal(signal.SIGINT)

    async def state(self) -> State:
        """Also after the kernel's end. Raises `WorkspaceOverflow`."""
        self._raise_fault()
        files = workspace.read(self._confined.workspace, self._limits.workspace)
        return State(await asyncio.to_thread(self._server.image), files)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._pump is not None:
            self._pump.cancel()
        await self._confined.close()
        self._client.stop_channels()
        provisioner.release(self._manager)
        await asyncio.to_thread(self._server.close)
        self._cell = None


def _there(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _mib(size: int) -> str:
    return f"{size / 1024**2:,.0f} MiB"
