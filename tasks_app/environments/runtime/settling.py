"""Making keys and names differ: rows are gone through in the order of their positions, and the later one gives way.

So what a row ends up with depends only on rows before it, and stays the same in a larger size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tasks_app.environments.runtime.picking import Pool, PopulateError, next_in


def in_turn(batches: Sequence[Any]) -> list[tuple[Any, int]]:
    """(batch, row of it) for all rows, planted and base rows first, then by position."""
    rows = [(position, number, batch, row) for number, batch in enumerate(batches)
            for row, position in enumerate(batch.positions.tolist())]
    rows.sort(key=lambda item: (item[0], item[1], item[3]))
    return [(batch, row) for _, _, batch, row in rows]


def settle_keys(table: str, columns: Sequence[str], batches: Sequence[Any], target: Any, column: str) -> None:
    """Keys made of references alone: a pair that is there already takes the next row of the last reference's pool.

    When all of the pool are taken (every student of the course is in the group), anybody of `target` will do.
    """
    seen: set[tuple[Any, ...]] = set()
    own = columns[-1]
    for batch, row in in_turn(batches):
        beside = tuple(batch.values[name][row] for name in columns[:-1])
        value = batch.values[own][row]
        if (*beside, value) in seen:
            pool = batch.pools[row] if batch.pools else None
            if pool is None:
                raise PopulateError(f"{table}: {dict(zip(columns, (*beside, value), strict=True))} is planted twice")
            free = _free(pool, target, batch.chosen[row], int(batch.positions[row]),
                         lambda parent: (*beside, target.columns[column][parent]) not in seen)
            if free < 0:
                raise PopulateError(f"{table}: no further {own} is free beside {beside}; give it fewer rows")
            value = batch.values[own][row] = target.columns[column][free]
        seen.add((*beside, value))


def _free(pool: Pool, target: Any, start: int, position: int, fits: Callable[[int], bool]) -> int:
    for tries in range(1, pool.reach(position)):
        parent = next_in(pool, start, position, tries)
        if fits(parent):
            return parent
    others: Pool = target.background()
    return next((row for row in others.rows[: others.reach(position)] if fits(row)), -1)


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
