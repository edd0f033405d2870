"""What the calendar's tools promise beyond running: series and their instances, guests, free and busy, moves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from tests.tasks_app.environment_packages import package_of, world


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    connection = world("calendar").connect()
    yield connection
    connection.close()


@pytest.fixture
def tools(db: sqlite3.Connection) -> Any:
    class Tools:
        Error = package_of("calendar").module("tools").ToolError

        def __getattr__(self, name: str) -> Any:
            return lambda **arguments: package_of("calendar").functions[name](db, **arguments)

    return Tools()


def choir(tools: Any) -> str:
    found: str = tools.events_list(calendarId="primary", q="Choir")["items"][0]["id"]
    return found


def starts(items: list[dict[str, Any]]) -> list[str]:
    return [item["start"].get("dateTime") or item["start"]["date"] for item in items]


def test_a_series_is_shown_once_or_as_its_instances(tools: Any) -> None:
    choir(tools)
    shown = tools.events_list(calendarId="primary", singleEvents=True, orderBy="startTime", q="Choir")["items"]
    assert starts(shown) == [f"2026-{day}T18:00:00Z" for day in ("11-03", "11-10", "11-17", "11-24", "12-01", "12-08")]
    assert all(item["attendees"][0]["email"] == "kim@example.org" for item in shown)
    assert tools.events_instances(calendarId="primary", eventId=choir(tools))["items"] == shown


def test_a_span_of_time_shows_only_what_meets_it(tools: Any) -> None:
    span = {"timeMin": "2026-11-09T00:00:00Z", "timeMax": "2026-11-18T00:00:00+01:00"}
    assert len(tools.events_instances(calendarId="primary", eventId=choir(tools), **span)["items"]) == 2
    names = [item["summary"] for item in tools.events_list(calendarId="primary", **span)["items"]]
    assert names.count("Choir") == 1


def test_one_instance_can_be_moved_or_cancelled_by_itself(tools: Any) -> None:
    first, second, *_ = tools.events_instances(calendarId="primary", eventId=choir(tools))["items"]
    tools.events_delete(calendarId="primary", eventId=first["id"])
    tools.events_patch(calendarId="primary", eventId=second["id"], location="Hall B")
    left = tools.events_instances(calendarId="primary", eventId=choir(tools))["items"]
    assert first["id"] not in {item["id"] for item in left}
    assert [item.get("location") for item in left] == ["Hall B", None, None, None, None]
    assert left[0]["attendees"][0]["email"] == "kim@example.org"
    assert tools.events_get(calendarId="primary", eventId=choir(tools))["recurrence"] == ["RRULE:FREQ=WEEKLY;COUNT=6"]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("RRULE:FREQ=DAILY;COUNT=3", ["2026-11-02", "2026-11-03", "2026-11-04"]),
        ("RRULE:FREQ=DAILY;INTERVAL=2;UNTIL=20261106", ["2026-11-02", "2026-11-04", "2026-11-06"]),
        ("RRULE:FREQ=WEEKLY;BYDAY=MO,TH;COUNT=4", ["2026-11-02", "2026-11-05", "2026-11-09", "2026-11-12"]),
        ("RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=2", ["2026-11-02", "2026-11-16"]),
        ("RRULE:FREQ=MONTHLY;COUNT=2", ["2026-11-02", "2026-12-02"]),
    ],
)
def test_rules_expand_as_written(tools: Any, rule: str, expected: list[str]) -> None:
    made = tools.events_insert(
        calendarId="primary", summary="x", start={"date": "2026-11-02"}, end={"date": "2026-11-03"}, recurrence=[rule]
    )
    assert starts(tools.events_instances(calendarId="primary", eventId=made["id"])["items"]) == expected


def test_nine_oclock_stays_nine_oclock_over_a_change_of_the_clocks(tools: Any) -> None:
    made = tools.events_insert(
        calendarId="primary",
        summary="x",
        recurrence=["RRULE:FREQ=WEEKLY;COUNT=2"],
        start={"dateTime": "2026-10-22T09:00:00", "timeZone": "Europe/Berlin"},
        end={"dateTime": "2026-10-22T10:00:00", "timeZone": "Europe/Berlin"},
    )
    shown = tools.events_instances(calendarId="primary", eventId=made["id"])["items"]
    assert starts(shown) == ["2026-10-22T07:00:00Z", "2026-10-29T08:00:00Z"]


def test_a_rule_that_cannot_be_expanded_is_refused(tools: Any) -> None:
    for rule in ("RRULE:FREQ=YEARLY", "RRULE:FREQ=WEEKLY;BYDAY=1MO", "FREQ=DAILY", "RRULE:FREQ=DAILY;COUNT=0"):
        with pytest.raises(tools.Error, match="recurrence"):
            tools.events_insert(
                calendarId="primary",
                summary="x",
                start={"date": "2026-11-02"},
                end={"date": "2026-11-03"},
                recurrence=[rule],
            )


def test_a_patch_merges_objects_and_replaces_guests(tools: Any) -> None:
    made = tools.events_insert(
        calendarId="primary",
        summary="Review",
        start={"dateTime": "2026-11-09T09:00:00Z"},
        end={"dateTime": "2026-11-09T10:00:00Z"},
        attendees=[{"email": "a@example.org"}, {"email": "b@example.org"}],
    )
    where = {"calendarId": "primary", "eventId": made["id"]}
    shown = tools.events_patch(**where, attendees=[{"email": "b@example.org", "responseStatus": "declined"}])
    assert [(g["email"], g["responseStatus"]) for g in shown["attendees"]] == [("b@example.org", "declined")]
    shown = tools.events_patch(**where, start={"date": "2026-11-10"}, end={"date": "2026-11-11"})
    assert shown["start"] == {"date": "2026-11-10"}
    with pytest.raises(tools.Error, match="both"):
        tools.events_patch(**where, start={"dateTime": "2026-11-10T09:00:00Z"})
    with pytest.raises(tools.Error, match="before it starts"):
        tools.events_patch(**where, end={"date": "2026-11-01"})


def test_reading_and_writing_back_changes_nothing_but_the_time_of_change(db: sqlite3.Connection, tools: Any) -> None:
    columns = [row[1] for row in db.execute("PRAGMA table_info(event)") if row[1] != "updated"]
    names = ", ".join(f'"{c}"' for c in columns)
    before = (
        db.execute(f"SELECT {names} FROM event ORDER BY calendar_id, id").fetchall(),
        db.execute("SELECT * FROM event_attendee ORDER BY calendar_id, event_id, email").fetchall(),
    )
    events = db.execute("SELECT calendar_id, id FROM event WHERE status <> 'cancelled'").fetchall()
    writable = {p.name for p in package_of("calendar").model.op("events_patch").params if p.where == "body"}
    for calendar, event in events:
        shown = tools.events_get(calendarId=calendar, eventId=event)
        guests = [
            {k: v for k, v in guest.items() if k not in ("self", "organizer", "id")}
            for guest in shown.get("attendees", [])
        ]
        body = {k: v for k, v in shown.items() if k in writable and k not in ("attachments", "reminders")}
        tools.events_patch(calendarId=calendar, eventId=event, **{**body, "attendees": guests})
    after = (
        db.execute(f"SELECT {names} FROM event ORDER BY calendar_id, id").fetchall(),
        db.execute("SELECT * FROM event_attendee ORDER BY calendar_id, event_id, email").fetchall(),
    )
    assert after == before


def test_free_and_busy_joins_clips_and_leaves_out_what_does_not_count(tools: Any) -> None:
    calendar = tools.calendars_insert(summary="Room Ada")["id"]
    for start, end, extra in (
        ("09:00", "10:00", {}),
        ("09:30", "11:00", {}),
        ("12:00", "13:00", {"transparency": "transparent"}),
        ("23:30", "23:59", {}),
    ):
        tools.events_insert(
            calendarId=calendar,
            summary="x",
            start={"dateTime": f"2026-11-09T{start}:00Z"},
            end={"dateTime": f"2026-11-09T{end}:00Z"},
            **extra,
        )
    gone = tools.events_insert(
        calendarId=calendar,
        summary="x",
        start={"dateTime": "2026-11-09T15:00:00Z"},
        end={"dateTime": "2026-11-09T16:00:00Z"},
    )
    tools.events_delete(calendarId=calendar, eventId=gone["id"])
    asked = tools.freebusy_query(
        timeMin="2026-11-09T00:00:00Z", timeMax="2026-11-09T23:45:00Z", items=[{"id": calendar}, {"id": "nowhere"}]
    )["calendars"]
    assert asked[calendar]["busy"] == [
        {"start": "2026-11-09T09:00:00Z", "end": "2026-11-09T11:00:00Z"},
        {"start": "2026-11-09T23:30:00Z", "end": "2026-11-09T23:45:00Z"},
    ]
    assert asked["nowhere"]["errors"][0]["reason"] == "notFound"


def test_a_moved_event_takes_its_guests_along(db: sqlite3.Connection, tools: Any) -> None:
    calendar = tools.calendars_insert(summary="Elsewhere")["id"]
    event = choir(tools)
    tools.events_move(calendarId="primary", eventId=event, destination=calendar)
    assert tools.events_get(calendarId=calendar, eventId=event)["attendees"][0]["email"] == "kim@example.org"
    with pytest.raises(tools.Error) as caught:
        tools.events_get(calendarId="primary", eventId=event)
    assert caught.value.code == "NOT_FOUND"


@pytest.mark.parametrize(
    ("text", "summary", "start", "end"),
    [
        ("Lunch with Kim tomorrow at 12:30", "Lunch with Kim", "2026-11-03T12:30:00Z", "2026-11-03T13:30:00Z"),
        ("Standup on Friday 9am for 15 minutes", "Standup", "2026-11-06T09:00:00Z", "2026-11-06T09:15:00Z"),
        ("Fair on 2026-12-05", "Fair", "2026-12-05", "2026-12-06"),
    ],
)
def test_a_line_of_text_becomes_an_event(tools: Any, text: str, summary: str, start: str, end: str) -> None:
    made = tools.events_quick_add(calendarId="primary", text=text)
    shown = tools.events_get(calendarId="primary", eventId=made["id"])
    assert (shown["summary"], starts([shown])[0]) == (summary, start)
    assert (shown["end"].get("dateTime") or shown["end"]["date"]) == end


def test_a_cancelled_event_is_hidden_until_asked_for(tools: Any) -> None:
    event = tools.events_list(calendarId="primary", q="Dentist")["items"][0]["id"]
    tools.events_delete(calendarId="primary", eventId=event)
    assert not tools.events_list(calendarId="primary", q="Dentist")["items"]
    assert tools.events_list(calendarId="primary", q="Dentist", showDeleted=True)["items"][0]["status"] == "cancelled"


def test_a_renamed_calendar_is_renamed_in_the_list_too(tools: Any) -> None:
    calendar = tools.calendars_insert(summary="Old name")["id"]
    tools.calendars_patch(calendarId=calendar, summary="New name")
    assert tools.calendar_list_get(calendarId=calendar)["summary"] == "New name"


def test_a_cleared_calendar_has_no_events_left(tools: Any) -> None:
    tools.calendars_clear(calendarId="primary")
    assert not tools.events_list(calendarId="primary", showDeleted=True)["items"]


def test_a_rule_of_sharing_is_named_by_whom_it_is_for(tools: Any) -> None:
    made = tools.acl_insert(calendarId="primary", role="reader", scope={"type": "user", "value": "kim@example.org"})
    assert made["id"] == "user:kim@example.org"
    assert tools.acl_get(calendarId="primary", ruleId=made["id"])["role"] == "reader"
