"""Rows of a State as Python values, and what differs between two of them; what proofs of growth compare.

System columns (role "system": time stamps, links and etags that tools set) are left out of changes, as verifiers do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks_app.domains.model import DomainModel, Entity
from tasks_app.environments.state import State

Row = Mapping[str, Any]
Key = tuple[Any, ...]
Tables = Mapping[str, Mapping[Key, Row]]


@dataclass(frozen=True, slots=True)
class Change:
    """One row that differs; `before` is None for an insert, `after` None for a delete."""

    entity: str
    key: Key
    before: Row | None
    after: Row | None


def stored(model: DomainModel) -> tuple[Entity, ...]:
    """The entities that have a table of their own."""
    return tuple(entity for entity in model.entities if entity.kind != "value")


def read_tables(model: DomainModel, state: State) -> dict[str, dict[Key, Row]]:
    """Entity name → key → row, over all entity tables of the state."""
    connection = state.connect()
    connection.row_factory = sqlite3.Row
    try:
        present = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        tables: dict[str, dict[Key, Row]] = {}
        for entity in stored(model):
            if entity.table in present:
                rows = [dict(row) for row in connection.execute(f'SELECT * FROM "{entity.table}"')]
                tables[entity.name] = {tuple(row[column] for column in entity.key): row for row in rows}
        return tables
    finally:
        connection.close()


def system_columns(entity: Entity) -> frozenset[str]:
    return frozenset(attr.column for attr in entity.attrs if attr.role == "system")


def derived_columns(entity: Entity) -> frozenset[str]:
    return frozenset(attr.column for attr in entity.attrs if attr.derived)


def without(row: Row, columns: frozenset[str]) -> Row:
    return {name: value for name, value in row.items() if name not in columns}


def changes(model: DomainModel, before: Tables, after: Tables) -> list[Change]:
    """Rows that differ in anything but system and derived columns, in a stable order."""
    found = []
    for entity in stored(model):
        ignored = system_columns(entity) | derived_columns(entity)
        old, new = before.get(entity.name, {}), after.get(entity.name, {})
        for key in sorted(old.keys() | new.keys(), key=repr):
            was, now = old.get(key), new.get(key)
            if was is None or now is None or without(was, ignored) != without(now, ignored):
                found.append(Change(entity.name, key, was, now))
    return found


def count_rows(model: DomainModel, tables: Tables) -> int:
    """Rows of all entity tables together: the first of the two units of size."""
    return sum(len(rows) for rows in tables.values())


def _id_columns(entity: Entity) -> tuple[str, ...]:
    return tuple(a.column for a in entity.attrs if a.role in ("key", "foreign_key") or a.column == entity.own_key)


def ids(model: DomainModel, tables: Tables) -> frozenset[str]:
    """Every value of a key or foreign key, as text."""
    found: set[str] = set()
    for entity in stored(model):
        for row in tables.get(entity.name, {}).values():
            found.update(str(row[column]) for column in _id_columns(entity) if row.get(column) not in (None, ""))
    return frozenset(found)
