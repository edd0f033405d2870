"""The studio as a newcomer meets it: the real `manage.py up`, driven in headless Chromium.

One studio serves the whole suite, since its first start (content, demo episodes) is part of what is tested.
Screenshots are kept under `var/screenshots/` (or `SCREENSHOTS`), named for the page and the size.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]
SIGN_IN = re.compile(r"http://\S+/sign-in/\S+")


@dataclass
class Studio:
    url: str
    sign_in: str
    data_dir: Path
    process: subprocess.Popen[str]
    log: Path

    def sql(self, query: str, *parameters: object) -> list[tuple[object, ...]]:
        """Rows of the studio's own database, read past the application."""
        connection = sqlite3.connect(f"file:{self.data_dir / 'studio.sqlite3'}?mode=ro", uri=True, timeout=20)
        try:
            return connection.execute(query, parameters).fetchall()
        finally:
            connection.close()

    def wait_sql(self, query: str, *parameters: object, timeout: float = 120) -> list[tuple[object, ...]]:
        """Rows as soon as there are any. Fails with the query when none come in time."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            rows = self.sql(query, *parameters)
            if rows:
                return rows
            time.sleep(0.3)
        raise AssertionError(f"no row within {timeout:.0f} s: {query} {parameters}\n{tail(self.log)}")


def tail(log: Path, lines: int = 60) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_studio(data_dir: Path, *, timeout: float = 180) -> Studio:
    """`manage.py up` on a free port; returns when it has printed its sign-in link and answers."""
    port = free_port()
    log = data_dir.parent / f"{data_dir.name}.log"
    environment = {**os.environ, "DATA_DIR": str(data_dir), "PORT": str(port)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    with log.open("w") as sink:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up"], cwd=ROOT, env=environment, stdout=sink, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )
    deadline = time.monotonic() + timeout
    url = f"http://127.0.0.1:{port}"
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"`manage.py up` ended with {process.returncode}:\n{tail(log)}")
        found = SIGN_IN.search(log.read_text(errors="replace"))
        if found and answers(url + "/readyz"):
            return Studio(url, found.group(0), data_dir, process, log)
        time.sleep(0.2)
    stop_studio(process)
    raise AssertionError(f"the studio was not ready within {timeout:.0f} s:\n{tail(log)}")


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def stop_studio(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError("`manage.py up` did not end within 30 s of Ctrl-C") from None


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    data_dir = tmp_path_factory.mktemp("studio") / "var"
    running = start_studio(data_dir)
    yield running
    if running.process.poll() is None:
        stop_studio(running.process)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
    if executable is None:
        pytest.fail("no Chromium found: run `make chromium` (it installs Debian's) and try again")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, headless=True, args=CHROMIUM_FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def context(studio: Studio, browser: Browser) -> Iterator[BrowserContext]:
    """Signed in once through the printed link, as a newcomer does."""
    made = browser.new_context(viewport={"width": 1280, "height": 860}, base_url=studio.url)
    page = made.new_page()
    page.goto(studio.sign_in)
    button = page.get_by_role("button", name="Sign in")
    if button.count():
        button.click()
    page.wait_for_url(studio.url + "/")
    page.close()
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page on which any script error or refused resource fails the test."""
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    opened.on(
        "console",
        lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None,
    )
    yield opened
    opened.close()
    assert not faults, faults


@pytest.fixture(scope="session")
def screenshots() -> Path:
    folder = Path(os.environ.get("SCREENSHOTS", ROOT / "var" / "screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
