"""Making keys and names differ: rows are gone through in the order of their positions, and the later one gives way.

So what a row ends up with depends only on rows before it, and stays the same in a larger size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tasks_app.environments.runtime.linking import hang
from tasks_app.environments.runtime.picking import PopulateError, next_in

_PARENTS = 60  # how many parents are tried before a row is refused


def in_turn(batches: Sequence[Any]) -> list[tuple[Any, int]]:
    """(batch, row of it) for all rows, planted and base rows first, then by position."""
    rows = [
        (position, number, row)
        for number, batch in enumerate(batches)
        for row, position in enumerate(batch.positions.tolist())
    ]
    rows.sort()
    return [(batches[number], row) for _, number, row in rows]


def settle_keys(table: str, columns: Sequence[str], batches: Sequence[Any], target: Any, column: str) -> None:
    """Keys made of references alone: one that is there already takes the next row of the last reference's pool.

    When all of the pool are taken (every student has a submission for this work), the row hangs on the next parent.
    """
    seen: set[tuple[Any, ...]] = set()
    own = columns[-1]
    keys = {id(batch): list(zip(*(batch.values[name] for name in columns), strict=True)) for batch in batches}
    for batch, row in in_turn(batches):
        key = keys[id(batch)][row]
        if key in seen:
            beside = key[:-1]
            if not batch.pools or batch.pools[row] is None:
                raise PopulateError(f"{table}: {dict(zip(columns, key, strict=True))} is planted or set twice")
            for attempt in range(_PARENTS):
                if attempt and not _rehang(batch, row, attempt):
                    break
                beside = tuple(batch.values[name][row] for name in columns[:-1])
                free = _free(batch, row, target.columns[column], beside, seen)
                if free >= 0:
                    batch.values[own][row] = target.columns[column][free]
                    break
            key = (*beside, batch.values[own][row])
            if key in seen:
                raise PopulateError(
                    f"{table}: no further {own} is free beside {beside}; give it fewer rows, or more to choose from"
                )
        seen.add(key)


def _free(batch: Any, row: int, values: Sequence[Any], beside: tuple[Any, ...], seen: set[tuple[Any, ...]]) -> int:
    """The row itself where it fits now, else its next neighbours in the pool; -1 where none fits."""
    pool, start, position = batch.pools[row], batch.chosen[row], int(batch.positions[row])
    for tries in range(pool.reach(position)):
        parent = next_in(pool, start, position, tries)
        if (*beside, values[parent]) not in seen:
            return parent
    return -1


def _rehang(batch: Any, row: int, attempt: int) -> bool:
    """Let the row hang on a neighbour of its parent; False where a directive said which it is."""
    pool = batch.hung[row] if batch.hung else None
    if pool is None:
        return False
    return hang(batch.table.tables, batch, row, next_in(pool, batch.hung_on[row], int(batch.positions[row]), attempt))


def settle_numbers(columns: Sequence[str], batches: Sequence[Any]) -> None:
    """Keys whose own part is a number or a word: the later one is raised until it is free."""
    seen: set[tuple[Any, ...]] = set()
    own = columns[-1]
    for batch, row in in_turn(batches):
        key = tuple(batch.values[column][row] for column in columns)
        while key in seen:
            value = batch.values[own][row]
            batch.values[own][row] = value + 5 if isinstance(value, int) else f"{value}~"
            key = tuple(batch.values[column][row] for column in columns)
        seen.add(key)


def settle_names(scope: Sequence[str], column: str, batches: Sequence[Any], *, address: bool) -> None:
    """Names that must differ beside each other: the second "Quiz: waves" of a course becomes "Quiz: waves (2)"."""
    counts: dict[tuple[Any, ...], int] = {}
    taken: set[tuple[Any, ...]] = set()
    for batch, row in in_turn(batches):
        value = batch.values[column][row]
        if value is None:
            continue
        place = tuple(batch.values[name][row] for name in scope)
        if batch.planted:
            taken.add((*place, value))
            continue
        fresh = value
        while (*place, fresh) in taken:
            counts[(*place, value)] = counts.get((*place, value), 1) + 1
            number = counts[(*place, value)]
            fresh = value.replace("@", f"{number}@") if address else f"{value} ({number})"
        batch.values[column][row] = fresh
        taken.add((*place, fresh))
