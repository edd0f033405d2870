"""Clumsy and hostile arguments: whatever a schema lets through, a tool answers or raises its documented ToolError.

Arguments are drawn by seed from the schemas and from keys that are in the state (own, of other parents, stale) and
spoiled: left out, null, extreme dates, empty and very long texts, odd tokens, the same key twice. Every call commits,
so that references are checked; a broken one (IntegrityError) is a fault of the environment and fails here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tasks_app.domains.model import Op
from tasks_app.environments.state import State
from tests.tasks_app.environment_calls import arguments_for, sample
from tests.tasks_app.environment_packages import package_of, world

DOMAINS = ("classroom", "calendar")
TOOLS = [(domain, op.tool) for domain in DOMAINS for op in package_of(domain).model.ops]
CODES = {"INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION", "ALREADY_EXISTS"}
TIMES = (
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-12:00",
    "9998-06-01T00:00:00Z",
    "0999-12-31T23:30:00-01:00",
    "2026-11-09T09:00:00",
    "2026-11-09",
    "2026-W45-1",
    "2026-02-30T00:00:00Z",
)
DAYS = ("0001-01-01", "9999-12-31", "2026-13-01", "2026-11-09", "20261109")
ZONES = ("", "Europe", "../etc", "Nowhere/City", "Pacific/Kiritimati", "UTC\0", "x" * 3000)
RULES = (
    "RRULE:FREQ=DAILY;INTERVAL=9999",
    "RRULE:FREQ=WEEKLY;INTERVAL=99999999999;BYDAY=MO,MO,TU",
    "RRULE:FREQ=WEEKLY;BYDAY=MO,MO",
    "RRULE:FREQ=MONTHLY;INTERVAL=9999",
    "RRULE:FREQ=DAILY;COUNT=²",
    "RRULE:FREQ=DAILY;UNTIL=00010101",
    "RRULE:FREQ=WEEKLY",
    "RRULE:",
    "EXDATE:20261103T180000Z",
    "",
)
LINES = (
    "on 9999-12-31",
    "on 0001-01-01 at 0:30",
    "tomorrow at 25:99",
    "Friday 13pm for 99999999999999999999 hours",
    "for 9 minutes at 9",
)
ODD = (
    *("", " ", "-", "me", "primary", "d:", "n=ü", '"=1', "'\";--", "%_*", "🙂"),
    *("x" * 20_000, "a b " * 2000, "\ud800", "\0"),
)
NUMBERS = (0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**70))
CALLS = 30  # of each tool
WALKS, STEPS = 8, 120


@pytest.fixture(scope="module")
def states() -> dict[str, State]:
    return {domain: world(domain, rows=700, files=12) for domain in DOMAINS}


def opened(state: State) -> sqlite3.Connection:
    """Autocommit, so that every call of a tool is checked as a whole, deferred references too."""
    connection = state.connect()
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def keys_in(db: sqlite3.Connection, domain: str, rng: Random) -> list[str]:
    """Keys of some rows of every table, and the acting user's own."""
    found = [str(value) for value in db.execute("SELECT user_id, email FROM _session").fetchone()]
    for entity in package_of(domain).model.entities:
        if entity.kind != "value" and entity.own_key:
            sql = f'SELECT "{entity.own_key}" FROM "{entity.table}" LIMIT 3 OFFSET ?'
            found += [str(row[0]) for row in db.execute(sql, (rng.randrange(6),)) if row[0] is not None]
    return found


class Spoiler:
    """Draws values for a schema: valid, nearly valid, and absurd ones."""

    def __init__(self, rng: Random, keys: list[str]) -> None:
        self.rng, self.keys = rng, keys

    def text(self, name: str) -> Any:
        pools: list[tuple[Any, ...]] = [ODD, tuple(self.keys)]
        lower = name.lower()
        if "zone" in lower:
            pools.append(ZONES)
        elif "time" in lower or "date" in lower or lower.endswith(("min", "max", "start")):
            pools += [TIMES, TIMES, DAYS]
        elif lower == "date":
            pools.append(DAYS)
        elif "token" in lower:
            pools.append(("MDo=", "OTk5OTk5OTk5OTk5OTk5OTk5OTk6YWJj", "é"))
        elif lower == "recurrence":
            pools += [RULES] * 4
        elif lower in ("text", "q"):
            pools += [LINES] * 2
        return self.rng.choice(self.rng.choice(pools))

    def value(self, schema: dict[str, Any], name: str, depth: int = 0) -> Any:
        rng = self.rng
        if rng.random() < 0.06:
            return rng.choice((None, float("nan"), float("inf"), 2**80, [], {}, "", True, [None], {"": None}))
        if schema.get("enum") and rng.random() < 0.9:
            return rng.choice(schema["enum"])
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "array":
            items = [self.value(dict(schema.get("items", {})), name, depth + 1) for _ in range(rng.randrange(3))]
            return items * rng.choice((1, 1, 1, 2, 40))
        if kind == "object":
            inner = schema.get("properties") or {"a": {}, 'b"': {}}
            kept = [key for key in inner if rng.random() < (0.5 if len(inner) > 3 else 0.8)]
            return {key: self.value(dict(inner[key]), key, depth + 1) for key in kept} if depth < 5 else {}
        if kind in ("integer", "number"):
            return rng.choice((*NUMBERS, 2026, 11, 9) if kind == "integer" else (*NUMBERS, 0.5, -2.5, 1e308))
        if kind == "boolean":
            return rng.random() < 0.5
        return self.text(name) if rng.random() < 0.8 else sample(schema, name)


def spoiled(good: dict[str, Any], schemas: dict[str, Any], spoiler: Spoiler, op: Op) -> dict[str, Any]:
    """Arguments that work, with some left out, replaced or added."""
    rng = spoiler.rng
    path = {p.name for p in op.params if p.where == "path"}
    arguments = dict(good)
    share = rng.choice((0.05, 0.2, 0.6))
    for name, schema in schemas.items():
        if name in path:
            if rng.random() < share / 2:
                arguments[name] = spoiler.text(name)
        elif rng.random() < share:
            arguments[name] = spoiler.value(dict(schema), name)
        elif rng.random() < share / 2:
            arguments.pop(name, None)
    if op.mask_param in schemas and rng.random() < 0.5:
        names = [p.name for p in op.params if p.where == "body"]
        picked = rng.choices(names, k=rng.randrange(1, 4))
        arguments[op.mask_param] = ",".join(name + rng.choice(("", "", "", ".a", ".a.b", ".", "..")) for name in picked)
    return arguments


def try_call(domain: str, db: sqlite3.Connection, op: Op, arguments: dict[str, Any]) -> bool:
    """Call the tool; True where it answered. Anything but an answer or a ToolError fails with the arguments shown."""
    package = package_of(domain)
    refused = None
    try:
        json.dumps(package.functions[op.tool](db, **arguments), allow_nan=False).encode()
    except package.module("tools").ToolError as error:
        refused = error
    except Exception as fault:
        shown = repr(arguments)[:1500]
        raise AssertionError(f"{op.tool} raised {type(fault).__name__}: {str(fault)[:300]}\n{shown}") from fault
    assert not db.in_transaction, op.tool
    assert refused is None or (refused.code in CODES and refused.message)
    return refused is None


@pytest.mark.parametrize("domain", DOMAINS)
def test_only_documented_errors_come_of_clumsy_arguments(domain: str, states: dict[str, State]) -> None:
    package = package_of(domain)
    answered = set()
    for op in package.model.ops:
        rng = Random(f"hostile/{op.tool}")
        db = opened(states[domain])
        goods = [arguments_for(db, op, package, full=full) for full in (False, True)]
        spoiler = Spoiler(rng, keys_in(db, domain, rng))
        schemas = package.tools[op.tool]["parameters"]["properties"]
        for number in range(CALLS):
            if try_call(domain, db, op, spoiled(goods[number % 2], schemas, spoiler, op)):
                answered.add(op.tool)
            if number % 20 == 19:
                db.close()
                db = opened(states[domain])
        db.close()
    assert len(answered) > 0.9 * len(package.model.ops)


@pytest.mark.parametrize("domain", DOMAINS)
def test_tools_stay_callable_in_a_state_that_earlier_calls_have_left(domain: str, states: dict[str, State]) -> None:
    """A walk through all tools over one state: what a deletion leaves behind must not break what comes after."""
    package = package_of(domain)
    rng = Random(f"walk/{domain}")
    for _ in range(WALKS):
        db = opened(states[domain])
        plain = {op.tool: arguments_for(db, op, package, full=rng.random() < 0.5) for op in package.model.ops}
        ops = rng.choices(package.model.ops, k=STEPS)
        for op in ops:
            spoiler = Spoiler(rng, keys_in(db, domain, rng))
            schemas = package.tools[op.tool]["parameters"]["properties"]
            arguments = plain[op.tool] if rng.random() < 0.4 else spoiled(plain[op.tool], schemas, spoiler, op)
            try_call(domain, db, op, arguments)
        for op in package.model.ops:  # what was written can be read: no poisoned rows
            if op.effect.kind == "list":
                try_call(domain, db, op, plain[op.tool])
        db.close()


@pytest.fixture
def db(domain: str, states: dict[str, State]) -> Iterator[sqlite3.Connection]:
    connection = opened(states[domain])
    yield connection
    connection.close()


def call(domain: str, db: sqlite3.Connection, tool: str, **arguments: Any) -> Any:
    return package_of(domain).functions[tool](db, **arguments)


def refusal(domain: str, db: sqlite3.Connection, tool: str, **arguments: Any) -> Any:
    with pytest.raises(package_of(domain).module("tools").ToolError) as caught:
        call(domain, db, tool, **arguments)
    return caught.value


@pytest.mark.parametrize("domain", ["calendar"])
def test_free_and_busy_without_a_span_is_refused(domain: str, db: sqlite3.Connection) -> None:
    span = {"timeMin": "2026-11-09T00:00:00Z", "timeMax": "2026-11-10T00:00:00Z"}
    for name in span:
        rest = {key: value for key, value in span.items() if key != name}
        assert str(refusal(domain, db, "freebusy_query", **rest)) == f"INVALID_ARGUMENT: {name} is required"


@pytest.mark.parametrize("domain", ["calendar"])
def test_times_at_the_ends_of_the_calendar_are_answered_or_refused_by_name(domain: str, db: sqlite3.Connection) -> None:
    everything = call(domain, db, "events_list", calendarId="primary", maxResults=2500)["items"]
    ends = {"timeMin": "0001-01-01T00:00:00Z", "timeMax": "9999-12-31T23:59:59Z"}
    assert call(domain, db, "events_list", calendarId="primary", maxResults=2500, **ends)["items"] == everything
    for name, moment in (("timeMin", "0001-01-01T00:00:00+14:00"), ("timeMax", "9999-12-31T23:59:59-12:00")):
        error = refusal(domain, db, "events_list", calendarId="primary", **{name: moment})
        assert (error.code, name in error.message) == ("INVALID_ARGUMENT", True)
    for day in ("0001-01-01", "9999-12-31"):
        error = refusal(
            domain, db, "events_insert", calendarId="primary", start={"date": day}, end={"date": day}, summary="x"
        )
        assert (error.code, "start_time" in error.message) == ("INVALID_ARGUMENT", True)


@pytest.mark.parametrize("domain", ["calendar"])
def test_a_zone_that_is_none_is_refused_before_a_series_uses_it(domain: str, db: sqlite3.Connection) -> None:
    for zone in ("Europe", "Nowhere/City", "x" * 3000):
        error = refusal(
            domain,
            db,
            "events_insert",
            calendarId="primary",
            start={"dateTime": "2026-11-09T09:00:00Z", "timeZone": zone},
            end={"dateTime": "2026-11-09T10:00:00Z"},
            recurrence=["RRULE:FREQ=DAILY"],
        )
        assert "no IANA time zone" in error.message


@pytest.mark.parametrize("domain", ["calendar"])
def test_an_empty_recurrence_makes_no_series(domain: str, db: sqlite3.Connection) -> None:
    span = {"start": {"date": "2026-11-09"}, "end": {"date": "2026-11-10"}}
    made = call(domain, db, "events_insert", calendarId="primary", recurrence=["RRULE:FREQ=DAILY;COUNT=3"], **span)
    shown = call(domain, db, "events_patch", calendarId="primary", eventId=made["id"], recurrence=[])
    assert "recurrence" not in shown
    assert call(domain, db, "events_list", calendarId="primary", singleEvents=True)["items"]


def rows_of(db: sqlite3.Connection, event: str) -> list[list[Any]]:
    """The parts of an event, whichever calendar it is in."""
    tables = ("event_attachment", "event_attendee", "event_reminder")
    found = []
    for table in tables:
        columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")') if row[1] != "calendar_id"]
        named = ", ".join(f'"{column}"' for column in columns)
        found.append(db.execute(f'SELECT {named} FROM "{table}" WHERE event_id = ?', (event,)).fetchall())
    return found


@pytest.mark.parametrize("domain", ["calendar"])
def test_an_event_moves_with_all_its_parts_to_the_primary_calendar_and_back(
    domain: str, db: sqlite3.Connection
) -> None:
    other = call(domain, db, "calendars_insert", summary="Elsewhere")["id"]
    mine = db.execute("SELECT email FROM _session").fetchone()[0]
    db.execute("INSERT INTO event_label (calendar_id, id, name) VALUES (?, 'green', 'Green')", (other,))
    made = call(
        domain,
        db,
        "events_insert",
        calendarId=other,
        summary="Review",
        start={"dateTime": "2026-11-09T09:00:00Z"},
        end={"dateTime": "2026-11-09T10:00:00Z"},
        attendees=[{"email": "a@example.org"}, {"email": "b@example.org", "responseStatus": "declined"}],
        attachments=[{"fileUrl": "https://example.org/agenda"}],
        reminders={"useDefault": False, "overrides": [{"method": "email", "minutes": 30}]},
        eventLabelId="green",
    )
    parts = rows_of(db, made["id"])
    assert [len(rows) for rows in parts] == [1, 2, 1]
    moved = call(domain, db, "events_move", calendarId=other, eventId=made["id"], destination=mine)
    assert "eventLabelId" not in moved  # the label is the old calendar's own
    back = call(domain, db, "events_move", calendarId="primary", eventId=made["id"], destination=other)
    assert rows_of(db, made["id"]) == parts
    assert {**back, "eventLabelId": "green"} == call(
        domain, db, "events_patch", calendarId=other, eventId=made["id"], eventLabelId="green"
    )
    assert back["attendees"] == made["attendees"]
    assert not db.execute("PRAGMA foreign_key_check").fetchall()


@pytest.mark.parametrize("domain", ["calendar"])
def test_a_series_moves_with_its_changed_instances_and_they_not_without_it(domain: str, db: sqlite3.Connection) -> None:
    other = call(domain, db, "calendars_insert", summary="Elsewhere")["id"]
    series = db.execute("SELECT id FROM event WHERE summary = 'Choir'").fetchone()[0]
    first, second, *_ = call(domain, db, "events_instances", calendarId="primary", eventId=series)["items"]
    call(domain, db, "events_patch", calendarId="primary", eventId=second["id"], location="Hall B")
    for instance in (first, second):
        error = refusal(domain, db, "events_move", calendarId="primary", eventId=instance["id"], destination=other)
        assert error.code == "FAILED_PRECONDITION"
    call(domain, db, "events_move", calendarId="primary", eventId=series, destination=other)
    shown = call(domain, db, "events_instances", calendarId=other, eventId=series)["items"]
    assert [item.get("location") for item in shown[:3]] == [None, "Hall B", None]
    assert all(item["attendees"][0]["email"] == "kim@example.org" for item in shown)
    assert not db.execute(
        "SELECT 1 FROM event WHERE recurring_event_id = ? AND calendar_id <> ?", (series, other)
    ).fetchall()


@pytest.mark.parametrize("domain", ["classroom"])
def test_an_invitation_to_a_course_that_is_gone_cannot_be_accepted(domain: str, db: sqlite3.Connection) -> None:
    invitation, course = db.execute(
        "SELECT id, course_id FROM invitation WHERE role = 'STUDENT' AND course_id IS NOT NULL"
    ).fetchone()
    call(domain, db, "courses_delete", id=course)
    assert refusal(domain, db, "invitations_accept", id=invitation).code == "FAILED_PRECONDITION"


@pytest.mark.parametrize("domain", ["calendar"])
def test_a_reference_broken_by_the_environment_itself_stays_a_fault(domain: str, db: sqlite3.Connection) -> None:
    """The net must not hide our own mistakes; the refused call still changes nothing."""
    before = list(db.iterdump())
    db.execute(
        'CREATE TEMP TRIGGER broken AFTER INSERT ON main."event" BEGIN '
        "UPDATE event SET event_label_id = 'none' WHERE id = NEW.id; END"
    )
    with pytest.raises(sqlite3.IntegrityError):
        call(domain, db, "events_quick_add", calendarId="primary", text="Lunch")
    assert not db.in_transaction
    assert list(db.iterdump()) == before
