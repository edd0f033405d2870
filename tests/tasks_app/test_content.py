"""What ships: proven, counted, split by lineage, and the same by hash when a part of it is made again."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from tasks_app.content import FORMAT, ContentError, read_manifest, unpack
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.filters import GATES, Funnel, Rejected
from tasks_app.making import sample_primers
from tasks_app.plans.tree import OPERATORS
from tasks_app.tasks import TaskError, TaskSpec, load_task, save_task

CONTENT = Path(settings.BASE_DIR) / "content"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, list[Path]]]:
    return unpack(CONTENT, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def shipped(unpacked: list[tuple[Path, list[Path]]]) -> list[TaskSpec]:
    return [load_task(folder) for _, folders in unpacked for folder in folders]


def of(shipped: list[TaskSpec], tier: str) -> list[TaskSpec]:
    return [task for task in shipped if task.tier == tier]


def test_at_least_24_plan_trees_cover_every_operator(shipped: list[TaskSpec]) -> None:
    tasks = of(shipped, "task")
    assert len({task.plan_tree for task in tasks}) >= 24
    assert {operator for task in tasks for operator in task.operators} == set(OPERATORS)
    assert {task.domain for task in tasks} == {"classroom", "calendar"}


def test_half_of_the_tasks_read_or_write_workspace_files(shipped: list[TaskSpec]) -> None:
    tasks = of(shipped, "task")
    with_files = [task for task in tasks if task.plan["files"] or "reconcile" in task.operators]
    assert 2 * len(with_files) >= len(tasks)


def test_all_outcome_kinds_ship(shipped: list[TaskSpec]) -> None:
    assert {task.outcome_kind for task in of(shipped, "task")} == {"done", "partly_refused", "nothing_to_do"}


def test_tasks_are_worth_a_program_and_name_at_most_20_tools(shipped: list[TaskSpec]) -> None:
    for task in of(shipped, "task"):
        called = {tool for tool in task.tools if f"tools.{tool}" in task.reference}
        assert task.measures["v0"]["calls"] >= 5, task.key
        assert len(called) >= 3, task.key
        assert len(called) < len(task.tools) <= 20, task.key
        assert len(task.probes) >= 6, task.key


def test_at_least_300_primers_of_depth_one_or_two_of_which_60_are_held_out(shipped: list[TaskSpec]) -> None:
    primers = of(shipped, "primer")
    assert len(primers) >= 300
    assert len({task.plan_tree for task in primers}) >= 12
    assert len({task.lineage for task in primers if task.split == "test"}) >= 60
    for task in primers:
        assert task.depth <= 2
        assert 1 <= task.measures["v0"]["calls"] <= 4, task.key
        assert len(task.probes) >= 3, task.key
        assert len(task.tools) <= 8, task.key


def test_no_lineage_lies_in_both_splits(shipped: list[TaskSpec]) -> None:
    sides: dict[str, set[str]] = {}
    for task in shipped:
        sides.setdefault(task.lineage, set()).add(task.split)
    assert all(len(split) == 1 for split in sides.values())


def test_every_scale_of_every_task_carries_nine_held_proofs(shipped: list[TaskSpec]) -> None:
    for task in shipped:
        assert sorted(task.scales) == ["v0", "v1", "v2", "v3"]
        for name in task.scales:
            proof = task.measures[name]["proof"]
            assert [line["rule"] for line in proof] == list(range(1, 10))
            assert all(line["held"] for line in proof), (task.key, name)
            assert task.measures[name]["rows"] == task.scales[name].rows
            assert task.measures[name]["files"] == task.scales[name].files


def test_mean_sizes_lie_near_the_published_ones(shipped: list[TaskSpec]) -> None:
    tasks = of(shipped, "task")
    published = {"v0": (99, 12.7), "v1": (173, 21.9), "v2": (335, 31.1), "v3": (711, 40.3)}
    for name, (kilobytes, files) in published.items():
        sizes = [task.measures[name] for task in tasks]
        assert abs(sum(size["db_kb"] for size in sizes) / len(sizes) / kilobytes - 1) < 0.15
        assert abs(sum(size["files"] for size in sizes) / len(sizes) / files - 1) < 0.1


def test_no_two_tasks_say_the_same(shipped: list[TaskSpec]) -> None:
    doubles = [text for text, times in Counter(task.instruction for task in shipped).items() if times > 1]
    assert doubles == []


def test_a_part_of_the_build_made_again_is_equal_by_hash() -> None:
    said = StringIO()
    call_command("build_content", "--check", "--sample", "4", stdout=said)
    assert "4 tasks made again, all equal by hash" in said.getvalue()


def test_packages_are_what_the_manifest_says(unpacked: list[tuple[Path, list[Path]]]) -> None:
    manifest = read_manifest(CONTENT)
    for package_folder, folders in unpacked:
        package = EnvironmentPackage.load(package_folder)
        assert manifest["packages"][package.model.name]["digest"] == package.digest
        assert {load_task(folder).environment for folder in folders} == {package.digest}


def test_further_primers_keep_to_their_split(unpacked: list[tuple[Path, list[Path]]]) -> None:
    package = EnvironmentPackage.load(unpacked[0][0])
    more = list(sample_primers(7, 3, package, split="train"))
    assert [task.split for task in more] == ["train"] * 3
    assert all(task.tier == "primer" and task.environment == package.digest for task in more)
    assert [task.key for task in sample_primers(7, 3, package, split="train")] == [task.key for task in more]


def test_unpacking_twice_gives_the_same_folders(tmp_path: Path) -> None:
    first = unpack(CONTENT, tmp_path)
    assert unpack(CONTENT, tmp_path) == first


def test_an_archive_that_is_not_what_the_manifest_says_is_refused(tmp_path: Path) -> None:
    shutil.copytree(CONTENT, tmp_path / "content")
    (tmp_path / "content" / "calendar.zip").write_bytes(b"not this")
    with pytest.raises(ContentError, match=r"calendar\.zip hashes to"):
        unpack(tmp_path / "content", tmp_path / "data")


def test_missing_content_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="build_content"):
        unpack(tmp_path, tmp_path)


def test_a_task_whose_files_were_changed_is_refused(shipped: list[TaskSpec], tmp_path: Path) -> None:
    task = shipped[0]
    folder = tmp_path / task.key
    save_task(task, folder)
    assert load_task(folder) == task
    (folder / "instruction.md").write_text("Do something else.\n", encoding="utf-8")
    with pytest.raises(TaskError, match="another task"):
        load_task(folder)


def test_a_torn_task_folder_says_which_file(shipped: list[TaskSpec], tmp_path: Path) -> None:
    folder = tmp_path / shipped[0].key
    save_task(shipped[0], folder)
    (folder / "plan.json").write_text("{", encoding="utf-8")
    with pytest.raises(TaskError, match=r"plan\.json is no JSON"):
        load_task(folder)


def test_the_funnel_counts_and_explains_what_each_gate_took() -> None:
    funnel = Funnel()
    funnel.take("a", 0, None)
    funnel.take("a", 1, Rejected("growth", "rule 3: a name is borne twice"))
    lines = list(funnel.lines())
    assert funnel.as_json()["gates"] == {**dict.fromkeys(GATES, 0), "growth": 1}
    assert any("growth" in line and "−1" in line for line in lines)
    assert any("a/1 refused by growth: rule 3" in line for line in lines)


def test_the_manifest_counts_what_it_ships(shipped: list[TaskSpec]) -> None:
    manifest = json.loads((CONTENT / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["tasks"] == len(of(shipped, "task"))
    assert manifest["primers"] == len(of(shipped, "primer"))
    assert set(manifest["licences"].values()) == {"Apache-2.0"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 1, "archives": []}', "null", "\x00"])
def test_a_damaged_manifest_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ContentError, match="manifest"):
        unpack(tmp_path, tmp_path / "data")


def test_an_archive_that_is_no_archive_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 not a zip")
    digest = hashlib.sha256((tmp_path / "a.zip").read_bytes()).hexdigest()
    (tmp_path / "manifest.json").write_text(json.dumps({"format": FORMAT, "archives": {"a.zip": digest}}))
    with pytest.raises(ContentError, match="is damaged"):
        unpack(tmp_path, tmp_path / "data")
    assert list((tmp_path / "data" / "content").iterdir()) == []
