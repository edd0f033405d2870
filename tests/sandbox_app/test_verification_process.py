"""A verifier that can't judge gives no verdict, whatever it does, and harms nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_app.errors import VerifierProcessFault, VerifierTimeout
from sandbox_app.kernels.local import LocalHost
from sandbox_app.toolserver import toolbox
from sandbox_app.verification_process import JudgeLimits, judge
from tasks_app.environments.state import State
from tests.sandbox_app import notes

LIMITS = JudgeLimits(seconds=3, memory=256 * 1024**2)


@pytest.fixture
def state(package: Path) -> State:
    return toolbox.package(package).build(7, notes.SCALE, {})


async def test_it_judges_tables_files_and_answer(state: State) -> None:
    source = (
        "def verify(before, after, files_before, files_after, answer):\n"
        "    count = after.execute('SELECT count(*) FROM note').fetchone()[0]\n"
        "    right = files_after == {'file0.txt': b'file 0'} and answer == 'é \\ud83d'\n"
        "    return [{'name': 'all', 'passed': count == 3 and right}]"
    )
    verdict = await judge(source, state, state, "é \ud83d")
    assert verdict.reward == 1.0
    assert len(verdict.verifier) == 64


@pytest.mark.parametrize(("body", "says"), [
    ("raise KeyError('gone')", "KeyError: 'gone'"),
    ("raise SystemExit(0)", "SystemExit"),
    ("import os; os._exit(0)", "exited with code 0"),
    ("return []", "no criteria"),
    ("return None", "not a list"),
    ("return [{'name': 'a', 'passed': True}, {'name': 'a', 'passed': True}]", "two criteria of one name"),
    ("return [{'name': 'a', 'passed': 1}]", "neither true nor false"),
    ("return [{'name': 'a' * 2**22, 'passed': True}]", "at most 1048576"),
    ("while True: print('x' * 2**20)", "OSError"),
    ("yield {'name': 'a', 'passed': True}", "not JSON serializable"),
    ("return {'name': 'a', 'passed': True}", "not a list"),
    ("return verify(before, after, files_before, files_after, answer)", "RecursionError"),
    ("return [{'name': 'a', 'passed': True, 'detail': object()}]", "not JSON serializable"),
    ("x = bytearray(2**30)", "MemoryError"),
    ("before.execute('DELETE FROM note')", "readonly"),
    ("import socket; socket.create_connection(('1.1.1.1', 53), 1)", "OSError"),
    ("import os\nfor _ in range(100): os.fork() or os._exit(9)", "BlockingIOError|no verdict"),
    (f"open({str(Path.cwd() / 'manage.py')!r})", "FileNotFoundError"),
    ("import sandbox_app", "ModuleNotFoundError"),
])
async def test_what_keeps_it_from_a_verdict_is_named(state: State, body: str, says: str) -> None:
    source = "def verify(before, after, files_before, files_after, answer):\n    " + body.replace("\n", "\n    ")
    with pytest.raises(VerifierProcessFault, match=says):
        await judge(source, state, state, "", limits=LIMITS)


async def test_a_verifier_that_never_ends_is_ended(state: State) -> None:
    with pytest.raises(VerifierTimeout, match=r"within 0\.5 s"):
        await judge("def verify(*a):\n    while True: pass", state, state, "", limits=JudgeLimits(seconds=0.5))


@pytest.mark.parametrize("source", ["this is no python", "x = 1", "raise ValueError"])
async def test_a_program_that_is_no_verifier_is_a_fault(state: State, source: str) -> None:
    with pytest.raises(VerifierProcessFault):
        await judge(source, state, state, "")


async def test_a_policy_can_not_reach_its_verdict(package: Path, state: State) -> None:
    """What the kernel can write (files, answer) is data to the verifier: nothing of it is imported or run."""
    from tests.sandbox_app.conftest import spec_of

    session = await LocalHost().open(spec_of(package))
    names = "('sqlite3', 'json', 'verifier', 'sitecustomize')"
    await session.execute(f"for n in {names}: open(n + '.py', 'w').write('1/0')")
    after = await session.state()
    await session.close()
    verdict = await judge(notes.VERIFIER, state, after, "3")
    assert [c.passed for c in verdict.criteria] == [False, True, True]


async def test_evidence_that_quotes_a_flood_is_cut_and_stays_a_verdict(state: State) -> None:
    verdict = await judge(
        "def verify(*a): return [{'name': 'report', 'passed': False, 'detail': 'x' * 3_000_000}]", state, state, "",
    )
    assert len(verdict.criteria[0].detail) < 5_000
    assert verdict.criteria[0].detail.endswith("… (3,000,000 characters)")
