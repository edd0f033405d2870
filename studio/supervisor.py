"""Supervisor: starts the studio's processes, restarts what dies with back-off, and leaves nothing behind.

Each child has a session of its own, so Ctrl-C reaches only the supervisor, and asks the kernel for SIGTERM should the
supervisor die (PDEATHSIG; Linux). The supervisor is a child subreaper: what children leave behind becomes its own and
is ended with it, sessions of their own included. All output goes through one log, each line with its process's name.

Limits: without Linux there is neither PDEATHSIG nor subreaper; process groups are still ended. Only the main thread
may start children, since PDEATHSIG is bound to the starting thread.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
FIRST_BACKOFF, LONGEST_BACKOFF, STEADY_AFTER = 0.5, 30.0, 30.0
GRACE = 8.0
TICK = 0.1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Command:
    """What to run. `stop_last` marks the broker, which the others need while they end."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    stop_last: bool = False


class Log:
    """One log for all: to the terminal and to a file, a line at a time, prefixed with who said it."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file.open("a", encoding="utf-8", errors="replace")
        self._lock = threading.Lock()

    def line(self, name: str, text: str) -> None:
        whole = f"{name:<8}| {text}\n"
        with self._lock:
            self._file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {whole}")
            self._file.flush()
            sys.stdout.write(whole)
            sys.stdout.flush()

    def close(self) -> None:
        self._file.close()


def _before_exec(parent: int) -> Callable[[], None] | None:
    if _libc is None:
        return None

    def prepare() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # the parent died before the request reached the kernel
            os._exit(1)

    return prepare


class Child:
    """A supervised process: running, or waiting out its back-off."""

    def __init__(self, command: Command, log: Log) -> None:
        self.command, self._log = command, log
        self.process: subprocess.Popen[bytes] | None = None
        self.restarts = 0
        self._started = 0.0
        self._not_before = 0.0
        self._backoff = FIRST_BACKOFF

    def start(self) -> None:
        self._started = time.monotonic()
        self.process = subprocess.Popen(
            list(self.command.argv),
            env={**os.environ, **self.command.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_before_exec(os.getpid()),
        )
        assert self.process.stdout is not None
        threading.Thread(target=self._copy, args=(self.process.stdout,), daemon=True).start()

    def _copy(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._log.line(self.command.name, line.decode("utf-8", "replace").rstrip())

    def tend(self) -> None:
        """Notice an end and start again once the back-off is over."""
        now = time.monotonic()
        if self.process is not None:
            code = self.process.poll()
            if code is None:
                if now - self._started > STEADY_AFTER:
                    self._backoff = FIRST_BACKOFF
                return
            self._log.line(self.command.name, f"ended with {_says(code)}; starts again in {self._backoff:g} s")
            end_group(self.process.pid, signal.SIGKILL)
            self.process = None
            self._not_before = now + self._backoff
            self._backoff = min(self._backoff * 2, LONGEST_BACKOFF)
        elif now >= self._not_before:
            self.restarts += 1
            self.start()

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None


def _says(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"code {code}"


def end_group(pid: int, sign: signal.Signals) -> None:
    """Signal a process group; one that is gone already is what was wanted."""
    try:
        os.killpg(pid, sign)
    except ProcessLookupError:
        return


def descendants(pid: int) -> list[int]:
    """Every living process below `pid`, from /proc; empty where there is none."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended while we looked
        if fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found, todo = [], [pid]
    while todo:
        for child in children.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found


class Supervisor:
    def __init__(self, log: Log) -> None:
        self.log = log
        self.children: dict[str, Child] = {}
        self.stopping = threading.Event()
        self._asked = 0
        if _libc is not None:
            _libc.prctl(PR_SET_CHILD_SUBREAPER, 1)

    def listen(self) -> None:
        """Stop on SIGINT and SIGTERM; a second one ends everything at once."""
        for sign in (signal.SIGINT, signal.SIGTERM):
            signal.signal(sign, self._on_signal)

    def _on_signal(self, number: int, frame: object) -> None:
        self._asked += 1
        self.stopping.set()

    def start(self, command: Command) -> Child:
        child = Child(command, self.log)
        child.start()
        self.children[command.name] = child
        return child

    def tend_until(self, done: Callable[[], bool], seconds: float | None = None) -> bool:
        """Keep the children running until `done()`; False when stopped or out of time."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self.stopping.is_set():
            if done():
                return True
            if deadline is not None and time.monotonic() > deadline:
                return False
            for child in self.children.values():
                child.tend()
            self._reap_orphans()
            self.stopping.wait(TICK)
        return False

    def _reap_orphans(self) -> None:
        """Collect what was left to us as subreaper, without taking our own children's exit codes from Popen."""
        own = {child.process.pid for child in self.children.values() if child.process is not None}
        for entry in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split() if _libc else ():
            if int(entry) not in own:
                try:
                    os.waitpid(int(entry), os.WNOHANG)
                except ChildProcessError:
                    continue

    def stop(self) -> list[int]:
        """End all children, the broker last, then whatever is left below us. Returns what needed SIGKILL."""
        first = [c for c in self.children.values() if not c.command.stop_last and c.process is not None]
        last = [c for c in self.children.values() if c.command.stop_last and c.process is not None]
        for group in (first, last):
            for child in group:
                assert child.process is not None
                end_group(child.process.pid, signal.SIGTERM)
            self._wait(lambda group=group: not any(c.running() for c in group))  # type: ignore[misc]
        return self._sweep()

    def _wait(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + GRACE
        while not done() and time.monotonic() < deadline and self._asked < 2:
            self._reap_orphans()
            time.sleep(TICK / 2)

    def _sweep(self) -> list[int]:
        for pid in (left := descendants(os.getpid())):
            _signal(pid, signal.SIGTERM)
        if left:
            self._wait(lambda: not descendants(os.getpid()))
        killed = descendants(os.getpid())
        for pid in killed:
            _signal(pid, signal.SIGKILL)
        deadline = time.monotonic() + GRACE
        while descendants(os.getpid()) and time.monotonic() < deadline:
            self._reap_orphans()
            time.sleep(TICK / 2)
        return killed


def _signal(pid: int, sign: signal.Signals) -> None:
    try:
        os.kill(pid, sign)
    except ProcessLookupError:
        return
