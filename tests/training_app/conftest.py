"""Fixtures of the training tests: jobs are recorded instead of sent, and a lab in DATA_DIR."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tasks_app.models import Task
from tests.training_app.lab import Lab
from tests.training_app.rows import episode_of, lab_in_data_dir, rows_of
from training_app import services
from training_app.models import Checkpoint, Snapshot
from training_app.services.places import folder_of


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[Any, ...]]]:
    """Jobs that were queued: (name, arguments)."""
    from training_app import jobs

    queued: list[tuple[str, tuple[Any, ...]]] = []

    def record(name: str) -> Callable[..., None]:
        return lambda *arguments: queued.append((name, arguments))

    for name in ("train_job", "evaluate_job", "export_job"):
        monkeypatch.setattr(getattr(jobs, name), "delay_on_commit", record(name))
    return queued


@pytest.fixture
def world(db: None) -> tuple[Lab, list[Task]]:
    made = lab_in_data_dir()
    return made, rows_of(made)


@pytest.fixture
def trained_on(world: tuple[Lab, list[Task]]) -> tuple[Snapshot, Checkpoint]:
    """A snapshot of approved episodes and a base checkpoint."""
    lab, tasks = world
    for task in tasks:
        episode_of(lab, task)
    return services.create_snapshot(choice=services.Choice()), services.make_base_checkpoint(preset="tiny")


@pytest.fixture
def unmarked(trained_on: tuple[Snapshot, Checkpoint]) -> Iterator[tuple[Snapshot, Checkpoint]]:
    """`trained_on`, its base checkpoint's template without marks; put back afterwards, since folders are shared."""
    path = folder_of(trained_on[1]) / "chat_template.jinja"
    marked = path.read_text()
    path.write_text(marked.replace("{%- generation -%}", "").replace("{%- endgeneration -%}", ""))
    yield trained_on
    path.write_text(marked)
