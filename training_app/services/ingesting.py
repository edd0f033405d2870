"""metrics.jsonl and episodes/ of a run folder → events and rows. Reading twice changes nothing: the offset of what was
read moves in the same transaction as what was made of it, and only while the lease is held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from sandbox_app.models import Episode
from sandbox_app.services import record_trajectory
from sandbox_app.trajectories import from_json
from tasks_app.models import JobState, Task
from tasks_app.models.jobs import LeaseLost
from tasks_app.services import publish
from training_app.configs import Attempt
from training_app.evaluation import NO_OP, REFERENCE
from training_app.folders import RunFolder
from training_app.models import Checkpoint, Evaluation, EvaluationEpisode, TrainingRun
from training_app.services.places import data_dir, relative

LINES = 200  # at most so many lines a transaction
Line = Mapping[str, Any]
_ROLLOUT = re.compile(r"step-(\d+)-(\d+)\.json")


def ingest(job: TrainingRun | Evaluation) -> int:
    """Turn what was written since the last look into events and rows. Returns the number of lines. Raises LeaseLost."""
    folder = RunFolder(data_dir() / job.folder)
    read = ingest_run if isinstance(job, TrainingRun) else ingest_evaluation
    count = 0
    while lines := _new_lines(folder.metrics_path, job.ingested):
        _take(job, lines, lambda line: read(job, folder, line))
        count += len(lines)
    return count


def _new_lines(path: Path, offset: int) -> list[tuple[int, Line]]:
    """Whole lines after the offset, each with the offset of its end. A line still being written is left for later."""
    if not path.is_file():
        return []
    found: list[tuple[int, Line]] = []
    with path.open("rb") as body:
        body.seek(offset)
        for raw in body:
            if not raw.endswith(b"\n") or len(found) >= LINES:
                break
            offset += len(raw)
            found.append((offset, json.loads(raw)))
    return found


@transaction.atomic
def _take(job: TrainingRun | Evaluation, lines: list[tuple[int, Line]], read: Callable[[Line], float | None]) -> None:
    progress: float | None = None
    for _, line in lines:
        shown = read(line)
        progress = shown if shown is not None else progress
        publish(job.stream, line["kind"], dict(line))
    values: dict[str, Any] = {"ingested": lines[-1][0]}
    if isinstance(job, TrainingRun):
        values["summary"] = job.summary
    if progress is not None:
        values["progress"] = min(1.0, progress)
    held = type(job).objects.filter(pk=job.pk, fence=job.fence, state=JobState.RUNNING).update(**values)
    if not held:
        raise LeaseLost(f"{job} is no longer held with fence {job.fence}")
    job.ingested = lines[-1][0]


def ingest_run(run: TrainingRun, folder: RunFolder, line: Line) -> float | None:
    """Rows of one line of a training run; returns the progress it tells."""
    if line["kind"] == "checkpoint":
        path = folder.checkpoints_path / line["folder"]
        Checkpoint.objects.update_or_create(
            run=run,
            step=line["step"],
            defaults={
                "label": f"{run.label} {str(run.pk)[:4]} · step {line['step']}",
                "folder": relative(path),
                "digest": line["digest"],
            },
        )
    elif line["kind"] == "prepared":
        run.summary = {**run.summary, "prepared": {key: line[key] for key in line if key not in ("kind", "at")}}
    elif line["kind"] == "step":
        run.summary = {
            **run.summary,
            **{
                name: line[name]
                for name in ("step", "steps", "tokens", "seconds", "loss", "rollout_reward", "infrastructure")
                if name in line
            },
        }
        if "rollouts" in line:
            _rollouts(run, folder, int(line["step"]))
        return float(line["step"]) / max(1, int(line["steps"]))
    return None


def _rollouts(run: TrainingRun, folder: RunFolder, step: int) -> None:
    """Every rollout of a step as an Episode, so that a point of the curve opens what it is made of."""
    attempts = {attempt["task_folder"]: attempt for attempt in run.config["tasks"]}
    tasks = {task.key: task for task in Task.objects.filter(folder__in=[_inside(name) for name in attempts])}
    sizes = {Path(name).name: attempt for name, attempt in attempts.items()}
    for path in sorted(folder.episodes_path.glob(f"step-{step:06d}-*.json")):
        found = _ROLLOUT.fullmatch(path.name)
        trajectory = from_json(json.loads(path.read_text(encoding="utf-8")))
        task = tasks.get(trajectory.task)
        if found is None or task is None:
            continue  # the task was deleted since: there is nothing to hang the episode on
        size = sizes[Path(task.folder).name]
        record_trajectory(
            trajectory=trajectory,
            task=task,
            rows=size["rows"],
            files=size["files"],
            source=f"run:{run.pk}",
            policy="local",
            policy_config={"step": step, "place": int(found[2]), "run": str(run.pk)},
            record_key=f"{run.pk.hex}:{step}:{int(found[2])}",
            by=run.created_by,
        )


def _inside(folder: str) -> str:
    """The folder as a task's row has it, relative to DATA_DIR."""
    path = Path(folder)
    return relative(path) if path.is_relative_to(data_dir()) else folder


def ingest_evaluation(evaluation: Evaluation, folder: RunFolder, line: Line) -> float | None:
    """One line of an evaluation: an episode that ended."""
    if line["kind"] != "episode":
        return None
    path = folder.path / line["file"]
    trajectory = from_json(json.loads(path.read_text(encoding="utf-8")))
    attempt = Attempt(**evaluation.config["attempts"][line["attempt"]])
    task = Task.objects.filter(key=trajectory.task).first()
    if task is not None:
        policy = line["policy"]
        control = policy in (REFERENCE, NO_OP)
        episode = record_trajectory(
            trajectory=trajectory,
            task=task,
            rows=attempt.rows,
            files=attempt.files,
            source=f"evaluation:{evaluation.pk}",
            policy=policy if control else "local",
            policy_config={} if control else {"checkpoint": policy},
            record_key=f"{evaluation.pk.hex}:{line['row']}:{line['attempt']}",
            by=evaluation.created_by,
        )
        EvaluationEpisode.objects.get_or_create(
            evaluation=evaluation,
            episode=episode,
            defaults={
                "policy": policy,
                "nothing_to_do": task.outcome_kind == "nothing_to_do",
            },
        )
    return float(line["step"]) / max(1, int(line["steps"]))


def episodes_of(run: TrainingRun, step: int) -> list[Episode]:
    """The rollouts of one step, in the order of their groups."""
    found = Episode.objects.filter(source=f"run:{run.pk}", policy_config__step=step).select_related("task")
    return sorted(found, key=lambda episode: int(episode.policy_config.get("place", 0)))
