"""HostClient: sessions of a host in another process, over its socket. Same protocol as `LocalHost`."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox_app.errors import SessionLost, fault
from sandbox_app.kernels import wire
from sandbox_app.kernels.session import SessionSpec
from sandbox_app.kernels.workspace import WorkspaceOverflow
from sandbox_app.trajectories import Call, CellResult, result_from_json
from tasks_app.environments.state import State

_CLOSE_SECONDS = 10.0
_LOOK_AGAIN = 0.2


class HostClient:
    """`patience`: seconds that a host which is not there is waited for; a killed one is back within one or two."""

    def __init__(self, path: Path | str, *, patience: float = 6.0) -> None:
        self._path, self._patience = Path(path), patience

    async def open(self, spec: SessionSpec) -> HostSession:
        """Waits as long as the host's queue is; cancelling leaves the queue."""
        session = HostSession(*await self._connect())
        writer = session.writer
        names, blobs = wire.pack_state(spec.state)
        head = {
            "op": "open", "package": str(spec.package), "tools": list(spec.tools), "seed": spec.seed,
            "limits": dataclasses.asdict(spec.limits), **names,
        }
        try:
            await session.ask(head, "opened", blobs)
        except BaseException:
            writer.close()
            raise
        return session


    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        end = time.monotonic() + self._patience
        while True:
            try:
                return await asyncio.open_unix_connection(self._path)
            except OSError as reason:
                if time.monotonic() >= end:
                    raise SessionLost(f"no kernel host answers on {self._path}: {reason}") from reason
            await asyncio.sleep(_LOOK_AGAIN)


class HostSession:
    """See `session.Session`. One request at a time; `interrupt` may come in between."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self.writer = reader, writer
        self._closed = False
        self._busy = False      # a request is under way, or was left by cancelling

    async def ask(
        self, head: dict[str, Any], awaited: str, blobs: list[bytes] | None = None,
        heard: Callable[[dict[str, Any]], None] | None = None,
    ) -> wire.Message:
        """Send a request and wait for its event; others on the way go to `heard`. Raises what the host names."""
        if self._closed:
            raise SessionLost("the session is closed")
        self._busy = True
        try:
            await wire.send(self.writer, head, blobs or [])
            while (message := await wire.receive(self._reader)) is not None:
                event = message[0]["event"]
                if event not in (awaited, "fault", "overflow"):
                    if heard is not None:
                        heard(message[0])
                    continue
                self._busy = False
                if event == "fault":
                    raise fault(message[0]["cause"], message[0]["text"])
                if event == "overflow":
                    raise WorkspaceOverflow(message[0]["text"])
                return message
        except (ConnectionError, wire.WireError) as reason:
            raise SessionLost(f"the kernel host is gone: {reason}") from reason
        raise SessionLost("the kernel host is gone")

    async def execute(
        self,
        code: str,
        *,
        on_output: Callable[[str], None] | None = None,
        on_call: Callable[[Call], None] | None = None,
    ) -> CellResult:
        def heard(event: dict[str, Any]) -> None:
            if event["event"] == "output" and on_output is not None:
                on_output(event["text"])
            elif event["event"] == "call" and on_call is not None:
                on_call(Call(**event["call"]))

        head, _ = await self.ask({"op": "execute", "code": code}, "result", heard=heard)
        return result_from_json(head["result"])

    async def interrupt(self) -> None:
        await wire.send(self.writer, {"op": "interrupt"})

    async def state(self) -> State:
        head, blobs = await self.ask({"op": "state"}, "state")
        return wire.unpack_state(head, blobs)

    async def close(self) -> None:
        """Wait for the host's word that the session has ended; a host that is gone has ended it too.

        In the middle of a request that was cancelled the connection is closed, which ends the session as well.
        """
        if self._closed:
            return
        try:
            if not self._busy:
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self.ask({"op": "close"}, "closed")
        except (SessionLost, TimeoutError):
            pass  # closing the connection ends it as well
        finally:
            self._closed = True
            self.writer.close()
