"""Primers of Calendar that change one meeting."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Effect, Plan, col, lit
from tasks_app.plans.drafts import Draft, primer, stamp
from tasks_app.plans.office import Office
from tasks_app.plans.primer_office import (
    MEETING_KEY,
    calendar_named,
    changing,
    november,
    office_primer,
    three_meetings,
    titled,
    two_calendars,
)
from tasks_app.wording.grammar import clock, day
from tasks_app.wording.voices import ask


@primer("cancel_meeting")
def cancel_meeting(rng: Random) -> Draft:
    office = Office(rng)
    name, other, title, second = three_meetings(office, rng)

    def plan(calendar: str, summary: str) -> Plan:
        return Plan(
            "calendar",
            effects=(Effect("delete", "Event", "events_delete", titled(calendar, summary), key=MEETING_KEY),),
        )

    words = ask(
        rng,
        (
            'Cancel "[title]" in the calendar "[name]".',
            '"[title]" in "[name]" is off; please cancel it.',
            'Please take "[title]" out of the calendar "[name]".',
        ),
        name=name,
        title=title,
    )
    return office_primer(
        "cancel_meeting",
        f"Cancel {title}",
        words,
        plan(name, title),
        office,
        ("other", "cancels it in another calendar", plan(other, title)),
        ("second", "cancels another meeting", plan(name, second)),
    )


@primer("change_place")
def change_place(rng: Random) -> Draft:
    office = Office(rng)
    places = three_meetings(office, rng, location="Lobby")
    room = f"{office.rooms(1)[0]}, floor {rng.randint(1, 9)}"
    words = ask(
        rng,
        (
            '"[title]" in the calendar "[name]" now takes place in "[room]"; change that.',
            'Set the place of "[title]" in "[name]" to "[room]".',
        ),
        name=places[0],
        title=places[2],
        room=room,
    )
    return changing("change_place", f"New place for {places[2]}", office, words, places, location=room)


@primer("reschedule")
def reschedule(rng: Random) -> Draft:
    office = Office(rng)
    places = three_meetings(office, rng)
    start = stamp(f"2026-12-{rng.randint(1, 18):02d}", f"{rng.randint(8, 17):02d}:30")
    end = stamp(start[:10], start[11:16], 60)
    words = ask(
        rng,
        (
            'Move "[title]" in the calendar "[name]" to [day] 2026, [start] to [end] (UTC).',
            '"[title]" in "[name]" is now on [day] 2026 from [start] to [end] (UTC); change it.',
        ),
        name=places[0],
        title=places[2],
        day=day(start),
        start=clock(start),
        end=clock(end),
    )
    return changing("reschedule", f"Reschedule {places[2]}", office, words, places, start_time=start, end_time=end)


@primer("make_private")
def make_private(rng: Random) -> Draft:
    office = Office(rng)
    places = three_meetings(office, rng, visibility="default")
    words = ask(
        rng,
        (
            'Make "[title]" in the calendar "[name]" private.',
            'Nobody should read "[title]" in "[name]"; make it private.',
        ),
        name=places[0],
        title=places[2],
    )
    return changing("make_private", f"Make {places[2]} private", office, words, places, visibility="private")


@primer("confirm_meeting")
def confirm_meeting(rng: Random) -> Draft:
    office = Office(rng)
    places = three_meetings(office, rng, status="tentative")
    words = ask(
        rng,
        ('"[title]" in the calendar "[name]" is no longer tentative: confirm it.', 'Confirm "[title]" in "[name]".'),
        name=places[0],
        title=places[2],
    )
    return changing("confirm_meeting", f"Confirm {places[2]}", office, words, places, status="confirmed")


@primer("retitle")
def retitle(rng: Random) -> Draft:
    office = Office(rng)
    places = three_meetings(office, rng)
    new = office.summaries(1)[0]
    words = ask(
        rng,
        (
            'Rename "[title]" in the calendar "[name]" to "[new]".',
            '"[title]" in "[name]" shall be called "[new]" from now on.',
        ),
        name=places[0],
        title=places[2],
        new=new,
    )
    return changing("retitle", f"Rename {places[2]}", office, words, places, summary=new)


@primer("new_meeting")
def new_meeting(rng: Random) -> Draft:
    office = Office(rng)
    name, other, _, _ = two_calendars(office)
    title = office.summaries(1)[0]
    start = stamp(november(rng), f"{rng.randint(8, 17):02d}:00")
    end = stamp(start[:10], start[11:16], 30)

    def plan(calendar: str, summary: str = title) -> Plan:
        return Plan(
            "calendar",
            effects=(
                Effect(
                    "create",
                    "Event",
                    "events_insert",
                    calendar_named(calendar),
                    key={"calendarId": col("calendar.id")},
                    set={"summary": lit(summary), "start_time": lit(start), "end_time": lit(end)},
                ),
            ),
        )

    words = ask(
        rng,
        (
            'Enter "[title]" in the calendar "[name]" on [day] 2026 from [start] to [end] (UTC).',
            'Put "[title]" into "[name]": [day] 2026, [start] to [end] (UTC).',
        ),
        name=name,
        title=title,
        day=day(start),
        start=clock(start),
        end=clock(end),
    )
    return office_primer(
        "new_meeting",
        f"Enter {title}",
        words,
        plan(name),
        office,
        ("other", "enters it in another calendar", plan(other)),
    )


@primer("invite_one")
def invite_one(rng: Random) -> Draft:
    office = Office(rng)
    name, other, title, second = three_meetings(office, rng)
    person = office.person()

    def plan(calendar: str, summary: str) -> Plan:
        return Plan(
            "calendar",
            effects=(
                Effect(
                    "create",
                    "EventAttendee",
                    "events_patch",
                    titled(calendar, summary),
                    key={**MEETING_KEY, "email": lit(person.email)},
                    free=("response_status", "display_name"),
                ),
            ),
        )

    words = ask(
        rng,
        ('Invite [mail] to "[title]" in the calendar "[name]".', 'Add [mail] to the guests of "[title]" in "[name]".'),
        name=name,
        title=title,
        mail=person.email,
    )
    return office_primer(
        "invite_one",
        f"Invite to {title}",
        words,
        plan(name, title),
        office,
        ("other", "invites to another calendar's meeting", plan(other, title)),
        ("second", "invites to another meeting", plan(name, second)),
    )
