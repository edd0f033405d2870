"""RL in its subprocess: real kernels, real verdicts; what teaches nothing leaves the batch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_app.trajectories import Outcome, from_json
from tests.training_app.lab import Lab, lines, result
from training_app import model
from training_app.configs import Contender, EvaluateConfig, RlConfig, SftConfig
from training_app.folders import RunFolder
from training_app.tokens import Codec

pytestmark = [pytest.mark.slow, pytest.mark.kernel]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def start(lab: Lab) -> Path:
    """A checkpoint that passes some of the time."""
    settings = SftConfig(str(lab.base), str(lab.snapshot(4)), epochs=32, batch=8, learning_rate=5e-3, save_every=500)
    last = RunFolder(lab.run("training_app.sft", "start", settings.to_json())).last_checkpoint()
    assert last is not None
    return last


def settings(lab: Lab, start: Path, steps: int = 2) -> dict[str, object]:
    return RlConfig(
        str(start),
        "local",
        "start",
        lab.attempts(),
        steps=steps,
        group=4,
        tasks_per_step=2,
        max_new_tokens=60,
        temperature=1.2,
        save_every=1,
        concurrency=4,
    ).to_json()


@pytest.fixture(scope="module")
def run(lab: Lab, start: Path) -> Path:
    return lab.run("training_app.rl", "rl", settings(lab, start))


def test_two_steps_of_real_episodes(run: Path) -> None:
    assert result(run)["status"] == "finished", result(run)
    steps = lines(run, "step")
    assert [step["step"] for step in steps] == [1, 2]
    for step in steps:
        assert step["rollouts"] == 8
        assert step["groups_with_signal"] + step["groups_without"] == 2
        assert 0.0 <= step["rollout_reward"] <= 1.0
    assert len(list((run / "episodes").glob("step-000002-*.json"))) == 8


def test_weights_move_only_when_a_group_teaches(run: Path, start: Path) -> None:
    before = model.digest_of(start)
    for step, checkpoint in zip(lines(run, "step"), RunFolder(run).checkpoints(), strict=True):
        after = model.digest_of(checkpoint)
        assert (after != before) == (step["groups_with_signal"] > 0)
        before = after


def test_the_ids_trained_on_are_the_ids_sampled(run: Path, start: Path) -> None:
    from training_app.rl import row_of

    codec = Codec.load(start)
    for path in (run / "episodes").glob("*.json"):
        trajectory = from_json(json.loads(path.read_text()))
        row = row_of(trajectory, codec, 4_096)
        said = [token for step in trajectory.steps for token in step.token_ids]
        assert [token for token, kept in zip(row.completion, row.mask, strict=True) if kept] == said
        probabilities = [value for value, kept in zip(row.logprobs, row.mask, strict=True) if kept]
        assert probabilities == [value for step in trajectory.steps for value in step.logprobs]


def test_an_infrastructure_outcome_leaves_the_batch(run: Path, start: Path) -> None:
    from training_app.rl import groups, row_of, teaches

    path = next((run / "episodes").glob("*.json"))
    broken = replace(from_json(json.loads(path.read_text())), outcome=Outcome("infrastructure", "session_lost"))
    row = row_of(broken, Codec.load(start), 4_096)
    assert (row.reward, row.why, sum(row.mask)) == (None, "infrastructure", 0)
    assert groups([1.0, None, 0.0, None], 2) == [[1.0], [0.0]]
    assert not teaches([1.0])
    assert not teaches([1.0, 1.0])
    assert teaches([1.0, 0.0])


def test_a_resumed_run_goes_on_from_its_checkpoint(lab: Lab, start: Path, run: Path) -> None:
    lab.run("training_app.rl", "rl", settings(lab, start, steps=3))
    assert result(run)["status"] == "finished", result(run)
    assert lines(run, "resumed")[-1]["step"] == 2
    assert lines(run, "step")[-1]["step"] == 3


def test_an_evaluation_has_its_controls_and_resumes(lab: Lab, start: Path) -> None:
    asked = EvaluateConfig(
        (Contender("reference"), Contender("no_op"), Contender("sft", str(start))),
        lab.attempts()[:4],
        "local",
        max_new_tokens=60,
        concurrency=4,
    ).to_json()
    folder = lab.run("training_app.evaluate", "evaluation", asked)
    assert result(folder)["episodes"] == 12, result(folder)
    ended = {(row["policy"], row["outcome"]) for row in lines(folder, "episode") if row["policy"] != "sft"}
    assert ended == {("reference", "passed"), ("no_op", "failed")}
    (folder / "episodes" / "02-0001.json").unlink()
    lab.run("training_app.evaluate", "evaluation", asked)
    assert len(lines(folder, "episode")) == 13
    assert (folder / "episodes" / "02-0001.json").is_file()


def test_no_task_to_learn_from_is_refused(lab: Lab, start: Path) -> None:
    folder = lab.run("training_app.rl", "empty", {**settings(lab, start), "tasks": []})
    assert "no train-split task" in result(folder)["error"]
