"""Subprocesses: found again by pid and start time, stopped softly, then hard; gone with their supervisor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from training_app import processes
from training_app.processes import Process, find, launch, start_time, stop, stop_all

STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen('ready','w').close()\ntime.sleep(60)\n"
)
SOFT = "import time\nopen('ready','w').close()\ntime.sleep(60)\n"
WATCHED = (
    "import sys, time\nfrom training_app.processes import StopFlag\nflag = StopFlag().install()\n"
    "open('ready','w').close()\n"
    "while not flag.asked: time.sleep(0.05)\nopen('ended','w').close()\n"
)
ROOT = Path(__file__).resolve().parent.parent.parent


def started(folder: Path, source: str) -> Process:
    folder.mkdir(exist_ok=True)
    (folder / "child.py").write_text(source)
    os.environ["PYTHONPATH"] = f"{folder}:{ROOT}"
    try:
        process = launch("child", folder, root=folder)
    finally:
        del os.environ["PYTHONPATH"]
    wait_for(folder / "ready")
    return process


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.02)


def test_a_running_subprocess_is_found_again_and_an_ended_one_is_not(tmp_path: Path) -> None:
    process = started(tmp_path, SOFT)
    assert find(tmp_path) == process
    assert stop(process, 5.0)
    assert find(tmp_path) is None


def test_a_pid_used_again_is_not_mistaken(tmp_path: Path) -> None:
    (tmp_path / processes.FILE).write_text(json.dumps({"pid": os.getpid(), "started": "1"}))
    assert find(tmp_path) is None
    assert start_time(os.getpid()) is not None


def test_what_does_not_stop_within_the_grace_is_killed(tmp_path: Path) -> None:
    process = started(tmp_path, STUBBORN)
    assert not stop(process, 0.3)
    deadline = time.monotonic() + 5
    while process.alive and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not process.alive


def test_all_are_stopped_at_shutdown(tmp_path: Path) -> None:
    living = [started(tmp_path / name, SOFT) for name in ("a", "b")]
    assert stop_all(tmp_path, 5.0) == 2
    assert not any(process.alive for process in living)


def test_a_subprocess_ends_when_its_supervisor_is_gone(tmp_path: Path) -> None:
    supervisor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    os.environ[processes.SUPERVISOR] = str(supervisor.pid)
    try:
        started(tmp_path, WATCHED)
    finally:
        del os.environ[processes.SUPERVISOR]
    supervisor.kill()
    supervisor.wait()
    wait_for(tmp_path / "ended")
