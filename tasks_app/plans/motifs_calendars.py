"""Motifs of Calendar about calendars as a whole: holidays, what is over, what is old."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import (
    Answer,
    Effect,
    FileReport,
    Plan,
    Rel,
    cmp,
    col,
    eq,
    file,
    fn,
    group,
    join,
    lit,
    scan,
    use,
    where,
)
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.office import FAR, Office
from tasks_app.plans.scopes import EVENT_KEY, LIVE, calendar, no, of_calendar, trapped, wrong
from tasks_app.wording.voices import say


def _holidays(name: str, fresh: bool = True) -> Plan:
    missing: Rel = use("days")
    if fresh:
        missing = join(missing, use("known", "known"), eq("row.date", "known.start_time"), how="anti")
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "known": where(of_calendar(), LIVE),
            "days": file("inbox/holidays.csv", "row", (("date", "text"), ("holiday", "text"))),
            "missing": missing,
            "made": join(use("calendar"), use("missing", "day")),
        },
        effects=(
            Effect(
                "create",
                "Event",
                "events_insert",
                use("made"),
                key={"calendarId": col("calendar.id")},
                set={
                    "summary": col("day.holiday"),
                    "start_time": col("day.date"),
                    "end_time": fn("add_days", col("day.date"), lit(1)),
                },
            ),
        ),
        answers=(Answer("added", use("made"), "count"),),
    )


@motif("add_holidays")
def add_holidays(rng: Random) -> Draft:
    office = Office(rng)
    name, other = rng.sample(("Days off", "School year", "Site closures"), 2)
    shared, twin = office.calendar(name), office.calendar(other)
    days = (
        ("2026-12-24", "Christmas Eve"),
        ("2026-12-25", "Christmas Day"),
        ("2026-12-31", "New Year's Eve"),
        ("2027-01-01", "New Year's Day"),
        ("2027-01-06", "Epiphany"),
        ("2027-02-15", "Carnival Monday"),
        ("2027-03-26", "Good Friday"),
        ("2027-05-01", "Labour Day"),
    )
    known = rng.sample(range(8), 3)
    for place, (day, holiday) in enumerate(days):
        if place in known:
            label = holiday if place % 2 else f"{holiday} (closed)"
            office.cast.plant(
                "Event",
                {
                    "calendar_id": ref(shared),
                    "summary": label,
                    "status": "confirmed",
                    "event_type": "default",
                    "start_time": day,
                    "recurrence": None,
                    "end_time": f"{day[:8]}{int(day[8:]) + 1:02d}" if day[8:] != "31" else "2027-01-01",
                },
            )
    office.cast.plant(
        "Event",
        {
            "calendar_id": ref(twin),
            "summary": "Staff party",
            "status": "confirmed",
            "recurrence": None,
            "event_type": "default",
            "start_time": "2026-12-18",
            "end_time": "2026-12-19",
        },
    )
    office.cast.file("inbox/holidays.csv", ("date", "holiday"), [list(row) for row in days])
    office.cast.grow("Event", 0.2, {"calendar_id": ref(shared), **FAR})
    instruction = say(
        rng,
        (
            "People kept booking meetings on public holidays last year.",
            "The calendar of the next months lacks most public holidays.",
        ),
        (
            'Add the days in inbox/holidays.csv to the calendar "[name]" as all-day entries of one day, titled as '
            'in the list. ',
            "Where an all-day entry begins on such a date already, whatever it is called, {don't add another|leave "
            "it at that}.",
            "How many did you add?",
        ),
        name=name,
    )
    traps = (
        wrong("doubles", "dropped_condition", "adds days that are there already", _holidays(name, fresh=False)),
        wrong("other_calendar", "neighbour", "adds them to another calendar", _holidays(other)),
    )
    return Draft(
        "add_holidays",
        "calendar",
        "Enter the public holidays",
        instruction,
        trapped(_holidays(name), traps),
        office.cast,
    )


def _hide(prefix: str, since: str, alive: bool = True, live: bool = True) -> Plan:
    chosen: Rel = use("trips")
    if alive:
        chosen = join(chosen, use("coming", "coming"), eq("calendar.id", "coming.calendar_id"), how="anti")
    return Plan(
        "calendar",
        lets={
            "trips": where(
                scan("CalendarListEntry", "calendar"), fn("starts_with", col("calendar.summary"), lit(prefix))
            ),
            "coming": where(
                join(use("trips"), scan("Event", "event"), eq("event.calendar_id", "calendar.id")),
                *([LIVE] if live else []),
                cmp(">=", col("event.start_time"), lit(since)),
            ),
            "over": chosen,
        },
        effects=(
            Effect(
                "update",
                "CalendarListEntry",
                "calendar_list_patch",
                use("over"),
                key={"calendarId": col("calendar.id")},
                set={"hidden": lit(True)},
            ),
        ),
        files=(
            FileReport(
                "hidden.csv", use("over"), (("calendar", "calendar.summary"),), order=(("calendar.summary", "asc"),)
            ),
        ),
    )


@motif("hide_past")
def hide_past(rng: Random) -> Draft:
    office = Office(rng)
    prefix = rng.choice(("Trip to ", "Conference in ", "Visit to "))
    cities = rng.sample(("Lisbon", "Gdansk", "Oslo", "Trieste", "Ghent", "Cork", "Malmo", "Turin", "Graz"), 8)
    summaries = iter(office.summaries(24))
    for place, city in enumerate(cities[:6]):
        trip = office.calendar(f"{prefix}{city}")
        office.event(trip, next(summaries), f"2026-0{place + 3}-1{place}", "09:00")
        office.event(trip, next(summaries), "2026-10-31", "22:00", 60)
        if place in (3, 4):
            office.event(trip, next(summaries), "2026-11-01" if place == 3 else "2026-12-05", "00:00")
            last = trip
        if place == 1:
            office.event(trip, next(summaries), "2026-12-01", "10:00", status="cancelled")
    other = office.calendar(f"Planning {cities[6]}")
    office.event(other, next(summaries), "2026-05-05", "09:00")
    office.cast.grow("Event", 0.2, {"calendar_id": ref(last), **FAR})
    instruction = say(
        rng,
        ("My list of calendars is endless.", "I can't find anything in my list of calendars any more."),
        (
            'Hide those calendars whose name begins with "[prefix]" in which nothing takes place on or after 1 '
            'November 2026 '
            "(UTC, by start); {what was cancelled does not take place|a cancelled entry doesn't take place}.",
            "Don't delete any calendar or entry.",
            "List what you hid in hidden.csv, one column, calendar, sorted by name.",
        ),
        prefix=prefix.strip(),
    )
    since = stamp("2026-11-01")
    traps = (
        wrong("all_trips", "dropped_condition", "hides all of them", _hide(prefix, since, alive=False)),
        wrong("boundary", "boundary", "lets the first of November slip", _hide(prefix, stamp("2026-11-02"))),
    )
    return Draft(
        "hide_past", "calendar", "Hide what is over", instruction, trapped(_hide(prefix, since), traps), office.cast
    )


def _archive(name: str, target: str, before: str, keep: str | None) -> Plan:
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "old": where(
                of_calendar(),
                LIVE,
                cmp("<", col("event.start_time"), lit(before)),
                *([no(eq("event.location", lit(keep)))] if keep else []),
            ),
            "target": where(scan("CalendarListEntry", "target"), eq("target.summary", lit(target))),
            "moved": join(use("target"), use("old", "event")),
            "months": group(use("moved"), ("event.location",), meetings=("count", None)),
        },
        effects=(
            Effect("move", "Event", "events_move", use("moved"), key=EVENT_KEY, set={"calendar_id": col("target.id")}),
        ),
        files=(
            FileReport(
                "moved.csv",
                use("months"),
                (("place", "event.location"), ("meetings", "meetings")),
                order=(("event.location", "asc"),),
            ),
        ),
    )


@motif("archive_meetings")
def archive_meetings(rng: Random) -> Draft:
    office = Office(rng)
    name, other = office.projects(2)
    target = f"{name} archive"
    places = office.rooms(3)
    team, attic, twin = office.calendar(name), office.calendar(target), office.calendar(other)
    summaries = iter(office.summaries(18))
    for place in range(6):
        office.event(team, next(summaries), f"2026-0{place + 3}-17", "09:00", location=places[place % 2])
    office.event(team, next(summaries), "2026-04-20", "09:00", location=places[2])
    office.event(team, next(summaries), "2026-05-20", "09:00", location=places[2])
    office.event(team, next(summaries), "2026-09-01", "00:00", location=places[0])
    office.event(team, next(summaries), "2026-11-20", "10:00", location=places[1])
    office.event(attic, next(summaries), "2025-02-20", "10:00", location=places[1])
    office.event(twin, next(summaries), "2026-03-20", "10:00", location=places[1])
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), "location": places[1], **FAR})
    instruction = say(
        rng,
        ("The calendar has become slow to read.", "The new colleagues should see only what is current."),
        (
            'Move the meetings of "[name]" that started before 1 September 2026 (UTC) to the calendar "[target]", '
            'cancelled '
            "ones excepted.",
            "What took place in [keep] stays, because the insurance still needs it.",
            "Leave me moved.csv with the columns place and meetings (how many you moved from there), sorted by place.",
        ),
        name=name,
        target=target,
        keep=places[2],
    )
    before = stamp("2026-09-01")
    traps = (
        wrong("spared_room", "dropped_condition", "moves what should stay", _archive(name, target, before, None)),
        wrong(
            "day_late", "boundary", "takes 1 September along", _archive(name, target, stamp("2026-09-02"), places[2])
        ),
        wrong(
            "other_calendar",
            "neighbour",
            "moves another calendar's meetings",
            _archive(other, target, before, places[2]),
        ),
    )
    return Draft(
        "archive_meetings",
        "calendar",
        "Move old meetings away",
        instruction,
        trapped(_archive(name, target, before, places[2]), traps),
        office.cast,
    )
