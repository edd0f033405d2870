"""Ops beyond create, read, update and delete → functions of tools.py: the verbs that give a domain its life.

transition (turnIn, return, reclaim) · link by accepting (invitations) · link/unlink over a list of keys · append ·
move · import · quick_add · counter · copy of nothing: what has no compiler here is refused by `compile_tools`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tasks_app.domains.model import DomainModel, Entity, Op
from tasks_app.environments.compile_calendar import recurring_names
from tasks_app.environments.compile_documents import constant, literal, noun, owner_key, parts_of
from tasks_app.environments.compile_reads import value_of
from tasks_app.environments.compile_schema import foreign_keys
from tasks_app.environments.compile_writes import answer, find_row, finish_insert, insert, server_values


def transition(op: Op, model: DomainModel) -> Iterator[str]:
    """From one state to another, FAILED_PRECONDITION from where the service does not allow it."""
    entity = model.entity(op.entity)
    detail = op.effect.detail
    arrows = [s for s in entity.states if s.tool == op.tool]
    column = detail.get("column") or arrows[0].column
    target = detail.get("to") or arrows[0].target
    sources = list(detail.get("from") or [s.source for s in arrows])
    yield from find_row(op, entity, model)
    if sources and "*" not in sources:
        allowed = " or ".join(sources)
        yield f"if row[{literal(column)}] not in {literal(tuple(sources))}:"
        yield (
            f'    raise ToolError("FAILED_PRECONDITION", '
            f'f"this {noun(entity)} is {{row[{column!r}]}}; it must be {allowed}")'
        )
    yield "session = _session(db)"
    values = {**{c: v for c, v in server_values(op, entity).items()}, column: literal(target)}
    pairs = ", ".join(f"{literal(c)}: {v}" for c, v in values.items())
    yield f"values = {{{pairs}}}"
    yield f'_update(db, "{entity.table}", where, values)'
    yield "row = {**row, **values}"
    yield answer(op, entity)


def link(op: Op, model: DomainModel) -> Iterator[str]:
    if "targets" in op.effect.detail:
        yield from _accept(op, model)
    else:
        yield from _members(op, model)


def _accept(op: Op, model: DomainModel) -> Iterator[str]:
    """The row is taken up: a row is made of what it offers, in the table that its role names, and it is gone."""
    entity = model.entity(op.entity)
    detail = op.effect.detail
    yield from find_row(op, entity, model)
    yield "session = _session(db)"
    by = detail["by"]
    for index, (role, target_name) in enumerate(detail["targets"].items()):
        target = model.entity(target_name)
        pairs = ", ".join(f"{literal(t)}: row[{literal(c)}]" for c, t in detail["copy"].items())
        keys = ", ".join(f"{literal(t)}: row[{literal(c)}]" for c, t in detail["copy"].items() if t in target.key)
        needed = [c for c, t in detail["copy"].items() if t in target.key]
        yield f"{'el' if index else ''}if row[{literal(by)}] == {literal(role)}:"
        for column in needed:
            yield f"    if row[{literal(column)}] is None:"
            said = f"this {noun(entity)} has no {column} any more; it cannot be accepted"
            yield f'        raise ToolError("FAILED_PRECONDITION", "{said}")'
        yield f'    if _select(db, "{target.table}", {literal(target.key[:1])}, {{{keys}}}):'
        yield f'        raise ToolError("ALREADY_EXISTS", "there is such a {noun(target)} already")'
        yield f'    _insert(db, "{target.table}", {{{pairs}}})'
    yield "else:"
    yield f'    raise ToolError("FAILED_PRECONDITION", f"a {noun(entity)} as {{row[{by!r}]}} cannot be accepted")'
    if detail.get("consume", True):
        yield f'_delete(db, "{entity.table}", where)'
    yield "return {}"


def _members(op: Op, model: DomainModel) -> Iterator[str]:
    """Keys added to and removed from a list of them: a part of bare keys, or a JSON column."""
    entity = model.entity(op.entity)
    detail = op.effect.detail
    part = next((p for p in parts_of(entity, model) if p.name == detail.get("part")), None)
    yield from find_row(op, entity, model)
    yield "session = _session(db)"
    for name, param in (("added", detail.get("add", "")), ("removed", detail.get("remove", ""))):
        yield f"{name} = _at(args, {literal(param)})"
        yield f"{name} = [] if {name} is MISSING else {name}"
    yield from _update_beside(op, entity)
    if part is not None:
        yield from _part_members(part, model)
        mode = op.effect.detail.get("mode")
        if mode:
            yield f"if values[{literal(mode['column'])}] != {literal(mode['with_members'])}:"
            yield f"    _replace_{part.table}(db, row, None)"
    else:
        column = literal(detail["column"])
        yield f"kept = [key for key in _json(row[{column}]) or [] if key not in removed]"
        yield f"values[{column}] = json.dumps([*kept, *(key for key in added if key not in kept)])"
    yield f'_update(db, "{entity.table}", where, values)'
    yield f'row = _find(db, "{entity.table}", {constant(entity)}, where, "{noun(entity)}")'
    yield answer(op, entity)


def _update_beside(op: Op, entity: Entity) -> Iterator[str]:
    pairs = ", ".join(f"{literal(c)}: {v}" for c, v in server_values(op, entity).items())
    yield f"values = {{{pairs}}}"
    mode = op.effect.detail.get("mode")
    if mode:
        param, column = literal(mode["param"]), literal(mode["column"])
        yield f"values[{column}] = args.get({param}, row[{column}])"
        yield f"if (added or removed) and values[{column}] != {literal(mode['with_members'])}:"
        yield f'    raise _invalid("students can only be named where {mode["param"]} is {mode["with_members"]}")'


def _part_members(part: Entity, model: DomainModel) -> Iterator[str]:
    key = owner_key(part, model)
    own = next(column for column in part.key if column not in key.columns)
    owner = ", ".join(f"{literal(c)}: row[{literal(t)}]" for c, t in zip(key.columns, key.target_columns, strict=True))
    yield "for key in removed:"
    yield f'    _delete(db, "{part.table}", {{{owner}, {literal(own)}: key}})'
    yield "for key in added:"
    yield f"    member = {{{owner}, {literal(own)}: key}}"
    for reference in foreign_keys(part, model):
        if reference.columns[-1] == own:
            pairs = ", ".join(
                f"{literal(t)}: member[{literal(c)}]"
                for c, t in zip(reference.columns, reference.target_columns, strict=True)
            )
            yield f'    _require(db, "{reference.target.table}", {{{pairs}}}, "{noun(reference.target)}")'
    yield f'    if _select(db, "{part.table}", {literal(part.key[:1])}, member) is None:'
    yield f'        _insert(db, "{part.table}", member)'


def append(op: Op, model: DomainModel) -> Iterator[str]:
    """Items added at the end of a JSON array."""
    entity = model.entity(op.entity)
    detail = op.effect.detail
    column = literal(detail["column"])
    yield from find_row(op, entity, model)
    yield "session = _session(db)"
    pairs = ", ".join(f"{literal(c)}: {v}" for c, v in server_values(op, entity).items())
    yield f"values = {{{pairs}}}"
    only = detail.get("only")
    if only and any(a.column == only["column"] for a in entity.attrs):
        yield f"if row[{literal(only['column'])}] not in (None, {literal(only['value'])}):"
        yield f'    raise ToolError("FAILED_PRECONDITION", "{only["column"]} must be {only["value"]} for this")'
    yield f"items = [*(_json(row[{column}]) or []), *args.get({literal(detail['param'])}, [])]"
    yield f'values[{column}] = json.dumps(items, ensure_ascii=False, sort_keys=True, separators=(",", ":"))'
    yield f'_update(db, "{entity.table}", where, values)'
    yield "row = {**row, **values}"
    yield answer(op, entity)


def move(op: Op, model: DomainModel) -> Iterator[str]:
    """To another parent: the key changes, the parts go along, and a series takes its own changed instances with it."""
    entity = model.entity(op.entity)
    detail = op.effect.detail
    column = detail["column"]
    param = next(p for p in op.params if p.name == detail["param"])
    reference = next(k for k in foreign_keys(entity, model) if k.columns[-1] == column)
    yield from find_row(op, entity, model)
    for column_name, value in detail.get("only", {}).items():
        yield f"if row[{literal(column_name)}] not in (None, {literal(value)}):"
        said = f"only a {noun(entity)} with {column_name} {value} can be moved"
        yield f'    raise ToolError("FAILED_PRECONDITION", "{said}")'
    yield "session = _session(db)"
    source = next((p for p in op.params if p.column == column and p.where == "path"), param)
    yield f"destination = {value_of(source, entity, model).replace(literal(source.name), literal(param.name))}"
    there = f"{{{literal(reference.target_columns[-1])}: destination}}"
    yield f'_require(db, "{reference.target.table}", {there}, "{noun(reference.target)}")'
    pairs = ", ".join(f"{literal(c)}: {v}" for c, v in server_values(op, entity).items())
    yield f"values = {{{pairs}}}"
    for extra, value in detail.get("takes", {}).items():
        yield f"values[{literal(extra)}] = {'destination' if value == '$destination' else literal(value)}"
    yield "members = [row]"
    names = recurring_names(entity)
    if names:
        yield f"if row[{literal(names['series'])}]:"
        said = f"an instance of a series cannot leave it; move the series of this {noun(entity)}"
        yield f'    raise ToolError("FAILED_PRECONDITION", "{said}")'
        condition = [f'"{names["scope"]}" = ?', f'"{names["series"]}" = ?']
        of_series = f"(row[{literal(names['scope'])}], row[{literal(names['id'])}])"
        order = f'"{names["id"]}"'
        yield f'members += _rows(db, "{entity.table}", {constant(entity)}, {condition!r}, {of_series}, {order!r})'
    yield "for member in members:"
    yield from (f"    {line}" for line in _moved(entity, column, model))
    key = ", ".join(f"{literal(c)}: {'destination' if c == column else f'row[{literal(c)}]'}" for c in entity.key)
    yield f'row = _find(db, "{entity.table}", {constant(entity)}, {{{key}}}, "{noun(entity)}")'
    yield answer(op, entity)


def _moved(entity: Entity, column: str, model: DomainModel) -> Iterator[str]:
    """One row gets its new key: references to what only the old parent has are cleared, parts follow."""
    old = ", ".join(f"{literal(c)}: member[{literal(c)}]" for c in entity.key)
    yield f"moved = {{**member, **values, {literal(column)}: destination}}"
    new = ", ".join(f"{literal(c)}: moved[{literal(c)}]" for c in entity.key)
    yield f'if _select(db, "{entity.table}", {literal(entity.key[:1])}, {{{new}}}):'
    yield f'    raise ToolError("ALREADY_EXISTS", "the destination has this {noun(entity)} already")'
    for key in foreign_keys(entity, model):
        if column in key.columns and len(key.columns) > 1:
            pairs = zip(key.columns, key.target_columns, strict=True)
            where = ", ".join(f"{literal(t)}: moved[{literal(c)}]" for c, t in pairs)
            yield f'if _select(db, "{key.target.table}", {literal(key.target_columns[:1])}, {{{where}}}) is None:'
            yield f"    moved[{literal(key.columns[-1])}] = None"
    yield f'_insert(db, "{entity.table}", moved)'
    for part in parts_of(entity, model):
        key = owner_key(part, model)
        pairs = zip(key.columns, key.target_columns, strict=True)
        where = ", ".join(f"{literal(c)}: member[{literal(t)}]" for c, t in pairs)
        ours = dict(zip(key.target_columns, key.columns, strict=True))[column]
        yield f'_update(db, "{part.table}", {{{where}}}, {{{literal(ours)}: destination}})'
    yield f'_delete(db, "{entity.table}", {{{old}}})'


def quick_add(op: Op, model: DomainModel) -> Iterator[str]:
    """A row made from one line of text."""
    entity = model.entity(op.entity)
    names = recurring_names(entity)
    text = op.effect.detail.get("param", "text")
    into = op.effect.detail.get("into", "summary")
    yield "session = _session(db)"
    yield f'said = _quick(args[{literal(text)}], session["now"], session["time_zone"])'
    yield f'row = {{**{constant(entity)}_DEFAULTS, {literal(into)}: said["summary"]}}'
    yield f'row[{literal(names["start"])}], row[{literal(names["end"])}] = said["start"], said["end"]'
    yield from finish_insert(op, entity, model)


def import_row(op: Op, model: DomainModel) -> Iterator[str]:
    """As insert; what comes from elsewhere keeps the organiser that it names."""
    yield from insert(op, model)
