"""The host as a process: whatever happens to it or its clients, nothing is left and nobody waits unfairly."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_app.errors import SessionLost, StartFailed
from sandbox_app.kernels.client import HostClient
from sandbox_app.kernels.host import spawn
from sandbox_app.kernels.slots import FairSlots
from tests.sandbox_app.conftest import spec_of
from tests.sandbox_app.test_isolation import _below, _left


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    yield folder
    shutil.rmtree(folder)


async def test_kill_9_of_the_host_leaves_no_process_and_tells_the_client(folder: Path, package: Path) -> None:
    process = spawn(folder / "k.sock", 2)
    client = HostClient(folder / "k.sock")
    sessions = [await client.open(spec_of(package)) for _ in range(2)]
    await sessions[0].execute("import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)")
    running = asyncio.create_task(sessions[1].execute("import time; time.sleep(60)"))
    await asyncio.sleep(0.3)
    processes = _below(process.pid)
    assert len(processes) >= 7
    temporary = set(os.listdir(tempfile.gettempdir()))
    process.kill()
    with pytest.raises(SessionLost):
        await running
    process.wait()
    assert not _left(processes)
    assert set(os.listdir(tempfile.gettempdir())) <= temporary
    for session in sessions:
        await session.close()
    with pytest.raises(SessionLost, match="no kernel host answers"):
        await client.open(spec_of(package))


async def test_a_new_host_takes_the_place_of_a_dead_one(folder: Path, package: Path) -> None:
    spawn(folder / "k.sock", 1).kill()
    process = spawn(folder / "k.sock", 1)
    session = await HostClient(folder / "k.sock").open(spec_of(package))
    assert (await session.execute("print(1)")).returned == "1\n"
    await session.close()
    process.terminate()
    assert process.wait(timeout=10) == 0


async def test_a_client_that_vanishes_ends_its_session(folder: Path, package: Path) -> None:
    process = spawn(folder / "k.sock", 1)
    session = await HostClient(folder / "k.sock").open(spec_of(package))
    processes = _below(process.pid)
    session.writer.close()
    assert not await asyncio.to_thread(_left, processes)
    process.kill()
    process.wait()


def test_the_host_dies_with_the_process_that_started_it(folder: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom sandbox_app.kernels.host import spawn\n"
        f"print(spawn(Path({str(folder / 'k.sock')!r}), 1).pid, flush=True)\ntime.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    host = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert not _left([host])


def test_a_host_that_can_not_start_is_named(folder: Path) -> None:
    with pytest.raises(StartFailed, match="did not answer"):
        spawn(folder / ("x" * 200), 1)


def test_the_socket_is_open_to_its_owner_only(folder: Path) -> None:
    process = spawn(folder / "k.sock", 1)
    assert (folder / "k.sock").stat().st_mode & 0o777 == 0o600
    process.kill()
    process.wait()


async def test_more_sessions_than_slots_queue_and_all_get_their_turn(folder: Path, package: Path) -> None:
    process = spawn(folder / "k.sock", 2)
    client = HostClient(folder / "k.sock")

    async def one(number: int) -> str:
        session = await client.open(spec_of(package, start_seconds=20))
        text = (await session.execute(f"print({number})")).returned
        await session.close()
        return text

    assert await asyncio.gather(*(one(n) for n in range(8))) == [f"{n}\n" for n in range(8)]
    process.terminate()
    process.wait()


async def test_who_asks_for_many_does_not_hold_up_who_asks_for_one() -> None:
    slots = FairSlots(1)
    order: list[str] = []

    async def hold(client: str) -> None:
        async with slots.slot(client):
            order.append(client)
            await asyncio.sleep(0)

    many = [asyncio.create_task(hold("many")) for _ in range(20)]
    await asyncio.sleep(0)
    await asyncio.gather(hold("one"), *many)
    assert order.index("one") <= 3


async def test_leaving_the_queue_gives_the_turn_to_the_next() -> None:
    slots = FairSlots(1)
    async with slots.slot("a"):
        leaving = asyncio.create_task(slots.slot("b").__aenter__())
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
    begun = time.monotonic()
    async with slots.slot("c"):
        assert time.monotonic() - begun < 0.1
