"""What goes with a row that goes: statements that remove or clear what points at it, children first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tasks_app.domains.model import DomainModel, Entity
from tasks_app.environments.compile_schema import ForeignKey, foreign_keys, tables


def pointing_at(entity: Entity, model: DomainModel) -> list[ForeignKey]:
    return [key for other in tables(model) for key in foreign_keys(other, model) if key.target.name == entity.name]


def cascade(entity: Entity, model: DomainModel, where: Mapping[str, str]) -> Iterator[str]:
    """Statements for the rows of `entity` whose columns have the values (Python expressions) of `where`.

    Rows that cannot stand without them are deleted, references that may be null are cleared.
    """
    statements: dict[str, None] = {}
    for key in pointing_at(entity, model):
        if set(key.target_columns) <= set(where):
            pairs = zip(key.columns, key.target_columns, strict=True)
            mine = {ours: where[theirs] for ours, theirs in pairs}
            statements.update(dict.fromkeys(_removed(key, model, _equal(mine), _tuple(mine), (entity.name,))))
        else:
            inner = _inside(key, _equal(where))
            statements.update(dict.fromkeys(_removed(key, model, inner, _tuple(where), (entity.name,))))
    yield from statements


def _equal(where: Mapping[str, str]) -> str:
    return " AND ".join(f'"{column}" = ?' for column in where)


def _tuple(where: Mapping[str, str]) -> str:
    return "(" + ", ".join(where.values()) + ("," if len(where) == 1 else "") + ")"


def _inside(key: ForeignKey, condition: str) -> str:
    """The rows that point at rows of the target that meet the condition."""
    mine = ", ".join(f'"{column}"' for column in key.columns)
    theirs = ", ".join(f'"{column}"' for column in key.target_columns)
    left = f"({mine})" if len(key.columns) > 1 else mine
    return f'{left} IN (SELECT {theirs} FROM "{key.target.table}" WHERE {condition})'


def _removed(key: ForeignKey, model: DomainModel, inner: str, values: str, seen: tuple[str, ...]) -> Iterator[str]:
    """Rows that point by `key` and meet `inner` are removed, and before them what points at them."""
    if key.entity.name in seen:
        return
    if key.owns:
        for other in pointing_at(key.entity, model):
            yield from _removed(other, model, _inside(other, inner), values, (*seen, key.entity.name))
        statement = f'DELETE FROM "{key.entity.table}" WHERE {inner}'
    else:
        statement = f'UPDATE "{key.entity.table}" SET "{key.columns[-1]}" = NULL WHERE {inner}'
    yield f"db.execute({statement!r}, {values})"
