"""Fixtures of the sandbox's tests: the package made by hand, and sessions on it that are closed afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_app.kernels.local import KernelSession, LocalHost
from sandbox_app.kernels.session import Limits, SessionSpec
from sandbox_app.toolserver import toolbox
from tasks_app.tasks import TaskSpec
from tests.sandbox_app import notes

Opener = Callable[..., Awaitable[KernelSession]]


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return notes.make_package(tmp_path_factory.mktemp("notes") / "package")


@pytest.fixture
def task(package: Path) -> TaskSpec:
    return notes.make_task(package)


def spec_of(package: Path, *, seed: int = 7, **limits: Any) -> SessionSpec:
    state = toolbox.package(package).build(7, notes.SCALE, {})
    return SessionSpec(package, notes.ALL, state, seed, Limits(**limits))


@pytest.fixture
async def opened(package: Path) -> AsyncIterator[Opener]:
    """`await opened(cell_seconds=1)` gives a session of this process."""
    sessions: list[KernelSession] = []

    async def opener(**limits: Any) -> KernelSession:
        sessions.append(await LocalHost().open(spec_of(package, **limits)))
        return sessions[-1]

    yield opener
    for session in sessions:
        await session.close()
