"""What the subprocesses are told: config.json of a run, typed. Torch-free, so that the web can write and read it.

Paths are absolute, unknown settings are refused: a typo must not train something else than was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from tasks_app.scales import Scale
from tasks_app.tasks import TaskSpec, load_task
from training_app.errors import Refused
from training_app.evaluation import NO_OP, REFERENCE

MOST_TURNS = 16  # messages of an episode; the longest reference that ships has 12, and a control row must fit


@dataclass(frozen=True, slots=True)
class Attempt:
    """One episode to run."""

    task_folder: str
    package_folder: str
    scale: str
    rows: int
    files: int
    seed: int

    @property
    def size(self) -> Scale:
        return Scale(self.scale, self.rows, self.files)

    def task(self) -> TaskSpec:
        return load_task(Path(self.task_folder))


@dataclass(frozen=True, slots=True)
class Contender:
    """A row of an evaluation: a control (`folder` "") or a checkpoint."""

    name: str
    folder: str = ""


class Config:
    """Reading and writing, shared. Subclasses are frozen dataclasses."""

    __slots__ = ()
    __dataclass_fields__: Mapping[str, Any]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Raises `Refused` on an unknown setting or an empty choice."""
        row = json.loads(path.read_text(encoding="utf-8"))
        unknown = sorted(set(row) - set(cls.__dataclass_fields__))
        if unknown:
            known = ", ".join(cls.__dataclass_fields__)
            raise Refused(f"config.json has the unknown setting {unknown[0]!r}; known are {known}.")
        config = cls(**cls.parsed(row))
        config.check()
        return config

    @classmethod
    def parsed(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        return dict(row)

    def check(self) -> None:
        """Raise `Refused` when it asks for what can't be."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)  # type: ignore[call-overload, no-any-return]


@dataclass(frozen=True, slots=True)
class SftConfig(Config):
    """`lora_rank` 0 trains all weights. `max_steps` 0 means all epochs."""

    start_from: str
    snapshot: str
    epochs: int = 6
    batch: int = 8
    learning_rate: float = 1.5e-3
    lora_rank: int = 0
    max_length: int = 4_096
    save_every: int = 50
    seed: int = 0
    max_steps: int = 0


@dataclass(frozen=True, slots=True)
class RlConfig(Config):
    """`tasks` are train-split attempts; `group` episodes each, `tasks_per_step` groups a step.

    `socket` is the kernel host's, or "local" (kernels in the trainer's own process: benchmarks and tests only).
    """

    start_from: str
    socket: str
    name: str
    tasks: tuple[Attempt, ...] = field(default=())
    steps: int = 40
    group: int = 8
    tasks_per_step: int = 4
    learning_rate: float = 2e-4
    temperature: float = 1.0
    max_new_tokens: int = 768
    max_prompt: int = 5_600
    max_length: int = 4_096
    max_turns: int = MOST_TURNS
    concurrency: int = 8
    save_every: int = 10
    loss: str = "dapo"
    seed: int = 0

    @classmethod
    def parsed(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        return {**row, "tasks": tuple(Attempt(**one) for one in row.get("tasks", ()))}

    def check(self) -> None:
        if not self.tasks:
            raise Refused("There is no train-split task to learn from; widen the choice of tasks.")
        if self.group < 2:
            raise Refused("A group of one has no advantage to learn from; take at least 2 rollouts a task.")


@dataclass(frozen=True, slots=True)
class EvaluateConfig(Config):
    """Every contender makes every attempt. Temperature 0 takes the likeliest token."""

    contenders: tuple[Contender, ...]
    attempts: tuple[Attempt, ...]
    socket: str
    temperature: float = 0.0
    max_new_tokens: int = 1_024
    max_prompt: int = 5_600
    max_turns: int = MOST_TURNS
    concurrency: int = 8
    seed: int = 0

    @classmethod
    def parsed(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **row,
            "contenders": tuple(Contender(**one) for one in row["contenders"]),
            "attempts": tuple(Attempt(**one) for one in row["attempts"]),
        }

    def check(self) -> None:
        if not self.attempts:
            raise Refused("There is no held-out task to evaluate on; widen the choice of tasks.")
        if not {REFERENCE, NO_OP} <= {one.name for one in self.contenders}:
            raise Refused("An evaluation needs its two control rows, reference and no_op.")
