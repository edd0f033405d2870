"""Scale: a named size of the same environment; same tools, same instruction, same verifier."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """`rows` counts rows of all entity tables together, `files` those of the workspace; both are met exactly."""

    name: str
    rows: int
    files: int
