"""A small world to train in: a few note-taking tasks on a hand-made package, their reference trajectories, a base."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from sandbox_app import interfaces
from sandbox_app.trajectories import VERSION, CellResult, Outcome, Step, Trajectory
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.tasks import TaskSpec, cells, keyed, save_task
from tests.sandbox_app.notes import SCALE, make_package, make_task
from training_app import model, snapshots
from training_app.configs import Attempt
from training_app.examples import Record, record_of

ROOT = Path(__file__).resolve().parent.parent.parent
WORDS = ("apples", "bread", "chairs", "doors", "eggs", "figs", "grapes", "hats")
VERIFIER = """
def verify(before, after, files_before, files_after, answer):
    old = before.execute("SELECT id, text FROM note").fetchall()
    new = after.execute("SELECT id, text FROM note WHERE id > ?", (len(old),)).fetchall()
    return [
        {{"name": "note created", "passed": [text for _, text in new] == [{text!r}], "detail": str(new)}},
        {{"name": "answer", "passed": answer.strip() == "Done.", "detail": answer}},
    ]
"""


def primer(package: Path, word: str, **changes: Any) -> TaskSpec:
    """Leave a note of one word."""
    return keyed(
        make_task(
            package,
            title=f"Note {word}",
            tier="primer",
            instruction=f"Leave a note that says {word}.",
            tools=("notes_list", "notes_create"),
            verifier=VERIFIER.format(text=word),
            lineage=f"{WORDS.index(word):08x}",
            reference=f'# %%\ntools.notes_create(text="{word}")\nprint("Done.")\n',
            probes=(),
            **changes,
        )
    )


def system_of(package: Path, task: TaskSpec) -> str:
    specs = EnvironmentPackage.load(package).tools
    return interfaces.system_prompt([specs[name] for name in task.tools])


def reference_trajectory(package: Path, task: TaskSpec) -> Trajectory:
    """What the reference's episode would record, without a kernel."""
    result = CellResult("ok", "Done.\n", "Done.\n", None, (), (), (), (), 1.0)
    steps = [
        Step(index, interfaces.render_call(code), code, result) for index, code in enumerate(cells(task.reference), 1)
    ]
    steps.append(Step(len(steps) + 1, "Done.", None, None))
    return Trajectory(
        version=VERSION,
        task=task.key,
        environment=task.environment,
        scale="v0",
        seed=7,
        policy="reference",
        mode="programmatic",
        system=system_of(package, task),
        instruction=task.instruction,
        steps=tuple(steps),
        answer="Done.",
        outcome=Outcome("passed", "verdict"),
        criteria=({"name": "answer", "passed": True, "detail": ""},),
        verifier="v",
        state_before="a",
        state_after="b",
        seconds=0.1,
    )


class Lab:
    """Folders of a package, tasks and a base under `path`."""

    def __init__(self, path: Path, words: tuple[str, ...] = WORDS, preset: str = "tiny") -> None:
        self.path = path
        self.package = make_package(path / "package")
        self.tasks = [primer(self.package, word) for word in words]
        for task in self.tasks:
            save_task(task, path / "tasks" / task.key)
        self.trajectories = [reference_trajectory(self.package, task) for task in self.tasks]
        self.base = path / "base"
        texts = [message["content"] for record in self.records() for message in record.messages]
        model.make_base(texts, model.PRESETS[preset], self.base)

    def records(self, copies: int = 1) -> list[Record]:
        return [
            replace(record_of(trajectory, episode=f"{task.key}-{copy}", lineage=task.lineage, tier="primer"), seed=copy)
            for copy in range(copies)
            for task, trajectory in zip(self.tasks, self.trajectories, strict=True)
        ]

    def snapshot(self, copies: int = 1) -> Path:
        return snapshots.write(self.records(copies), self.path / "snapshots", filters={}, left_out={}).folder

    def attempts(self) -> tuple[Attempt, ...]:
        return tuple(
            Attempt(str(self.path / "tasks" / task.key), str(self.package), SCALE.name, SCALE.rows, SCALE.files, 7)
            for task in self.tasks
        )

    def run(self, module: str, name: str, config: dict[str, Any]) -> Path:
        """Run a subprocess of ours to its end in a run folder of this name."""
        folder = self.path / "runs" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config))
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TRL_EXPERIMENTAL_SILENCE": "1", "HF_HUB_OFFLINE": "1"}
        with (folder / "log.txt").open("ab") as log:
            subprocess.run(
                [sys.executable, "-m", module, "--config", str(folder / "config.json"), "--out", str(folder)],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=300,
                check=False,
            )
        return folder


def lines(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Lines of metrics.jsonl of one kind."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [row for row in rows if row["kind"] == kind]


def result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "result.json").read_text())
