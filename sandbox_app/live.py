"""The step that is running now, told from the events of its stream, so that a reload shows what was on screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class InFlight:
    index: int
    code: str
    output: str
    calls: tuple[Mapping[str, Any], ...]    # {tool, ok, milliseconds}


def in_flight(events: Iterable[tuple[str, Mapping[str, Any]]]) -> InFlight | None:
    """`events` are (kind, data) in order. None when no step has begun since the last one that ended."""
    index, code = 0, ""
    output: list[str] = []
    calls: list[Mapping[str, Any]] = []
    for kind, data in events:
        if kind == "step_started":
            index, code, output, calls = int(data["index"]), str(data["code"]), [], []
        elif kind == "output" and data["index"] == index:
            output.append(str(data["text"]))
        elif kind == "calls" and data["index"] == index:
            calls.extend(data["calls"])
        elif kind in ("step", "ended"):
            index = 0
    return InFlight(index, code, "".join(output), tuple(calls)) if index else None
