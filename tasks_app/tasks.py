"""Task: instruction + environment + verifier + reference solution, as the pure code passes it around.

A task is a folder of plain files, so that a person can read it and a hash can name it:

    task.json        every field but the texts below     instruction.md   what the user asks
    plan.json        the Plan as data                    verifier.py      judges
    probes/<name>.py attempts that must not pass         reference.py     must pass at every scale

`key` is the hash of what makes the task; figures taken of it (`measures`) are beside it and not part of the hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tasks_app.scales import Scale

CELL_MARK = "# %%"
KEY_LENGTH = 20


class TaskError(Exception):
    """A task folder that can't be read: says which file, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """An attempt that must not pass: a program like the reference, and the criterion that must name its fault."""

    name: str
    kind: str
    says: str
    source: str  # cells, as in a reference
    criterion: str  # the criterion predicted to fail
    answer: str | None = None  # a final message that replaces what the last cell printed (an echo, a forgery)


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """Everything an episode and a verdict need. `key` is the hash of the task's own files."""

    key: str
    title: str
    tier: Literal["task", "primer"]
    domain: str
    environment: str  # digest of the environment package
    instruction: str
    tools: tuple[str, ...]  # at most 20, distractors among them
    seed: int
    directives: Mapping[str, Any]
    scales: Mapping[str, Scale]
    verifier: str
    reference: str
    plan: Mapping[str, Any]
    plan_tree: str  # hash of the plan without anchors and literals
    lineage: str  # what splits keep together: one base task and all that grows from it
    operators: tuple[str, ...]
    depth: int
    outcome_kind: Literal["done", "partly_refused", "nothing_to_do"]
    split: Literal["train", "test"]
    probes: tuple[ProbeSpec, ...] = ()
    measures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by scale: db_kb, tokens, calls, state
    growing: bool = False  # declared: added rows qualify too, by the instruction's own condition
    motif: str = ""  # which motif it was made from


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


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces: what hashes are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _readable(value: Any) -> str:
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def split_of(lineage: str) -> Literal["train", "test"]:
    """About a quarter is held out. It hangs on the lineage alone, so that nothing made later can move a task."""
    return "test" if int(lineage[:8], 16) % 100 < 25 else "train"


def task_files(task: TaskSpec) -> dict[str, str]:
    """Path in the folder → text, the measures left out: exactly what `key` is the hash of, but for the key itself."""
    head = {
        "title": task.title,
        "tier": task.tier,
        "domain": task.domain,
        "environment": task.environment,
        "tools": list(task.tools),
        "seed": task.seed,
        "directives": task.directives,
        "scales": {name: {"rows": s.rows, "files": s.files} for name, s in task.scales.items()},
        "plan_tree": task.plan_tree,
        "lineage": task.lineage,
        "operators": list(task.operators),
        "depth": task.depth,
        "outcome_kind": task.outcome_kind,
        "split": task.split,
        "growing": task.growing,
        "motif": task.motif,
        "probes": [
            {"name": p.name, "kind": p.kind, "says": p.says, "criterion": p.criterion, "answer": p.answer}
            for p in task.probes
        ],
    }
    files = {
        "task.json": _readable(head),
        "plan.json": _readable(task.plan),
        "instruction.md": task.instruction + "\n",
        "verifier.py": task.verifier,
        "reference.py": task.reference,
    }
    return files | {f"probes/{p.name}.py": p.source for p in task.probes}


def key_of(task: TaskSpec) -> str:
    """Hash of the task's own files."""
    digest = hashlib.sha256()
    for path, text in sorted(task_files(task).items()):
        digest.update(path.encode() + b"\0" + hashlib.sha256(text.encode()).digest())
    return digest.hexdigest()[:KEY_LENGTH]


def keyed(task: TaskSpec) -> TaskSpec:
    """The same task under its true key."""
    return replace(task, key=key_of(task))


def save_task(task: TaskSpec, folder: Path) -> None:
    """Write the task's files into `folder` (made if it is not there); measures go to measures.json."""
    for path, text in task_files(task).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (folder / "measures.json").write_text(_readable(task.measures), encoding="utf-8")


def _read(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise TaskError(f"{folder.name}: {name} is missing; unpack the content again") from error


def _read_json(folder: Path, name: str) -> Any:
    try:
        return json.loads(_read(folder, name))
    except json.JSONDecodeError as error:
        raise TaskError(f"{folder.name}: {name} is no JSON ({error}); unpack the content again") from error


def load_task(folder: Path) -> TaskSpec:
    """Read a task folder. Raises TaskError when a file is missing or its content is not what `key` says."""
    head = _read_json(folder, "task.json")
    probes = tuple(ProbeSpec(**row, source=_read(folder, f"probes/{row['name']}.py")) for row in head.pop("probes"))
    try:
        task = TaskSpec(
            **{
                **head,
                "key": "",
                "tools": tuple(head["tools"]),
                "operators": tuple(head["operators"]),
                "scales": {name: Scale(name, **size) for name, size in sorted(head["scales"].items())},
                "instruction": _read(folder, "instruction.md").rstrip("\n"),
                "plan": _read_json(folder, "plan.json"),
                "verifier": _read(folder, "verifier.py"),
                "reference": _read(folder, "reference.py"),
                "probes": probes,
                "measures": _read_json(folder, "measures.json") if (folder / "measures.json").exists() else {},
            }
        )
    except (KeyError, TypeError) as error:
        raise TaskError(f"{folder.name}: task.json has not the fields of a task ({error})") from error
    task = keyed(task)
    if folder.name != task.key:
        raise TaskError(f"{folder.name}: its files hash to {task.key}; they were changed, so it is another task")
    return task
