"""Somebody who means harm, through whole episodes: each ends in its named outcome, never unscored, never for ever."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from sandbox_app.episodes import run_episode
from sandbox_app.errors import ToolFault
from sandbox_app.interfaces import render_call
from sandbox_app.kernels import wire
from sandbox_app.kernels.local import LocalHost
from sandbox_app.policies import Message
from sandbox_app.toolserver import protocol, server
from sandbox_app.trajectories import Step, to_json
from tasks_app.tasks import TaskSpec
from tests.sandbox_app import notes
from tests.sandbox_app.conftest import Opener
from tests.sandbox_app.test_episodes import ended, run

RAW = (
    "import json, os, socket, time\n"
    "far = socket.socket(fileno=os.dup(3))\n"
    "def raw(value):\n"
    "    body = value if isinstance(value, bytes) else json.dumps(value).encode()\n"
    "    far.sendall(len(body).to_bytes(4, 'big') + body)\n"
)
MUTED = "import gc\nfor item in gc.get_objects():\n    if type(item).__name__ == '_Witness': item._told = True\n"


@pytest.mark.parametrize("code", [
    f"{MUTED}import os\nos.kill(os.getpid(), 9)",
    f"{MUTED}import os\nos.kill(-1, 9)",
    f"{MUTED}import os\nos.killpg(0, 9)",
    f"{MUTED}import os, signal\nsignal.pthread_kill(__import__('threading').get_ident(), 9)",
    f"{MUTED}import os, signal\nsignal.pidfd_send_signal(os.pidfd_open(os.getpid()), 9)",
])
async def test_who_silences_the_witness_and_kills_the_kernel_is_still_named(
    task: TaskSpec, package: Path, code: str,
) -> None:
    assert ended(await run(task, package, render_call(code))) == ("stopped", "kernel_killed_by_policy", 0.0)


@pytest.mark.parametrize("code", [
    "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))",
    "import fcntl, socket\none, two = socket.socketpair()\nfcntl.fcntl(one, 10, 9)",
    "import os, subprocess\nassert subprocess.run('kill -9 2', shell=True).returncode == 0, 'refused'",
    "import ctypes\nlibc = ctypes.CDLL(None)\nassert libc.syscall(56, 9, 0, 0, 0, 0) >= 0, 'refused'",
])
async def test_no_other_way_to_sigkill_the_kernel_is_open(opened: Opener, code: str) -> None:
    session = await opened()
    assert (await session.execute(code)).outcome == "error"
    assert (await session.execute("print('alive')")).returned == "alive\n"


async def test_a_child_can_still_be_killed(opened: Opener) -> None:
    session = await opened()
    result = await session.execute(
        "import subprocess\nchild = subprocess.Popen(['sleep', '60'])\nchild.kill()\nprint(child.wait())"
    )
    assert result.returned == "-9\n"


class Dies:
    """Leaves a timer that ends the kernel after its cell, and comes back when it is dead."""

    name = "dies"

    async def act(self, system: str, instruction: str, steps: Sequence[Step]) -> Message:
        if not steps:
            return Message(render_call("import os, threading\nthreading.Timer(0.1, lambda: os._exit(3)).start()"))
        await asyncio.sleep(0.6)
        return Message(render_call("print(1)"))


async def test_a_kernel_that_ends_itself_between_two_cells_is_the_policys_doing(
    task: TaskSpec, package: Path,
) -> None:
    trajectory = await run_episode(task, package, notes.SCALE, 7, Dies(), host=LocalHost())
    assert ended(trajectory) == ("stopped", "kernel_killed_by_policy", 0.0)
    assert trajectory.outcome.detail == "the kernel exited with code 3, between two cells"


async def test_answers_that_are_never_read_hold_nothing_up(opened: Opener) -> None:
    session = await opened()
    begun = time.monotonic()
    await session.execute(
        f"{RAW}far.setblocking(False)\ntry:\n    for n in range(3000): "
        "raw({'call': 'notes_list', 'arguments': {}, 'id': n})\nexcept BlockingIOError: pass"
    )
    assert (await session.execute("print(2)")).returned == "2\n"
    assert await session.state()
    await session.close()
    assert time.monotonic() - begun < 8


@pytest.mark.parametrize("frame", [
    "{'call': 'notes_list', 'arguments': {}, 'id': '\\ud800'}",
    "{'call': '\\ud800', 'arguments': {}, 'id': 1}",
    "{'call': ['x'], 'arguments': 7, 'id': {}}",
    "{'call': 'notes_create', 'arguments': {'\\udfff': 1}, 'id': 10**30}",
    "{'variables': [[1], {'a': 2}, ['\\ud800', '\\x00', 'x', 'y', 10**300]], 'peak': 10**400}",
    "{'variables': 5, 'peak': []}",
    "{'evidence': ['\\ud800']}",
    "b'{\"variables\": [[' + b'[' * 900 + b']' * 900 + b', 1, 2, 3, 4]], \"peak\": -1}'",
])
async def test_a_forged_frame_is_never_our_fault(task: TaskSpec, package: Path, frame: str) -> None:
    silent = "__import__('sys').modules['_bridge']._Channel.say = lambda *a: None\n"
    trajectory = await run(
        task, package, render_call(f"{RAW}{silent}raw({frame})\ntime.sleep(0.2)\nraise MemoryError"),
        render_call("print(1)"),
    )
    assert ended(trajectory) == ("failed", "verdict", 0.0)


@pytest.mark.parametrize("arguments", [
    "text='\\ud800'", "**{'\\ud800': 1}", "text=10**30", "text=float('nan')", "text=float('inf')",
    "text='x' * 2_000_000", "text={'a': [[['\\udfff']]]}",
])
async def test_an_argument_that_no_table_holds_is_refused_with_a_word(opened: Opener, arguments: str) -> None:
    session = await opened()
    result = await session.execute(f"try: tools.notes_create({arguments})\nexcept ToolError as e: print(e.code)")
    assert result.returned == "INVALID_ARGUMENT\n"
    assert (await session.execute("print(len(tools.notes_list()['notes']))")).returned == "3\n"


def test_arguments_are_looked_at_without_recursion() -> None:
    deep: object = 1
    for _ in range(5_000):
        deep = [deep]
    assert protocol.unfit(deep) == f"it is nested more than {protocol.MAX_DEPTH} deep"
    assert protocol.unfit({"a": [1, 2.5, None, True, "é", {"b": []}]}) == ""


async def test_tables_and_records_of_calls_stay_bounded(opened: Opener) -> None:
    session = await opened()
    result = await session.execute(
        "try:\n    for n in range(100): tools.notes_create(text=str(n) + 'x' * 1_000_000)\n"
        "except ToolError as e: print(e.code, n)"
    )
    code, made = result.returned.split()
    assert code == "RESOURCE_EXHAUSTED"
    assert 50 < int(made) < 80
    assert len(json.dumps(to_json(result))) < 4 * 1024**2


async def test_a_flood_of_files_fits_a_message(opened: Opener) -> None:
    session = await opened()
    result = await session.execute("for n in range(15_000): open(f'f{n}', 'w').write('\\x01' * 4_000)")
    assert len(result.files) < 5_000
    assert len(json.dumps(to_json(result))) < wire.MAX_HEAD // 4
    assert len((await session.state()).files) == 15_001


@pytest.mark.parametrize("code", [
    "import os\nos.memfd_create('x')",
    "import mmap\nmmap.mmap(-1, 4096)",
    "open('/dev/zero')",
    "import ctypes\nassert ctypes.CDLL(None).shmget(0, 4096, 0o1600) >= 0",
])
async def test_memory_that_nothing_counts_is_not_given(opened: Opener, code: str) -> None:
    assert (await (await opened()).execute(code)).outcome == "error"


@pytest.mark.parametrize("code", [
    "'x' * 100_000_000",
    "class Endless:\n    def __repr__(self):\n        while True: pass\nEndless()",
    "from IPython.display import display\ndisplay({'text/plain': 'x' * 50_000_000}, raw=True)",
])
async def test_what_is_only_displayed_is_not_even_made(opened: Opener, code: str) -> None:
    session = await opened(cell_seconds=5)
    result = await session.execute(code)
    assert (result.outcome, result.returned) == ("ok", "")


async def test_an_endless_error_text_is_cut(opened: Opener) -> None:
    result = await (await opened()).execute("raise ValueError('x' * 1_000_000)")
    assert result.error is not None
    assert len(result.error.message) < 30_000
    assert len(result.error.traceback) < 30_000


async def test_half_a_character_is_printed_as_its_escape(opened: Opener) -> None:
    assert (await (await opened()).execute("print('\\ud83d é')")).returned == "\\ud83d é\n"


async def test_code_with_half_a_character_is_a_malformed_call(task: TaskSpec, package: Path) -> None:
    trajectory = await run(task, package, render_call("print('\ud800')"))
    assert trajectory.steps[0].result is not None
    assert "half a character" in trajectory.steps[0].result.error.message  # type: ignore[union-attr]
    assert ended(trajectory) == ("failed", "verdict", 0.0)


async def test_a_tool_that_does_not_come_back_is_our_fault_and_is_not_waited_for_for_ever(
    opened: Opener, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_PATIENCE", 0.3)
    session = await opened(cell_seconds=0.5)
    back = asyncio.Event()
    loop = asyncio.get_running_loop()

    def endless(connection: object) -> None:
        time.sleep(6)
        loop.call_soon_threadsafe(back.set)

    session._server._toolbox.functions["notes_list"] = endless  # type: ignore[index]
    with pytest.raises(ToolFault, match="notes_list did not come back"):
        await session.execute("tools.notes_list()")
    await asyncio.wait_for(back.wait(), 10)


async def test_a_report_too_large_to_judge_is_no_way_out_of_a_score(task: TaskSpec, package: Path) -> None:
    code = "with open('report.csv', 'w') as file:\n    for _ in range(9): file.write('a,b\\n' * 2**18)"
    trajectory = await run(task, package, render_call(code))
    assert ended(trajectory) == ("stopped", "workspace_limit", 0.0)
    assert "at most 8,388,608 are judged" in trajectory.outcome.detail


class Broken:
    """A host with a fault that nobody thought of."""

    async def open(self, spec: object) -> object:
        raise RuntimeError("never thought of")


async def test_a_fault_that_has_no_name_is_still_an_outcome(task: TaskSpec, package: Path) -> None:
    trajectory = await run_episode(task, package, notes.SCALE, 7, Dies(), host=Broken())  # type: ignore[arg-type]
    assert ended(trajectory) == ("infrastructure", "sandbox_fault", None)
    assert trajectory.outcome.detail == "RuntimeError: never thought of"
