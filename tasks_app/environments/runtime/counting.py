"""How many rows of what: the base by weight, the growth by turns, and what a directive asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tasks_app.environments.runtime.filling import Ints
from tasks_app.environments.runtime.picking import PopulateError, turns
from tasks_app.environments.runtime.tables import Table


def plan_rows(
    tables: Mapping[str, Table], planted: int, growth: Sequence[Mapping[str, Any]], base: int, rows: int
) -> dict[str, list[tuple[str, Ints, Mapping[str, Any]]]]:
    """For each table its batches: (stream, positions, what a growth entry sets)."""
    if rows < base:
        raise PopulateError(f"{rows} rows were asked for; the base alone has {base}")
    if base < planted:
        raise PopulateError(f"the base has {base} rows; {planted} are planted or belong to the acting user")
    planned: dict[str, list[tuple[str, Ints, Mapping[str, Any]]]] = {name: [] for name in tables}
    shares = _base_counts(tables, base - planted)
    for name, count in shares.items():
        planned[name].append(("base", np.full(count, -1, dtype=np.int64), {}))
    entries = list(growth)
    total = sum(entry["share"] for entry in entries)
    if total > 1.0001:
        raise PopulateError(f"the shares of growth add up to {total}; at most 1 is possible")
    alive = _growing(tables, shares)
    weight = sum(tables[name].spec["weight"] for name in alive)
    kinds = [
        (_table_of(tables, entry["entity"]), f"growth/{number}", entry["share"], entry.get("set", {}))
        for number, entry in enumerate(entries)
    ]
    kinds += [(name, "background", (1 - total) * tables[name].spec["weight"] / weight, {}) for name in alive]
    order = {name: number for number, name in enumerate(tables)}
    if rows > base and not kinds:
        raise PopulateError("nothing can grow: the base has no background rows, and no growth is declared")
    if rows > base:
        for (name, stream, _, given), positions in zip(
            kinds, turns([k[2] for k in kinds], [order[k[0]] for k in kinds], rows - base), strict=True
        ):
            planned[name].append((stream, positions, given))
    return planned


def _base_counts(tables: Mapping[str, Table], count: int) -> dict[str, int]:
    """The base's background by weight; what cannot stand for want of a parent goes to the first table."""
    weights = {name: table.spec["weight"] for name, table in tables.items()}
    total = sum(weights.values())
    exact = {name: count * weight / total for name, weight in weights.items()}
    counts = {name: int(share) for name, share in exact.items()}
    for name in sorted(exact, key=lambda n: counts[n] - exact[n])[: count - sum(counts.values())]:
        counts[name] += 1
    roots = [
        name
        for name, table in tables.items()
        if weights[name] and not any(link["owns"] for link in table.spec["links"])
    ]
    for name, table in tables.items():
        wanted = [link["table"] for link in table.spec["links"] if link["owns"]]
        room = min((counts[parent] for parent in wanted), default=counts[name])
        limit = counts[name]
        if wanted and (room == 0 or (_one_each(table) and counts[name] > room)):
            limit = room if _one_each(table) else 0
        counts[roots[0]] += counts[name] - limit
        counts[name] = limit
    return counts


def _one_each(table: Table) -> bool:
    """Is there at most one row for each row of a parent (its key is the parent's)?"""
    return any(set(table.spec["key"]) == set(link["columns"]) for link in table.spec["links"])


def _growing(tables: Mapping[str, Table], base: Mapping[str, int]) -> list[str]:
    """Tables in which background may grow: those whose parents the base has."""
    return [
        name
        for name, table in tables.items()
        if table.spec["weight"]
        and all(base[link["table"]] for link in table.spec["links"] if link["owns"])
        and not (_one_each(table) and not base[name])
    ]


def _table_of(tables: Mapping[str, Table], entity: str) -> str:
    names = {table.spec["entity"]: name for name, table in tables.items()}
    if entity not in names:
        raise PopulateError(f"there is no entity {entity!r}; there are {', '.join(sorted(names))}")
    return names[entity]
