"""Ops over events that recur → functions of tools.py: lists that show instances, instances, free and busy."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tasks_app.domains.model import DomainModel, Entity, Op
from tasks_app.environments.compile_documents import constant, literal, noun, owner_key, parts_of
from tasks_app.environments.compile_reads import (
    default_order,
    key_where,
    list_answer,
    list_conditions,
    order_names,
    parent_checks,
    tie_break,
)


def recurring_names(entity: Entity) -> dict[str, str]:
    """Which columns make an entity recur, by what they hold; empty for one that does not."""
    by_path = {attr.path: attr.column for attr in entity.attrs}
    wanted = {
        "series": "recurringEventId",
        "rule": "recurrence",
        "start": "start.dateTime|start.date",
        "end": "end.dateTime|end.date",
        "zone": "start.timeZone",
        "original": "originalStartTime.dateTime|originalStartTime.date",
    }
    if any(path not in by_path for path in wanted.values()):
        return {}
    scope = next(column for column in entity.key if column != entity.own_key)
    return {"id": entity.own_key, "scope": scope, **{name: by_path[path] for name, path in wanted.items()}}


def names_constant(entity: Entity) -> str:
    names = recurring_names(entity)
    return f"{constant(entity)}_NAMES = {literal(names)}" if names else ""


def series_parts(entity: Entity, model: DomainModel) -> str:
    """The parts that an instance takes over from its series, as source of a tuple."""
    names = recurring_names(entity)
    made = []
    for part in parts_of(entity, model):
        pairs = dict(zip(owner_key(part, model).target_columns, owner_key(part, model).columns, strict=True))
        made.append(f'("{part.table}", {constant(part)}, "{pairs[names["scope"]]}", "{pairs[names["id"]]}")')
    return "(" + ", ".join(made) + ("," if len(made) == 1 else "") + ")"


def list_recurring(op: Op, model: DomainModel) -> Iterator[str]:
    """A list over a span of time; `singleEvents` shows a series as its instances, in the order of their start."""
    entity = model.entity(op.entity)
    name = constant(entity)
    timed = {
        f.param for f in op.filters if f.column in (recurring_names(entity)["start"], recurring_names(entity)["end"])
    }
    plain = _without(op, timed)
    yield from list_conditions(plain, entity, model)
    yield 'low = _utc(args["timeMin"], "timeMin") if "timeMin" in args else None'
    yield 'high = _utc(args["timeMax"], "timeMax") if "timeMax" in args else None'
    yield f"order = {default_order(op, entity)!r}"
    yield f"asked = args.get({literal(op.order_param or 'orderBy')})"
    assert op.paging is not None
    p = op.paging
    paging = literal((p.size_param, p.token_param, p.default_size, p.max_size))
    names = recurring_names(entity)
    yield 'if asked == "startTime" and not args.get("singleEvents"):'
    yield '    raise _invalid("orderBy startTime needs singleEvents to be true")'
    updated = order_names(op, entity).get("updated")
    if updated:
        yield 'if asked == "updated":'
        yield f"    order = {quoted_then(updated, entity)!r}"
    yield 'if low is None and high is None and not args.get("singleEvents"):'
    yield f'    rows, following = _page(db, "{entity.table}", {name}, where, values, order, args, {paging})'
    yield "else:"
    yield f'    shown = _in_view(db, "{entity.table}", {name}, {name}_NAMES, where, values, (low, high),'
    yield '                     single=bool(args.get("singleEvents")))'
    if "status" in {a.column for a in entity.attrs}:
        yield '    if not args.get("showDeleted"):'
        yield '        shown = [row for row in shown if row["status"] != "cancelled"]'
    yield f'    by = {literal(updated)} if asked == "updated" else {literal(names["start"])}'
    yield '    if asked or args.get("singleEvents"):'
    yield f'        shown.sort(key=lambda row: (row[by] or "", row[{literal(names["id"])}]))'
    yield f"    rows, following = _slice(shown, args, {paging})"
    yield from list_answer(op, entity)


def quoted_then(column: str, entity: Entity) -> str:
    return f'"{column}", {tie_break(entity)}'


def _without(op: Op, params: set[str]) -> Op:
    return dataclasses.replace(op, filters=tuple(f for f in op.filters if f.param not in params))


def expand(op: Op, model: DomainModel) -> Iterator[str]:
    """The instances of one series."""
    entity = model.entity(op.entity)
    name, names = constant(entity), recurring_names(entity)
    yield from parent_checks(op, entity, model)
    yield f"where = {key_where(op, entity, model)}"
    yield f'series = _find(db, "{entity.table}", {name}, where, "{noun(entity)}")'
    yield f"if not series[{literal(names['rule'])}]:"
    yield f'    raise ToolError("INVALID_ARGUMENT", "this {noun(entity)} does not recur; it has no instances")'
    yield 'low = _utc(args["timeMin"], "timeMin") if "timeMin" in args else None'
    yield 'high = _utc(args["timeMax"], "timeMax") if "timeMax" in args else None'
    yield f'rows = _series_rows(db, "{entity.table}", {name}, series, {name}_NAMES, high)'
    yield f"rows = [row for row in rows if _within(row, {name}_NAMES, low, high)]"
    status = next((a.column for a in entity.attrs if a.path == "status"), "")
    if status:
        yield 'if not args.get("showDeleted"):'
        yield f'    rows = [row for row in rows if row[{literal(status)}] != "cancelled"]'
    if any(p.name == "originalStart" for p in op.params):
        yield 'if "originalStart" in args:'
        yield '    original = args["originalStart"]'
        yield "    if len(original) > 10:"
        yield '        original = _utc(original, "originalStart")'
        yield f"    rows = [row for row in rows if row[{literal(names['original'])}] == original]"
    yield f"rows.sort(key=lambda row: (row[{literal(names['start'])}], row[{literal(names['id'])}]))"
    assert op.paging is not None
    p = op.paging
    yield f"rows, following = _slice(rows, args, {literal((p.size_param, p.token_param, p.default_size, p.max_size))})"
    yield from list_answer(op, entity)


def free_busy(op: Op, model: DomainModel) -> Iterator[str]:
    """Busy stretches of each calendar asked for; cancelled and transparent events leave one free."""
    entity = model.entity(op.effect.detail["entity"])
    name, names = constant(entity), recurring_names(entity)
    scope = model.entity(op.effect.detail["of"])
    yield 'for name in ("timeMin", "timeMax"):'
    yield "    if name not in args:"
    yield '        raise _invalid(f"{name} is required")'
    yield 'low, high = _utc(args["timeMin"], "timeMin"), _utc(args["timeMax"], "timeMax")'
    yield "if high <= low:"
    yield '    raise _invalid("timeMax must lie after timeMin")'
    yield "calendars = {}"
    yield 'for item in args.get("items", []):'
    yield '    if "id" not in item:'
    yield "        raise _invalid(\"each of items needs the field 'id'\")"
    yield '    key = _mine(db, item["id"])'
    own = literal(scope.own_key)
    yield f'    if _select(db, "{scope.table}", ({own},), {{{own}: key}}) is None:'
    yield '        calendars[item["id"]] = {"errors": [{"domain": "global", "reason": "notFound"}], "busy": []}'
    yield "        continue"
    unless = op.effect.detail.get("unless", {})
    conditions = [f'"{names["scope"]}" = ?', *(f"coalesce(\"{c}\", '') <> '{v}'" for c, v in unless.items())]
    yield f"    where = {conditions!r}"
    yield f'    rows = _in_view(db, "{entity.table}", {name}, {name}_NAMES, where, (key,), (low, high), single=True)'
    for column, value in unless.items():
        yield f"    rows = [row for row in rows if row[{literal(column)}] != {literal(value)}]"
    yield f'    calendars[item["id"]] = {{"busy": _busy(rows, {name}_NAMES, low, high)}}'
    yield 'return {"kind": "calendar#freeBusy", "timeMin": low, "timeMax": high, "calendars": calendars}'
