"""One contract suite for both kinds of session: in this process, and over a host's socket."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sandbox_app.errors import SessionLost, ToolFault
from sandbox_app.kernels.client import HostClient
from sandbox_app.kernels.host import spawn
from sandbox_app.kernels.local import LocalHost
from sandbox_app.kernels.session import Session, SessionFactory
from sandbox_app.kernels.workspace import WorkspaceOverflow
from sandbox_app.trajectories import Call, RowChange
from tests.sandbox_app.conftest import spec_of


@pytest.fixture(scope="module")
def socket_path() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    process = spawn(folder / "kernels.sock", 2)
    yield folder / "kernels.sock"
    process.terminate()
    assert process.wait(timeout=10) == 0
    assert not (folder / "kernels.sock").exists()
    shutil.rmtree(folder)


@pytest.fixture(params=["local", "client"])
def host(request: pytest.FixtureRequest, socket_path: Path) -> SessionFactory:
    return LocalHost() if request.param == "local" else HostClient(socket_path)


@pytest.fixture
async def session(host: SessionFactory, package: Path) -> AsyncIterator[Session]:
    session = await host.open(spec_of(package, cell_seconds=3, calls=5, workspace=2**20))
    yield session
    await session.close()


async def test_state_is_kept_between_cells(session: Session) -> None:
    assert (await session.execute("x = 6 * 7")).outcome == "ok"
    assert (await session.execute("print(x)")).returned == "42\n"


async def test_only_printed_text_returns(session: Session) -> None:
    result = await session.execute("'a value'\nprint('printed')\n'another value'")
    assert result.returned == "printed\n"


async def test_output_and_calls_come_while_the_cell_runs(session: Session) -> None:
    seen: list[object] = []
    arrived = asyncio.Event()

    def on_output(text: str) -> None:
        seen.append(text)
        arrived.set()

    running = asyncio.create_task(session.execute(
        "print('begun', flush=True)\ntools.notes_list()\nimport time; time.sleep(1.5)", on_output=on_output,
        on_call=seen.append,
    ))
    await asyncio.wait_for(arrived.wait(), 1.4)
    assert not running.done()
    result = await running
    assert [call.tool for call in seen if isinstance(call, Call)] == ["notes_list"]
    assert [call.tool for call in result.calls] == ["notes_list"]


async def test_a_step_says_which_rows_and_files_it_changed(session: Session) -> None:
    result = await session.execute(
        "tools.notes_create(text='new')\nopen('report.md', 'w').write('# done')\nimport os; os.remove('file0.txt')"
    )
    assert result.rows == (RowChange("note", {"id": 4}, None, {"id": 4, "text": "new"}),)
    assert [(f.path, f.change, f.preview) for f in result.files] == [
        ("file0.txt", "removed", ""), ("report.md", "added", "# done"),
    ]
    quiet = await session.execute("print(1)")
    assert quiet.rows == quiet.files == ()


async def test_a_refused_call_raises_tool_error_and_leaves_nothing_behind(session: Session) -> None:
    result = await session.execute(
        "try:\n    tools.notes_half()\nexcept ToolError as error:\n"
        "    print(error.code, error.message, error.retryable)"
    )
    assert result.returned == "FAILED_PRECONDITION refused in the middle False\n"
    assert result.rows == ()
    assert result.calls[0].error == {
        "code": "FAILED_PRECONDITION", "message": "refused in the middle", "retryable": False,
    }


async def test_an_unknown_argument_is_refused_and_says_what_there_is(session: Session) -> None:
    result = await session.execute("tools.notes_create(txt='x')")
    assert result.outcome == "error"
    assert result.error is not None
    assert result.error.name == "ToolError"
    assert "no argument txt; it has: text" in result.error.message


async def test_a_tool_that_raises_what_it_does_not_declare_is_a_fault_of_ours(session: Session) -> None:
    with pytest.raises(ToolFault, match="notes_break raised KeyError: 'missing'"):
        await session.execute("try:\n    tools.notes_break()\nexcept BaseException:\n    pass")


async def test_a_slow_cell_is_interrupted_and_its_variables_survive(session: Session) -> None:
    result = await session.execute("kept = 1\nwhile True: pass")
    assert (result.outcome, result.state_survived) == ("timeout", True)
    assert (await session.execute("print(kept)")).returned == "1\n"


async def test_a_person_can_interrupt_a_cell(session: Session) -> None:
    running = asyncio.create_task(session.execute("import time\nprint('a', flush=True)\ntime.sleep(60)"))
    await asyncio.sleep(0.5)
    await session.interrupt()
    result = await running
    assert (result.outcome, result.error.name if result.error else "") == ("error", "KeyboardInterrupt")


async def test_state_gives_tables_and_files_as_they_are_now(session: Session) -> None:
    await session.execute("tools.notes_create(text='new')\nopen('a.txt', 'w').write('b')")
    state = await session.state()
    assert state.files == {"file0.txt": b"file 0", "a.txt": b"b"}
    with state.connect() as connection:
        assert connection.execute("SELECT count(*) FROM note").fetchone() == (4,)


async def test_state_is_there_after_the_kernel_has_ended_itself(session: Session) -> None:
    result = await session.execute("tools.notes_create(text='new')\nopen('a.txt', 'w').write('b')\nimport os\n"
        "os._exit(3)")
    assert (result.outcome, result.state_survived, result.detail) == (
        "kernel_dead", False, "the kernel exited with code 3",
    )
    assert "a.txt" in (await session.state()).files


async def test_calls_beyond_the_quota_are_refused(session: Session) -> None:
    result = await session.execute(
        "for _ in range(50):\n    try: tools.notes_list()\n    except ToolError as error: print(error.code)"
    )
    assert result.returned == "RESOURCE_EXHAUSTED\n" * 45
    assert [call.ok for call in result.calls] == [True] * 5 + [False]


async def test_files_that_claim_more_than_the_quota_are_not_read(session: Session) -> None:
    result = await session.execute(
        "for i in range(3):\n    with open(f'sparse{i}', 'wb') as f: f.truncate(2**20)\nprint('ok')"
    )
    assert result.returned == "ok\n"
    with pytest.raises(WorkspaceOverflow):
        await session.state()


async def test_close_can_be_called_twice_and_ends_the_session(session: Session) -> None:
    await session.close()
    await session.close()
    with pytest.raises(SessionLost):
        await session.execute("print(1)")


async def test_cancelling_a_cell_and_closing_leaves_the_host_usable(host: SessionFactory, package: Path) -> None:
    session = await host.open(spec_of(package))
    running = asyncio.create_task(session.execute("import time\ntime.sleep(60)"))
    await asyncio.sleep(0.3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await session.close()
    again = await host.open(spec_of(package))
    assert (await again.execute("print('here')")).returned == "here\n"
    await again.close()
