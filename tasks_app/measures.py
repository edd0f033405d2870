"""Measures of a task at one scale, and the proofs beside them: the typed reading of what is kept as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Measures:
    """What was measured; None is "not measured", never 0. `seconds` is what growing and proving took."""

    database_bytes: int | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None
    state: str = ""


@dataclass(frozen=True, slots=True)
class ProofLine:
    """One rule of growth: its number, its name, whether it held and what was seen."""

    rule: int
    name: str
    held: bool
    detail: str = ""


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_measures(row: Mapping[str, Any]) -> Measures:
    """Measures from JSON. Sizes come in bytes ("db_bytes") or in kilobytes ("db_kb")."""
    kilobytes = row.get("db_kb")
    size = _number(row.get("db_bytes"))
    if size is None and isinstance(kilobytes, int | float):
        size = int(kilobytes * 1000)
    took = row.get("seconds")
    return Measures(
        size,
        _number(row.get("tokens")),
        _number(row.get("calls")),
        float(took) if isinstance(took, int | float) else None,
        str(row.get("state", "")),
    )


def read_proof(rows: Iterable[Any]) -> tuple[ProofLine, ...]:
    """Lines of a proof from JSON, as mappings or as [rule, name, held, detail]; ordered by rule."""
    lines = []
    for row in rows:
        if isinstance(row, Mapping):
            line = ProofLine(int(row["rule"]), str(row["name"]), bool(row["held"]), str(row.get("detail", "")))
        else:
            rule, name, held, *detail = row
            line = ProofLine(int(rule), str(name), bool(held), str(detail[0]) if detail else "")
        lines.append(line)
    return tuple(sorted(lines, key=lambda line: line.rule))
