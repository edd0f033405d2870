"""Trajectory: the immutable, versioned record of an Episode; complete enough to show, to score again and to replay.

JSON by `to_json`, read back by `from_json`, which refuses another `version`. Bulky bodies are strings here; the
edge (`services`) keeps them as blobs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

VERSION = 1
CellOutcome = Literal["ok", "error", "timeout", "oom", "kernel_dead", "output_limit", "protocol_error"]
EpisodeOutcome = Literal["passed", "failed", "stopped", "infrastructure"]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. `value_preview` is at most 2,000 characters of the JSON answer; `bytes` its full size."""

    tool: str
    arguments: Mapping[str, Any]
    ok: bool
    value_preview: str
    bytes: int
    error: Mapping[str, Any] | None     # {code, message, retryable}
    milliseconds: float
    writes: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """`repr` is bounded and made only of exact builtin types; the model's own __repr__ is never called."""

    name: str
    type: str
    size: str                           # "14", "1204 × 7", "" where it has none
    repr: str
    change: Literal["new", "changed", "same", "gone"] = "same"


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row that differs: before is None for inserts, after None for deletes."""

    table: str
    key: Mapping[str, Any]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class FileChange:
    path: str
    change: Literal["added", "changed", "removed"]
    bytes: int
    preview: str                        # at most 4,000 characters, "" for binary


@dataclass(frozen=True, slots=True)
class CellError:
    name: str
    message: str
    traceback: str                      # without ANSI codes


@dataclass(frozen=True, slots=True)
class CellResult:
    """What a session gives back for one cell. `returned` is what enters the context, `stdout` the whole."""

    outcome: CellOutcome
    stdout: str
    returned: str
    error: CellError | None
    calls: tuple[Call, ...]
    variables: tuple[Variable, ...]
    rows: tuple[RowChange, ...]
    files: tuple[FileChange, ...]
    milliseconds: float
    state_survived: bool = True
    detail: str = ""                    # the limit and the peak, for oom, timeout, output_limit


@dataclass(frozen=True, slots=True)
class Step:
    """One policy message, its cell and what came of it. The last step of an episode has no cell: it is the answer."""

    index: int                          # from 1
    message: str                        # exactly as the policy gave it
    code: str | None
    result: CellResult | None
    token_ids: tuple[int, ...] = ()     # where we sampled them
    logprobs: tuple[float, ...] = ()
    prompt_tokens: int = 0
    seconds: float = 0.0                # policy and cell together


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended. reward: 1.0 passed, 0.0 failed or stopped, None for infrastructure (never scored)."""

    kind: EpisodeOutcome
    cause: str                          # "verdict", "max_steps", "kernel_killed_by_policy", "verifier_raised", …
    detail: str = ""

    @property
    def reward(self) -> float | None:
        return {"passed": 1.0, "failed": 0.0, "stopped": 0.0, "infrastructure": None}[self.kind]


@dataclass(frozen=True, slots=True)
class Trajectory:
    version: int
    task: str                           # TaskSpec.key
    environment: str
    scale: str
    seed: int
    policy: str                         # "reference", "scripted:partial:3", "local:<checkpoint>"
    mode: Literal["programmatic"]
    system: str                         # system prompt as given
    instruction: str
    steps: tuple[Step, ...]
    answer: str
    outcome: Outcome
    criteria: tuple[Mapping[str, Any], ...]   # [{name, passed, detail}], () when unscored
    verifier: str                       # sha256 of the program that judged
    state_before: str                   # digests
    state_after: str
    seconds: float


class UnknownVersion(ValueError):
    """A record of a version this code does not read."""


def to_json(value: Any) -> Any:
    """A Trajectory, or any part of one, as JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"hex": bytes(value).hex()}
    return value


def from_json(row: Mapping[str, Any]) -> Trajectory:
    """The inverse of `to_json` for a whole Trajectory. Raises `UnknownVersion`; TypeError on missing fields."""
    if row.get("version") != VERSION:
        raise UnknownVersion(f"this code reads trajectories of version {VERSION}, not {row.get('version')!r}")
    return Trajectory(**{
        **row,
        "steps": tuple(step_from_json(step) for step in row["steps"]),
        "outcome": Outcome(**row["outcome"]),
        "criteria": tuple(row["criteria"]),
    })


def step_from_json(row: Mapping[str, Any]) -> Step:
    """A Step as kept in a StepRow's blob."""
    result = row["result"]
    return Step(**{
        **row,
        "result": result_from_json(result) if result is not None else None,
        "token_ids": tuple(row.get("token_ids", ())),
        "logprobs": tuple(row.get("logprobs", ())),
    })


def result_from_json(row: Mapping[str, Any]) -> CellResult:
    return CellResult(**{
        **row,
        "error": CellError(**row["error"]) if row["error"] is not None else None,
        "calls": tuple(Call(**call) for call in row["calls"]),
        "variables": tuple(Variable(**variable) for variable in row["variables"]),
        "rows": tuple(RowChange(**change) for change in row["rows"]),
        "files": tuple(FileChange(**change) for change in row["files"]),
    })
