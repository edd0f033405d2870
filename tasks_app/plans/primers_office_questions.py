"""Primers of Calendar that ask: a count, a value, a list as a file."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Answer, FileReport, Plan, col, eq, lit
from tasks_app.plans.drafts import Draft, primer
from tasks_app.plans.office import Office
from tasks_app.plans.primer_office import november, office_primer, row_of, titled, two_calendars
from tasks_app.wording.voices import ask


@primer("count_meetings")
def count_meetings(rng: Random) -> Draft:
    office = Office(rng)
    name, other, team, twin = two_calendars(office)
    n = rng.randint(2, 8)
    for summary in office.summaries(n):
        office.event(team, summary, november(rng), f"{rng.randint(8, 17):02d}:00")
    for summary in office.summaries(n + 1 if n < 5 else n - 2):
        office.event(twin, summary, november(rng))

    def plan(calendar: str) -> Plan:
        return Plan("calendar", answers=(Answer("meetings", row_of(calendar), "count"),))

    words = ask(
        rng,
        (
            'How many entries are in the calendar "[name]"? Answer with the number.',
            'Count the entries of the calendar "[name]"; just tell me the number.',
        ),
        name=name,
    )
    return office_primer(
        "count_meetings",
        f"Entries of {name}",
        words,
        plan(name),
        office,
        ("other", "counts another calendar", plan(other)),
    )


@primer("count_unconfirmed")
def count_unconfirmed(rng: Random) -> Draft:
    office = Office(rng)
    name, other, team, twin = two_calendars(office)
    n = rng.randint(1, 5)
    for place, summary in enumerate(office.summaries(n + 3)):
        office.event(team, summary, november(rng), status="tentative" if place < n else "confirmed")
    for summary in office.summaries(n + 1):
        office.event(twin, summary, november(rng), status="tentative")

    def plan(calendar: str, status: str = "tentative") -> Plan:
        return Plan(
            "calendar", answers=(Answer("tentative", row_of(calendar, eq("event.status", lit(status))), "count"),)
        )

    words = ask(
        rng,
        (
            'How many entries of the calendar "[name]" are still tentative? Answer with the number.',
            'Tell me how many tentative entries "[name]" has, as a number.',
        ),
        name=name,
    )
    return office_primer(
        "count_unconfirmed",
        f"Tentative in {name}",
        words,
        plan(name),
        office,
        ("other", "counts another calendar", plan(other)),
        ("confirmed", "counts what is confirmed", plan(name, "confirmed")),
    )


@primer("where_is_it")
def where_is_it(rng: Random) -> Draft:
    office = Office(rng)
    name, _, team, _ = two_calendars(office)
    title, second = office.summaries(2)
    rooms = [f"{room}, floor {rng.randint(1, 9)}" for room in office.rooms(2)]
    for summary, room in zip((title, second), rooms, strict=True):
        office.event(team, summary, november(rng), location=room)

    def plan(summary: str) -> Plan:
        return Plan("calendar", answers=(Answer("place", titled(name, summary), "only", col("event.location")),))

    words = ask(
        rng,
        (
            'Where does "[title]" in the calendar "[name]" take place? Answer with the place alone.',
            'What place is entered for "[title]" in "[name]"? Just the place.',
        ),
        name=name,
        title=title,
    )
    return office_primer(
        "where_is_it",
        f"Where {title} is",
        words,
        plan(title),
        office,
        ("second", "looks at another meeting", plan(second)),
    )


@primer("list_meetings")
def list_meetings(rng: Random) -> Draft:
    office = Office(rng)
    name, other, team, twin = two_calendars(office)
    for summary in office.summaries(rng.randint(3, 6)):
        office.event(
            team,
            summary,
            november(rng),
            f"{rng.randint(8, 17):02d}:00",
            location=office.rng.choice(("Lobby", "Attic", "Yard")),
        )
    for summary in office.summaries(2):
        office.event(twin, summary, november(rng), location="Lobby")

    def plan(calendar: str) -> Plan:
        return Plan(
            "calendar",
            files=(
                FileReport(
                    "meetings.csv",
                    row_of(calendar),
                    (("title", "event.summary"), ("place", "event.location")),
                    order=(("event.summary", "asc"),),
                ),
            ),
        )

    words = ask(
        rng,
        (
            'Write the entries of the calendar "[name]" to meetings.csv, with the columns title and place, sorted '
            'by title.',
            'I need meetings.csv for "[name]": title and place of every entry, by title.',
        ),
        name=name,
    )
    return office_primer(
        "list_meetings",
        f"Entries of {name} as a file",
        words,
        plan(name),
        office,
        ("other", "lists another calendar", plan(other)),
    )
