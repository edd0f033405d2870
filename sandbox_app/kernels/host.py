"""Host: serves kernel sessions on a unix socket, the only place where a deployment's kernels live.

    python -m sandbox_app.kernels.host --socket PATH --slots N [--parent PID]

One connection is one session: when it closes, for whatever reason, the session ends. The process dies with its parent,
and its kernels die with it, also by kill -9: nothing is left to clean up, since sessions keep nothing on a disk.
Who may connect is decided by the socket's file mode (its owner).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox_app.errors import SandboxFault, StartFailed
from sandbox_app.kernels import privileges, wire
from sandbox_app.kernels.isolation import checked_tier
from sandbox_app.kernels.local import LocalHost
from sandbox_app.kernels.session import Limits, Session, SessionSpec
from sandbox_app.kernels.slots import FairSlots
from sandbox_app.kernels.workspace import WorkspaceOverflow
from sandbox_app.trajectories import to_json

_SPAWN_SECONDS = 20.0


def spawn(path: Path, slots: int, *, seconds: float = _SPAWN_SECONDS) -> subprocess.Popen[bytes]:
    """Start a host as a child of this process and wait until it answers. Raises `StartFailed`.

    Call it from a thread that lives as long as the host should (the main one): the host dies with that thread.
    """
    path.unlink(missing_ok=True)  # what a dead host left; one that still ends its sessions needs it no more
    process = subprocess.Popen(
        [sys.executable, "-m", "sandbox_app.kernels.host", "--socket", str(path), "--slots", str(slots),
         "--parent", str(os.getpid())],
        cwd=Path(__file__).resolve().parent.parent.parent, stdin=subprocess.DEVNULL,
    )
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(path))
            return process
        time.sleep(0.05)
    process.kill()
    raise StartFailed(f"the kernel host did not answer on {path} (exit code {process.wait()})")


class HostServer:
    """Accepts connections; each is a `_Conversation`."""

    def __init__(self, slots: int) -> None:
        self._slots = FairSlots(slots)
        self._host = LocalHost()
        self._open: set[asyncio.Task[Any]] = set()

    async def serve(self, path: Path) -> None:
        """Until SIGTERM or SIGINT; then every session is closed."""
        checked_tier(None)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        old = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(self._converse, fresh)
        finally:
            os.umask(old)
        mine = fresh.stat().st_ino
        fresh.rename(path)
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await stop.wait()
        server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        if path.exists() and path.stat().st_ino == mine:
            path.unlink()  # a newer host's socket stays

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        credentials = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        client = struct.unpack("3i", credentials)[0]
        task = asyncio.create_task(_Conversation(self._host, self._slots, client, reader, writer).run())
        self._open.add(task)
        try:
            await task
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
        finally:
            self._open.discard(task)
            writer.close()


class _Conversation:
    """One client, one session."""

    def __init__(
        self, host: LocalHost, slots: FairSlots, client: int,
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
    ) -> None:
        self._host, self._slots, self._client = host, slots, client
        self._reader, self._writer = reader, writer
        self._inbox: asyncio.Queue[wire.Message] = asyncio.Queue()
        self._session: Session | None = None

    async def run(self) -> None:
        """Read as long as the client is there; its leaving cancels what is under way."""
        work = asyncio.create_task(self._work())
        read = asyncio.create_task(self._read())
        try:
            await asyncio.wait({work, read}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (work, read):
                task.cancel()
            await asyncio.gather(work, read, return_exceptions=True)

    async def _read(self) -> None:
        while (message := await wire.receive(self._reader)) is not None:
            if message[0].get("op") == "interrupt":
                if self._session is not None:
                    await self._session.interrupt()
            else:
                await self._inbox.put(message)

    async def _work(self) -> None:
        head, blobs = await self._inbox.get()
        async with self._slots.slot(self._client):
            try:
                self._session = await self._host.open(_spec(head, blobs))
            except SandboxFault as fault:
                await self._say({"event": "fault", "cause": fault.cause, "text": str(fault)})
                return
            try:
                await self._say({"event": "opened"})
                await self._serve(self._session)
            finally:
                await self._session.close()
        await self._say({"event": "closed"})

    async def _serve(self, session: Session) -> None:
        while True:
            head, _ = await self._inbox.get()
            if head["op"] == "close":
                return
            try:
                if head["op"] == "execute":
                    await self._execute(session, head["code"])
                elif head["op"] == "state":
                    names, bodies = wire.pack_state(await session.state())
                    await self._say({"event": "state", **names}, bodies)
            except WorkspaceOverflow as overflow:
                await self._say({"event": "overflow", "text": str(overflow)})
            except SandboxFault as fault:
                await self._say({"event": "fault", "cause": fault.cause, "text": str(fault)})

    async def _execute(self, session: Session, code: str) -> None:
        """Run a cell; output and calls are sent on in their order, then the result."""
        events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

        async def forward() -> None:
            while (event := await events.get()) is not None:
                await self._say(event)

        forwarding = asyncio.create_task(forward())
        try:
            result = await session.execute(
                code, on_output=lambda text: events.put_nowait({"event": "output", "text": text}),
                on_call=lambda call: events.put_nowait({"event": "call", "call": to_json(call)}),
            )
        finally:
            events.put_nowait(None)
            await forwarding
        await self._say({"event": "result", "result": to_json(result)})

    async def _say(self, head: Mapping[str, Any], blobs: list[bytes] | None = None) -> None:
        await wire.send(self._writer, head, blobs or [])


def _spec(head: dict[str, Any], blobs: list[bytes]) -> SessionSpec:
    return SessionSpec(
        package=Path(head["package"]), tools=tuple(head["tools"]), state=wire.unpack_state(head, blobs),
        seed=head["seed"], limits=Limits(**head["limits"]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--parent", type=int, default=0, help="die with this process")
    options = parser.parse_args()
    if options.parent:
        privileges.die_with_parent()
        if os.getppid() != options.parent:
            return  # it had died before we were bound to it
    asyncio.run(HostServer(options.slots).serve(options.socket))


if __name__ == "__main__":
    main()
