"""Session: one episode's kernel, tools and workspace, wherever they live.

`KernelSession` (this host) and `HostSession` (over the host's socket) meet this protocol and one contract suite.
Both raise the faults of `sandbox_app.errors`; what the policy's code did wrong is in the `CellResult`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sandbox_app.trajectories import Call, CellResult
from tasks_app.environments.state import State


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one episode. Sizes in bytes, times in seconds."""

    cell_seconds: float = 30.0
    start_seconds: float = 60.0
    memory: int = 2 * 1024**3
    processes: int = 64
    workspace: int = 64 * 1024**2
    output: int = 4 * 1024**2           # kept in full up to here; more ends the cell as output_limit
    returned_characters: int = 50_000   # first 70 %, last 30 %, the cut named
    calls: int = 2_000                  # per episode; ten times what references need at v3
    steps: int = 30


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """What a session is opened on. `package` is the folder of the environment package."""

    package: Path
    tools: tuple[str, ...]
    state: State
    seed: int
    limits: Limits = Limits()


class Session(Protocol):
    async def execute(
        self,
        code: str,
        *,
        on_output: Callable[[str], None] | None = None,
        on_call: Callable[[Call], None] | None = None,
    ) -> CellResult:
        """Run one cell to its end or its limit; output and calls are also handed over as they come."""

    async def interrupt(self) -> None:
        """Ask the running cell to stop (KeyboardInterrupt in the kernel)."""

    async def state(self) -> State:
        """Tables and files as they are now. Raises `SessionLost` when the host is gone."""

    async def close(self) -> None:
        """End the kernel and all it started; idempotent."""


class SessionFactory(Protocol):
    """Where sessions come from: `LocalHost` in this process, `HostClient` over a host's socket."""

    async def open(self, spec: SessionSpec) -> Session:
        """A session with its kernel ready for the first cell. Raises `NoIsolation`, `StartFailed`, `SessionLost`."""
