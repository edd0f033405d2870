"""Ops that read → functions of tools.py: one document, lists with their filters, pages and order, singletons.

Each function here takes an Op and gives the lines of its body; `args` are checked arguments, `db` the connection.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tasks_app.domains.model import DomainModel, Entity, Filter, Op, Param
from tasks_app.environments.compile_documents import constant, literal, noun
from tasks_app.environments.compile_schema import foreign_keys

# Documents that are the same for everybody and never written. Source: the service's own answer, abridged.
VALUES: dict[str, Any] = {
    "Colors": {
        "kind": "calendar#colors",
        "updated": "2012-02-14T00:00:00Z",
        "calendar": {
            "1": {"background": "#ac725e", "foreground": "#1d1d1d"},
            "2": {"background": "#d06b64", "foreground": "#1d1d1d"},
            "3": {"background": "#f83a22", "foreground": "#1d1d1d"},
            "7": {"background": "#42d692", "foreground": "#1d1d1d"},
            "9": {"background": "#7bd148", "foreground": "#1d1d1d"},
            "14": {"background": "#9fe1e7", "foreground": "#1d1d1d"},
        },
        "event": {
            "1": {"background": "#a4bdfc", "foreground": "#1d1d1d"},
            "2": {"background": "#7ae7bf", "foreground": "#1d1d1d"},
            "4": {"background": "#ff887c", "foreground": "#1d1d1d"},
            "5": {"background": "#fbd75b", "foreground": "#1d1d1d"},
            "8": {"background": "#e1e1e1", "foreground": "#1d1d1d"},
            "11": {"background": "#dc2127", "foreground": "#1d1d1d"},
        },
    },
}
_COMPARE = {"eq": "=", "ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


def value_of(param: Param, entity: Entity, model: DomainModel, column: str = "") -> str:
    """The argument as a column holds it: "me", "primary" and e-mails of users are resolved to keys."""
    value = f"args[{literal(param.name)}]"
    target = _referenced(column or param.column, entity)
    users = [e for e in model.entities if e.name == target and "email_address" in {a.column for a in e.attrs}]
    says = " ".join(p.description for op in model.ops for p in op.params if p.name == param.name)
    if users and '"me"' in says:
        return f'_user(db, {value}, "{users[0].table}", "{users[0].own_key}", "email_address")'
    aliases = next((e for e in model.entities if e.own_key == "alias" and e.parents[0].entity == target), None)
    if aliases is not None and "an alias" in says:
        return f'_known_as(db, {value}, "{aliases.table}", "alias", "{aliases.parents[0].column}")'
    if '"me"' in says or "primary" in says:
        return f"_mine(db, {value})"
    return value


def _referenced(column: str, entity: Entity) -> str:
    for attr in entity.attrs:
        if attr.column == column:
            return attr.references.entity if attr.references else entity.name
    return ""


def path_params(op: Op) -> tuple[Param, ...]:
    return tuple(p for p in op.params if p.where == "path" and p.column)


def key_where(op: Op, entity: Entity, model: DomainModel) -> str:
    """The dictionary of conditions that the path of the method gives."""
    pairs = [f"{literal(p.column)}: {value_of(p, entity, model)}" for p in path_params(op)]
    return "{" + ", ".join(pairs) + "}"


def parent_checks(op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    """NOT_FOUND when a parent named in the path does not exist; a wildcard asks for none.

    Where a column may hold the key of several entities, the path's own word decides; if it does not, any will do.
    """
    columns = {p.column: p for p in path_params(op)}
    for column in dict.fromkeys(p.column for p in entity.parents):
        if column not in columns or _is_own_key(column, entity, op):
            continue
        names = dict.fromkeys(p.entity for p in entity.parents if p.column == column)
        said = dict.fromkeys(
            p.entity for p in entity.parents if p.column == column and p.segment in op.method.split(".")
        )
        targets = [e for e in model.entities if e.name in (said or names) and e.kind != "value"]
        wheres = [_parent_where(target, column, columns, op, entity, model) for target in targets]
        pairs = [f'("{t.table}", {w})' for t, w in zip(targets, wheres, strict=True) if w]
        if len(pairs) == 1:
            yield f'_require(db, {pairs[0][1:-1]}, "{noun(targets[0])}")'
        elif pairs:
            yield f'_require_any(db, ({", ".join(pairs)}), "{" or ".join(noun(t) for t in targets)}")'


def _parent_where(
    target: Entity,
    column: str,
    columns: Mapping[str, Param],
    op: Op,
    entity: Entity,
    model: DomainModel,
) -> str:
    where: dict[str, str] = {}
    for key in target.key:
        source = column if key == target.own_key or len(target.key) == 1 else key
        if source in columns and columns[source].name != op.wildcard:
            where[key] = value_of(columns[source], entity, model)
    if set(where) != set(target.key):
        return ""
    return "{" + ", ".join(f"{literal(k)}: {v}" for k, v in where.items()) + "}"


def _is_own_key(column: str, entity: Entity, op: Op) -> bool:
    return column == entity.own_key and op.effect.kind not in ("list", "insert", "import", "quick_add", "copy")


def read_one(op: Op, model: DomainModel) -> Iterator[str]:
    entity = model.entity(op.entity)
    if entity.kind == "value":
        yield f"return json.loads({json.dumps(VALUES[entity.name])!r})"
        return
    yield f"where = {key_where(op, entity, model)}"
    if entity.kind == "singleton":
        yield from parent_checks(op, entity, model)
        yield f'row = _select(db, "{entity.table}", {constant(entity)}, where)'
        yield f"return {{}} if row is None else _{entity.table}_document(db, row)"
    else:
        yield f'row = _find(db, "{entity.table}", {constant(entity)}, where, "{noun(entity)}")'
        yield f"return _{entity.table}_document(db, row)"


def read_list(op: Op, model: DomainModel) -> Iterator[str]:
    entity = model.entity(op.entity)
    yield from list_conditions(op, entity, model)
    yield from order_lines(op, entity)
    if op.paging:
        p = op.paging
        paging = literal((p.size_param, p.token_param, p.default_size, p.max_size))
        yield f'rows, following = _page(db, "{entity.table}", {constant(entity)}, where, values, order, args, {paging})'
    else:
        yield f'rows = _rows(db, "{entity.table}", {constant(entity)}, where, values, order)'
    yield from list_answer(op, entity)


def list_answer(op: Op, entity: Entity) -> Iterator[str]:
    following = f", {literal(op.paging.next_token)}: following" if op.paging else ""
    items = op.items_key or "items"
    yield f"return _published({{{literal(items)}: [_{entity.table}_document(db, row) for row in rows]{following}}})"


def list_conditions(op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    yield from parent_checks(op, entity, model)
    yield "where, values = [], []"
    for param in path_params(op):
        condition = f"where.append('\"{param.column}\" = ?')"
        value = f"values.append({value_of(param, entity, model)})"
        if param.name == op.wildcard:
            yield f'if args[{literal(param.name)}] != "-":'
            yield f"    {condition}"
            yield f"    {value}"
        else:
            yield condition
            yield value
    for name, filters in _by_param(op).items():
        yield from _filter(name, filters, op, entity, model)


def _by_param(op: Op) -> dict[str, list[Filter]]:
    grouped: dict[str, list[Filter]] = {}
    for item in op.filters:
        grouped.setdefault(item.param, []).append(item)
    return grouped


def _filter(name: str, filters: list[Filter], op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    first = filters[0]
    param = next((p for p in op.params if p.name == name), None)
    if first.op == "flag_shows":
        for item in filters:
            yield f"if not args.get({literal(name)}):"
            yield f"    where.append({hidden_condition(item, entity)!r})"
        return
    if param is None:
        raise ValueError(f"{op.tool}: the filter {name} names no parameter")
    yield f"if {literal(name)} in args:"
    for item in filters:
        yield from (f"    {line}" for line in _condition(item, param, entity, model))
    for item in filters:
        if item.default is not None:
            yield "else:  # what the service shows when it is not asked for more"
            yield f"    _one_of({literal(item.column)}, {literal(as_list(item.default))}, where, values)"


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def hidden_condition(item: Filter, entity: Entity) -> str:
    """Rows that stay hidden until the flag asks for them."""
    if entity.attr(item.column).kind == "boolean":
        return f'"{item.column}" = {int(not item.hidden)}'
    hidden = ", ".join("'" + str(value).replace("'", "''") + "'" for value in as_list(item.hidden))
    return f"coalesce(\"{item.column}\", '') NOT IN ({hidden})"


def _condition(item: Filter, param: Param, entity: Entity, model: DomainModel) -> Iterator[str]:
    value = value_of(param, entity, model)
    column = literal(item.column)
    if item.op in ("search", "contains"):
        conditions = [_holds_word(c, entity, model) for c in item.columns or (item.column,)]
        yield f"_search({literal(conditions)}, {value}, where, values)"
    elif item.op == "property":
        yield f"_property({column}, {value}, {literal(param.name)}, where, values)"
    elif item.op == "in":
        yield f"_one_of({column}, {value}, where, values)"
    elif item.op == "rank":
        yield f"ranks = {literal(as_list(item.values))}"
        yield f"_one_of({column}, ranks[ranks.index({value}):] if {value} in ranks else ranks, where, values)"
    elif item.op == "flag_is":
        yield f"wanted = {literal({w: int(v) for w, v in item.values.items()})}.get({value})"
        yield "if wanted is not None:"
        yield f"    where.append('\"{item.column}\" = ?')"
        yield "    values.append(wanted)"
    elif item.via:
        value = value_of(param, model.entity(item.via), model, item.column)
        yield f"where.append({_through(item, entity, model)!r})"
        yield f"values.append({value})"
    else:
        yield from _comparison(item, param, entity, value)


def _comparison(item: Filter, param: Param, entity: Entity, value: str) -> Iterator[str]:
    if entity.attr(item.column).kind == "timestamp":
        value = f"_utc({value}, {literal(param.name)})"
    yield f"where.append('\"{item.column}\" {_COMPARE[item.op]} ?')"
    yield f"values.append({value})"


def _link(child: Entity, entity: Entity, model: DomainModel) -> str:
    """Condition that rows of `child` belong to the row of `entity` at hand."""
    for key in foreign_keys(child, model):
        if key.target.name == entity.name:
            return " AND ".join(
                f'"{child.table}"."{c}" = "{entity.table}"."{t}"'
                for c, t in zip(key.columns, key.target_columns, strict=True)
            )
    raise ValueError(f"{child.name} has no foreign key to {entity.name}")


def _through(item: Filter, entity: Entity, model: DomainModel) -> str:
    child = model.entity(item.via)
    return f'EXISTS (SELECT 1 FROM "{child.table}" WHERE {_link(child, entity, model)} AND "{item.column}" = ?)'


def _holds_word(column: str, entity: Entity, model: DomainModel) -> str:
    owner, _, name = column.rpartition(".")
    if not owner:
        return f'instr(lower("{name}"), ?) > 0'
    part = model.entity(owner)
    return (
        f'EXISTS (SELECT 1 FROM "{part.table}" WHERE {_link(part, entity, model)} '
        f'AND instr(lower("{part.table}"."{name}"), ?) > 0)'
    )


def default_order(op: Op, entity: Entity) -> str:
    terms = [f'"{column}" {direction}' for column, direction in op.effect.detail.get("order", ())]
    given = {column for column, _ in op.effect.detail.get("order", ())}
    own = [column for column in (entity.own_key, *entity.key) if column and column not in given]
    return ", ".join([*terms, *(f'"{column}"' for column in dict.fromkeys(own))])


def order_lines(op: Op, entity: Entity) -> Iterator[str]:
    order = default_order(op, entity)
    yield f"order = {order!r}"
    if not op.order_param:
        return
    allowed = order_names(op, entity)
    yield f"if args.get({literal(op.order_param)}):"
    yield (
        f"    order = _order(args[{literal(op.order_param)}], {literal(allowed)}, {literal(op.order_param)}) "
        f"+ {', ' + tie_break(entity)!r}"
    )


def tie_break(entity: Entity) -> str:
    return ", ".join(f'"{column}"' for column in dict.fromkeys(c for c in (entity.own_key, *entity.key) if c))


def order_names(op: Op, entity: Entity) -> dict[str, str]:
    """Published names one may order by → columns; from the detail, else every time of the entity."""
    orders: Mapping[str, Any] = op.effect.detail.get("orders", {})
    if orders:
        return {name: value if isinstance(value, str) else value[0][0] for name, value in orders.items()}
    return {re.split(r"[+|.]", a.path)[0]: a.column for a in entity.attrs if a.kind == "timestamp"}
