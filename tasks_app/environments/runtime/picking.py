"""Which parent a row hangs on: chosen among the rows that are there before it, so that larger sizes keep smaller ones.

Rows have a position: -1 for the base, i for the i-th row of the growth. A row may point at rows of a smaller position
only. Background rows point at background rows; rows that a directive puts into a scope at what lies in that scope.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tasks_app.environments.runtime.filling import Floats, Ints


class PopulateError(ValueError):
    """What was asked for cannot be made; says why and what to change."""


class Pool:
    """Row numbers of a table by position; `reach` says how many lie before a position."""

    def __init__(self, rows: Sequence[int], positions: Sequence[int]) -> None:
        order = sorted(range(len(rows)), key=lambda index: (positions[index], rows[index]))
        self.rows = [rows[index] for index in order]
        self.positions = [positions[index] for index in order]
        self.places: dict[int, int] = {}

    def reach(self, position: int) -> int:
        """How many rows there are before a position; for the base, as many as the base has."""
        return bisect_left(self.positions, max(position, 0))

    def choose(self, shares: Floats, positions: Ints, tail: float) -> Ints:
        """A row for each share in [0, 1); `tail` > 1 makes a few of them popular. -1 where there is none."""
        found = np.asarray(self.positions, dtype=np.int64)
        reach = np.searchsorted(found, np.maximum(positions, 0), side="left")
        indices = (shares**tail * reach).astype(np.int64)
        rows = np.asarray([*self.rows, -1], dtype=np.int64)
        return np.where(reach > 0, rows[np.where(reach > 0, indices, -1)], -1)


def grouped(table: Any, columns: Sequence[str]) -> dict[tuple[Any, ...], Pool]:
    """Pools of the rows of a table that share the values of `columns`."""
    members: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(zip(*(table.columns[c] for c in columns), strict=True)):
        members.setdefault(key, []).append(row)
    positions = table.positions
    return {key: Pool(rows, [positions[row] for row in rows]) for key, rows in members.items()}


def in_group(
    groups: Mapping[tuple[Any, ...], Pool], keys: Sequence[tuple[Any, ...]], shares: Floats, positions: Ints
) -> list[int]:
    """For each key a row of its group that is there before the position; -1 where there is none."""
    chosen = []
    for key, share, position in zip(keys, shares.tolist(), positions.tolist(), strict=True):
        pool = groups.get(key)
        reach = pool.reach(position) if pool else 0
        chosen.append(pool.rows[int(share * reach)] if pool and reach else -1)
    return chosen


def next_in(pool: Pool, row: int, position: int, tries: int) -> int:
    """The `tries`-th neighbour of a row in its pool, among those before the position."""
    if not pool.places:
        pool.places = {number: place for place, number in enumerate(pool.rows)}
    reach = pool.reach(position)
    return pool.rows[(pool.places[row] + tries) % reach] if reach else -1


BLOCK = 64


def turns(shares: Sequence[float], ranks: Sequence[int], count: int) -> list[Ints]:
    """For each kind of growth the positions (0 … count-1) that are its own: by share, the same for every count.

    Kinds take turns by the golden ratio; within each block of 64 positions those of a lower rank (parents) come first,
    so that what a row can hang on is there before it.
    """
    edges = np.cumsum(np.asarray(shares, dtype=float))
    whole = -(-count // BLOCK) * BLOCK
    places = (np.arange(whole) + 0.5) * 0.6180339887498949 % 1.0 * edges[-1]
    kinds = np.minimum(np.searchsorted(edges, places, side="right"), len(edges) - 1)
    order = np.lexsort((np.asarray(ranks)[kinds], np.arange(whole) // BLOCK))
    kinds = kinds[order][:count]
    return [np.flatnonzero(kinds == kind) for kind in range(len(edges))]
