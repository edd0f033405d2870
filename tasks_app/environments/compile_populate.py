"""DomainModel → populate.py: which tables, how many rows of each, what hangs on what, and how each column is filled.

What is written here is data (TABLES) over the code of `runtime`; the lexicon below says, by the words of an entity or
column, how common it is and what its values look like. What no rule names stays empty if it may.
"""

from __future__ import annotations

import re
from pprint import pformat
from typing import Any

from tasks_app.domains.model import Attr, DomainModel, Entity
from tasks_app.environments.compile_schema import foreign_keys, in_order, twins
from tasks_app.environments.compile_tools import source_of
from tasks_app.environments.compile_writes import id_style
from tasks_app.environments.lexicon import COMMON, RULES, SPECIAL, WEIGHTS
from tasks_app.environments.runtime import (
    columns,
    counting,
    files,
    filling,
    linking,
    picking,
    plants,
    pools,
    population,
    settling,
    tables,
)


def compile_populate(model: DomainModel) -> str:
    head = source_of(pools, filling, picking, tables, files, linking, settling, plants, counting, columns, population)
    made = _after_what_they_need([_table(entity, model) for entity in in_order(model)])
    intro = (
        f'"""Rows and files of {model.title or model.name}, generated from {model.source}.\n\n'
        "Standard library and numpy. populate(connection, workspace, seed=, rows=, files=, directives=):\n"
        "deterministic, exactly that many rows and\n"
        'files; a larger size holds every row of a smaller one. TABLES says what there is.\n"""\n\n'
        "from __future__ import annotations\n\n"
    )
    user = _user(model)
    shown = [pformat(value, width=118, sort_dicts=False) for value in (user, made)]
    data = f"USER = {shown[0]}\n\nTABLES = {shown[1]}\n"
    call = '''

def populate(connection, workspace, *, seed, rows, files, directives):
    """Fill an empty database of this schema, and the workspace."""
    Population(TABLES, USER, seed, directives).fill(connection, workspace, rows, files)
'''
    return intro + head + "\n\n\n" + data + call


def _after_what_they_need(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a row points at is made before it, and who belongs to a course before what its members do.

    Raises ValueError for tables that need each other.
    """
    done: list[dict[str, Any]] = []
    left = list(tables)
    while left:
        waiting = {table["table"] for table in left}
        ready = next(
            (t for t in left if not waiting & ({k["table"] for k in t["links"]} | {k["members"] for k in t["links"]})),
            None,
        )
        if ready is None:
            raise ValueError(f"these tables need each other: {', '.join(sorted(waiting))}")
        done.append(ready)
        left.remove(ready)
    return done


def _user(model: DomainModel) -> dict[str, Any]:
    """Who acts: rows that make the acting user exist, and what a plant may call them."""
    user: dict[str, Any] = {
        "user_id": "104218776503",
        "email": "dana.whitfield@northfield.example",
        "name": "Dana Whitfield",
        "given": "Dana",
        "family": "Whitfield",
        "time_zone": "UTC",
        "fixed": [],
    }
    names = {entity.name for entity in model.entities}
    if "UserProfile" in names:
        user["fixed"].append(
            {
                "entity": "UserProfile",
                "as": "me",
                "set": {
                    "id": user["user_id"],
                    "email_address": user["email"],
                    "name_full_name": user["name"],
                    "name_given_name": user["given"],
                    "name_family_name": user["family"],
                    "verified_teacher": 1,
                },
            }
        )
    if "Person" in names:
        user["fixed"].append(
            {"entity": "Person", "as": "me", "set": {"email": user["email"], "display_name": user["name"]}}
        )
    if "CalendarListEntry" in names:
        user["fixed"].append(
            {
                "entity": "Calendar",
                "as": "primary",
                "set": {"id": user["email"], "summary": user["name"], "time_zone": "UTC", "data_owner": user["email"]},
            }
        )
        user["fixed"].append(
            {
                "entity": "CalendarListEntry",
                "as": "primary_entry",
                "set": {"id": user["email"], "access_role": "owner", "primary_value": 1, "selected": 1, "hidden": 0},
            }
        )
    if "Setting" in names:
        for name, value in (("timezone", "UTC"), ("format24HourTime", "true"), ("weekStart", "1"), ("locale", "en")):
            user["fixed"].append({"entity": "Setting", "as": f"setting_{name}", "set": {"id": name, "value": value}})
    return user


def _table(entity: Entity, model: DomainModel) -> dict[str, Any]:
    links = _links(entity, model)
    taken = {column for link in links for column in link["columns"]}
    copies = {attr.column: (source.table, column, key) for e, attr, source, column, key in twins(model) if e is entity}
    made = []
    for attr in entity.attrs:
        if attr.column not in taken:
            made.append(
                {
                    "column": attr.column,
                    "nulls": not (attr.required or attr.column in entity.key),
                    "kind": attr.kind,
                    "default": _default(attr),
                    "fill": ("twin", *copies[attr.column]) if attr.column in copies else _fill(attr, entity, model),
                }
            )
    return {
        "table": entity.table,
        "entity": entity.name,
        "key": list(entity.key),
        "own": entity.own_key,
        "weight": WEIGHTS.get(entity.name, 3.0 * (1 + len(entity.parents))),
        "natural": list(entity.natural_keys),
        "part_of": entity.part_of,
        "order": [a.column for a in entity.attrs],
        "links": links,
        "columns": made,
        "unique": _unique(entity, made, model),
        "distinct": _distinct(entity),
    }


def _person_column(entity: Entity, model: DomainModel) -> str:
    """The one column that says whose a row with an id of its own is (a submission's student): one a parent."""
    found = [
        key.columns[-1]
        for key in foreign_keys(entity, model)
        if key.target.name == "UserProfile" and not re.search(r"creator|owner", key.columns[-1])
    ]
    if len(found) != 1 or found[0] in entity.key or entity.key_assigned_by != "server":
        return ""
    return found[0]


def _unique(entity: Entity, columns: list[dict[str, Any]], model: DomainModel) -> list[str]:
    """Columns that must differ from row to row and are not ids of our own making."""
    if {"scope_type", "scope_value"} <= {a.column for a in entity.attrs}:
        return [*(c for c in entity.key if c != entity.own_key), "scope_value"]
    person = _person_column(entity, model)
    if person:
        return [
            *(c for c in entity.key if c != entity.own_key),
            *(["course_id"] if entity.name == "Invitation" else []),
            person,
        ]
    own = next((c for c in columns if c["column"] == entity.own_key), None)
    return [] if own is not None and own["fill"][0] in ("id", "alias", "url", "email") else list(entity.key)


def _distinct(entity: Entity) -> list[str]:
    if entity.name in ("Person", "UserProfile"):
        return [c for c in ("email", "email_address") if c in {a.column for a in entity.attrs}]
    return [] if entity.kind == "part" or entity.name in ("Event", "CalendarListEntry") else list(entity.natural_keys)


def _links(entity: Entity, model: DomainModel) -> list[dict[str, Any]]:
    """References in the order in which they are decided: what a row cannot stand without first, longest key first."""
    keys = sorted(foreign_keys(entity, model), key=lambda k: (not k.owns, -len(k.columns)))
    links: list[dict[str, Any]] = [
        {
            "table": k.target.table,
            "columns": list(k.columns),
            "target": list(k.target_columns),
            "owns": k.owns or entity.name == "Invitation",
            "null": 0.0 if k.owns or entity.name == "Invitation" else 0.3,
            "members": _members(entity, k.target, k.columns[-1], model),
        }
        for k in keys
    ]
    hard = {k.columns[-1] for k in keys}
    for attr in entity.attrs:
        reference = attr.references
        if (
            reference is None
            or attr.column in hard
            or reference.strict
            or attr.derived
            or attr.column.startswith("creator")
        ):
            continue
        target = model.entity(reference.entity)
        owns = attr.required or attr.column in entity.key
        links.append(
            {
                "table": target.table,
                "columns": [attr.column],
                "target": [reference.column],
                "owns": owns,
                "null": 0.0,
                "members": "",
                "soft": True,
            }
        )
    for parent in sorted(entity.parents, key=lambda p: -WEIGHTS.get(p.entity, 0)):  # one of several: the commonest
        if parent.column not in {c for link in links for c in link["columns"]} and parent.column in entity.key:
            target = model.entity(parent.entity)
            columns = [c if c != target.own_key else parent.column for c in target.key]
            links.insert(
                0,
                {
                    "table": target.table,
                    "columns": columns,
                    "target": list(target.key),
                    "owns": True,
                    "null": 0.0,
                    "members": "",
                    "soft": True,
                },
            )
    return links


def _members(entity: Entity, target: Entity, column: str, model: DomainModel) -> str:
    """The table that says which of the target belong to this row's parent (the students of its course)."""
    if len(entity.key) == 2 and column == entity.own_key:
        return ""
    wanted = "Teacher" if re.search(r"creator|owner|teacher", column) else "Student"
    found = [
        e
        for e in model.entities
        if e.name == wanted
        and e.name != entity.name
        and len(e.key) == 2
        and any(k.target.name == target.name for k in foreign_keys(e, model))
    ]
    shared = {a.column for a in entity.attrs}
    return found[0].table if found and found[0].key[0] in shared and entity.name != "Invitation" else ""


def _default(attr: Attr) -> Any:
    return int(bool(attr.default)) if attr.kind == "boolean" else (None if attr.kind == "json" else attr.default)


def _fill(attr: Attr, entity: Entity, model: DomainModel) -> tuple[Any, ...]:
    for owner, column, fill in RULES:
        if re.fullmatch(owner, entity.name) and re.fullmatch(column, attr.column):
            return fill
    if attr.column == entity.own_key and attr.kind == "text":
        return ("id", id_style(entity, model))
    if SPECIAL.match(attr.column) or SPECIAL.search(attr.column):
        return ("null",)
    if attr.enum:
        weights = {value: COMMON.get(value, 0.3) for value in attr.enum if "UNSPECIFIED" not in value}
        return ("enum", weights)
    if attr.kind == "boolean":
        return ("default",)
    if attr.kind == "timestamp":
        return (
            ("created",)
            if attr.column.startswith("creat")
            else ("updated",)
            if attr.column.startswith("update")
            else ("null",)
        )
    if attr.default is not None and attr.kind != "json":
        return ("default",)
    if attr.column == "display_name" or attr.column.endswith("_display_name"):
        return ("name_of",)
    return ("required_text",) if attr.required and attr.kind == "text" else ("null",)
