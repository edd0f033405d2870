"""What an effect of a Plan does to tables, read from the model: which rows by which key, which columns, what follows.

Both compilers need the same facts of the model (which column a path parameter names, where a transition leads); how
they use them is their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tasks_app.domains.model import Attr, DomainModel, Entity, Op
from tasks_app.plans.algebra import Effect, Expr, Json, Plan, PlanError

NOTHING_ELSE = "nothing else changed"
DONE = {"create": "created", "update": "updated", "transition": "moved on", "delete": "deleted", "move": "moved"}


@dataclass(frozen=True, slots=True)
class Change:
    """kind: create · update · delete · rekey. `key` and `set` map columns of `entity` to expressions over the rel."""

    kind: str
    entity: Entity
    key: Mapping[str, Expr]
    set: Mapping[str, Expr]
    defaults: Mapping[str, Json]  # of a create: what other writable columns must hold
    follows: bool  # rows below are deleted, or re-keyed, along with it


@dataclass(frozen=True, slots=True)
class Names:
    effects: tuple[str, ...]
    files: tuple[str, ...]
    answers: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.effects, *self.files, *self.answers, NOTHING_ELSE)


def criterion_names(plan: Plan, model: DomainModel) -> Names:
    """One name a criterion, each once: "announcements created", "report missing.csv", "answer moved"."""
    taken: set[str] = set()

    def once(name: str) -> str:
        n, tried = 1, name
        while tried in taken:
            n += 1
            tried = f"{name} ({n})"
        taken.add(tried)
        return tried

    effects = []
    for effect in plan.effects:
        entity = model.entity(effect.entity)
        what = DONE[effect.kind]
        if effect.kind == "transition":
            what = str(target(effect, model) or what).lower().replace("_", " ")
        effects.append(once(effect.name or f"{entity.plural or entity.name + 's'} {what}"))
    return Names(
        tuple(effects),
        tuple(once(f"report {f.path}") for f in plan.files),
        tuple(once(f"answer {a.name}") for a in plan.answers),
    )


def target(effect: Effect, model: DomainModel) -> str | None:
    """The state that a transition's tool leads to, or None where the model does not say."""
    detail = model.op(effect.tool).effect.detail
    if "to" in detail:
        return str(detail["to"])
    for state in model.entity(effect.entity).states:
        if state.tool == effect.tool:
            return state.target
    return None


def _status(effect: Effect, model: DomainModel) -> dict[str, Expr]:
    detail = model.op(effect.tool).effect.detail
    to = target(effect, model)
    if to is None:
        return {}
    columns = [s.column for s in model.entity(effect.entity).states if s.tool == effect.tool]
    column = detail.get("column") or (columns[0] if columns else None)
    if column is None:
        raise PlanError(f"{effect.tool} leads to {to}, but the model names no column for it")
    return {str(column): ("lit", to)}


def key_columns(effect: Effect, model: DomainModel) -> dict[str, Expr]:
    """The columns of the entity that the effect's `key` pins down."""
    op, entity = model.op(effect.tool), model.entity(effect.entity)
    own = {a.column for a in entity.attrs}
    out: dict[str, Expr] = {}
    for name, expr in effect.key.items():
        column = next((p.column for p in op.params if p.name == name), None)
        if column is None and name in own:
            column = name  # the own key of a part
        elif column is None:
            raise PlanError(f"{effect.tool} has no parameter {name!r}; it has {[p.name for p in op.params]}")
        elif op.entity != effect.entity:
            above = model.entity(op.entity)
            column = {theirs: mine for mine, theirs in links(entity, above, model)}.get(column, column)
        out[column] = expr
    return out


def links(below: Entity, above: Entity, model: DomainModel) -> list[tuple[str, str]]:
    """Pairs (column of `below`, key column of `above`) by which a row hangs on its parent or owner; else []."""
    parents = {p.column for p in below.parents if p.entity == above.name}
    if not parents and below.part_of != above.name:
        return []
    pairs = []
    for column in above.key:
        found = _carrier(below, above, column, parents)
        if found is None:
            return []
        pairs.append((found, column))
    return pairs


def _carrier(below: Entity, above: Entity, column: str, parents: set[str]) -> str | None:
    """What `below` calls the key column of `above`: by reference, as parent, by what both refer to, by name."""
    for attr in below.attrs:
        if attr.references and (attr.references.entity, attr.references.column) == (above.name, column):
            return attr.column
    if column == above.own_key and parents:
        return min(parents)
    meant = above.attr(column).references
    for attr in below.attrs:
        same = (
            attr.references
            and meant
            and (attr.references.entity, attr.references.column) == (meant.entity, meant.column)
        )
        if same or (attr.column == column and column != above.own_key):
            return attr.column
    return column if below.part_of == above.name and any(a.column == column for a in below.attrs) else None


def descendants(entity: Entity, model: DomainModel) -> list[tuple[Entity, list[list[str]]]]:
    """Entities that hang below, nearest first, each with pairs [its column, key column of `entity`]."""
    out: dict[str, tuple[Entity, list[list[str]]]] = {}
    queue = [(entity, {c: c for c in entity.key})]
    while queue:
        above, names = queue.pop(0)
        for below in model.entities:
            pairs = links(below, above, model) if below is not entity and below.kind != "value" else []
            if not pairs or below.name in out:
                continue
            mapped = {mine: names[theirs] for mine, theirs in pairs if theirs in names}
            out[below.name] = (below, [[mine, root] for mine, root in mapped.items()])
            queue.append((below, mapped))
    return list(out.values())


def change(effect: Effect, model: DomainModel) -> Change:
    """The effect as a change of rows. Raises PlanError where tool and effect do not fit."""
    op, entity = model.op(effect.tool), model.entity(effect.entity)
    key = key_columns(effect, model)
    if effect.kind == "create":
        values = {**key, **effect.set}
        given = {*values, *effect.text, *effect.free, *entity.key}
        return Change("create", entity, {}, values, _defaults(entity, op, given), False)
    _whole_key(entity, key, effect)
    if effect.kind == "delete":
        if op.effect.detail.get("mode") == "mark":
            marks = {c: ("lit", v) for c, v in op.effect.detail.get("set", {}).items()}
            return Change("update", entity, key, _kept(entity, marks), {}, False)
        return Change("delete", entity, key, {}, {}, True)
    if effect.kind == "move":
        return Change("rekey", entity, key, dict(effect.set), {}, True)
    values = {**(_status(effect, model) if effect.kind == "transition" else {}), **effect.set}
    return Change("update", entity, key, values, {}, False)


def _kept(entity: Entity, marks: Mapping[str, Expr]) -> dict[str, Expr]:
    return {c: e for c, e in marks.items() if entity.attr(c).role != "system"}


def _whole_key(entity: Entity, key: Mapping[str, Expr], effect: Effect) -> None:
    missing = set(entity.key) - set(key)
    if missing:
        raise PlanError(f"{effect.kind} by {effect.tool} names no {sorted(missing)} of {entity.name}")


def _defaults(entity: Entity, op: Op, given: set[str]) -> dict[str, Json]:
    fixed = op.effect.detail.get("set", {})
    return {a.column: _default(a, fixed) for a in entity.attrs if a.column not in given and _compared(a, fixed)}


def _compared(attr: Attr, fixed: Mapping[str, Json]) -> bool:
    """Whether a column left alone has one value that can be foretold: not where the service sets it itself."""
    told = fixed.get(attr.column)
    if isinstance(told, str) and told.startswith("$"):
        return False
    return attr.column in fixed or not (attr.readonly or attr.role in ("system", "key") or attr.derived)


def _default(attr: Attr, fixed: Mapping[str, Json]) -> Json:
    value = fixed.get(attr.column, attr.default)
    return (value or 0) if attr.kind == "boolean" else value
