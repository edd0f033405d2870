"""Export rows: an episode as one JSON line that `datasets.load_dataset("json", …)` opens as it is.

`messages` and `tools` are TRL's conversational tool format: the assistant's call is an object (`arguments` is not a
string), each tool turn names its tool. `calls` are the environment's own tool calls made inside the cells, whose
arguments have mixed types; datasets 5 keeps such columns as JSON. The text of each message is kept beside it exactly.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox_app import interfaces
from sandbox_app.trajectories import Trajectory

PART_ROWS = 500
VERSION = 1
PYTHON_TOOL = {
    "type": "function",
    "function": {
        "name": "python",
        "description": "Run a Python cell in a session that keeps its state; only printed text comes back.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "the cell"}},
            "required": ["code"],
        },
    },
}


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    rows: int
    bytes: int
    sha256: str


def parts_of(value: Sequence[Mapping[str, Any]]) -> tuple[Part, ...]:
    """Parts as kept in an Export's JSON column."""
    return tuple(Part(row["name"], row["rows"], row["bytes"], row["sha256"]) for row in value)


def row_of(trajectory: Trajectory, facts: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One line. `facts` are columns of the episode (id, outcome, reward, lineage, split …)."""
    return {
        **facts,
        "messages": messages_of(trajectory),
        "tools": [PYTHON_TOOL],
        "environment_tools": [dict(tool) for tool in tools],
        "calls": [
            {
                "step": step.index,
                "tool": call.tool,
                "arguments": dict(call.arguments),
                "ok": call.ok,
                "error": dict(call.error) if call.error else None,
            }
            for step in trajectory.steps
            if step.result
            for call in step.result.calls
        ],
        "criteria": [dict(criterion) for criterion in trajectory.criteria],
        "answer": trajectory.answer,
    }


def messages_of(trajectory: Trajectory) -> list[dict[str, Any]]:
    """Chat messages with calls as objects. `text` is each message word for word as the policy saw or said it."""
    made: list[dict[str, Any]] = []
    steps = iter(trajectory.steps)
    for message in interfaces.chat(trajectory.system, trajectory.instruction, trajectory.steps):
        role, text = message["role"], message["content"]
        if role == "tool":
            made.append({"role": "tool", "name": "python", "content": text, "text": text, "tool_calls": None})
            continue
        calls = None
        content = text
        if role == "assistant":
            step = next(steps)
            if step.code is not None:
                content = text.partition(interfaces.OPEN)[0].rstrip()
                calls = [{"type": "function", "function": {"name": "python", "arguments": {"code": step.code}}}]
        made.append({"role": role, "name": None, "content": content, "text": text, "tool_calls": calls})
    return made


def write_parts(rows: Iterable[Mapping[str, Any]], folder: Path, *, part_rows: int = PART_ROWS) -> Iterator[Part]:
    """Write part-00000.jsonl … under `folder`, each by rename, and yield each as it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    batch: list[bytes] = []
    number = 0
    for row in rows:
        batch.append(
            json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
        )
        if len(batch) == part_rows:
            yield _write_part(folder, number, batch)
            number, batch = number + 1, []
    if batch or not number:
        yield _write_part(folder, number, batch)


def _write_part(folder: Path, number: int, lines: list[bytes]) -> Part:
    name = f"part-{number:05d}.jsonl"
    body = b"".join(lines)
    staging = folder / f".{name}"
    staging.write_bytes(body)
    staging.replace(folder / name)
    return Part(name, len(lines), len(body), hashlib.sha256(body).hexdigest())


def write_manifest(folder: Path, parts: Sequence[Part], filters: Mapping[str, Any]) -> str:
    """Write manifest.json and return its sha256."""
    body = json.dumps(
        {
            "version": VERSION,
            "format": "jsonl",
            "filters": dict(filters),
            "rows": sum(part.rows for part in parts),
            "parts": [asdict(part) for part in parts],
        },
        indent=1,
        sort_keys=True,
        ensure_ascii=False,
    ).encode()
    (folder / "manifest.json").write_bytes(body)
    return hashlib.sha256(body).hexdigest()


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes `start` to `end` (inclusive) of `size`."""

    start: int
    end: int
    size: int


def byte_range(header: str, size: int) -> Range | None:
    """The one range an HTTP Range header asks for; None for the whole. Raises ValueError when it can't be."""
    unit, _, spec = header.partition("=")
    first, dash, last = spec.partition("-")
    if not header or unit.strip() != "bytes" or not dash or "," in spec:
        return None
    if not first.strip():
        length = int(last)
        if length <= 0:
            raise ValueError("an empty range")
        return Range(max(0, size - length), size - 1, size)
    start = int(first)
    end = min(int(last), size - 1) if last.strip() else size - 1
    if start >= size or start > end:
        raise ValueError(f"the range begins at {start}, the part has {size} bytes")
    return Range(start, end, size)
