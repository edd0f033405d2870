"""What the primers of Calendar share: two calendars, one wish about one of them."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Effect, Expr, Plan, Rel, col, eq, join, lit, scan, where
from tasks_app.plans.drafts import Draft
from tasks_app.plans.office import Office
from tasks_app.plans.scopes import trapped, wrong

MEETING_KEY = {"calendarId": col("event.calendar_id"), "eventId": col("event.id")}


def calendar_named(name: str) -> Rel:
    return where(scan("CalendarListEntry", "calendar"), eq("calendar.summary", lit(name)))


def row_of(name: str, *conditions: Expr, entity: str = "Event", alias: str = "event") -> Rel:
    return join(calendar_named(name), scan(entity, alias), eq(f"{alias}.calendar_id", "calendar.id"), *conditions)


def titled(name: str, summary: str) -> Rel:
    return row_of(name, eq("event.summary", lit(summary)))


def two_calendars(office: Office) -> tuple[str, str, str, str]:
    """Two calendars: both names, both references."""
    name, other = office.projects(2)
    return name, other, office.calendar(name), office.calendar(other)


def november(rng: Random) -> str:
    return f"2026-11-{rng.randint(4, 28):02d}"


def three_meetings(office: Office, rng: Random, **row: object) -> tuple[str, str, str, str]:
    """One meeting in each of two calendars under one title, and another in the first: names and both titles."""
    name, other, team, twin = two_calendars(office)
    title, second = office.summaries(2)
    for calendar, summary in ((team, title), (team, second), (twin, title)):
        office.event(calendar, summary, november(rng), f"{rng.randint(8, 17):02d}:00", 60, **row)
    return name, other, title, second


def office_primer(
    motif: str, title: str, instruction: str, plan: Plan, office: Office, *traps: tuple[str, str, Plan]
) -> Draft:
    faults = tuple(wrong(name, "neighbour", says, other) for name, says, other in traps)
    return Draft(motif, "calendar", title, instruction, trapped(plan, faults), office.cast, tier="primer")


def changing(
    motif: str, title: str, office: Office, words: str, places: tuple[str, str, str, str], **values: object
) -> Draft:
    """A primer that sets columns of one meeting."""
    name, other, summary, second = places

    def plan(calendar: str, which: str) -> Plan:
        return Plan(
            "calendar",
            effects=(
                Effect(
                    "update",
                    "Event",
                    "events_patch",
                    titled(calendar, which),
                    key=MEETING_KEY,
                    set={column: lit(value) for column, value in values.items()},
                ),
            ),
        )

    return office_primer(
        motif,
        title,
        words,
        plan(name, summary),
        office,
        ("other", "changes it in another calendar", plan(other, summary)),
        ("second", "changes another meeting", plan(name, second)),
    )
