"""What a task puts into its environment: rows planted with their names, and Values of directives made concrete.

Value: literal | {"ref": alias, "column": c} | {"pool": name} | {"choice": [Value…]} | {"int": [lo, hi]}
| {"time": {"after": iso, "before": iso}} | {"cycle": [Value…]} | {"serial": "Lab {n}"}; n and cycles count from the
first row of a plant or growth entry. An alias given to a plant with count > 1 names its first row; "alias#1" is the
second one, and so on. Known from the start: "me" (the acting user), and in calendars "primary".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tasks_app.environments.runtime.filling import Draw, epoch, stamps
from tasks_app.environments.runtime.picking import PopulateError
from tasks_app.environments.runtime.pools import POOLS

_FORMS = {"ref", "pool", "choice", "int", "time", "cycle", "serial"}


class PlantedRow:
    """One row to plant: its place among the rows of its plant, and the planted row it hangs on."""

    def __init__(self, entity: str, given: Mapping[str, Any], ordinal: int, parent: tuple[str, int] | None) -> None:
        self.entity, self.set, self.ordinal, self.parent = entity, given, ordinal, parent
        self.number = -1  # among the planted rows of its entity


class Plants:
    """All planted rows by entity, in the order in which they are written down, and what they are called."""

    def __init__(self, fixed: Sequence[Mapping[str, Any]], plants: Sequence[Mapping[str, Any]]) -> None:
        self.rows: dict[str, list[PlantedRow]] = {}
        self.names: dict[str, tuple[str, int]] = {}
        for plant in (*fixed, *plants):
            self._add(plant, None)

    def _add(self, plant: Mapping[str, Any], parent: tuple[str, int] | None) -> None:
        unknown = set(plant) - {"entity", "as", "count", "set", "children"}
        if unknown or "entity" not in plant:
            raise PopulateError(
                f"a plant has entity, as, count, set and children, not {sorted(unknown)}: {dict(plant)!r:.200}"
            )
        for ordinal in range(plant.get("count", 1)):
            row = PlantedRow(plant["entity"], plant.get("set", {}), ordinal, parent)
            same = self.rows.setdefault(plant["entity"], [])
            row.number = len(same)
            same.append(row)
            place = (plant["entity"], row.number)
            if plant.get("as"):
                if ordinal == 0:
                    self._name(plant["as"], place)
                self._name(f"{plant['as']}#{ordinal}", place)
            for child in plant.get("children", ()):
                self._add(child if ordinal == 0 else {**child, "as": None}, place)

    def _name(self, name: str, place: tuple[str, int]) -> None:
        if name in self.names:
            raise PopulateError(f"two plants are called {name!r}")
        self.names[name] = place

    @property
    def count(self) -> int:
        return sum(len(rows) for rows in self.rows.values())

    def literals(self) -> Iterator[tuple[str, str, str]]:
        """(entity, column, text) of all that is planted as plain text."""
        for entity, rows in self.rows.items():
            for row in rows:
                for column, value in row.set.items():
                    if isinstance(value, str):
                        yield entity, column, value
                    elif isinstance(value, Mapping) and isinstance(value.get("serial"), str):
                        yield entity, column, value["serial"].format(n=row.ordinal + 1)
                    elif isinstance(value, Mapping) and "cycle" in value:
                        yield from ((entity, column, v) for v in value["cycle"] if isinstance(v, str))


class Values:
    """Values made concrete; `tables` maps an entity to the table whose planted rows come first."""

    def __init__(self, tables: Mapping[str, Any], plants: Plants) -> None:
        self.tables, self.plants = tables, plants

    def one(self, value: Any, draw: Draw, purpose: str, ordinal: int, row: int) -> Any:
        """The value of one row: `ordinal` counts within its plant, `row` is its place in the draw."""
        return self.many(value, draw, purpose, [ordinal], [row])[0]

    def many(self, value: Any, draw: Draw, purpose: str, ordinals: Sequence[int], rows: Sequence[int]) -> list[Any]:
        if not isinstance(value, Mapping) or not set(value) & _FORMS:
            plain = (
                json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
                if isinstance(value, (list, Mapping))
                else value
            )
            return [int(plain) if isinstance(plain, bool) else plain] * len(ordinals)
        if "ref" in value:
            return [self.reference(value["ref"], value.get("column", ""))] * len(ordinals)
        if "serial" in value:
            return [value["serial"].format(n=ordinal + 1) for ordinal in ordinals]
        if "cycle" in value:
            options = [self.many(v, draw, f"{purpose}/{i}", ordinals, rows) for i, v in enumerate(value["cycle"])]
            return [options[ordinal % len(options)][at] for at, ordinal in enumerate(ordinals)]
        return self._drawn(value, draw, purpose, ordinals, rows)

    def _drawn(
        self, value: Mapping[str, Any], draw: Draw, purpose: str, ordinals: Sequence[int], rows: Sequence[int]
    ) -> list[Any]:
        shares = draw.uniform(purpose)[np.asarray(rows, dtype=np.int64)]
        if "choice" in value:
            options = [self.many(v, draw, f"{purpose}/{i}", ordinals, rows) for i, v in enumerate(value["choice"])]
            return [options[int(share * len(options))][at] for at, share in enumerate(shares.tolist())]
        if "int" in value:
            low, high = value["int"]
            return [low + int(share * (high - low + 1)) for share in shares.tolist()]
        if "time" in value:
            low, high = epoch(value["time"]["after"]), epoch(value["time"]["before"])
            moments = (low + shares * (high - low)).astype(np.int64) // 60 * 60
            return stamps(np.maximum(moments, low))
        pool = POOLS.get(str(value["pool"]).upper())
        if pool is None:
            raise PopulateError(f"there is no pool {value['pool']!r}; there are {', '.join(sorted(POOLS)).lower()}")
        return [pool[int(share * len(pool))] for share in shares.tolist()]

    def reference(self, name: str, column: str) -> Any:
        if name not in self.plants.names:
            raise PopulateError(f"nothing planted is called {name!r}")
        entity, number = self.plants.names[name]
        table = self.tables[entity]
        column = column or table.spec["own"] or table.spec["key"][-1]
        values = table.columns.get(column)
        if values is None:
            raise PopulateError(f"{entity} has no column {column!r} (asked for by a reference to {name!r})")
        if number >= len(values):
            raise PopulateError(f"{name!r} ({entity}) is made after what refers to it; set the value on both instead")
        return values[number]
