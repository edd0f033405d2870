"""The learning experiment: what it makes to teach and to judge keeps the split, and its page says what came out."""

from __future__ import annotations

import pytest

from benchmarks._learning_report import report
from benchmarks._learning_tasks import further, held_out
from benchmarks.learning import ROOT
from tasks_app.content import unpack
from tasks_app.environments.package import EnvironmentPackage


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> list[EnvironmentPackage]:
    made = tmp_path_factory.mktemp("content")
    return [EnvironmentPackage.load(folder) for folder, _ in unpack(ROOT / "content", made)]


def test_further_primers_are_of_the_train_split_and_no_lineage_comes_twice(packages: list[EnvironmentPackage]) -> None:
    for package in packages:
        first = list(further(12, package, ()))
        assert {task.split for task in first} == {"train"}
        assert {task.tier for task in first} == {"primer"}
        assert len({task.lineage for task in first}) == 12
        known = {task.lineage for task in first[:5]}
        assert not known & {task.lineage for task in further(6, package, known)}


def test_the_same_further_primers_come_each_time(packages: list[EnvironmentPackage]) -> None:
    keys = [[task.key for task in further(4, packages[0], ())] for _ in range(2)]
    assert keys[0] == keys[1]


def test_held_out_primers_are_of_the_test_split_and_proven(packages: list[EnvironmentPackage]) -> None:
    (first,) = held_out(1, packages[0], ())
    assert first.split == "test"
    assert first.measures["checks"]["reference"]["v3"]
    assert first.lineage not in {task.lineage for task in held_out(1, packages[0], {first.lineage})}


def test_a_void_evaluation_says_so_on_the_page() -> None:
    row = {"policy": "base", "tier": "primer", "passed": 0, "n": 2, "infrastructure": 0}
    text = report(
        {
            "sizes": {"epochs": 1, "batch": 8, "rl_steps": 1, "tasks_per_step": 1, "group": 2},
            "parameters": 1_500_000,
            "train_primers": 5,
            "further_primers": 2,
            "demonstrations": {"passed": 5},
            "sft": {"examples": 4, "steps": 1, "tokens": 100, "loss_first": 2.0, "loss_last": 1.0},
            "rl": {"curve": [{"step": 1, "rollout_reward": 0.5, "groups_with_signal": 1, "infrastructure": 0}]},
            "evaluation": {
                "rows": [row | {"rate": 0.0, "low": 0.0, "high": 0.658}],
                "paired": [],
                "void": True,
                "why": ["1 reference solutions did not pass"],
                "kinds": {"which_room": {"base": [0, 2]}},
                "distinct": 2,
                "held_out_primers": 2,
                "held_out_made": 0,
            },
            "seconds": {"sft": 1.0},
        }
    )
    assert "**Void**: 1 reference solutions did not pass" in " ".join(text.split())  # lines are wrapped
    assert "| base (untrained) | primer | 0 of 2 | 0.0% | 0.0% – 65.8% | 0 |" in text
    assert "| which_room | 0 of 2 | – | – | – |" in text
