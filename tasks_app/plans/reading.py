"""How the rows of an entity are got through read tools: which tool, with which arguments, from which document path.

`route(model, entity, known)` is the one place that decides it, for the reference compiler and for the check that a Plan
is visible: the list that needs the fewest keys which are not yet known, else a read by key. Rows that no tool shows
have no route (PlanError).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tasks_app.domains.model import Attr, DomainModel, Entity, Op, Param
from tasks_app.plans.algebra import PlanError
from tasks_app.plans.effects import links

READ_ONE, LISTS = "read_one", ("list",)


@dataclass(frozen=True, slots=True)
class Route:
    """`op` reads `owner`: the entity itself, or the one it is a part of; `ask` are path parameters."""

    op: Op
    entity: Entity
    owner: Entity
    ask: tuple[tuple[str, str], ...]  # parameter → column of the owner
    anywhere: tuple[str, ...]  # parameters that take "-" for all, where their column is not known

    @property
    def lists(self) -> bool:
        return self.op.effect.kind in LISTS


def paths(op: Op) -> tuple[Param, ...]:
    return tuple(p for p in op.params if p.where == "path")


def readers(model: DomainModel, entity: Entity) -> list[Op]:
    """Tools that show the entity's own documents, lists first."""
    found = [
        op for op in model.ops if op.entity == entity.name and op.effect.kind in (*LISTS, READ_ONE) and not op.writes
    ]
    return sorted(found, key=lambda op: (op.effect.kind == READ_ONE, len(paths(op)), op.tool))


def in_documents(attr: Attr) -> bool:
    """Whether a document shows the attribute (what stands only in the URL is known from the arguments)."""
    return attr.path != "" and attr.kind != "json"


def route(model: DomainModel, entity: Entity, known: Collection[str]) -> Route:
    """The best way to the rows of `entity` when the columns `known` are bound. Raises PlanError where there is none."""
    owner = model.entity(entity.part_of) if entity.kind == "part" else entity
    known_of_owner = set(known)
    if owner is not entity:
        known_of_owner = {above for mine, above in links(entity, owner, model) if mine in known}
    best: tuple[tuple[int, ...], Route] | None = None
    for op in readers(model, owner):
        ask = tuple((p.name, p.column) for p in paths(op))
        missing = [(name, column) for name, column in ask if column not in known_of_owner]
        anywhere = tuple(name for name, _ in missing if name == op.wildcard)
        rank = (len(missing) - len(anywhere), int(op.effect.kind == READ_ONE), len(anywhere), -len(ask))
        if best is None or rank < best[0]:
            best = rank, Route(op, entity, owner, ask, anywhere)
    if best is None:
        raise PlanError(
            f"no tool of {model.name} reads {entity.name}: {sorted(o.tool for o in model.ops if not o.writes)}"
        )
    return best[1]


def keeper(model: DomainModel, entity: Entity, column: str) -> tuple[Entity, str]:
    """The entity, and its column, whose rows give the values of a key column that is not known: parent or twin."""
    for parent in entity.parents:
        if parent.column == column:
            above = model.entity(parent.entity)
            if any(op.effect.kind in LISTS for op in readers(model, above)):
                return above, above.own_key
            return twin(model, above)
    if column == entity.own_key:
        return twin(model, entity)
    raise PlanError(f"{entity.name}.{column} is not known, and no list gives its values")


def twin(model: DomainModel, entity: Entity) -> tuple[Entity, str]:
    """The listable entity whose own key is this entity's key: calendar list entries for calendars."""
    for other in model.entities:
        if other is entity or not other.own_key:
            continue
        reference = other.attr(other.own_key).references
        if (
            reference
            and reference.entity == entity.name
            and any(op.effect.kind in LISTS for op in readers(model, other))
        ):
            return other, other.own_key
    raise PlanError(f"{entity.name} can be neither listed nor found through a twin")
