"""Population: all rows of an environment, table by table, from what is planted, the base, and the growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from tasks_app.environments.runtime.columns import fill_columns
from tasks_app.environments.runtime.counting import plan_rows
from tasks_app.environments.runtime.files import render_file, write_files
from tasks_app.environments.runtime.filling import NOW, Draw, Ints
from tasks_app.environments.runtime.linking import link_rows, relink
from tasks_app.environments.runtime.picking import PopulateError
from tasks_app.environments.runtime.plants import Plants, Values
from tasks_app.environments.runtime.settling import settle_keys, settle_names, settle_numbers
from tasks_app.environments.runtime.tables import Batch, Table


class Population:
    """One environment being made. `fill` is called once."""

    def __init__(
        self, specs: Sequence[Mapping[str, Any]], user: Mapping[str, Any], seed: int, directives: Mapping[str, Any]
    ) -> None:
        unknown = set(directives) - {"base", "plants", "growth", "files"}
        if unknown:
            raise PopulateError(f"directives are base, plants, growth and files, not {', '.join(sorted(unknown))}")
        self.user, self.seed, self.directives = user, seed, directives
        self.plants = Plants(user["fixed"], directives.get("plants", ()))
        self.tables = {spec["table"]: Table(spec, {}) for spec in specs}
        for table in self.tables.values():
            table.tables = self.tables
        self.by_entity = {table.spec["entity"]: table for table in self.tables.values()}
        self.values = Values(self.by_entity, self.plants)
        self.avoid = self._avoided()
        missing = [entity for entity in self.plants.rows if entity not in self.by_entity]
        if missing:
            raise PopulateError(f"there is no entity {missing[0]!r}; there are {', '.join(sorted(self.by_entity))}")

    def _avoided(self) -> dict[str, dict[str, set[str]]]:
        """By entity and column the texts that the background must not repeat."""
        avoid: dict[str, dict[str, set[str]]] = {}
        for entity, column, text in self.plants.literals():
            places = avoid.setdefault(entity, {})
            places.setdefault(column, set()).add(text)
            if column in ("name_full_name", "display_name"):
                places.setdefault("full", set()).add(text)
        return avoid

    def fill(self, connection: Any, workspace: Path, rows: int, files: int) -> None:
        base = self.directives.get("base") or {"rows": rows, "files": files}
        planned = plan_rows(self.tables, self.plants.count, self.directives.get("growth", ()), base["rows"], rows)
        for table in self.tables.values():
            self._make(table, planned)
        self._write(connection)
        self._files(workspace, base["files"], files)

    # Making the rows of a table

    def _make(self, table: Table, planned: Mapping[str, list[tuple[str, Ints, Mapping[str, Any]]]]) -> None:
        name = table.spec["table"]
        batches = [self._planted(table)]
        start = batches[0].count
        for number, (stream, positions, given) in enumerate(planned[name]):
            first = start + 1_000_000 * number
            indices = np.arange(first, first + len(positions), dtype=np.int64)
            batch = self._batch(table, stream, positions, indices)
            ordinals = list(range(batch.count))
            for column, value in given.items():
                self._check_column(table, column)
                batch.values[column] = self.values.many(value, batch.draw, f"set/{column}", ordinals, ordinals)
            link_rows(self.tables, batch)
            batches.append(batch)
        self._settle(table, batches)
        table.created = self._moments(table)

    def _batch(self, table: Table, stream: str, positions: Ints, indices: Ints) -> Batch:
        draw = Draw(self.seed, table.spec["table"], stream, len(positions))
        return Batch(table, stream, positions, draw, indices, self.avoid.get(table.spec["entity"], {}))

    def _check_column(self, table: Table, column: str) -> None:
        if column not in table.columns:
            raise PopulateError(f"{table.spec['entity']} has no column {column!r}; it has {', '.join(table.columns)}")

    def _settle(self, table: Table, batches: Sequence[Batch]) -> None:
        linked = {column for link in table.spec["links"] for column in link["columns"]}
        unique = table.spec["unique"]
        if unique and set(unique) <= linked:
            last = next(link for link in table.spec["links"] if link["columns"][-1] == unique[-1])
            target = self.tables[last["table"]]
            settle_keys(table.spec["table"], unique, batches, target, last["target"][-1])
            for link in table.spec["links"]:
                relink(self.tables, link, batches)
        for batch in batches:
            fill_columns(batch)
        if unique and not set(unique) <= linked:
            settle_numbers(unique, batches)
        for column in table.spec["distinct"]:
            scope = [c for c in table.spec["key"] if c != table.spec["own"] and c != column]
            settle_names(scope, column, batches, address="email" in column)
        for batch in batches:
            table.take(batch)

    def _moments(self, table: Table) -> list[int] | None:
        name = next((c["column"] for c in table.spec["columns"] if c["fill"][0] == "created"), None)
        if name is None:
            return None
        moments = np.array([text[:19] for text in table.columns[name]] or [], dtype="datetime64[s]")
        seconds: list[int] = moments.astype(np.int64).tolist()
        return seconds

    # Planted rows

    def _planted(self, table: Table) -> Batch:
        rows = self.plants.rows.get(table.spec["entity"], [])
        positions = np.full(len(rows), -1, dtype=np.int64)
        batch = self._batch(table, "planted", positions, np.arange(len(rows), dtype=np.int64))
        columns = dict.fromkeys(column for row in rows for column in row.set)
        for column in columns:
            self._check_column(table, column)
            batch.values[column], batch.given[column] = [None] * len(rows), [False] * len(rows)
        for number, row in enumerate(rows):
            for column, value in row.set.items():
                batch.values[column][number] = self.values.one(value, batch.draw, f"set/{column}", row.ordinal, number)
                batch.given[column][number] = True
        for link in table.spec["links"]:
            self._link_planted(table, link, batch)
        batch.pools, batch.chosen = [None] * len(rows), [-1] * len(rows)
        return batch

    def _link_planted(self, table: Table, link: Mapping[str, Any], batch: Batch) -> None:
        target = self.tables[link["table"]]
        rows = self.plants.rows.get(table.spec["entity"], [])
        for column in link["columns"]:
            batch.values.setdefault(column, [None] * len(rows))
            batch.given.setdefault(column, [False] * len(rows))
        for number, row in enumerate(rows):
            own = link["columns"][-1]
            if not batch.given[own][number]:
                place = self._owner(row, target, link)
                if place is not None:
                    for ours, theirs in zip(link["columns"], link["target"], strict=True):
                        if not batch.given[ours][number]:
                            batch.values[ours][number], batch.given[ours][number] = target.columns[theirs][place], True
        index = target.index(tuple(link["target"]))
        keys = list(zip(*(batch.values[column] for column in link["columns"]), strict=True))
        batch.parents[link["table"]] = [index.get(key, -1) for key in keys]
        for key, found, row in zip(keys, batch.parents[link["table"]], rows, strict=True):
            if found < 0 and link["owns"] and not link.get("soft"):
                raise PopulateError(
                    f"a planted {row.entity} points at no {target.spec['entity']} "
                    f"({dict(zip(link['columns'], key, strict=True))}); "
                    f"set {link['columns'][-1]}, or plant it as a child"
                )

    def _owner(self, row: Any, target: Table, link: Mapping[str, Any]) -> int | None:
        """The planted row that a planted row hangs on: its parent, an ancestor, or the acting user."""
        place = row.parent
        while place is not None:
            if place[0] == target.spec["entity"]:
                return int(place[1])
            place = self.plants.rows[place[0]][place[1]].parent
        mine = self.plants.names.get("me")
        if (
            mine is not None
            and mine[0] == target.spec["entity"]
            and (link["owns"] or link.get("soft"))
            and table_allows_me(link["columns"][-1])
        ):
            return mine[1]
        return None

    # Out of here

    def _write(self, connection: Any) -> None:
        user = self.user
        connection.execute(
            "INSERT INTO _session VALUES (?, ?, ?, ?, ?)",
            (user["user_id"], user["email"], user["name"], user["time_zone"], NOW),
        )
        for table in self.tables.values():
            if table.positions:
                _insert_rows(connection, table)

    def _files(self, workspace: Path, base: int, count: int) -> None:
        planted: dict[str, str] = {}
        for number, plant in enumerate(self.directives.get("files", ())):
            planted[plant["path"]] = self._file(plant, number)
        if count < base or count < len(planted):
            raise PopulateError(
                f"{count} files were asked for; the base has {base}, of which {len(planted)} are planted"
            )
        write_files(workspace, planted, seed=self.seed, count=count, now=NOW)

    def _file(self, plant: Mapping[str, Any], number: int) -> str:
        header = [c[0] if isinstance(c, (list, tuple)) else c for c in plant.get("columns", ())]
        said = plant.get("rows", ())
        draw = Draw(self.seed, "files", plant["path"], max(len(said), 1))
        rows = []
        for ordinal, row in enumerate(said):
            cells = [row.get(name) for name in header] if isinstance(row, Mapping) else row
            rows.append([self.values.one(v, draw, f"cell/{at}", ordinal, ordinal) for at, v in enumerate(cells)])
        return render_file(plant, header, rows)


def _insert_rows(connection: Any, table: Table) -> None:
    """In the order of the key, so that pages are filled; columns that hold nothing at all are left to the schema."""
    columns = [c for c in table.spec["order"] if table.columns[c].count(None) < len(table.positions)]
    rows = list(zip(*(table.columns[column] for column in columns), strict=True))
    rows.sort(key=itemgetter(*(columns.index(column) for column in table.spec["key"])))
    names = ", ".join(f'"{column}"' for column in columns)
    marks = ", ".join("?" for _ in columns)
    connection.executemany(f'INSERT INTO "{table.spec["table"]}" ({names}) VALUES ({marks})', rows)


def table_allows_me(column: str) -> bool:
    """The acting user stands in for whoever made or owns a row, not for a guest or a student."""
    return any(word in column for word in ("creator", "owner", "organizer"))
