"""The supervisor: restarts what dies, stops everything, leaves no process, also when it is killed itself."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio.supervisor import descendants
from tests.pure_modules import ROOT

SCRIPT = """
import sys, pathlib
from studio.supervisor import Command, Log, Supervisor
supervisor = Supervisor(Log(pathlib.Path(sys.argv[1])))
supervisor.listen()
{commands}
supervisor.tend_until(lambda: False)
print("killed", len(supervisor.stop()), flush=True)
"""
SLEEPER = "Command('{name}', [sys.executable, '-c', {code!r}])"


def supervise(tmp_path: Path, **codes: str) -> subprocess.Popen[str]:
    commands = "\n".join(f"supervisor.start({SLEEPER.format(name=name, code=code)})" for name, code in codes.items())
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(commands=commands), str(tmp_path / "log")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_for(condition, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_what_dies_is_started_again_and_the_log_says_so(tmp_path) -> None:
    running = supervise(tmp_path, short="print('hello')", long="import time; time.sleep(60)")
    log = tmp_path / "log"
    wait_for(lambda: log.exists() and log.read_text().count("hello") >= 2)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=20)
    assert "short   | ended with code 0; starts again in 0.5 s" in log.read_text()


def test_a_stop_leaves_no_process_even_one_that_hides_in_its_own_session(tmp_path) -> None:
    hider = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        " start_new_session=True); print('up', flush=True); import time; time.sleep(60)"
    )
    running = supervise(tmp_path, hider=hider)
    wait_for(lambda: len(descendants(running.pid)) == 2)
    below = descendants(running.pid)
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=20)
    assert not [pid for pid in below if alive(pid)]


def test_a_child_that_does_not_listen_is_killed(tmp_path) -> None:
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    running = supervise(tmp_path, deaf=deaf)
    log = tmp_path / "log"
    wait_for(lambda: log.exists() and "deaf" in log.read_text())
    running.send_signal(signal.SIGINT)
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)  # twice: at once
    out, _ = running.communicate(timeout=20)
    assert "killed 1" in out


@pytest.mark.skipif(sys.platform != "linux", reason="PDEATHSIG is Linux's")
def test_a_supervisor_killed_without_a_word_takes_its_children_along(tmp_path) -> None:
    running = supervise(tmp_path, child="import time; time.sleep(60)")
    wait_for(lambda: len(descendants(running.pid)) == 1)
    below = descendants(running.pid)
    running.kill()
    running.communicate(timeout=10)
    wait_for(lambda: not any(alive(pid) for pid in below))


def up(tmp_path: Path, port: int) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "DATA_DIR": str(tmp_path), "PORT": str(port), "DJANGO_SETTINGS_MODULE": "studio.settings"}
    return subprocess.run(
        [sys.executable, "manage.py", "up"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )


def test_a_port_that_is_taken_is_said_with_the_way_out(tmp_path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = up(tmp_path, taken.getsockname()[1])
    assert done.returncode == 1
    assert "is taken by another program" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_up_on_one_folder_is_refused(tmp_path) -> None:
    import fcntl

    (tmp_path / "run").mkdir()
    with (tmp_path / "run" / "up.lock").open("w") as lock:
        lock.write("4711")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = up(tmp_path, 1)
    assert done.returncode == 1
    assert "up already" in done.stderr
    assert "4711" in done.stderr
