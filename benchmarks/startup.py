"""How soon the first page is there when the studio starts again, and whether a stop leaves anything behind.

The real `manage.py up` (what `make up` runs once .venv is there) in a folder of its own: started, signed in to,
stopped, started again, stopped. What is measured is the time from the command to a signed-in overview.
"""

from __future__ import annotations

import http.cookiejar
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from studio.supervisor import descendants

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 180.0
AIM = 6.0


class Studio:
    """One `up` in a folder; its log is read for the sign-in link."""

    def __init__(self, folder: Path, port: int) -> None:
        self.log = folder.parent / f"{folder.name}-{time.monotonic_ns()}.log"
        env = {**os.environ, "DATA_DIR": str(folder), "PORT": str(port), "DJANGO_SETTINGS_MODULE": "studio.settings"}
        self.started = time.perf_counter()
        with self.log.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT,
                env=env,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    def wait_for(self, pattern: str) -> str:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            if found := re.search(pattern, self.log.read_text()):
                return found.group(1)
            time.sleep(0.05)
        raise RuntimeError(f"the studio did not start: {self.log.read_text()[-2000:]}")

    def stop(self) -> tuple[float, int]:
        """Seconds until it was gone, and how many of its processes outlived it."""
        below, asked = descendants(self.process.pid), time.perf_counter()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        took = time.perf_counter() - asked
        return took, sum(Path(f"/proc/{pid}").exists() for pid in below)


def first_page(opener: urllib.request.OpenerDirector, address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            with opener.open(address, timeout=5) as answer:
                if answer.status == 200 and b"Needs a person" in answer.read():
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.03)
    raise RuntimeError(f"no first page at {address}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def figures() -> dict[str, dict[str, Any]]:
    root, port = Path(tempfile.mkdtemp(prefix="studio-startup-")), free_port()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    address = f"http://127.0.0.1:{port}/"
    try:
        first = Studio(root / "data", port)
        opener.open(first.wait_for(r"sign in once with (http\S+)"), timeout=30).close()
        first_s = time.perf_counter() - first.started
        first.stop()
        again = Studio(root / "data", port)
        first_page(opener, address)
        later_s = time.perf_counter() - again.started
        again.wait_for(r"sign in once with (http\S+)")
        stop_s, left = again.stop()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return {
        "first_page_s": figure(
            round(later_s, 2), "s", AIM, round(first_s, 2), "the first start, which loads the content"
        ),
        "stop_s": figure(round(stop_s, 2), "s", None, None, None),
        "left_behind": figure(left, "processes", 0, None, None),
    }


def figure(value: float, unit: str, aim: float | None, baseline: float | None, what: str | None) -> dict[str, Any]:
    ratio = round(baseline / value, 2) if baseline and value else None
    return {"value": value, "unit": unit, "aim": aim, "baseline": baseline, "baseline_what": what, "ratio": ratio}
