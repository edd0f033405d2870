"""DomainModel → schema.sql: keys, foreign keys, CHECKs on enums, flags that are never null, and the meta tables.

Tables are WITHOUT ROWID (keys are text, rows small), and pages of 1 KB, so that many small tables stay small.
Foreign keys are deferred: tools and populate may write parents and children in any order inside a transaction.
A reference that cannot be matched to the whole key of its target gets no constraint, only its column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks_app.domains.model import Attr, DomainModel, Entity

PAGE_SIZE = 1024
META = """CREATE TABLE "_session" (
  "user_id" TEXT NOT NULL, "email" TEXT NOT NULL, "name" TEXT NOT NULL, "time_zone" TEXT NOT NULL, "now" TEXT NOT NULL
);
CREATE TABLE "_sequence" ("name" TEXT NOT NULL PRIMARY KEY, "value" INTEGER NOT NULL) WITHOUT ROWID;
"""
_SQL_TYPES = {
    "text": "TEXT",
    "integer": "INTEGER",
    "real": "REAL",
    "boolean": "INTEGER",
    "timestamp": "TEXT",
    "date": "TEXT",
    "json": "TEXT",
}
_TWIN = re.compile(r"^(\w+)\.(\w+)$")


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of `entity` hold the key (or part of it) of `target`: `target_columns`, in the same order."""

    entity: Entity
    columns: tuple[str, ...]
    target: Entity
    target_columns: tuple[str, ...]

    @property
    def owns(self) -> bool:
        """Rows of `entity` cannot stand without their target: the column is part of the key, or must not be null."""
        own = self.columns[-1]
        return own in self.entity.key or self.entity.attr(own).required


def has_table(entity: Entity) -> bool:
    return entity.kind != "value"


def tables(model: DomainModel) -> tuple[Entity, ...]:
    return tuple(entity for entity in model.entities if has_table(entity))


def foreign_keys(entity: Entity, model: DomainModel) -> tuple[ForeignKey, ...]:
    """The references of `entity` that name the whole key of a table; the referring column comes last in each.

    None for a reference that accepts values outside, and for one that may point at any of several entities.
    """
    found: dict[tuple[str, frozenset[str]], ForeignKey] = {}
    known = {e.name: e for e in tables(model)}
    several = {p.column for p in entity.parents if sum(q.column == p.column for q in entity.parents) > 1}
    for attr in entity.attrs:
        target = known.get(attr.references.entity) if attr.references else None
        if attr.references is None or target is None or not attr.references.strict or attr.column in several:
            continue
        columns = _matching(entity, attr, target)
        if columns is not None and set(columns.values()) == set(target.key) and target is not entity:
            key = ForeignKey(entity, tuple(columns), target, tuple(columns.values()))
            same = (target.name, frozenset(key.columns))
            if same not in found or key.target_columns[-1] == target.own_key:  # said once for each of its columns
                found[same] = key
    return tuple(found.values())


def _matching(entity: Entity, attr: Attr, target: Entity) -> dict[str, str] | None:
    """Columns of `entity` → key columns of `target`; None where the rest of a composite key has no counterpart."""
    assert attr.references is not None
    pairs: dict[str, str] = {}
    for column in target.key:
        if column == attr.references.column:
            continue
        counterpart = _counterpart(entity, target, column)
        if counterpart is None:
            return None
        pairs[counterpart] = column
    return {**pairs, attr.column: attr.references.column}


def _counterpart(entity: Entity, target: Entity, column: str) -> str | None:
    """Our column that stands for `column` of `target`: it references it, or the same thing that it references."""
    theirs = target.attr(column).references
    for attr in entity.attrs:
        if attr.references is None:
            continue
        if (attr.references.entity, attr.references.column) == (target.name, column):
            return attr.column
        if theirs is not None and (attr.references.entity, attr.references.column) == (theirs.entity, theirs.column):
            return attr.column
    if theirs is None and any(attr.column == column for attr in entity.attrs):
        return column
    return None


def in_order(model: DomainModel) -> tuple[Entity, ...]:
    """Tables with parents before children; a cycle is cut at a reference that may be null, else at the later table."""
    left = list(tables(model))
    done: list[Entity] = []
    while left:
        names = {e.name for e in left}
        ready = [e for e in left if not _waits_for(e, model, names, strict=False)]
        ready = ready or [e for e in left if not _waits_for(e, model, names, strict=True)] or left[:1]
        done.extend(ready)
        left = [e for e in left if e not in ready]
    return tuple(done)


def _waits_for(entity: Entity, model: DomainModel, names: set[str], *, strict: bool) -> bool:
    keys = foreign_keys(entity, model)
    return any(k.target.name in names and (k.owns or not strict) for k in keys)


def compile_schema(model: DomainModel) -> str:
    parts = [f"-- {model.title or model.name}: generated from {model.source}\nPRAGMA page_size = {PAGE_SIZE};\n", META]
    parts.extend(_table(entity, model) for entity in in_order(model))
    parts.extend(_triggers(model))
    return "\n".join(parts)


def _table(entity: Entity, model: DomainModel) -> str:
    lines = [_column(entity, attr) for attr in entity.attrs]
    if entity.key:
        lines.append(f"PRIMARY KEY ({_names(entity.key)})")
    for key in foreign_keys(entity, model):
        lines.append(
            f'FOREIGN KEY ({_names(key.columns)}) REFERENCES "{key.target.table}" ({_names(key.target_columns)}) '
            "DEFERRABLE INITIALLY DEFERRED"
        )
    body = ",\n  ".join(lines)
    return f'CREATE TABLE "{entity.table}" (\n  {body}\n){" WITHOUT ROWID" if entity.key else ""};\n'


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _column(entity: Entity, attr: Attr) -> str:
    words = [f'"{attr.column}" {_SQL_TYPES[attr.kind]}']
    if attr.kind == "boolean":
        words.append(f'NOT NULL DEFAULT {int(bool(attr.default))} CHECK ("{attr.column}" IN (0, 1))')
    elif attr.column in entity.key or attr.required:
        words.append("NOT NULL")
    if attr.enum and attr.kind == "text":
        allowed = ", ".join("'" + value.replace("'", "''") + "'" for value in attr.enum)
        words.append(f'CHECK ("{attr.column}" IN ({allowed}))')
    return " ".join(words)


def twins(model: DomainModel) -> Iterator[tuple[Entity, Attr, Entity, str, str]]:
    """Columns that are copies of a column of another table: (entity, attr, source, column of it, key column here)."""
    known = {entity.name: entity for entity in tables(model)}
    for entity in tables(model):
        for attr in entity.attrs:
            match = _TWIN.match(attr.derived)
            source = known.get(match[1]) if match else None
            if match is None or source is None:
                continue
            for key in foreign_keys(entity, model):
                if key.target is source and len(key.columns) == 1:
                    yield entity, attr, source, match[2], key.columns[0]
                    break


def _triggers(model: DomainModel) -> Iterator[str]:
    for entity, attr, source, column, key in twins(model):
        yield (
            f'CREATE TRIGGER "{entity.table}_{attr.column}" AFTER UPDATE OF "{column}" ON "{source.table}" BEGIN\n'
            f'  UPDATE "{entity.table}" SET "{attr.column}" = NEW."{column}" WHERE "{key}" = NEW."{source.own_key}";\n'
            f"END;\n"
        )
