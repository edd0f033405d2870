"""Whole episodes, eight at once: kernel, three steps, verdict in a process of its own; and what is left after them."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.kernels import below
from sandbox_app.episodes import run_episode
from sandbox_app.kernels.local import LocalHost
from sandbox_app.policies.reference import ReferencePolicy
from tests.sandbox_app import notes

AT_ONCE, COUNT, COUNT_FULL = 8, 48, 1_000


async def _run(folder: Path, count: int) -> tuple[float, int]:
    """(seconds, how many passed)"""
    package = notes.make_package(folder)
    task = notes.make_task(package)
    free = asyncio.Semaphore(AT_ONCE)

    async def one() -> bool:
        async with free:
            policy = ReferencePolicy(task)
            trajectory = await run_episode(task, package, notes.SCALE, 7, policy, host=LocalHost())
            return trajectory.outcome.kind == "passed"

    begun = time.perf_counter()
    passed = sum(await asyncio.gather(*(one() for _ in range(count))))
    return time.perf_counter() - begun, passed


def measure(full: bool = False) -> dict[str, dict[str, Any]]:
    count = COUNT_FULL if full else COUNT
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name, "temporary")  # ours alone while this runs, so that what is left in it is ours
        temporary.mkdir()
        tempfile.tempdir = str(temporary)
        try:
            processes = len(below(os.getpid()))
            seconds, passed = asyncio.run(_run(Path(name, "package"), count))
            left = len(below(os.getpid())) - processes + len(os.listdir(temporary))
        finally:
            tempfile.tempdir = None
    return {
        "episodes_per_s": {"value": round(count / seconds, 2), "unit": "1/s", "aim": 10},
        "passed_share": {"value": passed / count, "unit": "", "aim": 1},
        "left_behind": {"value": left, "unit": "processes and files", "aim": 0},
    }
