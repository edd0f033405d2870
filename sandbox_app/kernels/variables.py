"""Variables: what the bridge says of a kernel's names, checked and compared with the step before.

The words come from the kernel, so nothing about them is taken for granted: what has not the expected form is left out.
"""

from __future__ import annotations

from typing import Any

from sandbox_app.trajectories import Variable

_MOST, _TEXT = 200, 400
_FIELDS = 5


def compare(before: dict[str, list[Any]], described: list[list[Any]] | None) -> tuple[
    dict[str, list[Any]], tuple[Variable, ...]
]:
    """The names now, by name, and the variables with their change; None (no description came) keeps what was."""
    if described is None:
        return before, tuple(_variable(row, "same") for row in before.values())
    now = {row[0]: row for row in (_checked(item) for item in described[:_MOST]) if row is not None}
    found = [
        _variable(row, "new" if name not in before else "same" if before[name] == row else "changed")
        for name, row in now.items()
    ]
    found += [_variable(row, "gone") for name, row in before.items() if name not in now]
    return now, tuple(found)


def _checked(row: Any) -> list[Any] | None:
    if not isinstance(row, list) or len(row) != _FIELDS or not isinstance(row[-1], int):
        return None
    return [*(str(field)[:_TEXT] for field in row[:-1]), row[-1]]


def _variable(row: list[Any], change: Any) -> Variable:
    return Variable(name=row[0], type=row[1], size=row[2], repr=row[3], change=change)
