"""Tables being filled, and batches: rows of one table from one source (planted, base, a kind of growth)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tasks_app.environments.runtime.filling import DAY, NOW, Draw, Ints, epoch, name_parts, people
from tasks_app.environments.runtime.picking import Pool, grouped

_START = epoch(NOW) - 110 * DAY  # nothing is older


class Table:
    """The rows made so far: planted ones first, then the base, then each kind of growth, each in its own order."""

    def __init__(self, spec: Mapping[str, Any], tables: Mapping[str, Table]) -> None:
        self.spec, self.tables = spec, tables
        self.columns: dict[str, list[Any]] = {column: [] for column in spec["order"]}
        self.positions: list[int] = []
        self.scoped: list[bool] = []  # planted, or hanging on what is planted: nothing else may hang on it
        self.created: list[int] | None = None
        self._groups: dict[tuple[str, ...], dict[tuple[Any, ...], Pool]] = {}
        self._pool: Pool | None = None
        self._index: dict[tuple[str, ...], dict[tuple[Any, ...], int]] = {}

    def background(self) -> Pool:
        """Rows that background rows may point at: those that nobody planted, nor put into the scope of a plant."""
        if self._pool is None:
            rows = [row for row, scoped in enumerate(self.scoped) if not scoped]
            self._pool = Pool(rows, [self.positions[row] for row in rows])
        return self._pool

    def groups(self, columns: tuple[str, ...]) -> dict[tuple[Any, ...], Pool]:
        if columns not in self._groups:
            self._groups[columns] = grouped(self, columns)
        return self._groups[columns]

    def index(self, columns: tuple[str, ...]) -> dict[tuple[Any, ...], int]:
        if columns not in self._index:
            keys = zip(*(self.columns[column] for column in columns), strict=True)
            self._index[columns] = {key: row for row, key in enumerate(keys)}
        return self._index[columns]

    def take(self, batch: Batch) -> None:
        for column in self.spec["order"]:
            self.columns[column].extend(batch.values[column])
        self.positions.extend(batch.positions.tolist())
        self.scoped.extend(batch.in_scope())
        self._groups, self._pool, self._index = {}, None, {}


class Batch:
    def __init__(
        self, table: Any, stream: str, positions: Ints, draw: Draw, indices: Ints, avoid: Mapping[str, set[str]]
    ) -> None:
        self.table, self.stream, self.positions, self.draw, self.indices = table, stream, positions, draw, indices
        self.avoid = avoid
        self.count = len(positions)
        self.planted = stream == "planted"
        self.values: dict[str, list[Any]] = {}
        self.given: dict[str, list[bool]] = {}  # planted rows: which values the directive gave
        self.parents: dict[str, list[int]] = {}  # table → row numbers in it, -1 for none
        self.pools: list[Pool | None] = []  # where the last reference of each row was chosen
        self.chosen: list[int] = []
        self.hung: list[Pool | None] = []  # where the first reference of each row was chosen
        self.hung_on: list[int] = []
        self._people: tuple[list[str], ...] | None = None

    def people(self) -> tuple[list[str], ...]:
        """Given, family, full name and local part of the address of each row; a planted full name is taken apart."""
        if self._people is None:
            made = people(self.draw, self.avoid.get("full", set()))
            said = next((self.values[c] for c in ("name_full_name", "display_name") if c in self.given), None)
            for row, full in enumerate(said or ()):
                if full:
                    for part, value in zip(made, name_parts(full), strict=True):
                        part[row] = value
            self._people = made
        return self._people

    def in_scope(self) -> list[bool]:
        """Which rows are planted, or cannot stand without a row that is in the scope of a plant."""
        scoped = [self.planted] * self.count
        for link in self.table.spec["links"]:
            flags = self.table.tables[link["table"]].scoped
            if link["owns"] and any(flags) and not self.planted:
                rows = self.parents[link["table"]]
                scoped = [old or (row >= 0 and flags[row]) for old, row in zip(scoped, rows, strict=True)]
        return scoped

    def of_parent(self, table: str, column: str) -> list[Any]:
        """A column of the parents of each row; None for a row without one."""
        rows = self.parents.get(table)
        if rows is None:
            return [None] * self.count
        values = self.table.tables[table].columns[column]
        return [values[row] if row >= 0 else None for row in rows]

    def main_parent(self) -> Any:
        links = self.table.spec["links"]
        name = next((link["table"] for link in links if link["owns"] and link["table"] in self.parents), "")
        return self.table.tables[name] if name else None

    def since(self) -> Ints:
        """The moment from which each row can exist: when its parents were made."""
        low = np.full(self.count, _START, dtype=np.int64)
        for name, rows in self.parents.items():
            made = self.table.tables[name].created
            if made is not None:
                known = np.asarray([made[row] if row >= 0 else 0 for row in rows], dtype=np.int64)
                low = np.maximum(low, known)
        return low
