"""A trajectory travels through JSON unharmed, and only in the version this code reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandbox_app.episodes import run_episode
from sandbox_app.kernels.local import LocalHost
from sandbox_app.policies.reference import ReferencePolicy
from sandbox_app.trajectories import UnknownVersion, from_json, step_from_json, to_json
from tasks_app.tasks import TaskSpec
from tests.sandbox_app import notes


async def test_a_real_trajectory_comes_back_equal(task: TaskSpec, package: Path) -> None:
    program = (
        "# %%\nx = [1]\nprint('é', tools.notes_list())\n1/0\n"
        "# %%\ntools.notes_create(text='ü')\nopen('a', 'w').write('b')"
    )
    policy = ReferencePolicy(task, program=program)
    made = await run_episode(task, package, notes.SCALE, 7, policy, host=LocalHost())
    row = json.loads(json.dumps(to_json(made)))
    assert to_json(from_json(row)) == row
    assert from_json(row).steps[1].result == made.steps[1].result
    assert step_from_json(row["steps"][0]) == made.steps[0]


def test_another_version_is_refused() -> None:
    with pytest.raises(UnknownVersion, match="version 1, not 2"):
        from_json({"version": 2})
