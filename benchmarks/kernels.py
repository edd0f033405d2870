"""A kernel from nothing to its end: start, first cell, interrupt, variables, stop, memory. Cold starts, fully isolated.

The baseline is what a user would take instead: jupyter_client's own provisioner, the same ipykernel, no isolation.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager

from sandbox_app.kernels.local import KernelSession, LocalHost
from sandbox_app.kernels.session import Limits, SessionSpec
from sandbox_app.toolserver import toolbox
from tests.sandbox_app import notes

ROUNDS = 8


def specification(folder: Path) -> SessionSpec:
    """A session on the package made by hand that the tests use."""
    package = notes.make_package(folder)
    return SessionSpec(package, notes.ALL, toolbox.package(package).build(7, notes.SCALE, {}), 7, Limits())


def below(pid: int) -> list[int]:
    """The processes that `pid` has started, and theirs."""
    children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return children + [pid for child in children for pid in below(child)]


def _pss(session: KernelSession) -> float:
    """MB of memory that a session's processes hold, shared pages by their share."""
    pids = [session.pid, *below(session.pid)]
    texts = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids]
    return sum(int(line.split()[1]) for text in texts for line in text.splitlines() if line.startswith("Pss:")) / 1024


async def _plain() -> float:
    """Seconds of jupyter_client's own start, to the first answer."""
    begun = time.perf_counter()
    manager = AsyncKernelManager(transport="ipc")
    await manager.start_kernel()
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=60)
    seconds = time.perf_counter() - begun
    client.stop_channels()
    await manager.shutdown_kernel(now=True)
    return seconds


async def _interrupted(session: KernelSession) -> float:
    """Seconds from an interrupt to the cell's result."""
    running = asyncio.create_task(session.execute("import time; time.sleep(60)"))
    await asyncio.sleep(0.2)
    begun = time.perf_counter()
    await session.interrupt()
    await running
    return time.perf_counter() - begun


async def _measured(spec: SessionSpec) -> dict[str, list[float]]:
    names = ("start", "cell", "interrupt", "inspect", "stop", "pss", "plain")
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        session = await LocalHost().open(spec)
        found["start"].append(time.perf_counter() - begun)
        found["cell"].append((await session.execute("x = 1; print(x)")).milliseconds / 1_000)
        found["pss"].append(_pss(session))
        await session.execute("for n in range(200): globals()[f'v{n}'] = list(range(n))")
        found["inspect"].append((await session.execute("pass")).milliseconds / 1_000)
        found["interrupt"].append(await _interrupted(session))
        begun = time.perf_counter()
        await session.close()
        found["stop"].append(time.perf_counter() - begun)
        found["plain"].append(await _plain())
    return found


def measure() -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        found = asyncio.run(_measured(specification(Path(name))))
    middle = {key: statistics.median(values) for key, values in found.items()}
    start, plain = middle["start"] * 1_000, middle["plain"] * 1_000
    return {
        "cold_p50_ms": {
            "value": round(start, 1), "unit": "ms", "baseline": round(plain, 1),
            "baseline_what": "jupyter_client's own provisioner, not isolated", "ratio": round(plain / start, 2),
        },
        "cold_max_ms": {"value": round(max(found["start"]) * 1_000, 1), "unit": "ms"},
        "first_cell_p50_ms": {"value": round(middle["cell"] * 1_000, 1), "unit": "ms", "aim": 10},
        "interrupt_ms": {"value": round(middle["interrupt"] * 1_000, 1), "unit": "ms", "aim": 100},
        "inspect_ms": {"value": round(middle["inspect"] * 1_000, 1), "unit": "ms", "aim": 10},
        "stop_ms": {"value": round(middle["stop"] * 1_000, 1), "unit": "ms", "aim": 30},
        "pss_mb": {"value": round(middle["pss"], 1), "unit": "MB", "aim": 25},
    }
