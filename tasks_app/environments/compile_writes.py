"""Ops that write → functions of tools.py: insert, update, delete, transition, membership, move and their like.

A deletion takes with it the rows that cannot stand without it (children first) and clears references that may be null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tasks_app.domains.model import DomainModel, Entity, Op
from tasks_app.environments.compile_calendar import recurring_names, series_parts
from tasks_app.environments.compile_documents import constant, literal, noun, parts_of, writable
from tasks_app.environments.compile_reads import key_where, parent_checks, path_params, value_of
from tasks_app.environments.compile_schema import ForeignKey, foreign_keys, tables

_SERVER = {"$now": 'session["now"]', "$user_id": 'session["user_id"]', "$user_email": 'session["email"]',
           "$user_name": 'session["name"]', "$zone": 'session["time_zone"]'}


def server_values(op: Op, entity: Entity) -> dict[str, str]:
    """Columns that the service fills, as Python expressions: as `detail["set"]` says, else by name."""
    given = {c: _expression(v) for c, v in op.effect.detail.get("set", {}).items()}
    if op.effect.kind in ("insert", "import", "quick_add", "copy", "upsert"):
        return {**_guessed(entity, new=True), **given}
    return {**_guessed(entity, new=False), **given}


def _expression(value: Any) -> str:
    if isinstance(value, str) and value == "$id":
        return "_made_id"
    return _SERVER.get(value, literal(value)) if isinstance(value, str) else literal(value)


def _guessed(entity: Entity, *, new: bool) -> dict[str, str]:
    values: dict[str, str] = {}
    for attr in entity.attrs:
        name = attr.column
        if attr.kind == "timestamp" and name.startswith("update"):
            values[name] = _SERVER["$now"]
        elif new and attr.kind == "timestamp" and name.startswith(("creat", "creation")):
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
        pairs = ", ".join(f"{literal(t)}: {row}.get({literal(c)})"
                          for c, t in zip(key.columns, key.target_columns, strict=True))
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
    yield f'_need("{noun(entity)}", {name}_REQUIRED, row)'
    yield from recurring_checks(entity, model)
    yield from set_references(entity, model, "row")
    key = ", ".join(f"{literal(c)}: row[{literal(c)}]" for c in entity.key)
    yield f'if _select(db, "{entity.table}", {literal(entity.key[:1])}, {{{key}}}):'
    yield f'    raise ToolError("ALREADY_EXISTS", "there is such a {noun(entity)} already")'
    yield f'_insert(db, "{entity.table}", row)'
    yield from replace_parts(op, entity, model, "args", "given is not MISSING and given is not None")
    yield from _also(op, model)
    yield f'row = _find(db, "{entity.table}", {name}, {{{key}}}, "{noun(entity)}")'
    yield answer(op, entity)


def recurring_checks(entity: Entity, model: DomainModel) -> Iterator[str]:
    names = recurring_names(entity)
    if names:
        yield f'_check_recurrence(_json(row.get({literal(names["rule"])})))'
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
            yield (f'row[{literal(column)}] = row.get({literal(column)}) or '
                   f'_new_id(db, "{entity.table}", "{style}")')
        elif others.get(column):
            yield f"row[{literal(column)}] = {value_of(others[column], entity, model)}" if others[column].required else (
                f"row[{literal(column)}] = row.get({literal(column)})")
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
            from_row = isinstance(value, str) and value.startswith("$.")
            pairs.append(f"{literal(column)}: " + (f"row[{literal(value[2:])}]" if from_row else _expression(value)))
        yield f'_insert(db, "{target.table}", {{{", ".join(pairs)}}})'


def update(op: Op, model: DomainModel) -> Iterator[str]:
    entity = model.entity(op.entity)
    name = constant(entity)
    body = [p.name for p in op.params if p.where == "body"]
    allowed = list(op.effect.detail.get("fields", ())) or body
    yield from find_row(op, entity, model)
    mode = op.effect.detail.get("mode", "patch")
    if op.mask_param:
        yield f"paths = _mask(args, {literal(op.mask_param)}, {literal(allowed)})"
        yield f"document = _replaced(_{entity.table}_document(db, row), args, paths)"
    elif mode == "put":
        yield f"paths, document = {literal(body)}, args"
    else:
        yield f"paths = [name for name in {literal(body)} if name in args]"
        yield f"document = _merged(_{entity.table}_document(db, row), {{name: args[name] for name in paths}})"
    yield f"values = _changes({name}_FIELDS, {name}_DEFAULTS, document, paths)"
    yield from _write_values(op, entity, model)


def find_row(op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    """The row that the path names; an instance of a series is made a row of its own first."""
    name = constant(entity)
    yield f"where = {key_where(op, entity, model)}"
    if recurring_names(entity):
        parts = series_parts(entity, model)
        yield f'row = _own_row(db, "{entity.table}", {name}, where, {name}_NAMES, "{noun(entity)}", {parts})'
    else:
        yield f'row = _find(db, "{entity.table}", {name}, where, "{noun(entity)}")'


def _write_values(op: Op, entity: Entity, model: DomainModel) -> Iterator[str]:
    name = constant(entity)
    keys = [c for c in entity.key if c in _written(entity, model)]
    if keys:
        yield f"values = {{column: value for column, value in values.items() if column not in {literal(tuple(keys))}}}"
    yield "session = _session(db)"
    for column, value in server_values(op, entity).items():
        yield f"values[{literal(column)}] = {value}"
    yield "row = {**row, **values}"
    yield f'_need("{noun(entity)}", {name}_REQUIRED, row)'
    yield from recurring_checks(entity, model)
    pointing = {k.columns[-1] for k in foreign_keys(entity, model)} & _written(entity, model) - set(entity.key)
    yield from set_references(entity, model, "row", pointing)
    yield f'_update(db, "{entity.table}", where, values)'
    yield from replace_parts(op, entity, model, "document", "_touched({{{path}: ()}}, paths)")
    yield answer(op, entity)


def upsert(op: Op, model: DomainModel) -> Iterator[str]:
    """A singleton of its parent: written when it is there, made when it is not."""
    entity = model.entity(op.entity)
    name = constant(entity)
    body = [p.name for p in op.params if p.where == "body"]
    yield from parent_checks(op, entity, model)
    yield f"where = {key_where(op, entity, model)}"
    yield f'row = _select(db, "{entity.table}", {name}, where)'
    yield f"document = {{}} if row is None else _{entity.table}_document(db, row)"
    if op.mask_param:
        yield f"paths = _mask(args, {literal(op.mask_param)}, {literal(body)}) if {literal(op.mask_param)} in args else list(args)"
    else:
        yield f"paths = [name for name in {literal(body)} if name in args]"
    yield "document = _replaced(document, args, paths)"
    yield "if row is None:"
    yield f'    _insert(db, "{entity.table}", {{**{name}_DEFAULTS, **where}})'
    yield f'    row = _find(db, "{entity.table}", {name}, where, "{noun(entity)}")'
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
    column, value = next(iter(given.items()))
    yield f"if row[{literal(column)}] == {literal(value)}:"
    yield f'    raise ToolError("NOT_FOUND", "this {noun(entity)} is {value} already")'
    pairs = ", ".join(f"{literal(c)}: {v}" for c, v in server_values(op, entity).items())
    yield f'_update(db, "{entity.table}", where, {{{pairs}}})'
    yield "return {}"


def _clear(op: Op, model: DomainModel) -> Iterator[str]:
    """Everything of one kind under the row that the path names."""
    owner, entity = model.entity(op.entity), model.entity(op.effect.detail["of"])
    yield from find_row(op, owner, model)
    for key in foreign_keys(entity, model):
        if key.target.name == owner.name:
            where = {c: f"row[{literal(t)}]" for c, t in zip(key.columns, key.target_columns, strict=True)}
            yield from cascade(entity, model, where)
            pairs = ", ".join(f"{literal(c)}: {v}" for c, v in where.items())
            yield f'_delete(db, "{entity.table}", {{{pairs}}})'
    yield "return {}"


def _restrict(entity: Entity, model: DomainModel) -> Iterator[str]:
    for key in _pointing_at(entity, model):
        pairs = ", ".join(f"{literal(c)}: row[{literal(t)}]"
                          for c, t in zip(key.columns, key.target_columns, strict=True))
        yield f'if _select(db, "{key.entity.table}", {literal(key.columns[:1])}, {{{pairs}}}):'
        yield f'    raise ToolError("FAILED_PRECONDITION", "the {noun(entity)} still has a {noun(key.entity)}")'


def _pointing_at(entity: Entity, model: DomainModel) -> list[ForeignKey]:
    return [key for other in tables(model) for key in foreign_keys(other, model) if key.target.name == entity.name]


def cascade(entity: Entity, model: DomainModel, where: Mapping[str, str], seen: tuple[str, ...] = ()) -> Iterator[str]:
    """Statements that remove, children first, what hangs on the rows of `entity` where the columns have the values."""
    condition = " AND ".join(f'"{column}" = ?' for column in where)
    values = "(" + ", ".join(where.values()) + ",)"
    yield from _cascade_level(entity, model, condition, values, (*seen, entity.name))


def _cascade_level(
    entity: Entity, model: DomainModel, condition: str, values: str, seen: tuple[str, ...],
) -> Iterator[str]:
    for key in _pointing_at(entity, model):
        if key.entity.name in seen:
            continue
        mine = ", ".join(f'"{column}"' for column in key.columns)
        theirs = ", ".join(f'"{column}"' for column in key.target_columns)
        left = f"({mine})" if len(key.columns) > 1 else mine
        inner = f'{left} IN (SELECT {theirs} FROM "{entity.table}" WHERE {condition})'
        if key.owns:
            yield from _cascade_level(key.entity, model, inner, values, (*seen, key.entity.name))
            yield f"db.execute({f'DELETE FROM {quoted(key.entity.table)} WHERE {inner}'!r}, {values})"
        else:
            changed = f'UPDATE {quoted(key.entity.table)} SET {quoted(key.columns[-1])} = NULL WHERE {inner}'
            yield f"db.execute({changed!r}, {values})"


def quoted(name: str) -> str:
    return f'"{name}"'
