"""A verifier gives a verdict or a fault that says what and where; a fault is never a reward of 0."""

from __future__ import annotations

import pytest

from tasks_app.verification import Criterion, Verdict, VerifierFault, judge
from tests.tasks_app import plan_world

HEAD = "def verify(before, after, files_before, files_after, answer):\n"


def test_the_reward_is_1_only_if_every_criterion_passed() -> None:
    assert Verdict((Criterion("a", True), Criterion("b", True)), "x").reward == 1.0
    assert Verdict((Criterion("a", True), Criterion("b", False)), "x").reward == 0.0


def test_a_verifier_reads_both_states_files_and_answer() -> None:
    source = HEAD + (
        "    n = [c.execute('SELECT COUNT(*) FROM club').fetchone()[0] for c in (before, after)]\n"
        "    right = n == [3, 3] and files_after == files_before and answer == 'hi'\n"
        "    return [{'name': 'all', 'passed': right, 'detail': 'x'}]\n"
    )
    state = plan_world.state()
    verdict = judge(source, state, state, "hi")
    assert verdict.reward == 1.0
    assert len(verdict.verifier) == 64


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("    return 1 / 0\n", "raised ZeroDivisionError: division by zero at line 2 in verify"),
        ("    return []\n", "gave no criteria"),
        ("    return None\n", "returned NoneType, not a list"),
        ("    return ['x']\n", "criterion 0 is str, not an object"),
        ("    return [{'name': 'a', 'passed': True}, {'name': 'a', 'passed': True}]\n", "two criteria of one name: a"),
        ("    return [{'name': 'a', 'passed': 1}]\n", "criterion 'a': passed is 1, neither true nor false"),
        ("    return [{'name': '', 'passed': True}]\n", "criterion 0 has no name"),
        ("    return [{'name': 'a', 'passed': True, 'detail': 3}]\n", "criterion 'a': detail is int, not text"),
    ],
)
def test_a_verifier_that_gives_no_verdict_is_a_fault_with_its_cause(body: str, says: str) -> None:
    state = plan_world.state()
    with pytest.raises(VerifierFault, match=says):
        judge(HEAD + body, state, state, "")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def verify(:\n", "raised SyntaxError"),
        ("import nothing_of_the_kind\n", "raised ModuleNotFoundError"),
        ("x = 1\n", "defines no function verify"),
    ],
)
def test_a_program_that_is_no_verifier_is_a_fault(source: str, says: str) -> None:
    state = plan_world.state()
    with pytest.raises(VerifierFault, match=says):
        judge(source, state, state, "")
