"""Run folder: what a training or evaluation subprocess reads and leaves; the only thing its job looks at.

    config.json      what to do
    metrics.jsonl    one JSON object a line, appended and flushed; {"kind", "at", …}
    checkpoints/     step-000120/ … each appears by an atomic rename, so a reader never sees half of one
    episodes/        trajectories of rollouts, one file each, by atomic rename
    result.json      how it ended: {"status": "finished" | "stopped" | "refused" | "failed", "error", …}
    log.txt          stdout and stderr

The folder is enough to resume: the newest checkpoint is where the next attempt begins.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any, Literal

from training_app.errors import NoSpace

Status = Literal["finished", "stopped", "refused", "failed"]
MARGIN = 64 * 1024**2  # bytes that stay free beside what a checkpoint needs


class RunFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints_path = path / "checkpoints"
        self.episodes_path = path / "episodes"
        self.metrics_path = path / "metrics.jsonl"
        self.result_path = path / "result.json"

    def create(self) -> None:
        self.checkpoints_path.mkdir(parents=True, exist_ok=True)
        self.episodes_path.mkdir(exist_ok=True)

    def metric(self, kind: str, **values: Any) -> None:
        """Append one line; it is on its way to the disk when this returns."""
        line = json.dumps({"kind": kind, "at": round(time.time(), 3), **values}, ensure_ascii=False, allow_nan=False)
        with self.metrics_path.open("a", encoding="utf-8") as out:
            out.write(line + "\n")

    def checkpoints(self) -> list[Path]:
        """Finished checkpoints, oldest first."""
        return sorted(path for path in self.checkpoints_path.glob("step-*") if path.is_dir())

    def last_checkpoint(self) -> Path | None:
        found = self.checkpoints()
        return found[-1] if found else None

    def publish(self, staging: Path, step: int) -> Path:
        """Give a finished checkpoint its name. One that is there already (a repeated step) is replaced."""
        final = self.checkpoints_path / f"step-{step:06d}"
        if final.exists():
            shutil.rmtree(final)
        _sync(staging)
        staging.rename(final)
        return final

    def write(self, name: str, value: Any) -> None:
        """Write a JSON file by atomic rename."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        part.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        part.replace(target)

    def finish(self, status: Status, *, error: str = "", **values: Any) -> None:
        self.write("result.json", {"status": status, "error": error, "at": time.time(), **values})

    def result(self) -> dict[str, Any] | None:
        if not self.result_path.is_file():
            return None
        value: dict[str, Any] = json.loads(self.result_path.read_text(encoding="utf-8"))
        return value

    def check_space(self, needed: int) -> None:
        """Raise `NoSpace` unless `needed` bytes and a margin are free where the run lies."""
        free = shutil.disk_usage(self.path).free
        if free < needed + MARGIN:
            raise NoSpace(
                f"The disk that holds {self.path.name} has {free // 1024**2} MB free; a checkpoint needs "
                f"{(needed + MARGIN) // 1024**2} MB. Free some space, or delete checkpoints of older runs, and resume."
            )


def _sync(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("step-"))
