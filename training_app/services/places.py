"""Where the training app keeps its folders, and what it reads of tasks and environments: the edge to settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings

from sandbox_app.models import Episode
from sandbox_app.trajectories import Trajectory, from_json
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.models import Environment, Task
from tasks_app.services import blobs
from training_app.configs import Attempt
from training_app.models import Checkpoint


def data_dir() -> Path:
    return Path(settings.DATA_DIR)


def snapshots_dir() -> Path:
    return data_dir() / "snapshots"


def runs_dir() -> Path:
    return data_dir() / "runs"


def relative(path: Path) -> str:
    return str(path.relative_to(data_dir()))


def folder_of(checkpoint: Checkpoint) -> Path:
    return data_dir() / checkpoint.folder


def trajectory_of(episode: Episode) -> Trajectory:
    """Raises `BlobMissing` when its body is not there."""
    return from_json(json.loads(blobs().get(episode.trajectory)))


def tool_specs(environment: Environment) -> dict[str, dict[str, Any]]:
    """name → {name, description, parameters, returns, writes} of an environment's tools."""
    return dict(EnvironmentPackage.load(data_dir() / environment.folder).tools)


def attempt(task: Task, scale: str, seed: int) -> Attempt:
    """An attempt at a task, as subprocesses take it. Raises TaskScale.DoesNotExist."""
    size = task.scales.get(name=scale)
    return Attempt(
        task_folder=str(data_dir() / task.folder),
        package_folder=str(data_dir() / task.environment.folder),
        scale=size.name,
        rows=size.rows,
        files=size.files,
        seed=seed,
    )
