"""`verify_tasks` on content made by hand: what it counts, and that it finds what is wrong."""

from __future__ import annotations

import dataclasses
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from sandbox_app.proofs import prove
from tasks_app import content
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.tasks import ProbeSpec, TaskSpec, keyed, save_task

PROBES = tuple(
    ProbeSpec(f"p{n}", "forged", "", f"# %%\nprint({n})", "note created") for n in range(6)
)
REFERENCE = "# %%\nnotes = tools.notes_list()['notes']\nprint(len(notes))\n# %%\nprint(notes[0])\n# %%\n" \
    "tools.notes_create(text=f'count {len(notes)}')\nprint(len(notes))\n"


def of(task: TaskSpec, **changes: Any) -> TaskSpec:
    return keyed(dataclasses.replace(task, **{"probes": PROBES, "reference": REFERENCE, **changes}))


@pytest.fixture
def shipped(tmp_path: Path, package: Path, task: TaskSpec, settings: Any) -> Path:
    """A content folder of two tasks and a primer."""
    folder = tmp_path / "content"
    tasks = [of(task, title="one"), of(task, title="two"), of(task, title="three", tier="primer", probes=PROBES[:3])]
    digest = content.write_archive(folder / "notes.zip", package, tasks)
    manifest = {"format": content.FORMAT, "archives": {"notes.zip": digest}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    settings.CONTENT_DIR, settings.DATA_DIR = folder, tmp_path / "data"
    return folder


def report(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("verify_tasks", "--json", *arguments, stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_what_ships_is_proven_again_at_every_scale(shipped: Path) -> None:
    found = report()
    assert found.pop("seconds") > 0
    assert found == {
        "tasks": 2, "primers": 1, "plan_trees": 1, "scales": 2, "references_passed": 6, "references_total": 6,
        "probes_rejected": 30, "probes_total": 30, "problems": [],
    }


def test_a_sample_is_half_tasks_half_primers(shipped: Path) -> None:
    found = report("--sample", "2", "--jobs", "1")
    assert (found["tasks"], found["primers"]) == (1, 1)
    assert report("--sample", "1", "--tier", "primer")["primers"] == 1


def test_damaged_content_is_refused_with_the_reason(shipped: Path) -> None:
    (shipped / "notes.zip").write_bytes(b"not what it was")
    with pytest.raises(CommandError, match="the manifest says"):
        report()


@pytest.mark.parametrize(("changes", "says"), [
    ({"reference": "# %%\nprint(1)\n# %%\nprint(2)\n# %%\n"
    "print(3)"}, "the reference's episode is failed: verdict: note created"),
    ({"reference": REFERENCE.replace("print(notes[0])", "pass")}, "prints in 2 cells, 3 are asked for"),
    ({"probes": (*PROBES[:5], ProbeSpec("right", "x", "", REFERENCE, "answer"))}, "probe right: passes"),
    ({"probes": (*PROBES[:5], ProbeSpec("odd", "x", "", "# %%\nprint(0)", "nothing else changed"))},
     "probe odd: fails by note created, answer, not by nothing else changed"),
    ({"probes": PROBES[:2]}, "2 probes, 6 are asked for"),
    ({"verifier": "def verify(*a): raise KeyError('x')"}, "verifier_raised"),
])
def test_what_is_wrong_is_named(
    package: Path, task: TaskSpec, tmp_path: Path, changes: dict[str, Any], says: str,
) -> None:
    wrong = of(task, environment=EnvironmentPackage.load(package).digest, **changes)
    save_task(wrong, tmp_path / wrong.key)
    proof = prove(package, tmp_path / wrong.key)
    assert any(says in problem for problem in proof.problems), proof.problems
