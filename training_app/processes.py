"""Training subprocesses as seen by their job: start, find again, ask to stop, end.

Each runs in a session of its own, so that a worker's death does not take it along; `process.json` in its folder holds
pid and start time, which together name a process even after the pid was used again. A subprocess whose supervisor
(`manage.py up`, named by STUDIO_SUPERVISOR) is gone ends itself as if asked to stop: nothing outlives the studio.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = "process.json"
SUPERVISOR = "STUDIO_SUPERVISOR"
GRACE = 60.0  # seconds from SIGTERM to SIGKILL: a checkpoint must fit in


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    started: str  # field 22 of /proc/<pid>/stat

    @property
    def alive(self) -> bool:
        return start_time(self.pid) == self.started

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        """To the whole session, so that what the subprocess started ends with it."""
        if not self.alive:
            return
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return  # it ended between the look and the call


def start_time(pid: int) -> str | None:
    """Start time of a living process in clock ticks since boot; None when there is none or it is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in ("Z", "X") else fields[19]


def launch(module: str, folder: Path, *, root: Path, arguments: Sequence[str] = ()) -> Process:
    """Start `python -m module --config folder/config.json --out folder` in a session of its own."""
    environment = dict(os.environ)
    environment.setdefault("OMP_NUM_THREADS", "1")
    environment.setdefault("TOKENIZERS_PARALLELISM", "false")
    environment["TRL_EXPERIMENTAL_SILENCE"] = "1"
    environment["HF_HUB_OFFLINE"] = "1"
    environment["PYTHONUNBUFFERED"] = "1"
    with (folder / "log.txt").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", module, "--config", str(folder / "config.json"), "--out", str(folder), *arguments],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    threading.Thread(target=child.wait, daemon=True, name=f"reap-{child.pid}").start()
    process = Process(child.pid, start_time(child.pid) or "ended")
    part = folder / f".{FILE}.part"
    part.write_text(json.dumps({"pid": process.pid, "started": process.started}), encoding="utf-8")
    part.replace(folder / FILE)
    return process


def find(folder: Path) -> Process | None:
    """The living subprocess of this folder, if there is one."""
    path = folder / FILE
    if not path.is_file():
        return None
    row = json.loads(path.read_text(encoding="utf-8"))
    process = Process(row["pid"], row["started"])
    return process if process.alive else None


def stop(process: Process, grace: float = GRACE) -> bool:
    """SIGTERM, then SIGKILL after the grace. Returns whether it ended by itself."""
    process.terminate()
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline:
        if not process.alive:
            return True
        time.sleep(0.1)
    process.kill()
    return False


def stop_all(root: Path, grace: float = GRACE) -> int:
    """Stop every subprocess that has a folder under `root` (at shutdown); all are asked at once. Returns how many."""
    living = [process for path in root.glob(f"*/{FILE}") if (process := find(path.parent)) is not None]
    for process in living:
        process.terminate()
    deadline = time.monotonic() + grace
    while any(process.alive for process in living) and time.monotonic() < deadline:
        time.sleep(0.1)
    for process in living:
        process.kill()
    return len(living)


class StopFlag:
    """In the subprocess: set by SIGTERM, SIGINT, or when the supervisor is gone."""

    def __init__(self) -> None:
        self.asked = False

    def install(self, on_stop: Callable[[], None] | None = None) -> StopFlag:
        def handle(number: int, frame: object) -> None:
            self.asked = True
            if on_stop is not None:
                on_stop()

        signal.signal(signal.SIGTERM, handle)
        signal.signal(signal.SIGINT, handle)
        supervisor = os.environ.get(SUPERVISOR, "")
        if supervisor.isdigit():
            pid = int(supervisor)
            threading.Thread(target=self._watch, args=(pid, start_time(pid)), daemon=True, name="supervisor").start()
        return self

    def _watch(self, pid: int, started: str | None) -> None:
        while started is not None and start_time(pid) == started:
            time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGTERM)
