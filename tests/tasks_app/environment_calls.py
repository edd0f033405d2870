"""Valid arguments for every tool of a compiled package, made from its schema and from rows that are there.

Nothing is hand-written for a tool: path parameters come from a row in a fitting state, bodies from the JSON Schema,
references from existing rows. Only the meaning of a few published messages (a Date, an RRULE) is known here.
"""

from __future__ import annotations

import dataclasses
import sqlite3
from typing import Any

from tasks_app.domains.model import DomainModel, Entity, Op, Param
from tasks_app.environments.package import EnvironmentPackage

# Messages that a schema does not fully describe: name of the parameter or property → a value that means something.
KNOWN: dict[str, Any] = {
    "dueDate": {"year": 2026, "month": 12, "day": 4},
    "dueTime": {"hours": 15},
    "startDate": {"year": 2026, "month": 9, "day": 1},
    "endDate": {"year": 2026, "month": 12, "day": 18},
    "start": {"dateTime": "2026-11-09T09:00:00Z"},
    "end": {"dateTime": "2026-11-09T10:00:00Z"},
    "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=3"],
    "timeMin": "2026-10-01T00:00:00Z",
    "timeMax": "2026-12-01T00:00:00Z",
    "updatedMin": "2026-10-01T00:00:00Z",
    "timeZone": "Europe/Berlin",
    "emailAddress": "kim@example.org",
    "email": "kim@example.org",
    "text": "Lunch with Kim tomorrow at 12:30",
    "useAdminAccess": True,
    "scope": {"type": "user", "value": "kim@example.org"},
    "invitedEmailAddress": "kim@example.org",
    "addAttachments": [{"link": {"url": "https://example.org/page"}}],
    "newDataOwner": "kim@example.org",
    "calendarAlias": "x",
    "conferenceData": {"conferenceId": "abc"},
    "alias": "d:one_more",
    "date": "2026-11-09",
    "originalStart": "2026-11-09T09:00:00Z",
    "assigneeMode": "ALL_STUDENTS",
}
SKIPPED = {
    "originalStartTime",
    "recurringEventId",
    "birthdayProperties",
    "workingLocationProperties",
    "focusTimeProperties",
    "outOfOfficeProperties",
    "gradingPeriodId",
    "id",
    "syncToken",
    "pageToken",
    "scheduledTime",
    "eventLabelId",
    "orderBy",
    "originalStart",
    "requestId",
    "topicId",
    "enrollmentCode",
    "calendarExpansionMax",
}


def row_for(db: sqlite3.Connection, op: Op, model: DomainModel) -> dict[str, Any]:
    """A row of the op's entity that the op accepts (an empty dictionary when it has no table)."""
    entity = model.entity(op.entity)
    if entity.kind == "value":
        return {}
    columns = [attr.column for attr in entity.attrs]
    where = [*_fitting(op, entity, model)]
    sql = (
        f"SELECT {', '.join(_q(c) for c in columns)} FROM {_q(entity.table)} WHERE {' AND '.join(where) or '1'} LIMIT 1"
    )
    row = db.execute(sql).fetchone()
    assert row is not None, f"no {entity.name} for {op.tool}: {sql}"
    return dict(zip(columns, row, strict=True))


def _fitting(op: Op, entity: Entity, model: DomainModel) -> list[str]:
    columns = {attr.column for attr in entity.attrs}
    kind, detail = op.effect.kind, op.effect.detail
    where = []
    if kind == "expand":
        where.append("recurrence IS NOT NULL")
    elif "recurrence" in columns and kind not in ("insert", "list"):
        where.append("recurrence IS NULL")
    if detail.get("from") and "column" in detail:
        where.append(f"{_q(detail['column'])} IN ({', '.join(repr(v) for v in detail['from'])})")
    if "only" in detail and "value" in detail["only"] and detail["only"]["column"] in columns:
        where.append(f"{_q(detail['only']['column'])} = {detail['only']['value']!r}")
    if "only" in detail and "from" in detail["only"]:
        where.append(f"{_q(detail['only']['column'])} = {detail['only']['from']!r}")
    if detail.get("mode") == "mark":
        column, value = next((c, v) for c, v in detail["set"].items() if not str(v).startswith("$"))
        where.append(f"coalesce({_q(column)}, '') <> {value!r}")
    if "targets" in detail:
        where.append(f"{_q(detail['by'])} = {next(iter(detail['targets']))!r}")
        target = model.entity(next(iter(detail["targets"].values())))
        match = " AND ".join(f"t.{_q(t)} = {_q(entity.table)}.{_q(c)}" for c, t in detail["copy"].items())
        where.append(f"NOT EXISTS (SELECT 1 FROM {_q(target.table)} t WHERE {match})")
    if detail.get("primary"):
        where.append("id = (SELECT email FROM _session)")
    item = next((p for p in op.params if p.where == "path" and p.column == "item_id"), None)
    words = {p.segment: model.entity(p.entity).table for p in entity.parents if p.column == "item_id"}
    said = [table for segment, table in words.items() if segment in op.method.split(".")[2:3]]
    if item is not None and said:
        where.append(f"item_id IN (SELECT id FROM {_q(said[0])})")
    return where


def arguments_for(db: sqlite3.Connection, op: Op, package: EnvironmentPackage, *, full: bool) -> dict[str, Any]:
    """Valid arguments; `full` gives every parameter that has a known meaning, else only what is required."""
    model = package.model
    schemas = package.tools[op.tool]["parameters"]["properties"]
    op = dataclasses.replace(op, params=tuple(dataclasses.replace(p, schema=schemas[p.name]) for p in op.params))
    entity = model.entity(op.entity)
    new = op.effect.kind in ("insert", "import", "quick_add")
    row = _parent_row(db, op, entity, model) if new or op.effect.kind == "upsert" else row_for(db, op, model)
    arguments: dict[str, Any] = {}
    for param in op.params:
        if param.where == "path" or (param.required and param.column in row and param.where == "query"):
            arguments[param.name] = (
                row.get(param.column) or _reference(db, param, entity, model) or KNOWN.get(param.name, "x")
            )
        elif param.name == op.mask_param:
            continue
        elif param.where == "body" and (param.required or (full and param.name not in SKIPPED)):
            arguments[param.name] = _value(db, param, entity, model)
        elif param.required or (full and param.name in KNOWN and param.where == "query"):
            arguments[param.name] = KNOWN[param.name] if param.name in KNOWN else _value(db, param, entity, model)
    return _sensible(db, op, entity, row, arguments, model, full=full)


def _sensible(
    db: sqlite3.Connection,
    op: Op,
    entity: Entity,
    row: dict[str, Any],
    arguments: dict[str, Any],
    model: DomainModel,
    *,
    full: bool,
) -> dict[str, Any]:
    if op.mask_param and op.effect.kind in ("update", "upsert"):
        fields = [
            f
            for f in op.effect.detail.get("mask_fields") or [p.name for p in op.params if p.where == "body"]
            if any(p.name == f and p.where == "body" for p in op.params) and f not in SKIPPED
        ]
        fields = fields if full else fields[:1]
        if "dueTime" in fields and "dueDate" not in fields:
            fields.append("dueDate")
        for name in fields:
            param = next(p for p in op.params if p.name == name)
            arguments[name] = arguments.get(name) or _value(db, param, entity, model)
        arguments = {k: v for k, v in arguments.items() if k in fields or not _is_body(op, k)}
        arguments[op.mask_param] = ",".join(fields)
    if "only" in op.effect.detail and "to" in op.effect.detail["only"]:
        arguments[next(p.name for p in op.params if p.column == op.effect.detail["only"]["column"])] = op.effect.detail[
            "only"
        ]["to"]
    if op.effect.kind == "free_busy":
        arguments.update(
            timeMin=KNOWN["timeMin"],
            timeMax=KNOWN["timeMax"],
            items=[{"id": db.execute("SELECT id FROM calendar LIMIT 1").fetchone()[0]}],
        )
    if op.effect.kind == "move":
        arguments["destination"] = db.execute(
            "SELECT id FROM calendar WHERE id <> ?", (row["calendar_id"],)
        ).fetchone()[0]
    if op.effect.detail.get("mode") == "put":
        needed = {a.column for a in entity.attrs if a.required and not a.readonly}
        for param in op.params:
            if (
                param.where == "body"
                and param.name not in arguments
                and (param.column in needed or param.name in ("start", "end"))
            ):
                arguments[param.name] = _value(db, param, entity, model)
    return _with_students(db, op, arguments)


def _with_students(db: sqlite3.Connection, op: Op, arguments: dict[str, Any]) -> dict[str, Any]:
    """Where students are named, they exist, and the mode is the one that allows it."""
    if not any(name in arguments for name in ("individualStudentsOptions", "modifyIndividualStudentsOptions")):
        return _something_to_write(db, op, arguments)
    people = [row[0] for row in db.execute("SELECT id FROM user_profile ORDER BY id LIMIT 2")]
    arguments["assigneeMode"] = "INDIVIDUAL_STUDENTS"
    if "individualStudentsOptions" in arguments:
        arguments["individualStudentsOptions"] = {"studentIds": people}
    else:
        arguments["modifyIndividualStudentsOptions"] = {"addStudentIds": people[:1], "removeStudentIds": people[1:]}
    return arguments


def _something_to_write(db: sqlite3.Connection, op: Op, arguments: dict[str, Any]) -> dict[str, Any]:
    if op.effect.kind in ("update",) and not op.mask_param and not any(_is_body(op, k) for k in arguments):
        param = next((p for p in op.params if p.where == "body" and p.name not in SKIPPED), None)
        if param is not None:
            arguments[param.name] = sample(dict(param.schema), param.name)
    return arguments


def _is_body(op: Op, name: str) -> bool:
    return any(p.name == name and p.where == "body" for p in op.params)


def _parent_row(db: sqlite3.Connection, op: Op, entity: Entity, model: DomainModel) -> dict[str, Any]:
    """Columns of the parents that the path names, from rows that exist together."""
    row: dict[str, Any] = {}
    paths = {p.column for p in op.params if p.where == "path"}
    for parent in reversed(entity.parents):
        if parent.column not in paths or parent.column in row:
            continue
        said = [p for p in entity.parents if p.column == parent.column and p.segment in op.method.split(".")]
        target = model.entity((said or [parent])[0].entity)
        condition = " AND ".join(f"{_q(k)} = ?" for k in target.key if k in row)
        found = db.execute(
            f"SELECT {', '.join(map(_q, target.key))} FROM {_q(target.table)} WHERE {condition or '1'} LIMIT 1",
            tuple(row[k] for k in target.key if k in row),
        ).fetchone()
        assert found is not None, f"no {target.name} for {op.tool}"
        for key, value in zip(target.key, found, strict=True):
            row[parent.column if key == target.own_key or len(target.key) == 1 else key] = value
    return row


def _reference(db: sqlite3.Connection, param: Param, entity: Entity, model: DomainModel | None) -> Any:
    attr = next((a for a in entity.attrs if a.column == param.column), None)
    if attr is None or attr.references is None or not attr.references.strict or model is None:
        return None
    target = model.entity(attr.references.entity)
    taken = f"SELECT {_q(attr.column)} FROM {_q(entity.table)}" if attr.column in entity.key else "SELECT NULL WHERE 0"
    found = db.execute(
        f"SELECT {_q(attr.references.column)} FROM {_q(target.table)} "
        f"WHERE {_q(attr.references.column)} NOT IN ({taken}) ORDER BY 1 DESC LIMIT 1"
    ).fetchone()
    return found[0] if found else None


def _value(db: sqlite3.Connection, param: Param, entity: Entity, model: DomainModel | None) -> Any:
    if param.name in KNOWN:
        return KNOWN[param.name]
    return _reference(db, param, entity, model) or sample(dict(param.schema), param.name)


def sample(schema: dict[str, Any], name: str) -> Any:
    """A value that the schema allows."""
    if name in KNOWN:
        return KNOWN[name]
    if schema.get("enum"):
        allowed = [v for v in schema["enum"] if "UNSPECIFIED" not in v and v not in ("DELETED", "none", "cancelled")]
        return allowed[0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        return [sample(dict(schema.get("items", {})), name)]
    if kind == "object":
        properties = schema.get("properties", {})
        return {
            key: sample(dict(value), key)
            for key, value in properties.items()
            if key not in SKIPPED or key in schema.get("required", ())
        }
    if kind == "integer":
        return int(schema.get("minimum", 1)) or 1
    if kind == "number":
        return 5.0
    if kind == "boolean":
        return True
    return "2026-11-09T09:00:00Z" if schema.get("format") in ("date-time", "google-datetime") else f"some {name}"


def _q(name: str) -> str:
    return f'"{name}"'
