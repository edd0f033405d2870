"""Cell: one execute request to a kernel, from its sending to its end, as a bounded wait.

Ends in one of: idle (the kernel has finished it), dead (the kernel ended), fault (ours), late (its time is over), flood
(it printed more than is kept). What then has to be done is decided by `KernelSession`.

Only what is printed counts (streams stdout and stderr, in their order): the value of a last expression and rich
displays are not given back, so that what a policy reads is what it asked to read. What a background thread of an
earlier cell prints belongs to no cell and is dropped.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from sandbox_app.kernels.output import Output, strip_ansi
from sandbox_app.trajectories import CellError

End = Literal["idle", "dead", "fault", "late", "flood"]
_TRACEBACK = 20_000
_BRIDGE_FRAME = re.compile(r"\n  File <bridge>:\d+ in [^\n]*\n(?:    [^\n]*\n)*\n?")  # ours, of no use to a policy


@dataclass(slots=True)
class Cell:
    """`done` is set by the kernel's idle message, `flooded` once the output is over its limit."""

    request: str
    output: Output
    on_output: Callable[[str], None] | None
    error: CellError | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)
    flooded: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, message: dict[str, Any]) -> None:
        """One message of the kernel's iopub channel. What is no known message of this cell is passed over."""
        parent, kind, content = message.get("parent_header"), message.get("msg_type"), message.get("content")
        if not isinstance(parent, dict) or parent.get("msg_id") != self.request or not isinstance(content, dict):
            return
        if kind == "stream":
            kept = self.output.add(str(content.get("text", "")))
            if kept and self.on_output is not None:
                self.on_output(kept)
            if self.output.over:
                self.flooded.set()
        elif kind == "error":
            self.error = _error(content)
        elif kind == "status" and content.get("execution_state") == "idle":
            self.done.set()


def _error(content: dict[str, Any]) -> CellError:
    traceback = content.get("traceback", [])
    lines = traceback if isinstance(traceback, list) else [traceback]
    text = _BRIDGE_FRAME.sub("\n", strip_ansi("\n".join(str(line) for line in lines)))
    return CellError(str(content.get("ename", "")), strip_ansi(str(content.get("evalue", "")))[:_TRACEBACK],
                     text[-_TRACEBACK:])


async def first(seconds: float | None, **events: asyncio.Future[Any] | asyncio.Event) -> str | None:
    """The name of the event that comes first, in the order given when several have; None once the time is over."""
    waiting = {
        name: asyncio.ensure_future(event.wait()) if isinstance(event, asyncio.Event) else event
        for name, event in events.items()
    }
    try:
        await asyncio.wait(waiting.values(), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return next((name for name, future in waiting.items() if future.done()), None)
    finally:
        for name, future in waiting.items():
            if isinstance(events[name], asyncio.Event):
                future.cancel()
