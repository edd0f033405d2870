"""Population: all rows of an environment, table by table, from what is planted, the base, and the growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tasks_app.environments.runtime.columns import Batch, fill_columns
from tasks_app.environments.runtime.files import render_file, write_files
from tasks_app.environments.runtime.filling import NOW, Draw, Ints
from tasks_app.environments.runtime.picking import Pool, PopulateError, Turns, grouped, in_group
from tasks_app.environments.runtime.plants import Plants, Values
from tasks_app.environments.runtime.settling import settle_keys, settle_names, settle_numbers


class Table:
    """The rows made so far: planted ones first, then the base, then each kind of growth, each in its own order."""

    def __init__(self, spec: Mapping[str, Any], population: Population) -> None:
        self.spec, self.population = spec, population
        self.columns: dict[str, list[Any]] = {column: [] for column in spec["order"]}
        self.positions: list[int] = []
        self.planted = 0
        self.created: list[int] | None = None
        self._groups: dict[tuple[str, ...], dict[tuple[Any, ...], Pool]] = {}
        self._pool: Pool | None = None
        self._index: dict[tuple[str, ...], dict[tuple[Any, ...], int]] = {}

    def background(self) -> Pool:
        """Rows that background rows may point at: those that nobody planted."""
        if self._pool is None:
            rows = range(self.planted, len(self.positions))
            self._pool = Pool(list(rows), [self.positions[row] for row in rows])
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
        self._groups, self._pool, self._index = {}, None, {}


class Population:
    """One environment being made. `fill` is called once."""

    def __init__(self, specs: Sequence[Mapping[str, Any]], user: Mapping[str, Any], seed: int, directives: Mapping[str, Any]) -> None:
        unknown = set(directives) - {"base", "plants", "growth", "files"}
        if unknown:
            raise PopulateError(f"directives are base, plants, growth and files, not {', '.join(sorted(unknown))}")
        self.user, self.seed, self.directives = user, seed, directives
        self.plants = Plants(user["fixed"], directives.get("plants", ()))
        self.tables = {spec["table"]: Table(spec, self) for spec in specs}
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
        planned = self.plan(base["rows"], rows)
        for table in self.tables.values():
            self._make(table, planned)
        self._write(connection)
        self._files(workspace, base["files"], files)

    # How many rows of what

    def plan(self, base: int, rows: int) -> dict[str, list[tuple[str, Ints, Mapping[str, Any]]]]:
        """For each table its batches: (stream, positions, what a growth entry sets)."""
        if rows < base:
            raise PopulateError(f"{rows} rows were asked for; the base alone has {base}")
        if base < self.plants.count:
            raise PopulateError(f"the base has {base} rows; {self.plants.count} are planted or belong to the acting user")
        planned: dict[str, list[tuple[str, Ints, Mapping[str, Any]]]] = {name: [] for name in self.tables}
        shares = self._base_counts(base - self.plants.count)
        for name, count in shares.items():
            planned[name].append(("base", np.full(count, -1, dtype=np.int64), {}))
        entries = list(self.directives.get("growth", ()))
        total = sum(entry["share"] for entry in entries)
        if total > 1.0001:
            raise PopulateError(f"the shares of growth add up to {total}; at most 1 is possible")
        alive = self._growing(shares)
        weight = sum(self.tables[name].spec["weight"] for name in alive)
        kinds = [(self._table_of(entry["entity"]), f"growth/{number}", entry["share"], entry.get("set", {}))
                 for number, entry in enumerate(entries)]
        kinds += [(name, "background", (1 - total) * self.tables[name].spec["weight"] / weight, {}) for name in alive]
        if rows > base and not kinds:
            raise PopulateError("nothing can grow: the base has no background rows, and no growth is declared")
        if rows > base:
            for (name, stream, _, given), positions in zip(kinds, Turns([k[2] for k in kinds]).positions(rows - base), strict=True):
                planned[name].append((stream, positions, given))
        return planned

    def _table_of(self, entity: str) -> str:
        if entity not in self.by_entity:
            raise PopulateError(f"there is no entity {entity!r}; there are {', '.join(sorted(self.by_entity))}")
        name: str = self.by_entity[entity].spec["table"]
        return name

    def _base_counts(self, count: int) -> dict[str, int]:
        """The base's background by weight; what cannot stand for want of a parent goes to the first table."""
        weights = {name: table.spec["weight"] for name, table in self.tables.items()}
        total = sum(weights.values())
        exact = {name: count * weight / total for name, weight in weights.items()}
        counts = {name: int(share) for name, share in exact.items()}
        for name in sorted(exact, key=lambda n: counts[n] - exact[n])[: count - sum(counts.values())]:
            counts[name] += 1
        roots = [name for name, table in self.tables.items() if weights[name] and not any(link["owns"] for link in table.spec["links"])]
        for name, table in self.tables.items():
            wanted = [link["table"] for link in table.spec["links"] if link["owns"]]
            room = min((counts[parent] for parent in wanted), default=counts[name])
            limit = counts[name]
            if wanted and (room == 0 or (self._one_each(table) and counts[name] > room)):
                limit = room if self._one_each(table) else 0
            counts[roots[0]] += counts[name] - limit
            counts[name] = limit
        return counts

    def _one_each(self, table: Table) -> bool:
        """Is there at most one row for each row of a parent (its key is the parent's)?"""
        return any(set(table.spec["key"]) == set(link["columns"]) for link in table.spec["links"])

    def _growing(self, base: Mapping[str, int]) -> list[str]:
        """Tables in which background may grow: those whose parents the base has."""
        return [
            name for name, table in self.tables.items()
            if table.spec["weight"] and all(base[link["table"]] for link in table.spec["links"] if link["owns"])
            and not (self._one_each(table) and not base[name])
        ]

    # Making the rows of a table

    def _make(self, table: Table, planned: Mapping[str, list[tuple[str, Ints, Mapping[str, Any]]]]) -> None:
        name = table.spec["table"]
        batches = [self._planted(table)]
        table.planted = batches[0].count
        start = batches[0].count
        for number, (stream, positions, given) in enumerate(planned[name]):
            first = start + 1_000_000 * number
            indices = np.arange(first, first + len(positions), dtype=np.int64)
            batch = self._batch(table, stream, positions, indices)
            ordinals = list(range(batch.count))
            for column, value in given.items():
                self._check_column(table, column)
                batch.values[column] = self.values.many(value, batch.draw, f"set/{column}", ordinals, ordinals)
            self._link(batch, scoped=bool(given))
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
            self._relink(last, batches)
        for batch in batches:
            fill_columns(batch)
        if unique and not set(unique) <= linked:
            settle_numbers(unique, batches)
        for column in table.spec["distinct"]:
            scope = [c for c in table.spec["key"] if c != table.spec["own"] and c != column]
            settle_names(scope, column, batches, address="email" in column)
        for batch in batches:
            table.take(batch)

    def _relink(self, link: Mapping[str, Any], batches: Sequence[Batch]) -> None:
        """The rows that the settled keys point at now."""
        index = self.tables[link["table"]].index(tuple(link["target"]))
        for batch in batches:
            keys = zip(*(batch.values[column] for column in link["columns"]), strict=True)
            batch.parents[link["table"]] = [index.get(key, -1) for key in keys]

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
                    f"a planted {row.entity} points at no {target.spec['entity']}: {dict(zip(link['columns'], key, strict=True))}; "
                    f"set {link['columns'][-1]}, or plant it as a child")

    def _owner(self, row: Any, target: Table, link: Mapping[str, Any]) -> int | None:
        """The planted row that a planted row hangs on: its parent, an ancestor, or the acting user."""
        place = row.parent
        while place is not None:
            if place[0] == target.spec["entity"]:
                return int(place[1])
            place = self.plants.rows[place[0]][place[1]].parent
        mine = self.plants.names.get("me")
        if mine is not None and mine[0] == target.spec["entity"] and (
            link["owns"] or link.get("soft")) and table_allows_me(link["columns"][-1]):
            return mine[1]
        return None

    # References of the other rows

    def _link(self, batch: Batch, *, scoped: bool) -> None:
        for link in batch.table.spec["links"]:
            target = self.tables[link["table"]]
            known = tuple(column for column in link["columns"] if column in batch.values)
            if len(known) == len(link["columns"]):
                index = target.index(tuple(link["target"]))
                keys = zip(*(batch.values[column] for column in link["columns"]), strict=True)
                batch.parents[link["table"]] = [index.get(key, -1) for key in keys]
                continue
            rows = self._choose(batch, link, target, known)
            self._set_link(batch, link, target, rows)
        if not batch.pools:
            batch.pools, batch.chosen = [None] * batch.count, [-1] * batch.count

    def _choose(self, batch: Batch, link: Mapping[str, Any], target: Table, known: tuple[str, ...]) -> list[int]:
        own = link["columns"][-1]
        shares = batch.draw.uniform(f"link/{own}")
        members = self.tables.get(link["members"])
        pool = target.background()
        if known:
            theirs = tuple(link["target"][link["columns"].index(column)] for column in known)
            keys = list(zip(*(batch.values[column] for column in known), strict=True))
            return in_group(target.groups(theirs), keys, shares, batch.positions)
        if members is not None and members.spec["key"][0] in batch.values:
            column, person = members.spec["key"]
            keys = [(value,) for value in batch.values[column]]
            groups = members.groups((column,))
            found = in_group(groups, keys, shares, batch.positions)
            index = target.index((link["target"][-1],))
            rows = [index[(members.columns[person][row],)] if row >= 0 else -1 for row in found]
            others = pool.choose(shares, batch.positions, 1.0).tolist()
            batch.pools = [pool if row < 0 else _pool_of(groups[key], members, index, person) for row, key in zip(rows, keys, strict=True)] \
                if own in batch.table.spec["unique"] else []
            batch.chosen = [other if row < 0 else row for row, other in zip(rows, others, strict=True)]
            return batch.chosen
        rows = pool.choose(shares, batch.positions, 1.0 if link.get("soft") else 1.35).tolist()
        if own in batch.table.spec["unique"]:
            batch.pools, batch.chosen = [pool] * batch.count, rows
        return rows

    def _set_link(self, batch: Batch, link: Mapping[str, Any], target: Table, rows: list[int]) -> None:
        if link["null"]:
            gone = (batch.draw.uniform(f"link/{link['columns'][-1]}/null") < link["null"]).tolist()
            rows = [-1 if out else row for row, out in zip(rows, gone, strict=True)]
        if link["owns"] and any(row < 0 for row in rows):
            raise PopulateError(f"{batch.table.spec['table']} ({batch.stream}): no {target.spec['table']} is there to hang on")
        batch.parents[link["table"]] = rows
        for ours, theirs in zip(link["columns"], link["target"], strict=True):
            if ours not in batch.values:
                values = target.columns[theirs]
                batch.values[ours] = [values[row] if row >= 0 else None for row in rows]

    # Out of here

    def _write(self, connection: Any) -> None:
        user = self.user
        connection.execute("INSERT INTO _session VALUES (?, ?, ?, ?, ?)",
                           (user["user_id"], user["email"], user["name"], user["time_zone"], NOW))
        for table in self.tables.values():
            columns = table.spec["order"]
            marks = ", ".join("?" for _ in columns)
            names = ", ".join(f'"{column}"' for column in columns)
            rows = list(zip(*(table.columns[column] for column in columns), strict=True))
            places = [columns.index(column) for column in table.spec["key"]]
            rows.sort(key=lambda row: tuple(row[place] for place in places))
            connection.executemany(f'INSERT INTO "{table.spec["table"]}" ({names}) VALUES ({marks})', rows)

    def _files(self, workspace: Path, base: int, count: int) -> None:
        planted: dict[str, str] = {}
        for number, plant in enumerate(self.directives.get("files", ())):
            planted[plant["path"]] = self._file(plant, number)
        if count < base or count < len(planted):
            raise PopulateError(f"{count} files were asked for; the base has {base}, of which {len(planted)} are planted")
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


def table_allows_me(column: str) -> bool:
    """The acting user stands in for whoever made or owns a row, not for a guest or a student."""
    return any(word in column for word in ("creator", "owner", "organizer"))


def _pool_of(group: Pool, members: Table, index: Mapping[tuple[Any, ...], int], person: str) -> Pool:
    rows = [index[(members.columns[person][row],)] for row in group.rows]
    made = Pool([], [])
    made.rows, made.positions = rows, group.positions
    return made
