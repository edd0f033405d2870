"""Tool server: answers the calls of one kernel from the host's side, one thread an episode.

What counts is kept here, out of the kernel's reach: the gate (no calls outside a running cell), the quota, the record
of calls, the tables. A call runs within a savepoint, so that one that is refused leaves nothing behind. An exception
that is no `ToolError` ends the episode as a fault of ours; it is not answered. Whatever a kernel sends, or leaves
unread, holds up its own thread only: nothing is sent while the lock is held.

Limits: a tool that does not come back is waited for after its cell's end, then ends the episode as a fault of ours; its
thread can't be stopped from outside, only what SQLite does for it.
"""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import apsw

from sandbox_app.errors import SandboxFault, ToolFault
from sandbox_app.toolserver import protocol
from sandbox_app.toolserver.database import Database
from sandbox_app.toolserver.toolbox import Toolbox
from sandbox_app.trajectories import Call, RowChange
from tasks_app.environments.state import State

_PREVIEW = 2_000
_NAME = 80
_ARGUMENT_BYTES = 64 * 1024**2      # of all calls of an episode together
_PATIENCE = 10.0                    # seconds for the call under way when its cell has ended
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What the server saw during one cell. `violation` names a broken protocol, "" when there was none."""

    calls: tuple[Call, ...]
    rows: tuple[RowChange, ...]
    variables: list[list[Any]] | None
    peak: int
    violation: str


class ToolServer:
    """`on_fault` is called from the server's thread, once."""

    def __init__(
        self, channel: socket.socket, toolbox: Toolbox, state: State, quota: int, on_fault: Callable[[], None],
    ) -> None:
        self._channel = channel
        self._toolbox = toolbox
        self._database = Database(state.image)
        self._quota = quota
        self._on_fault = on_fault
        self._lock = threading.RLock()
        self._on_call: Callable[[Call], None] | None = None
        self._running = False
        self._calls: list[Call] = []
        self._total = self._taken = 0
        self._tool = ""             # the tool that runs now
        self._variables: list[list[Any]] | None = None
        self._peak = 0
        self._violation = ""
        self._ended = False
        self.fault: SandboxFault | None = None
        self.evidence = ""          # why the kernel's death may be its own doing
        self.described = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="tool-server", daemon=True)

    def start(self) -> None:
        channel, self._channel = self._channel, self._channel.dup()
        del channel  # closed by its owner; ours is closed in `close`
        self._channel.setblocking(True)
        self._thread.start()

    def begin_step(self, on_call: Callable[[Call], None] | None) -> None:
        """Open the gate for a cell. The kernel lives: if its end of the channel is closed, that is its own doing."""
        with self._lock:
            if self._ended:
                self.evidence = self.evidence or "closing the tool channel"
            self._calls, self._variables, self._on_call = [], None, on_call
            self.described.clear()
            self._database.begin()
            self._running = True

    def end_step(self) -> StepRecord:
        """Shut the gate, after the call under way if there is one."""
        if not self._lock.acquire(timeout=_PATIENCE):
            self._database.connection.interrupt()
            self._fail(ToolFault(f"{self._tool} did not come back within {_PATIENCE:g} s of its cell's end"))
            return StepRecord((), (), None, 0, "")
        try:
            self._running, self._on_call = False, None
            rows = self._database.end()
            return StepRecord(tuple(self._calls), rows, self._variables, self._peak, self._violation)
        finally:
            self._lock.release()

    def image(self) -> bytes:
        with self._lock:
            return self._database.image()

    def close(self) -> None:
        try:
            self._channel.shutdown(socket.SHUT_RDWR)
        except OSError:
            self._violation = self._violation or "closed"  # the kernel's end is gone already
        if self._thread.is_alive():
            self._thread.join(timeout=5)
        self._channel.close()
        if self._thread.is_alive():
            logger.error("a tool server is left with %s, which does not come back", self._tool or "its thread")
            return  # its database is closed with it
        with self._lock:
            self._database.close()

    def _serve(self) -> None:
        try:
            while (frame := protocol.receive(self._channel)) is not None:
                if not self._handle(frame):
                    return
            self._ended = True
        except protocol.ProtocolError as fault:
            self._violation = str(fault)
            self.evidence = self.evidence or "breaking the tool channel"
            self._channel.close()
        except OSError:
            return  # the channel was closed: the episode is over
        except Exception as fault:  # noqa: BLE001 - the thread's boundary: anything else here is a fault of ours
            self._fail(SandboxFault(f"the tool server failed: {type(fault).__name__}: {fault}"))

    def _handle(self, frame: dict[str, Any]) -> bool:
        """Take one frame; False once the episode has failed."""
        if "call" in frame:
            name, number = frame["call"], frame.get("id")
            named = name if isinstance(name, str) else ""
            return self._answer(named, frame.get("arguments"), number if isinstance(number, int) else None)
        if "variables" in frame:
            described = frame["variables"]
            with self._lock:
                self._variables = described if isinstance(described, list) else None
                peak = frame.get("peak")
                self._peak = peak if isinstance(peak, int) and 0 <= peak < protocol.MAX_INTEGER else 0
            self.described.set()
        elif "evidence" in frame:
            self.evidence = self.evidence or str(frame["evidence"])[:80]
        return True

    def _answer(self, name: str, arguments: Any, number: Any) -> bool:
        with self._lock:
            body = self._answered(name, arguments, number)
        if body is None:
            return False
        self._channel.sendall(body)
        return True

    def _answered(self, name: str, arguments: Any, number: int | None) -> bytes | None:
        """The frame that answers a call, recorded; None once the episode has failed."""
        if not self._running:
            error = _error("FAILED_PRECONDITION", "tools can only be called while a cell is running")
            return protocol.pack({"id": number, "ok": False, "error": error})
        begun = time.perf_counter()
        self._tool = name[:_NAME]
        answer = self._refusal(name, arguments) or self._call(name, arguments)
        if answer is None:
            return None
        try:
            body = protocol.pack({**answer, "id": number})
        except (TypeError, ValueError) as fault:
            self._fail(ToolFault(f"{name} gave back what is no JSON: {fault}"))
            return None
        if self._total <= self._quota + 1:  # of the calls refused for the quota, the first one is kept
            self._record(name[:_NAME], arguments, answer, len(body) - 4, (time.perf_counter() - begun) * 1_000)
        return body

    def _refusal(self, name: str, arguments: Any) -> dict[str, Any] | None:
        """Why a call is not even tried: no such tool, no such form, or the quota is used up."""
        self._total += 1
        if self._total > self._quota:
            text = f"the limit of {self._quota} tool calls is reached"
            return {"ok": False, "error": _error("RESOURCE_EXHAUSTED", text)}
        if name not in self._toolbox.functions:
            known = ", ".join(self._toolbox.functions)
            text = f"there is no tool {name[:_NAME]!r}; there are: {known}"
            return {"ok": False, "error": _error("NOT_FOUND", text)}
        if protocol.unfit(arguments):
            return {"ok": False, "error": _error("INVALID_ARGUMENT", f"{name}: {protocol.unfit(arguments)}")}
        self._taken += len(json.dumps(arguments))
        if self._taken > _ARGUMENT_BYTES:
            text = f"the calls of this episode hold more than {_ARGUMENT_BYTES >> 20} MiB of arguments"
            return {"ok": False, "error": _error("RESOURCE_EXHAUSTED", text)}
        wrong = _misfit(name, self._toolbox.specs[name].get("parameters") or {}, arguments)
        if wrong:
            return {"ok": False, "error": _error("INVALID_ARGUMENT", wrong)}
        return None

    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """Run the tool; None when it raised what it does not declare."""
        try:
            with self._database.connection:
                value = self._toolbox.functions[name](self._database.tools, **arguments)
        except self._toolbox.error as refused:
            code, message = str(getattr(refused, "code", "UNKNOWN")), str(getattr(refused, "message", refused))
            return {"ok": False, "error": _error(code, message, bool(getattr(refused, "retryable", False)))}
        except apsw.FullError:
            return {"ok": False, "error": _error("RESOURCE_EXHAUSTED", "the tables hold as much as they can")}
        except Exception as fault:  # noqa: BLE001 - the boundary to generated code; the episode ends by it
            self._fail(ToolFault(f"{name} raised {type(fault).__name__}: {fault}"))
            return None
        return {"ok": True, "value": value}

    def _record(self, name: str, arguments: Any, answer: dict[str, Any], size: int, milliseconds: float) -> None:
        preview = json.dumps(answer["value"], ensure_ascii=False)[:_PREVIEW] if answer["ok"] else ""
        writes = bool(self._toolbox.specs.get(name, {}).get("writes", False))
        kept = _kept(arguments) if isinstance(arguments, dict) else {}
        call = Call(name, kept, answer["ok"], preview, size, answer.get("error"), milliseconds, writes)
        self._calls.append(call)
        if self._on_call is not None:
            self._on_call(call)

    def _fail(self, fault: SandboxFault) -> None:
        if self.fault is None:
            self.fault = fault
            self._on_fault()


def _kept(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments as they are recorded: a long one by its beginning, as text that says how long it was."""
    if len(json.dumps(arguments)) <= _PREVIEW:
        return arguments
    texts = {name: json.dumps(value, ensure_ascii=False) for name, value in list(arguments.items())[:_NAME]}
    return {
        name[:_NAME]: arguments[name] if len(text) <= _PREVIEW else f"{text[:_PREVIEW]}… ({len(text):,} characters)"
        for name, text in texts.items()
    }


def _misfit(name: str, parameters: Mapping[str, Any], arguments: Any) -> str:
    """Why the names of the arguments don't fit the tool, "" when they do; values are for the tool to judge."""
    known, required = parameters.get("properties", {}), parameters.get("required", ())
    if not isinstance(arguments, dict):
        return "arguments must be an object"
    strange = [argument for argument in arguments if argument not in known]
    if strange:
        return f"{name} has no argument {', '.join(strange)[:200]}; it has: {', '.join(known) or 'none'}"
    missing = [argument for argument in required if argument not in arguments]
    return f"{name} needs the argument {', '.join(missing)}" if missing else ""


def _error(code: str, message: str, retryable: bool = False) -> dict[str, Any]:
    return {"code": code, "message": message, "retryable": retryable}
