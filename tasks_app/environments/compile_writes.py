"""Ops that write → functions of tools.py: insert, update, delete, transition, membership, move and their like.

A deletion takes with it the rows that cannot stand without it (children first) and clears references that may be null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tasks_app.domains.model import DomainModel, Entity, Op
from tasks_app.environments.compile_calendar import recurring_names, series_parts
from tasks_app.environments.compile_cascade import cascade, pointing_at
from tasks_app.environments.compile_documents import constant, literal, noun, parts_of, writable
from tasks_app.environments.compile_reads import key_where, parent_checks, path_params, value_of
from tasks_app.environments.compile_schema import foreign_keys, twins

_SERVER = {
    "$now": 'session["now"]',
    "$user_id": 'session["user_id"]',
    "$user_email": 'session["email"]',
    "$user_name": 'session["name"]',
    "$zone": 'session["time_zone"]',
    "$true": "1",
    "$false": "0",
}


def server_values(op: Op, entity: Entity) -> dict[str, str]:
    """Columns that the service fills, as Python expressions: as `detail["set"]` says, else by name."""
    given = {c: _expression(v) for c, v in op.effect.detail.get("set", {}).items()}
    if "set" in op.effect.detail:
        return given
    return _guessed(entity, new=op.effect.kind in ("insert", "import", "quick_add", "copy", "upsert"))


def _expression(value: Any) -> str:
    return _SERVER.get(value, literal(value)) if isinstance(value, str) else literal(value)


def _guessed(entity: Entity, *, new: bool) -> dict[str, str]:
    values: dict[str, str] = {}
    for attr in entity.attrs:
        name = attr.column
        if (attr.kind == "timestamp" and name.startswith("update")) or (
            new and attr.kind == "timestamp" and name.startswith(("creat", "creation"))
        ):
            values[name] = _SERVER["$now"]
        elif new and name in ("creator_user_id",):
            values[name] = _SERVER["$user_id"]
        elif new and name in ("creator_email", "organizer_email"):
            values[name] = _SERVER["$user_email"]
    return values


def id_style(entity: Entity, model: DomainModel) -> str:
    """How the service's own ids look: base32hex in Calendar, an address for a calendar, digits elsewhere."""
    if model.name != "calendar":
        return "numeric"
    return "calendar" if entity.name == "Calendar" else "base32hex"


def set_references(entity: Entity, model: DomainModel, row: str, only: set[str] | None = None) -> Iterator[str]:
    """Checks that what the row points at exists."""
    for key in foreign_keys(entity, model):
        if only is not None and key.columns[-1] not in only:
            continue
        pairs = ", ".join(
            f"{literal(t)}: {row}.get({literal(c)})" for c, t in zip(key.columns, key.target_columns, strict=True)
        )
        yield f'_require(db, "{key.target.table}", {{{pairs}}}, "{noun(key.target)}")'


def answer(op: Op, entity: Entity, row: str = "row") -> str:
    """What a write returns: the document as it is now, or nothing, as the method says."""
    properties = op.returns.get("properties")
    if properties:
        return f"return _{entity.table}_document(db, {row})"
    return "return {}"


def replace_parts(op: Op, entity: Entity, model: DomainModel, source: str, given: str) -> Iterator[str]:
    names = {p.name for p in op.params if p.where == "body"}
    for part in parts_of(entity, model):
        if part.part_path.split(".")[0] in names:
            yield f"given = _at({source}, {literal(part.part_path)})"
            yield f"if {given.format(path=literal(part.part_path))}:"
            yield f"    _replace_{part.table}(db, row, None if given is MISSING else given)"


def insert(op: Op, model: DomainModel) -> Iterator[str]:
    entity = model.entity(op.entity)
    yield from parent_checks(op, entity, model)
    yield f"row = _with_defaults({constant(entity)}_DEFAULTS, _columns({constant(entity)}_FIELDS, args))"
    yield from finish_insert(op, entity, model)


def finish_insert(op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    """From the row as the caller gave it to the answer: ids, server's values, checks, the row, its parts."""
    yield "session = _session(db)"
    yield from _keys(op, entity, model)
    for column, value in server_values(op, entity).items():
        if column in {a.column for a in writable(entity, model)}:
            yield f"row[{literal(column)}] = row.get({literal(column)}) or {value}"
        else:
            yield f"row[{literal(column)}] = {value}"
    name = constant(entity)
    yield from resolved(op, entity, model, "row")
    yield from _copied(entity, model)
    if {"scope_type", "scope_value"} <= {a.column for a in entity.attrs}:
        yield 'row["id"] = ":".join(row[name] for name in ("scope_type", "scope_value") if row.get(name))'
    yield f'_need("{noun(entity)}", {name}_REQUIRED, row)'
    yield from recurring_checks(entity, model)
    yield from set_references(entity, model, "row")
    yield from _unique(op, entity)
    key = ", ".join(f"{literal(c)}: row[{literal(c)}]" for c in entity.key)
    yield f'if _select(db, "{entity.table}", {literal(entity.key[:1])}, {{{key}}}):'
    yield f'    raise ToolError("ALREADY_EXISTS", "there is such a {noun(entity)} already")'
    yield f'_insert(db, "{entity.table}", row)'
    yield from replace_parts(op, entity, model, "args", "given is not MISSING and given is not None")
    yield f'row = _find(db, "{entity.table}", {name}, {{{key}}}, "{noun(entity)}")'
    yield from _also(op, model)
    yield answer(op, entity)


def resolved(op: Op, entity: Entity, model: DomainModel, row: str) -> Iterator[str]:
    """A user named in the body as "me" or by e-mail is kept by id."""
    for param in op.params:
        if param.where == "body" and param.column and value_of(param, entity, model) != f"args[{literal(param.name)}]":
            yield f"if {literal(param.name)} in args:"
            yield f"    {row}[{literal(param.column)}] = {value_of(param, entity, model)}"


def _copied(entity: Entity, model: DomainModel) -> Iterator[str]:
    """Columns that show what another row says (a calendar's name in the list of calendars)."""
    for _, attr, source, column, key in (found for found in twins(model) if found[0] is entity):
        where = f"{{{literal(source.own_key)}: row.get({literal(key)})}}"
        yield f'twin = _select(db, "{source.table}", ({literal(column)},), {where})'
        otherwise = 0 if attr.kind == "boolean" else None
        yield f"row[{literal(attr.column)}] = twin[{literal(column)}] if twin else {otherwise}"


def _unique(op: Op, entity: Entity) -> Iterator[str]:
    columns = [
        c for c in op.effect.detail.get("unique", ()) if c != entity.own_key or entity.key_assigned_by == "caller"
    ]
    if columns and columns != list(entity.key):
        pairs = ", ".join(f"{literal(c)}: row.get({literal(c)})" for c in columns)
        yield f'if _select(db, "{entity.table}", {literal(tuple(columns[:1]))}, {{{pairs}}}):'
        said = f"there is such a {noun(entity)} already: {', '.join(columns)} must be new"
        yield f'    raise ToolError("ALREADY_EXISTS", "{said}")'


def recurring_checks(entity: Entity, model: DomainModel, written: str = "row") -> Iterator[str]:
    """An event's recurrence and span; an empty recurrence is none at all."""
    names = recurring_names(entity)
    if names:
        rule = literal(names["rule"])
        yield f'if row.get({rule}) == "[]":'
        yield f"    row[{rule}] = None"
        if written != "row":
            yield f"    {written}[{rule}] = None"
        yield f"_check_recurrence(_json(row.get({literal(names['rule'])})))"
        yield f"_check_span({{**dict.fromkeys({constant(entity)}), **row}}, {constant(entity)}_NAMES)"


def _keys(op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    paths = {p.column: p for p in path_params(op)}
    others = {p.column: p for p in op.params if p.column and p.where != "path"}
    for column in (*entity.key, *(c for c in paths if c not in entity.key)):
        source = paths.get(column) or (others.get(column) if column not in _written(entity, model) else None)
        if source is not None and (source.where == "path" or source.required):
            yield f"row[{literal(column)}] = {value_of(source, entity, model)}"
        elif column == entity.own_key and entity.key_assigned_by == "server":
            style = id_style(entity, model)
            yield (f'row[{literal(column)}] = row.get({literal(column)}) or _new_id(db, "{entity.table}", "{style}")')
        elif others.get(column):
            yield (
                f"row[{literal(column)}] = {value_of(others[column], entity, model)}"
                if others[column].required
                else (f"row[{literal(column)}] = row.get({literal(column)})")
            )
        else:
            yield f'_need("{noun(entity)}", ({literal(column)},), row)'


def _written(entity: Entity, model: DomainModel) -> set[str]:
    return {a.column for a in writable(entity, model)}


def _also(op: Op, model: DomainModel) -> Iterator[str]:
    """Rows of other tables that come with a new one (a course's owner is its teacher)."""
    for other in op.effect.detail.get("also", ()):
        target = model.entity(other["entity"])
        pairs = []
        for column, value in other["set"].items():
            if not isinstance(value, Mapping):
                pairs.append(f"{literal(column)}: {_expression(value)}")
            elif "column" in value:
                pairs.append(f"{literal(column)}: row[{literal(value['column'])}]")
            else:
                pairs.append(f"{literal(column)}: {literal(value['literal'])}")
        yield f'_insert(db, "{target.table}", {{{", ".join(pairs)}}})'


def update(op: Op, model: DomainModel) -> Iterator[str]:
    entity = model.entity(op.entity)
    name = constant(entity)
    detail = op.effect.detail
    for param in detail.get("must_be_true", ()):
        yield f"if not args.get({literal(param)}):"
        yield f'    raise ToolError("PERMISSION_DENIED", "{param} must be true")'
    yield from find_row(op, entity, model)
    if detail.get("from_params"):
        pairs = ", ".join(f"{literal(c)}: args[{literal(p)}]" for p, c in detail["from_params"].items())
        yield f"values, document, paths = {{{pairs}}}, {{}}, []"
    else:
        yield from document_to_write(op, entity, model)
        yield f"values = _changes({name}_FIELDS, {name}_DEFAULTS, document, paths)"
    yield from _write_values(op, entity, model)


def document_to_write(op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    """`paths` that are written and the `document` that holds their new values."""
    body = [p.name for p in op.params if p.where == "body"]
    known = {a.path.split(".")[0].split("+")[0] for a in entity.attrs} | {
        p.part_path.split(".")[0] for p in parts_of(entity, model)
    }
    known |= {a.path.split("+")[1] for a in entity.attrs if "+" in a.path}
    allowed = [f for f in op.effect.detail.get("mask_fields") or body if f in known]
    current = f"_{entity.table}_document(db, row)"
    if op.mask_param and op.effect.detail.get("mask_required", True):
        yield f"paths = _mask(args, {literal(op.mask_param)}, {literal(allowed)})"
        yield f"document = _replaced({current}, args, paths)"
    elif op.mask_param:
        yield f"paths = [name for name in {literal(body)} if name in args]"
        yield f"if {literal(op.mask_param)} in args:"
        yield f"    paths = _mask(args, {literal(op.mask_param)}, {literal(allowed)})"
        yield f"document = _replaced({current}, args, paths)"
    elif op.effect.detail.get("mode", "patch") == "put":
        yield f"paths, document = {literal(body)}, args"
    else:
        yield f"paths = [name for name in {literal(body)} if name in args]"
        yield f"document = _merged({current}, _only(args, paths), {literal(_either(entity))})"


def _either(entity: Entity) -> tuple[str, ...]:
    """Names of which a document holds one: giving one by a patch takes the other away."""
    return tuple(a.path for a in entity.attrs if "|" in a.path)


def find_row(op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    """The row that the path names; an instance of a series is made a row of its own first."""
    name = constant(entity)
    yield from parent_checks(op, entity, model)
    yield f"where = {key_where(op, entity, model)}"
    yield from _key_by_query(op, entity)
    if recurring_names(entity):
        parts = series_parts(entity, model)
        yield f'row = _own_row(db, "{entity.table}", {name}, where, {name}_NAMES, "{noun(entity)}", {parts})'
    else:
        yield f'row = _find(db, "{entity.table}", {name}, where, "{noun(entity)}")'


def _key_by_query(op: Op, entity: Entity) -> Iterator[str]:
    param = next((p for p in op.params if p.name == op.effect.detail.get("key_param") and p.column in entity.key), None)
    if param is not None:
        yield f"if {literal(param.name)} in args:"
        yield f"    where[{literal(param.column)}] = args[{literal(param.name)}]"


def _only_from(op: Op, entity: Entity) -> Iterator[str]:
    only = op.effect.detail.get("only")
    if only:
        column = literal(only["column"])
        yield f"if row[{column}] != {literal(only['from'])} or values.get({column}) != {literal(only['to'])}:"
        said = f"a {noun(entity)} can only go from {only['from']} to {only['to']}"
        yield f'    raise ToolError("FAILED_PRECONDITION", "{said}")'


def _write_values(op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    name = constant(entity)
    keys = [c for c in entity.key if c in _written(entity, model)]
    if keys:
        yield f"values = {{column: value for column, value in values.items() if column not in {literal(tuple(keys))}}}"
    immutable = tuple(a.column for a in writable(entity, model) if a.immutable and a.column not in keys)
    if immutable:
        yield f"values = {{column: value for column, value in values.items() if column not in {literal(immutable)}}}"
    yield from resolved(op, entity, model, "values")
    yield from _only_from(op, entity)
    yield "session = _session(db)"
    for column, value in server_values(op, entity).items():
        yield f"values[{literal(column)}] = {value}"
    yield "row = {**row, **values}"
    yield f'_need("{noun(entity)}", {name}_REQUIRED, row)'
    yield from recurring_checks(entity, model, "values")
    pointing = {k.columns[-1] for k in foreign_keys(entity, model)} & _written(entity, model) - set(entity.key)
    yield from set_references(entity, model, "row", pointing)
    yield f'_update(db, "{entity.table}", where, values)'
    yield from replace_parts(op, entity, model, "document", "_touched({{{path}: ()}}, paths)")
    yield answer(op, entity)


def upsert(op: Op, model: DomainModel) -> Iterator[str]:
    """A singleton of its parent: written when it is there, made when it is not."""
    entity = model.entity(op.entity)
    name = constant(entity)
    yield from parent_checks(op, entity, model)
    yield f"where = {key_where(op, entity, model)}"
    yield f'if _select(db, "{entity.table}", {name}, where) is None:'
    yield f'    _insert(db, "{entity.table}", {{**{name}_DEFAULTS, **where}})'
    yield f'row = _find(db, "{entity.table}", {name}, where, "{noun(entity)}")'
    yield from document_to_write(op, entity, model)
    yield f"values = _changes({name}_FIELDS, {name}_DEFAULTS, document, paths)"
    yield from _write_values(op, entity, model)


def delete(op: Op, model: DomainModel) -> Iterator[str]:
    entity = model.entity(op.entity)
    detail = op.effect.detail
    if "of" in detail:
        yield from _clear(op, model)
        return
    yield from find_row(op, entity, model)
    if detail.get("mode") == "mark":
        yield from _mark(op, entity)
        return
    if detail.get("mode") == "restrict":
        yield from _restrict(entity, model)
    else:
        yield from cascade(entity, model, {c: f"row[{literal(c)}]" for c in entity.key})
    yield f'_delete(db, "{entity.table}", where)'
    yield "return {}"


def _mark(op: Op, entity: Entity) -> Iterator[str]:
    yield "session = _session(db)"
    given: Mapping[str, Any] = op.effect.detail["set"]
    column, value = next((c, v) for c, v in given.items() if not str(v).startswith("$"))
    if op.effect.detail.get("refused_if_marked", True):
        yield f"if row[{literal(column)}] == {literal(value)}:"
        yield f'    raise ToolError("FAILED_PRECONDITION", "this {noun(entity)} is {value} already")'
    pairs = ", ".join(f"{literal(c)}: {v}" for c, v in server_values(op, entity).items())
    yield f'_update(db, "{entity.table}", where, {{{pairs}}})'
    yield "return {}"


def _clear(op: Op, model: DomainModel) -> Iterator[str]:
    """Everything of one kind under the row that the path names."""
    owner, entity = model.entity(op.entity), model.entity(op.effect.detail["of"])
    yield from find_row(op, owner, model)
    if op.effect.detail.get("primary"):
        yield f'if row[{literal(owner.own_key)}] != _session(db)["email"]:'
        yield f'    raise ToolError("INVALID_ARGUMENT", "only the primary {noun(owner)} can be cleared")'
    where = {theirs: f"row[{literal(ours)}]" for theirs, ours in op.effect.detail["scope"].items()}
    yield from cascade(entity, model, where)
    pairs = ", ".join(f"{literal(c)}: {v}" for c, v in where.items())
    yield f'_delete(db, "{entity.table}", {{{pairs}}})'
    yield "return {}"


def _restrict(entity: Entity, model: DomainModel) -> Iterator[str]:
    for key in pointing_at(entity, model):
        pairs = ", ".join(
            f"{literal(c)}: row[{literal(t)}]" for c, t in zip(key.columns, key.target_columns, strict=True)
        )
        yield f'if _select(db, "{key.entity.table}", {literal(key.columns[:1])}, {{{pairs}}}):'
        yield f'    raise ToolError("FAILED_PRECONDITION", "the {noun(entity)} still has a {noun(key.entity)}")'
