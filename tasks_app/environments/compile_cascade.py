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
    condition = " AND ".join(f'"{column}" = ?' for column in where)
    values = "(" + ", ".join(where.values()) + ",)"
    yield from _level(entity, model, condition, values, (entity.name,))


def _level(entity: Entity, model: DomainModel, condition: str, values: str, seen: tuple[str, ...]) -> Iterator[str]:
    for key in pointing_at(entity, model):
        if key.entity.name in seen:
            continue
        mine = ", ".join(f'"{column}"' for column in key.columns)
        theirs = ", ".join(f'"{column}"' for column in key.target_columns)
        left = f"({mine})" if len(key.columns) > 1 else mine
        inner = f'{left} IN (SELECT {theirs} FROM "{entity.table}" WHERE {condition})'
        if key.owns:
            yield from _level(key.entity, model, inner, values, (*seen, key.entity.name))
            statement = f'DELETE FROM "{key.entity.table}" WHERE {inner}'
        else:
            statement = f'UPDATE "{key.entity.table}" SET "{key.columns[-1]}" = NULL WHERE {inner}'
        yield f"db.execute({statement!r}, {values})"
