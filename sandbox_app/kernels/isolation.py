"""Isolation: start a program confined by the launcher, and hold on to it from the host's side.

Tiers
    namespaces   user (unless root), mount, pid, net, ipc, uts namespaces; needs root or user namespaces only
    none         resource limits only: sees the machine's files and network. Refused unless `SANDBOX_ALLOW_NONE=1`

Not covered by `namespaces`: faults of the operating system's kernel, CPU time beyond the time limits, paths of
interpreter and venv (read-only packages are visible). The parent of an episode is the *thread* that started it (that is
how PDEATHSIG counts): start episodes from a thread that outlives them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_app.errors import NoIsolation, StartFailed
from sandbox_app.kernels import view

ALLOW_NONE = "SANDBOX_ALLOW_NONE"
CHANNEL = 3  # the descriptor that a confined program finds its channel under
_PROJECT = Path(__file__).resolve().parent.parent.parent
_CLOSE_SECONDS = 2.0
_UIDS = 4_096  # of one process, used in turn
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Program:
    """What to run. `run_files` are put into the run folder before the start; "{run}" in texts is that folder."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    memory: int
    processes: int
    workspace: int
    run_files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. `status` is None when its launcher was lost, which nothing inside can bring about."""

    status: int | None
    oom: int = 0        # bytes held when the memory limit ended it, else 0
    peak: int = 0

    @property
    def signal(self) -> int:
        return os.WTERMSIG(self.status) if self.status is not None and os.WIFSIGNALED(self.status) else 0

    def __str__(self) -> str:
        if self.status is None:
            return "its launcher is gone"
        if self.signal:
            return f"killed by {signal.Signals(self.signal).name}"
        return f"exited with code {os.waitstatus_to_exitcode(self.status)}"


def default_tier() -> str:
    """The tier asked for by `SANDBOX_TIER`, else `namespaces`."""
    return os.environ.get("SANDBOX_TIER", "namespaces")


def checked_tier(tier: str | None) -> str:
    """`tier`, or the default. Raises `NoIsolation` for `none` without leave, and for a tier there is not."""
    chosen = tier or default_tier()
    if chosen == "none" and os.environ.get(ALLOW_NONE) != "1":
        raise NoIsolation(f"tier none hides neither files nor network: set {ALLOW_NONE}=1 to run episodes so")
    if chosen not in ("namespaces", "none"):
        raise NoIsolation(f"there is no isolation tier {chosen!r}: namespaces or none")
    return chosen


def python_folders() -> list[str]:
    """Host folders that a Python program of this venv needs beside /usr."""
    folders = {os.path.realpath(sys.base_prefix), os.path.abspath(sys.prefix)}
    return sorted(folder for folder in folders if folder != "/usr" and not folder.startswith("/usr/"))


def _uid() -> int | None:
    """A uid that no other episode of this machine has (RLIMIT_NPROC counts by uid); None for an ordinary user."""
    if os.geteuid() != 0:
        return None
    return 1_000_000_000 + os.getpid() % 2**18 * _UIDS + next(_numbers) % _UIDS


class Confined:
    """A running confined program: descriptors of its folders, its channel, and the future of its end."""

    def __init__(self, tier: str) -> None:
        self.tier = tier
        self.workspace = self.run = -1
        self.uid = _uid() if tier == "namespaces" else None
        self._control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel, self._far_channel = socket.socketpair()
        self._far = far
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self.ended: asyncio.Future[Ended] = self._loop.create_future()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._closed = False

    @classmethod
    async def start(cls, program: Program, *, tier: str | None = None, seconds: float = 60.0) -> Confined:
        """Start and wait until the view stands. Raises `NoIsolation` or `StartFailed`, leaving nothing behind."""
        confined = cls(checked_tier(tier))
        try:
            confined._launch(program)
            async with asyncio.timeout(seconds):
                await confined._ready
        except TimeoutError:
            await confined.close()
            raise StartFailed(f"the launcher gave no sign within {seconds:g} s") from None
        except BaseException:
            await confined.close()
            raise
        return confined

    def _launch(self, program: Program) -> None:
        folders = self._host_folders()
        workspace, run = folders or [view.WORKSPACE, view.RUN]
        config = {
            "parent": os.getpid(), "tier": self.tier, "uid": self.uid, "channel": self._far_channel.fileno(),
            "read_only": python_folders(), "folders": folders, "cwd": workspace, "log": f"{run}/log",
            "argv": [part.replace("{run}", run) for part in program.argv], "env": dict(program.env),
            "run_files": {name: text.replace("{run}", run) for name, text in program.run_files.items()},
            "memory": program.memory, "processes": program.processes, "workspace": program.workspace,
            "file_size": program.workspace,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-s", "-m", "sandbox_app.kernels.launcher", str(self._far.fileno())],
            cwd=_PROJECT, env={"PATH": "/usr/bin:/bin"}, pass_fds=(self._far.fileno(), self._far_channel.fileno()),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
        self._far.close()
        self._far_channel.close()
        self._control.setblocking(False)
        self._loop.add_reader(self._control.fileno(), self._on_control)
        self._control.send(json.dumps(config).encode())

    def _host_folders(self) -> list[str]:
        """Tier none has no view of its own: workspace and run folder are temporary folders of the host."""
        if self.tier == "namespaces":
            return []
        self._folder = tempfile.TemporaryDirectory(prefix="episode-")
        folders = [os.path.join(self._folder.name, name) for name in ("workspace", "run")]
        for folder in folders:
            os.mkdir(folder)
        return folders

    def _on_control(self) -> None:
        try:
            text, descriptors, _, _ = socket.recv_fds(self._control, 1 << 16, 2)
        except BlockingIOError:
            return
        except ConnectionResetError:
            text, descriptors = b"", []
        if not text:
            self._loop.remove_reader(self._control.fileno())
            self._end(Ended(None), "the launcher ended before it was ready")
            return
        message = json.loads(text)
        if "ready" in message:
            self.workspace, self.run = descriptors
            if not self._ready.done():
                self._ready.set_result(None)
        elif "failed" in message:
            self._end(Ended(None), message["failed"])
        else:
            self._end(Ended(message["status"], message["oom"], message["peak"]), "the program ended at its start")

    def _end(self, ended: Ended, reason: str) -> None:
        if not self.ended.done():
            self.ended.set_result(ended)
        if not self._ready.done():
            self._ready.set_exception(NoIsolation(
                f"a kernel can't be isolated here ({reason}): run as root, or allow user namespaces "
                f"(sysctl user.max_user_namespaces), or set SANDBOX_TIER=none and {ALLOW_NONE}=1"
            ))

    def signal(self, number: int) -> None:
        """Send a signal to the program; nothing happens when it has ended."""
        if not self.ended.done():
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._control.send(json.dumps({"signal": number}).encode())

    def log(self) -> str:
        """The last of what the program wrote to its standard output and error."""
        if self.run < 0:
            return ""
        try:
            descriptor = os.open("log", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self.run)
        except OSError:
            return ""
        with open(descriptor, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 2_000))
            return file.read(2_000).decode(errors="replace")

    @property
    def pid(self) -> int:
        """The launcher's pid on this machine."""
        return self._process.pid if self._process is not None else 0

    async def close(self) -> None:
        """End the program and all it started; idempotent."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._control.fileno())
        for end in (self._control, self._far, self._far_channel, self.channel):
            end.close()
        if self._process is not None:
            await self._reap(self._process)
        for descriptor in (self.workspace, self.run):
            if descriptor >= 0:
                os.close(descriptor)
        if self._folder is not None:
            self._folder.cleanup()
        if not self.ended.done():
            self.ended.set_result(Ended(None))
        if not self._ready.done():
            self._ready.cancel()
        elif not self._ready.cancelled():
            self._ready.exception()  # seen: nobody may be waiting for it any more

    async def _reap(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for the launcher, which ends with its episode; kill it when it does not."""
        try:
            descriptor = os.pidfd_open(process.pid)
        except ProcessLookupError:
            process.wait()
            return
        gone = asyncio.Event()
        self._loop.add_reader(descriptor, gone.set)
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await gone.wait()
        except TimeoutError:
            process.kill()
        finally:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
            if process.poll() is None:
                process.kill()
            process.wait()
