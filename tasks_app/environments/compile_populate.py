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
from tasks_app.environments.runtime import columns, files, filling, picking, plants, pools, population, settling

# How many rows of a kind there are beside the others; what is not named gets by its depth.
WEIGHTS: dict[str, float] = {
    "UserProfile": 34, "Person": 24, "Course": 4, "Calendar": 6, "CalendarListEntry": 3, "Student": 34, "Teacher": 4,
    "CourseWork": 22, "StudentSubmission": 110, "Topic": 8, "Announcement": 11, "CourseWorkMaterial": 7, "Invitation": 4,
    "Guardian": 7, "GuardianInvitation": 5, "StudentGroup": 3, "StudentGroupMember": 9, "CourseAlias": 2, "Rubric": 2,
    "Criterion": 5, "Level": 12, "GradingPeriodSettings": 1, "GradingPeriod": 2, "AddOnAttachment": 2,
    "AddOnAttachmentStudentSubmission": 0, "AnnouncementStudent": 2, "CourseWorkStudent": 3,
    "CourseWorkMaterialStudent": 1, "Event": 74, "EventAttendee": 120, "EventReminder": 5, "EventAttachment": 4,
    "EventLabel": 4, "AclRule": 12, "Setting": 0, "CalendarNotification": 0, "CalendarListEntryDefaultReminder": 4,
}
# Values of an enum by how common they are; those not named are rare, UNSPECIFIED ones are never used.
COMMON: dict[str, float] = {
    "ACTIVE": 14, "ARCHIVED": 3, "PROVISIONED": 1, "PUBLISHED": 16, "DRAFT": 3, "DELETED": 0, "ALL_STUDENTS": 1,
    "INDIVIDUAL_STUDENTS": 0, "ASSIGNMENT": 10, "SHORT_ANSWER_QUESTION": 2, "NEW": 2, "CREATED": 4, "TURNED_IN": 7,
    "RETURNED": 8, "RECLAIMED_BY_STUDENT": 1, "STUDENT": 8, "TEACHER": 2, "OWNER": 0, "PENDING": 3, "COMPLETE": 2,
    "confirmed": 16, "tentative": 2, "cancelled": 1, "accepted": 8, "needsAction": 5, "declined": 2, "opaque": 12,
    "transparent": 1, "default": 20, "private": 1, "public": 1, "confidential": 0, "reader": 4, "writer": 3, "owner": 2,
    "freeBusyReader": 3, "none": 0, "user": 12, "group": 2, "domain": 1, "popup": 3, "email": 2,
    "MODIFIABLE_UNTIL_TURNED_IN": 1, "MODIFIABLE": 0, "birthday": 0, "workingLocation": 0, "focusTime": 0,
    "outOfOffice": 0, "fromGmail": 0, "writerWithoutPrivateAccess": 0,
}
# (entity, column) patterns → how the column is filled: generator, its argument, share of nulls.
RULES: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("UserProfile|Person", "name_full_name|display_name", ("full",)),
    ("UserProfile", "name_given_name", ("given",)),
    ("UserProfile", "name_family_name", ("family",)),
    ("UserProfile|Person", "email_address|email", ("email",)),
    ("Course", "name", ("course",)),
    ("Course", "section", ("pool", ["Period 1", "Period 2", "Period 3", "Period 4", "Period 5", "Period 6"], 0.2)),
    ("Course", "room", ("pool", "ROOMS", 0.1)),
    ("Course", "description", ("pool", "COURSE_DESCRIPTIONS", 0.5)),
    ("Course", "enrollment_code", ("code",)),
    ("CourseWork|AddOnAttachment", "title", ("work",)),
    ("CourseWorkMaterial", "title", ("material",)),
    ("CourseWork|CourseWorkMaterial", "description", ("pool", "DESCRIPTIONS", 0.45)),
    ("CourseWork", "max_points", ("pool", [10.0, 20.0, 20.0, 25.0, 50.0, 100.0, 100.0, 100.0], 0)),
    ("CourseWork", "due_time", ("due", None, 0.12)),
    ("StudentSubmission", "assigned_grade|draft_grade", ("grade",)),
    ("StudentSubmission", "course_work_type", ("of_parent", "work_type")),
    ("Topic", "name", ("pool", "TOPICS", 0)),
    ("Announcement", "text", ("pool", "ANNOUNCEMENTS", 0)),
    ("StudentGroup", "title", ("pool", "GROUPS", 0)),
    ("Criterion", "title", ("pool", "RUBRIC", 0)),
    ("Level", "title", ("pool", "LEVELS", 0)),
    ("Level", "points", ("pool", [0.0, 2.0, 4.0, 5.0], 0)),
    ("GradingPeriod", "title", ("pool", "PERIODS", 0)),
    ("GradingPeriod", "start_date", ("day", [-70, -30], 0)),
    ("GradingPeriod", "end_date", ("day", [20, 90], 0)),
    ("CourseAlias", "alias", ("alias",)),
    ("Guardian.*", "invited_email_address", ("address",)),
    ("AddOnAttachment", ".*_uri", ("pool", ["https://addon.example/view", "https://addon.example/open"], 0)),
    ("AddOnAttachmentStudentSubmission", "points_earned", ("pool", [2.0, 5.0, 8.0, 10.0], 0.4)),
    ("Calendar", "summary", ("pool", "CALENDARS", 0)),
    ("Calendar", "time_zone", ("pool", "ZONES", 0)),
    ("Calendar", "description", ("pool", "AGENDAS", 0.7)),
    ("CalendarListEntry", "background_color", ("pool", "COLOURS", 0)),
    ("CalendarListEntry", "access_role", ("pool", ["owner", "writer", "writer", "reader"], 0)),
    ("Event", "summary", ("meeting",)),
    ("Event", "location", ("pool", "PLACES", 0.35)),
    ("Event", "description", ("pool", "AGENDAS", 0.6)),
    ("Event", "start_time", ("start",)),
    ("Event", "end_time", ("end",)),
    ("Event", "ical_uid", ("ical",)),
    ("Event", "recurrence", ("rule", "RRULES", 0.93)),
    ("Event", "creator_email", ("same", "organizer_email")),
    ("Event", "creator_display_name", ("same", "organizer_display_name")),
    ("Event", "reminders_use_default", ("flag", 0.9)),
    ("EventAttendee", "comment", ("pool", "COMMENTS", 0.93)),
    ("EventAttendee", "optional", ("flag", 0.12)),
    ("EventAttachment", "title", ("pool", ["Agenda.pdf", "Minutes.docx", "Figures.xlsx", "Slides.pptx"], 0)),
    ("EventAttachment", "file_url", ("url", "https://drive.example/file/")),
    ("EventLabel", "name", ("pool", ["Focus", "Travel", "Customer", "Internal", "Personal"], 0)),
    (".*Reminder", "minutes", ("pool", [5, 10, 15, 30, 60, 1440], 0)),
    ("AclRule", "id", ("acl",)),
    ("AclRule", "scope_type", ("enum", {"user": 1})),
    ("Course|CourseWork|CourseWorkMaterial|Announcement|StudentSubmission", "alternate_link",
     ("link", "https://classroom.google.com/c/")),
    ("Event", "html_link", ("link", "https://www.google.com/calendar/event?eid=")),
    (".*", "verified_teacher|auto_accept_invitations", ("flag", 0.1)),
    (".*", "hidden", ("flag", 0.08)),
    (".*", "selected|guardians_enabled", ("flag", 0.8)),
    (".*", "attendees_omitted|deleted|locked|resource|private_copy|primary_value", ("flag", 0.0)),
)
# Enums that say something only of a special kind of row: left empty.
_SPECIAL = re.compile(r"birthday_|focus_time|out_of_office|working_location|display_setting|calculation_type|async_")


def compile_populate(model: DomainModel) -> str:
    head = source_of(pools, filling, picking, files, settling, plants, columns, population)
    tables = _after_what_they_need([_table(entity, model) for entity in in_order(model)])
    intro = (
        f'"""Rows and files of {model.title or model.name}, generated from {model.source}. Standard library and numpy.\n\n'
        "populate(connection, workspace, seed=, rows=, files=, directives=): deterministic, exactly that many rows and\n"
        'files; a larger size holds every row of a smaller one. TABLES says what there is.\n"""\n\n'
        "from __future__ import annotations\n\n"
    )
    user = _user(model)
    data = f"USER = {pformat(user, width=118, sort_dicts=False)}\n\nTABLES = {pformat(tables, width=118, sort_dicts=False)}\n"
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
        ready = next((t for t in left if not waiting & ({k["table"] for k in t["links"]} | {k["members"] for k in t["links"]})), None)
        if ready is None:
            raise ValueError(f"these tables need each other: {', '.join(sorted(waiting))}")
        done.append(ready)
        left.remove(ready)
    return done


def _user(model: DomainModel) -> dict[str, Any]:
    """Who acts: rows that make the acting user exist, and what a plant may call them."""
    user: dict[str, Any] = {
        "user_id": "104218776503", "email": "dana.whitfield@northfield.example", "name": "Dana Whitfield",
        "given": "Dana", "family": "Whitfield", "time_zone": "UTC", "fixed": [],
    }
    names = {entity.name for entity in model.entities}
    if "UserProfile" in names:
        user["fixed"].append({"entity": "UserProfile", "as": "me", "set": {
            "id": user["user_id"], "email_address": user["email"], "name_full_name": user["name"],
            "name_given_name": user["given"], "name_family_name": user["family"], "verified_teacher": 1}})
    if "Person" in names:
        user["fixed"].append({"entity": "Person", "as": "me", "set": {
            "email": user["email"], "display_name": user["name"]}})
    if "CalendarListEntry" in names:
        user["fixed"].append({"entity": "Calendar", "as": "primary", "set": {
            "id": user["email"], "summary": user["name"], "time_zone": "UTC", "data_owner": user["email"]}})
        user["fixed"].append({"entity": "CalendarListEntry", "as": "primary_entry", "set": {
            "id": user["email"], "access_role": "owner", "primary_value": 1, "selected": 1, "hidden": 0}})
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
            made.append({"column": attr.column, "nulls": not (attr.required or attr.column in entity.key),
                            "kind": attr.kind, "default": _default(attr),
                            "fill": ("twin", *copies[attr.column]) if attr.column in copies else _fill(attr, entity, model)})
    return {
        "table": entity.table, "entity": entity.name, "key": list(entity.key), "own": entity.own_key,
        "weight": WEIGHTS.get(entity.name, 3.0 * (1 + len(entity.parents))), "natural": list(entity.natural_keys),
        "part_of": entity.part_of, "order": [a.column for a in entity.attrs], "links": links, "columns": made,
        "unique": _unique(entity, made), "distinct": _distinct(entity),
    }


def _unique(entity: Entity, columns: list[dict[str, Any]]) -> list[str]:
    """Columns that must differ from row to row and are not ids of our own making."""
    if {"scope_type", "scope_value"} <= {a.column for a in entity.attrs}:
        return [*(c for c in entity.key if c != entity.own_key), "scope_value"]
    own = next((c for c in columns if c["column"] == entity.own_key), None)
    return [] if own is not None and own["fill"][0] in ("id", "alias", "url", "email") else list(entity.key)


def _distinct(entity: Entity) -> list[str]:
    if entity.name in ("Person", "UserProfile"):
        return [c for c in ("email", "email_address") if c in {a.column for a in entity.attrs}]
    return [] if entity.kind == "part" or entity.name in ("Event", "CalendarListEntry") else list(entity.natural_keys)


def _links(entity: Entity, model: DomainModel) -> list[dict[str, Any]]:
    """References in the order in which they are decided: what a row cannot stand without first, longest key first."""
    keys = sorted(foreign_keys(entity, model), key=lambda k: (not k.owns, -len(k.columns)))
    links = [
        {"table": k.target.table, "columns": list(k.columns), "target": list(k.target_columns), "owns": k.owns,
         "null": 0.0 if k.owns else 0.3, "members": _members(entity, k.target, k.columns[-1], model)}
        for k in keys
    ]
    hard = {k.columns[-1] for k in keys}
    for attr in entity.attrs:
        reference = attr.references
        if reference is None or attr.column in hard or reference.strict or attr.derived or attr.column.startswith("creator"):
            continue
        target = model.entity(reference.entity)
        owns = attr.required or attr.column in entity.key
        links.append({"table": target.table, "columns": [attr.column], "target": [reference.column], "owns": owns,
                      "null": 0.0, "members": "", "soft": True})
    for reference in sorted(entity.parents, key=lambda p: -WEIGHTS.get(p.entity, 0)):  # one of several: the commonest
        if reference.column not in {c for link in links for c in link["columns"]} and reference.column in entity.key:
            target = model.entity(reference.entity)
            columns = [c if c != target.own_key else reference.column for c in target.key]
            links.insert(0, {"table": target.table, "columns": columns, "target": list(target.key), "owns": True,
                             "null": 0.0, "members": "", "soft": True})
    return links


def _members(entity: Entity, target: Entity, column: str, model: DomainModel) -> str:
    """The table that says which of the target belong to this row's parent (the students of its course)."""
    if len(entity.key) == 2 and column == entity.own_key:
        return ""
    wanted = "Teacher" if re.search(r"creator|owner|teacher", column) else "Student"
    found = [
        e for e in model.entities
        if e.name == wanted and e.name != entity.name and len(e.key) == 2
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
    if _SPECIAL.match(attr.column) or _SPECIAL.search(attr.column):
        return ("null",)
    if attr.enum:
        weights = {value: COMMON.get(value, 0.3) for value in attr.enum if "UNSPECIFIED" not in value}
        return ("enum", weights)
    if attr.kind == "boolean":
        return ("default",)
    if attr.kind == "timestamp":
        return (("created",) if attr.column.startswith("creat") else
                ("updated",) if attr.column.startswith("update") else ("null",))
    if attr.default is not None and attr.kind != "json":
        return ("default",)
    if attr.column == "display_name" or attr.column.endswith("_display_name"):
        return ("name_of",)
    return ("required_text",) if attr.required and attr.kind == "text" else ("null",)
