"""Every way an episode can end has its name, and only what the policy did is scored."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox_app.episodes import Silent, run_episode
from sandbox_app.errors import PolicyFault, SessionLost
from sandbox_app.interfaces import render_call
from sandbox_app.kernels.local import LocalHost
from sandbox_app.kernels.session import Limits, SessionSpec
from sandbox_app.policies import Message, make
from sandbox_app.trajectories import Call, Step, Trajectory
from tasks_app.scales import Scale
from tasks_app.tasks import TaskSpec
from tests.sandbox_app import notes
from tests.sandbox_app.test_isolation import _below


class Says:
    """A policy that says what it is given, then "Done."."""

    name = "says"

    def __init__(self, *messages: str | Exception) -> None:
        self._messages = messages

    async def act(self, system: str, instruction: str, steps: Sequence[Step]) -> Message:
        message = self._messages[len(steps)] if len(steps) < len(self._messages) else "Done."
        if isinstance(message, Exception):
            raise message
        return Message(message)


async def run(task: TaskSpec, package: Path, *messages: str | Exception, **limits: Any) -> Trajectory:
    return await run_episode(
        task, package, notes.SCALE, 7, Says(*messages), host=LocalHost(), limits=Limits(**limits),
    )


def ended(trajectory: Trajectory) -> tuple[str, str, float | None]:
    return trajectory.outcome.kind, trajectory.outcome.cause, trajectory.outcome.reward


async def test_the_reference_passes_and_its_record_is_complete(task: TaskSpec, package: Path) -> None:
    trajectory = await run_episode(
        task, package, notes.SCALE, 7, make("reference", task, {}), host=LocalHost(),
    )
    assert ended(trajectory) == ("passed", "verdict", 1.0)
    assert trajectory.answer == "3"
    assert [c["passed"] for c in trajectory.criteria] == [True, True, True]
    assert [len(step.result.calls) for step in trajectory.steps if step.result] == [1, 1]
    assert trajectory.state_before != trajectory.state_after
    assert "notes_create(text)" in trajectory.system
    assert trajectory.steps[-1].result is None


async def test_doing_nothing_fails_by_name(task: TaskSpec, package: Path) -> None:
    trajectory = await run_episode(task, package, notes.SCALE, 7, make("no_op", task, {}), host=LocalHost())
    assert ended(trajectory) == ("failed", "verdict", 0.0)
    assert trajectory.outcome.detail == "note created; answer"
    assert trajectory.state_before == trajectory.state_after


@pytest.mark.parametrize(("messages", "limits", "cause"), [
    ([render_call("print(1)")] * 9, {"steps": 3}, "max_steps"),
    (["<tool_call>"] * 3, {}, "malformed_call"),
    ([render_call("for _ in range(9): tools.notes_list()")], {"calls": 5}, "calls_limit"),
    ([render_call("import os; os._exit(0)")], {}, "kernel_killed_by_policy"),
    ([render_call("import time\nwhile True:\n    try: time.sleep(9)\n    except BaseException: pass")],
     {"cell_seconds": 0.3}, "cell_timeout"),
    ([render_call("import os\nfor _ in range(4):\n    if os.fork() == 0:\n        x = b'1' * 2**27\n"
    "        import time; time.sleep(9)\nimport time; time.sleep(9)")],
     {"memory": 2**28}, "out_of_memory"),
    ([render_call("import os; os.write(3, b'xxxxxxxx'); import time; time.sleep(0.2)")], {}, "protocol_error"),
    ([render_call("for i in range(3): open(str(i), 'wb').truncate(2**20)")], {"workspace": 2**20}, "workspace_limit"),
])
async def test_what_the_policy_brought_about_is_stopped_with_reward_0(
    task: TaskSpec, package: Path, messages: list[str], limits: dict[str, Any], cause: str,
) -> None:
    assert ended(await run(task, package, *messages, **limits)) == ("stopped", cause, 0.0)


async def test_a_stopped_episode_keeps_the_criteria_it_had_met(task: TaskSpec, package: Path) -> None:
    trajectory = await run(task, package, render_call("tools.notes_create(text='count 3')\nimport os; os._exit(1)"))
    assert ended(trajectory) == ("stopped", "kernel_killed_by_policy", 0.0)
    assert {c["name"]: c["passed"] for c in trajectory.criteria} == {
        "note created": True, "nothing else changed": True, "answer": False,
    }


async def test_a_malformed_call_is_answered_and_can_be_mended(task: TaskSpec, package: Path) -> None:
    trajectory = await run(task, package, "<tool_call>\nprint(1)", render_call("print(2)"), "<tool_call>")
    assert trajectory.outcome.cause == "verdict"
    assert [step.result.outcome if step.result else None for step in trajectory.steps] == [
        "protocol_error", "ok", "protocol_error", None,
    ]


@pytest.mark.parametrize(("changes", "messages", "cause"), [
    ({}, [render_call("tools.notes_break()")], "tool_exception"),
    ({}, [RuntimeError("a bug")], "policy_fault"),
    ({}, [PolicyFault("no checkpoint")], "policy_fault"),
    ({"verifier": "def verify(*a): raise KeyError('x')"}, [], "verifier_raised"),
    ({"tools": ("no_such_tool",)}, [], "unknown_tool"),
    ({"directives": {"boom": 1}}, [], "environment_failed"),
])
async def test_what_is_ours_is_infrastructure_without_a_reward(
    task: TaskSpec, package: Path, tmp_path: Path, changes: dict[str, Any], messages: list[str], cause: str,
) -> None:
    if cause == "environment_failed":
        package = notes.make_package(tmp_path / "broken")
        (package / "populate.py").write_text("def populate(*a, **k): raise ValueError('no rows')")
    trajectory = await run(dataclasses.replace(task, **changes), package, *messages)
    assert ended(trajectory) == ("infrastructure", cause, None)
    assert trajectory.criteria == ()
    assert trajectory.outcome.detail


async def test_a_verifier_that_never_ends_is_infrastructure(
    task: TaskSpec, package: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sandbox_app import verification_process

    quick = verification_process.JudgeLimits(seconds=0.5)
    monkeypatch.setattr(verification_process.judge, "__kwdefaults__", {"limits": quick, "tier": None})
    endless = dataclasses.replace(task, verifier="def verify(*a):\n    while True: pass")
    assert ended(await run(endless, package)) == ("infrastructure", "verifier_timeout", None)


async def test_a_host_that_is_gone_is_infrastructure(task: TaskSpec, package: Path) -> None:
    class Gone:
        async def open(self, spec: SessionSpec) -> Any:
            raise SessionLost("no host")

    trajectory = await run_episode(task, package, notes.SCALE, 7, Says(), host=Gone())
    assert ended(trajectory) == ("infrastructure", "session_lost", None)


class Watching(Silent):
    """Keeps what it is told, and says when something was printed."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []
        self.printed = asyncio.Event()

    def on_step_started(self, index: int, message: str, code: str | None) -> None:
        self.seen.append(("started", index))

    def on_output(self, index: int, text: str) -> None:
        self.seen.append(("output", index))
        self.printed.set()

    def on_call(self, index: int, call: Call) -> None:
        self.seen.append(("call", call.tool))

    def on_step(self, step: Step) -> None:
        self.seen.append(("step", step.index))


async def test_a_kernel_killed_from_outside_is_infrastructure(task: TaskSpec, package: Path) -> None:
    watching = Watching()
    policy = Says(render_call("import time\nprint('here', flush=True)\ntime.sleep(60)"))
    running = asyncio.create_task(
        run_episode(task, package, notes.SCALE, 7, policy, host=LocalHost(), observer=watching)
    )
    await asyncio.wait_for(watching.printed.wait(), 30)
    os.kill(_below(os.getpid())[-1], 9)
    assert ended(await running) == ("infrastructure", "kernel_killed_from_outside", None)


async def test_equal_seeds_give_equal_states_and_outputs(task: TaskSpec, package: Path) -> None:
    code = render_call("import random\nprint(random.random(), hash('x'), {'a', 'b', 'c'})\n"
        "tools.notes_create(text='x')")
    one, two = await run(task, package, code), await run(task, package, code)
    assert (one.state_before, one.state_after) == (two.state_before, two.state_after)
    assert one.steps[0].result.stdout == two.steps[0].result.stdout  # type: ignore[union-attr]


async def test_cancelling_an_episode_leaves_no_process(task: TaskSpec, package: Path) -> None:
    before = set(_below(os.getpid()))
    running = asyncio.create_task(run(task, package, render_call("import time; time.sleep(60)")))
    await asyncio.sleep(1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert set(_below(os.getpid())) <= before


async def test_who_watches_sees_everything_in_its_order(task: TaskSpec, package: Path) -> None:
    watching = Watching()
    await run_episode(
        task, package, Scale("v0", 3, 1), 7, make("reference", task, {}), host=LocalHost(), observer=watching,
    )
    assert [event for event in watching.seen if event[0] in ("started", "step")] == [
        ("started", 1), ("step", 1), ("started", 2), ("step", 2), ("started", 3), ("step", 3),
    ]
    assert ("call", "notes_list") in watching.seen
    assert watching.seen.index(("output", 1)) < watching.seen.index(("step", 1))
