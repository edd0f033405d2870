"""Task: instruction + environment + verifier + reference solution, as the pure code passes it around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tasks_app.scales import Scale

CELL_MARK = "# %%"


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """An attempt that must not pass: a program like the reference, and the criterion that must name its fault."""

    name: str
    kind: str
    says: str
    source: str                 # cells, as in a reference
    criterion: str              # the criterion predicted to fail
    answer: str | None = None   # a final message that replaces what the last cell printed (an echo, a forgery)


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """Everything an episode and a verdict need. `key` is the hash of the task's own files."""

    key: str
    title: str
    tier: Literal["task", "primer"]
    domain: str
    environment: str            # digest of the environment package
    instruction: str
    tools: tuple[str, ...]      # at most 20, distractors among them
    seed: int
    directives: Mapping[str, Any]
    scales: Mapping[str, Scale]
    verifier: str
    reference: str
    plan: Mapping[str, Any]
    plan_tree: str              # hash of the plan without anchors and literals
    lineage: str                # what splits keep together: one base task and all that grows from it
    operators: tuple[str, ...]
    depth: int
    outcome_kind: Literal["done", "partly_refused", "nothing_to_do"]
    split: Literal["train", "test"]
    probes: tuple[ProbeSpec, ...] = ()
    measures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by scale: db_kb, tokens, calls, state


def cells(program: str) -> tuple[str, ...]:
    """The cells of a reference or probe: parts between lines that begin with `# %%`; empty ones are dropped."""
    parts: list[list[str]] = [[]]
    for line in program.splitlines():
        if line.startswith(CELL_MARK):
            parts.append([])
        else:
            parts[-1].append(line)
    joined = ("\n".join(part).strip("\n") for part in parts)
    return tuple(part for part in joined if part.strip())
