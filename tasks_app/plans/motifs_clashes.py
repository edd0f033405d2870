"""Motifs of Calendar about what overlaps."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Answer, Effect, FileReport, Plan, cmp, col, eq, fn, join, lit, scan, use, where
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.office import FAR, WEEK, Office
from tasks_app.plans.scopes import EVENT_KEY, LIVE, calendar, live_between, of_calendar, trapped, wrong
from tasks_app.wording.voices import say


def _clashes(name: str, first: str, until: str, op: str = "<") -> Plan:
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "week": live_between(first, until),
            "clashes": join(
                use("week"),
                use("week", "later"),
                cmp("<", col("event.start_time"), col("later.start_time")),
                cmp(op, col("later.start_time"), col("event.end_time")),
            ),
            "second": join(
                use("week"),
                use("week", "before"),
                cmp("<", col("before.start_time"), col("event.start_time")),
                cmp(op, col("event.start_time"), col("before.end_time")),
                how="semi",
            ),
        },
        effects=(
            Effect("update", "Event", "events_patch", use("second"), key=EVENT_KEY, set={"status": lit("tentative")}),
        ),
        files=(
            FileReport(
                "clashes.csv",
                use("clashes"),
                (("first", "event.summary"), ("second", "later.summary"), ("second starts", "later.start_time")),
                order=(("later.start_time", "asc"), ("event.summary", "asc")),
            ),
        ),
        answers=(Answer("clashes", use("clashes"), "count"),),
    )


def _double_booked(office: Office, room: str, twin: str, week: tuple[str, ...]) -> None:
    """Three clashes, two meetings that only touch, one cancelled, one outside the week, one in the other room."""
    summaries = iter(office.summaries(16))
    for place in range(3):
        office.event(room, next(summaries), week[place], f"{9 + place}:00".zfill(5), 90)
        office.event(room, next(summaries), week[place], f"{10 + place}:00", 60)
    for clock in ("13:00", "14:00"):
        office.event(room, next(summaries), week[1], clock, 60)
    office.event(room, next(summaries), week[4], "08:00", 45)
    office.event(room, next(summaries), week[3], "09:00", 120)
    office.event(room, next(summaries), week[3], "10:00", 30, status="cancelled")
    for clock in ("09:00", "09:30"):
        office.event(room, next(summaries), "2026-11-18", clock)
    for clock in ("15:00", "15:30"):
        office.event(twin, next(summaries), week[2], clock)


@motif("list_clashes")
def list_clashes(rng: Random) -> Draft:
    office = Office(rng)
    name, other = office.rooms(2)
    room, twin = office.calendar(name), office.calendar(other)
    _double_booked(office, room, twin, WEEK)
    office.cast.grow("Event", 0.2, {"calendar_id": ref(room), **FAR})
    instruction = say(
        rng,
        (
            "Twice this month two groups stood before the same door.",
            "People complain that the room is given away twice.",
        ),
        (
            'Find the meetings in the calendar "[name]" that overlap in the week from Monday 9 to Friday 13 November '
            "2026 (UTC, by their start). Meetings where one ends as the next begins don't overlap, and cancelled ones "
            "don't count.",
            "Of each pair, make the one that starts later tentative {until I have talked to them|for now}, and write "
            "clashes.csv, a line for each pair: first (the title of the earlier one), second, second starts (as the "
            "calendar gives it), sorted by second starts and then first.",
            "And tell me how many pairs there are.",
        ),
        name=name,
    )
    first, until = stamp(WEEK[0]), stamp("2026-11-14")
    traps = (
        wrong("touching", "boundary", "takes meetings that only touch for a clash", _clashes(name, first, until, "<=")),
        wrong("next_week", "boundary", "counts the week after too", _clashes(name, first, stamp("2026-11-21"))),
        wrong("other_room", "neighbour", "looks at another room", _clashes(other, first, until)),
    )
    return Draft(
        "list_clashes",
        "calendar",
        "Double bookings of a room",
        instruction,
        trapped(_clashes(name, first, until), traps),
        office.cast,
    )


def _move_clashes(name: str, spare: str, first: str, until: str, op: str = "<") -> Plan:
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "week": live_between(first, until),
            "second": join(
                use("week"),
                use("week", "before"),
                cmp("<", col("before.start_time"), col("event.start_time")),
                cmp(op, col("event.start_time"), col("before.end_time")),
                how="semi",
            ),
            "target": where(scan("CalendarListEntry", "target"), eq("target.summary", lit(spare))),
            "moved": join(use("target"), use("second", "event")),
        },
        effects=(
            Effect("move", "Event", "events_move", use("moved"), key=EVENT_KEY, set={"calendar_id": col("target.id")}),
        ),
        answers=(Answer("moved", use("moved"), "count"),),
    )


@motif("move_clashes")
def move_clashes(rng: Random) -> Draft:
    office = Office(rng)
    name, spare, other = office.rooms(3)
    room, target, twin = office.calendar(name), office.calendar(spare), office.calendar(other)
    _double_booked(office, room, twin, WEEK)
    office.event(target, office.summaries(1)[0], WEEK[2], "08:00", 30)
    office.cast.grow("Event", 0.2, {"calendar_id": ref(room), **FAR})
    instruction = say(
        rng,
        ("The room has been given away twice again.", "Two groups can't share one room."),
        (
            'In the week from Monday 9 to Friday 13 November 2026 (UTC), move every meeting in the calendar '
            '"[name]" that '
            'starts while an earlier one there is still running to the calendar "[spare]", which is free all week.',
            "The earlier ones stay. A meeting that starts just as another ends is fine where it is, and cancelled "
            "meetings "
            "don't block anything.",
            "How many did you move?",
        ),
        name=name,
        spare=spare,
    )
    first, until = stamp(WEEK[0]), stamp("2026-11-14")
    traps = (
        wrong("touching", "boundary", "moves meetings that only touch", _move_clashes(name, spare, first, until, "<=")),
        wrong(
            "next_week",
            "boundary",
            "moves those of the week after too",
            _move_clashes(name, spare, first, stamp("2026-11-21")),
        ),
        wrong("other_room", "neighbour", "moves them to another room", _move_clashes(name, other, first, until)),
    )
    return Draft(
        "move_clashes",
        "calendar",
        "Move double bookings away",
        instruction,
        trapped(_move_clashes(name, spare, first, until), traps),
        office.cast,
    )


def _give_way(name: str, exams: str, days: int = 7, op: str = "<") -> Plan:
    blocking = where(scan("CalendarListEntry", "exams"), eq("exams.summary", lit(exams)))
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "ours": where(of_calendar(), LIVE),
            "exams": blocking,
            "taken": where(of_calendar("exam", "exams"), cmp("!=", col("exam.status"), lit("cancelled"))),
            "clash": join(
                use("ours"),
                use("taken", "exam"),
                cmp(op, col("event.start_time"), col("exam.end_time")),
                cmp(op, col("exam.start_time"), col("event.end_time")),
                how="semi",
            ),
        },
        effects=(
            Effect(
                "update",
                "Event",
                "events_patch",
                use("clash"),
                key=EVENT_KEY,
                set={
                    "start_time": fn("add_days", col("event.start_time"), lit(days)),
                    "end_time": fn("add_days", col("event.end_time"), lit(days)),
                },
            ),
        ),
        files=(
            FileReport(
                "moved.csv",
                use("clash"),
                (("meeting", "event.summary"), ("was", "event.start_time")),
                order=(("event.start_time", "asc"),),
            ),
        ),
    )


@motif("give_way")
def give_way(rng: Random) -> Draft:
    office = Office(rng)
    name, other = rng.sample(("Football training", "Swimming training", "Orchestra", "Drama group"), 2)
    exams = rng.choice(("Exams", "Mock exams", "Language exams"))
    team, twin, block = office.calendar(name), office.calendar(other), office.calendar(exams)
    summaries = iter(office.summaries(16))
    days = ("2026-11-10", "2026-11-12", "2026-11-17", "2026-11-19")
    for place, day in enumerate(days):
        office.event(block, f"{exams[:-1]} paper {place + 1}", day, "13:00", 120, location=f"Hall {place + 1}")
    for place, day in enumerate(days):
        office.event(team, next(summaries), day, ("14:00", "12:30", "13:30", "12:00")[place], (90, 60, 30, 240)[place])
    office.event(team, next(summaries), days[0], "15:00", 60)
    office.event(team, next(summaries), days[1], "11:00", 90)
    office.event(team, next(summaries), "2026-11-11", "13:30")
    office.event(block, f"{exams[:-1]} resit", "2026-11-13", "13:00", 120, status="cancelled")
    office.event(team, next(summaries), "2026-11-13", "13:30")
    office.event(twin, next(summaries), days[2], "13:15")
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), **FAR})
    office.cast.grow(
        "Event",
        0.1,
        {
            "calendar_id": ref(block),
            **FAR,
            "start_time": {"choice": [stamp(f"2027-01-{day}", "08:00") for day in range(11, 16)]},
        },
    )
    instruction = say(
        rng,
        ("Exams come first, whatever the coach says.", "The headteacher wants nothing to run alongside the exams."),
        (
            'Move every entry of the calendar "[name]" that overlaps an entry of the calendar "[exams]" to the '
            'same time one '
            "week later; cancelled entries count for nothing.",
            "One that begins just when the other ends is no overlap. Don't look at what it might collide with then.",
            "Write moved.csv with meeting and was (the old start, as the calendar gave it), sorted by was.",
        ),
        name=name,
        exams=exams,
    )
    traps = (
        wrong("touching", "boundary", "moves entries that only touch", _give_way(name, exams, op="<=")),
        wrong("two_weeks", "wrong_value", "moves them by two weeks", _give_way(name, exams, days=14)),
        wrong("other_calendar", "neighbour", "moves another group", _give_way(other, exams)),
    )
    return Draft(
        "give_way",
        "calendar",
        "Make way for the exams",
        instruction,
        trapped(_give_way(name, exams), traps),
        office.cast,
    )
