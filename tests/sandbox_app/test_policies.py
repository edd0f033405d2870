"""Policies: each does what its name says, the same way each time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_app.episodes import run_episode
from sandbox_app.errors import PolicyFault
from sandbox_app.kernels.local import LocalHost
from sandbox_app.policies import make
from sandbox_app.policies.scripted import FAULTS
from sandbox_app.trajectories import Trajectory
from tasks_app.tasks import TaskSpec
from tests.sandbox_app import notes

MENDED = ("misspelt_tool", "wrong_argument", "undefined_name", "malformed_call")
PASSING = (*MENDED, "slow_cell")


async def scripted(task: TaskSpec, package: Path, fault: str, seed: int) -> Trajectory:
    policy = make("scripted", task, {"fault": fault, "seed": seed})
    return await run_episode(task, package, notes.SCALE, 7, policy, host=LocalHost())


@pytest.mark.parametrize("fault", sorted(FAULTS))
async def test_each_fault_ends_as_it_says(task: TaskSpec, package: Path, fault: str) -> None:
    trajectory = await scripted(task, package, fault, 1)
    expected = "passed" if fault in PASSING else "stopped" if fault == "kernel_exit" else "failed"
    assert trajectory.outcome.kind == expected, trajectory.outcome
    outcomes = [step.result.outcome for step in trajectory.steps if step.result]
    if fault in MENDED:
        assert sum(outcome != "ok" for outcome in outcomes) == 1
    assert trajectory.policy.startswith("scripted:")


async def test_a_scripted_policy_is_the_same_at_the_same_seed(task: TaskSpec, package: Path) -> None:
    runs = [await scripted(task, package, "misspelt_tool", seed) for seed in (3, 3)]
    assert [s.message for s in runs[0].steps] == [s.message for s in runs[1].steps]
    messages = {make("scripted", task, {"fault": "wrong_answer", "seed": s})._script[-1] for s in range(5)}  # type: ignore[attr-defined]
    assert len(messages) == 5


def test_a_policy_or_fault_there_is_not_is_refused(task: TaskSpec) -> None:
    with pytest.raises(PolicyFault, match="no policy 'oracle'"):
        make("oracle", task, {})
    with pytest.raises(PolicyFault, match="no fault 'sleep'"):
        make("scripted", task, {"fault": "sleep"})
    with pytest.raises(PolicyFault, match="no checkpoint folder"):
        make("local", task, {"folder": "/no/such/folder"})


def test_torch_is_not_loaded_by_anything_but_the_local_policy() -> None:
    code = (
        "import sys, sandbox_app.policies.scripted, sandbox_app.policies.local, sandbox_app.episodes, "
        "sandbox_app.kernels.host\nprint([m for m in ('torch', 'transformers', 'django') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


async def test_a_local_model_says_what_it_sampled_and_reads_it_back_so(
    task: TaskSpec, package: Path, tmp_path: Path,
) -> None:
    from sandbox_app.interfaces import chat
    from training_app.model import PRESETS, make_base
    from training_app.rollouts import recorded
    from training_app.tokens import Codec

    make_base(["print(tools.notes_list()) Count my notes 0123456789 <|im_end|>"] * 20, PRESETS["nano"], tmp_path)
    config = {"folder": str(tmp_path), "temperature": 1.0, "seed": 5, "max_new_tokens": 12}
    policy = make("local", task, config)
    trajectory = await run_episode(task, package, notes.SCALE, 7, policy, host=LocalHost())
    step = trajectory.steps[0]
    assert 0 < len(step.token_ids) == len(step.logprobs) <= 12
    assert all(value <= 0 for value in step.logprobs)
    again = await make("local", task, config).act(trajectory.system, task.instruction, ())
    assert again.token_ids == step.token_ids
    messages = chat("a system that says <|im_end|>", task.instruction, trajectory.steps)
    prompt = policy.prompt(messages, trajectory.steps)  # type: ignore[attr-defined]
    assert prompt == Codec.load(tmp_path).prompt(messages, recorded(messages, trajectory.steps))
