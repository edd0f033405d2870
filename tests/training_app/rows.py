"""The lab as rows: a domain, an environment and tasks in DATA_DIR, and approved episodes of their references."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings

from sandbox_app.models import Episode
from sandbox_app.services import record_trajectory
from tasks_app.models import Domain, Environment, Task, TaskScale
from tasks_app.models.content import TaskStatus
from tasks_app.tasks import TaskSpec
from tests.sandbox_app.notes import SCALE
from tests.training_app.lab import Lab


def lab_in_data_dir() -> Lab:
    folder = Path(settings.DATA_DIR) / "lab"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return Lab(folder)


def rows_of(lab: Lab, test_words: int = 2) -> list[Task]:
    """A Task for each primer; the last `test_words` are held out."""
    domain, _ = Domain.objects.get_or_create(
        slug="notes",
        defaults={
            "title": "Notes",
            "source": "hand",
            "source_sha256": "",
            "licence": "MIT",
            "model": {},
        },
    )
    environment, _ = Environment.objects.get_or_create(
        digest=lab.tasks[0].environment,
        defaults={"domain": domain, "folder": "lab/package"},
    )
    made = []
    for place, task in enumerate(lab.tasks):
        row = Task.objects.create(
            key=task.key,
            title=task.title,
            tier="primer",
            domain=domain,
            environment=environment,
            lineage=task.lineage,
            plan_tree=task.plan_tree,
            split="test" if place >= len(lab.tasks) - test_words else "train",
            status=TaskStatus.PROVEN,
            depth=1,
            outcome_kind=task.outcome_kind,
            folder=f"lab/tasks/{task.key}",
            instruction=task.instruction,
            checks={"seed": 7},
        )
        TaskScale.objects.create(task=row, name="v0", rows=SCALE.rows, files=SCALE.files)
        made.append(row)
    return made


def episode_of(lab: Lab, task: Task, *, standing: str = "approved", copy: int = 0, **changes: Any) -> Episode:
    """The reference's episode of a task, reviewed."""
    place = next(index for index, spec in enumerate(lab.tasks) if spec.key == task.key)
    episode = record_trajectory(
        trajectory=replace(lab.trajectories[place], **changes),
        task=task,
        rows=SCALE.rows,
        files=SCALE.files,
        source="demo",
        policy="reference",
        policy_config={},
        record_key=f"{task.pk}:{copy}",
    )
    Episode.objects.filter(pk=episode.pk).update(standing=standing)
    episode.refresh_from_db()
    return episode


def spec_of(lab: Lab, task: Task) -> TaskSpec:
    return next(spec for spec in lab.tasks if spec.key == task.key)
