"""One task through all stages, over the API of the real studio: the seconds that each stage takes.

A studio of its own is started; one primer is regenerated beyond v3, run in a kernel, reviewed; its approved episodes
become a snapshot, a short SFT run, two RL steps, an evaluation of 20, and an export that is downloaded. It is the way
that is timed, not the learning: see `learning` for that.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.startup import ROOT, Studio, figure, free_port

PATIENCE = 900.0
ENDED = ("succeeded", "failed", "cancelled")
SEEDS = 3  # episodes at each of two tasks, so that there is something to hold out


class Api:
    """The studio's API as a program sees it. A problem ends the benchmark with the studio's own words."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address, token

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        return json.loads(self.download(path, body))

    def download(self, path: str, body: dict[str, Any] | None = None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.address}/api/v1{path}", data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                content: bytes = answer.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.code} {error.read().decode()}") from error
        return content

    def wait(self, path: str) -> Any:
        """The job as it ended. Raises when it did not succeed."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            job = self.ask(path)
            if job["state"] in ENDED:
                if job["state"] != "succeeded":
                    raise RuntimeError(f"{path} ended as {job['state']}: {job.get('error')}")
                return job
            time.sleep(0.1)
        raise RuntimeError(f"{path} did not end within {PATIENCE:g} s")


class Loop:
    def __init__(self, api: Api) -> None:
        self.api = api
        self.seconds: dict[str, float] = {}

    def timed(self, stage: str, started: float) -> None:
        self.seconds[stage] = round(time.perf_counter() - started, 2)

    def regenerate(self, key: str) -> str:
        started, largest = time.perf_counter(), self.api.ask(f"/tasks/{key}")["scales"][-1]
        rows, files = largest["rows"] * 2, largest["files"] + 10
        job = self.api.ask(f"/tasks/{key}/regenerations", {"rows": rows, "files": files})
        self.api.wait(f"/regenerations/{job['id']}")
        self.timed("regenerate_s", started)
        return f"r{rows}-f{files}"

    def episode(self, key: str, scale: str, seed: int | None = None) -> str:
        made = self.api.ask("/episodes", {"task": key, "scale": scale, "policy": "reference", "seed": seed})
        self.api.wait(f"/episodes/{made['id']}")
        return str(made["id"])

    def review(self, episode: str) -> None:
        verdict = self.api.ask(f"/episodes/{episode}/verdict")
        self.api.ask(f"/episodes/{episode}/reviews", {"decision": "approve", "verifier": verdict["verifier"]})

    def judge(self, keys: list[str], larger: str) -> None:
        started = time.perf_counter()
        first = self.episode(keys[0], larger)
        self.timed("episode_s", started)
        started = time.perf_counter()
        self.review(first)
        self.timed("review_s", started)
        for key in keys:
            for seed in range(SEEDS):
                self.review(self.episode(key, "v0", seed))

    def train(self, base: str) -> None:
        started = time.perf_counter()
        snapshot = self.api.ask("/snapshots", {"tier": "primer"})["digest"]
        self.timed("snapshot_s", started)
        started = time.perf_counter()
        sft = self.api.ask("/runs/sft", {"snapshot": snapshot, "start_from": base, "epochs": 2})
        self.api.wait(f"/runs/{sft['id']}")
        self.timed("sft_s", started)
        taught = next(c["id"] for c in self.api.ask("/checkpoints") if c["run"] == sft["id"])
        started = time.perf_counter()
        rl = self.api.ask("/runs/rl", {"start_from": taught, "most": 2, "steps": 2, "tasks_per_step": 2, "group": 2})
        self.api.wait(f"/runs/{rl['id']}")
        self.timed("rl_s", started)
        started = time.perf_counter()
        evaluation = self.api.ask("/evaluations", {"checkpoints": [base, taught], "primers": 20, "tasks": 0})
        self.api.wait(f"/evaluations/{evaluation['id']}")
        self.timed("evaluate_s", started)

    def export(self) -> None:
        started = time.perf_counter()
        made = self.api.ask("/exports", {"policy": "reference"})
        for part in self.api.wait(f"/exports/{made['id']}")["parts"]:
            self.api.download(f"/exports/{made['id']}/parts/{part['name']}")
        self.timed("export_s", started)


def manage(folder: Path, *arguments: str) -> str:
    """The last line that a command of the studio prints."""
    env = {**os.environ, "DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "studio.settings"}
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


MAKE_BASE = "from training_app.services import make_base_checkpoint as make; print(make(preset='nano').pk)"


def figures() -> dict[str, dict[str, Any]]:
    root, port = Path(tempfile.mkdtemp(prefix="studio-loop-")), free_port()
    studio = Studio(root / "data", port)
    try:
        studio.wait_for(r"sign in once with (http\S+)")
        loop = Loop(
            Api(f"http://127.0.0.1:{port}", manage(root / "data", "api_token", "loop", "--scopes", "read,write,export"))
        )
        loop.timed("first_start_s", studio.started)
        found = loop.api.ask("/tasks?tier=primer&split=train&status=proven&limit=2")["items"]
        keys = [task["key"] for task in found]
        loop.judge(keys, loop.regenerate(keys[0]))
        started = time.perf_counter()
        base = manage(root / "data", "shell", "-c", MAKE_BASE)
        loop.timed("base_model_s", started)
        loop.train(base)
        loop.export()
    finally:
        studio.stop()
        shutil.rmtree(root, ignore_errors=True)
    total = {"total_s": round(sum(loop.seconds.values()), 2)}
    return {key: figure(value, "s", None, None, None) for key, value in {**loop.seconds, **total}.items()}
