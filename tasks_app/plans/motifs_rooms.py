"""Motifs of Calendar about rooms, days and doubles: where and when a meeting can be."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import (
    Answer,
    Effect,
    FileReport,
    Plan,
    cmp,
    col,
    eq,
    file,
    fn,
    group,
    join,
    lit,
    use,
    where,
)
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.office import FAR, WEEK, Office
from tasks_app.plans.scopes import EVENT_KEY, LIVE, calendar, guests_of, live_between, of_calendar, trapped, wrong
from tasks_app.wording.voices import say


def _relocate(name: str, old: str, first: str, until: str, op: str = "<=", scoped: bool = True) -> Plan:
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "week": where(live_between(first, until), *([eq("event.location", lit(old))] if scoped else [])),
            "counts": group(guests_of("week"), ("guest.event_id",), guests=("count", None)),
            "rooms": file("inbox/rooms.csv", "row", (("room", "text"), ("replacement", "text"), ("seats", "integer"))),
            "new": where(use("rooms"), eq("row.room", lit(old))),
            "sized": join(
                join(use("week"), use("counts", "sum"), eq("event.id", "sum.event_id")),
                use("new", "row"),
                *([eq("event.location", "row.room")] if scoped else []),
            ),
            "fits": where(use("sized"), cmp(op, col("sum.guests"), col("row.seats"))),
            "stuck": join(use("sized"), use("fits", "fit"), eq("event.id", "fit.id"), how="anti"),
        },
        effects=(
            Effect(
                "update", "Event", "events_patch", use("fits"), key=EVENT_KEY, set={"location": col("row.replacement")}
            ),
        ),
        files=(
            FileReport(
                "too_large.csv",
                use("stuck"),
                (("meeting", "event.summary"), ("guests", "sum.guests")),
                order=(("sum.guests", "desc"), ("event.summary", "asc")),
            ),
        ),
    )


@motif("relocate")
def relocate(rng: Random) -> Draft:
    office = Office(rng)
    name, other = office.projects(2)
    old, new, third, fourth = office.rooms(4)
    team, twin = office.calendar(name), office.calendar(other)
    people = office.people(8)
    seats = rng.choice((4, 5))
    summaries = iter(office.summaries(14))
    for place, size in enumerate((2, 3, seats, seats + 1, seats + 2, 1)):
        event = office.event(team, next(summaries), WEEK[place % 5], f"{9 + place}:15".zfill(5), location=old)
        office.guests(team, event, people[:size], ("accepted", "declined"))
    event = office.event(team, next(summaries), WEEK[0], "16:15", location=third)
    office.guests(team, event, people[:2])
    event = office.event(team, next(summaries), "2026-11-16", "09:15", location=old)
    office.guests(team, event, people[:2])
    event = office.event(twin, next(summaries), WEEK[1], "10:15", location=old)
    office.guests(twin, event, people[:2])
    rows = [[old, new, seats], [third, fourth, 12], [new, third, 20]]
    rng.shuffle(rows)
    office.cast.file("inbox/rooms.csv", ("room", "replacement", "seats"), rows)
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), "location": third, **FAR})
    instruction = say(
        rng,
        (
            "[old] is being painted from Monday 9 to Friday 13 November 2026.",
            "The projector in [old] is broken; it is closed from Monday 9 to Friday 13 November 2026.",
        ),
        (
            'inbox/rooms.csv says which room replaces which, and the seats of the replacement. In the calendar '
            '"[name]", give '
            "the meetings with guests that start on those days (UTC) in [old] the replacement as their place, if "
            "the guests "
            "fit in; somebody who declined may still come and needs a seat.",
            "Meetings that don't fit stay as they are; list them in too_large.csv: meeting and guests (how many), "
            "most first, "
            "by meeting where equal.",
        ),
        old=old,
        name=name,
    )
    first, until = stamp(WEEK[0]), stamp("2026-11-14")
    traps = (
        wrong("one_spare", "boundary", "wants a seat to spare", _relocate(name, old, first, until, "<")),
        wrong(
            "all_rooms",
            "dropped_condition",
            "moves meetings in other rooms too",
            _relocate(name, old, first, until, scoped=False),
        ),
        wrong("next_week", "boundary", "moves the week after too", _relocate(name, old, first, stamp("2026-11-21"))),
        wrong("other_calendar", "neighbour", "does it in another calendar", _relocate(other, old, first, until)),
    )
    return Draft(
        "relocate",
        "calendar",
        "A room is closed",
        instruction,
        trapped(_relocate(name, old, first, until), traps),
        office.cast,
        outcome_kind="partly_refused",
    )


def _weekend(name: str, sunday: bool = True, shift: int = 0) -> Plan:
    weekday = fn("weekday", col("event.start_time"))
    days = ("case", ((("cmp", "=", weekday, lit(5)), lit(2 + shift)),), lit(1 + shift))
    weekend = (5, 6) if sunday else (5,)
    return Plan(
        "calendar",
        lets={"calendar": calendar(name), "odd": where(of_calendar(), LIVE, ("in", weekday, weekend))},
        effects=(
            Effect(
                "update",
                "Event",
                "events_patch",
                use("odd"),
                key=EVENT_KEY,
                set={
                    "start_time": fn("add_days", col("event.start_time"), days),
                    "end_time": fn("add_days", col("event.end_time"), days),
                },
            ),
        ),
        answers=(Answer("moved", use("odd"), "count"),),
    )


@motif("no_weekends")
def no_weekends(rng: Random) -> Draft:
    office = Office(rng)
    name, other = rng.sample(("Board", "Works council", "Safety committee", "Parents' council"), 2)
    hits = rng.choice((0, 4))
    team, twin = office.calendar(name), office.calendar(other)
    summaries = iter(office.summaries(16))
    for place in range(hits):
        office.event(
            team, next(summaries), ("2026-11-14", "2026-11-15", "2026-11-21", "2026-11-22")[place], f"1{place}:00", 45
        )
    for place, day in enumerate(("2026-11-13", "2026-11-16", "2026-11-20", "2026-11-23", "2026-11-25")):
        office.event(team, next(summaries), day, ("23:00", "00:00", "22:30", "00:30", "12:00")[place], 30)
    office.event(team, next(summaries), "2026-11-28", "09:00", status="cancelled")
    for day in ("2026-11-14", "2026-11-15"):
        office.event(twin, next(summaries), day, "09:00")
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), **FAR})
    instruction = say(
        rng,
        (
            "The building is closed at weekends from this month on.",
            "Nobody is paid to open the doors at weekends any more.",
        ),
        (
            'If any meeting in the calendar "[name]" starts on a Saturday or Sunday (UTC), move it to the Monday '
            'after, same '
            "time, same length. Cancelled ones don't matter.",
            "{Otherwise change nothing.|If there is none, leave everything as it is.}",
            "Tell me how many you moved; 0 if there was none.",
        ),
        name=name,
    )
    traps = (
        wrong("one_day_more", "wrong_value", "moves them to the Tuesday", _weekend(name, shift=1)),
        wrong("only_saturday", "dropped_condition", "forgets the Sunday", _weekend(name, sunday=False)),
        wrong("other_calendar", "neighbour", "does it in another calendar", _weekend(other)),
    )
    return Draft(
        "no_weekends",
        "calendar",
        "No meetings at weekends",
        instruction,
        trapped(_weekend(name), traps),
        office.cast,
        outcome_kind="done" if hits else "nothing_to_do",
    )


def _doubles(name: str, same_time: bool = True, later: bool = True) -> Plan:
    same = [eq("event.summary", "twin.summary")]
    if same_time:
        same.append(eq("event.start_time", "twin.start_time"))
    same.append(cmp(">" if later else "<", col("event.created"), col("twin.created")))
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "live": where(of_calendar(), LIVE),
            "doubles": join(use("live"), use("live", "twin"), *same, how="semi"),
        },
        effects=(Effect("delete", "Event", "events_delete", use("doubles"), key=EVENT_KEY),),
        answers=(Answer("removed", use("doubles"), "count"),),
    )


@motif("remove_doubles")
def remove_doubles(rng: Random) -> Draft:
    office = Office(rng)
    name, other = office.projects(2)
    team, twin = office.calendar(name), office.calendar(other)
    summaries = office.summaries(9)
    for place, summary in enumerate(summaries[:4]):
        day, clock = f"2026-11-{10 + place}", f"{9 + place}:00".zfill(5)
        office.event(team, summary, day, clock, created=stamp("2026-10-05", f"1{place}:00"))
        office.event(team, summary, day, clock, created=stamp("2026-10-20", f"1{place}:30"))
    for summary in summaries[4:6]:
        office.event(team, summary, "2026-11-16", "10:00", created=stamp("2026-10-06"))
        office.event(team, summary, "2026-11-23", "10:00", created=stamp("2026-10-21"))
    office.event(team, summaries[6], "2026-11-16", "10:00", created=stamp("2026-10-22"))
    office.event(team, summaries[7], "2026-11-18", "10:00", created=stamp("2026-10-22"))
    office.event(twin, summaries[8], "2026-11-18", "10:00", created=stamp("2026-10-01"))
    office.event(twin, summaries[8], "2026-11-18", "10:00", created=stamp("2026-10-02"))
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), **FAR, "summary": {"serial": "Drop-in {n}"}})
    instruction = say(
        rng,
        (
            "The import ran twice and half my calendar is there two times.",
            "Somebody sent the invitations again, and now I see double.",
        ),
        (
            'In the calendar "[name]", {some meetings are there twice|there are doubles}: same title, same start. '
            'Of each such '
            "pair cancel the entry that was created later and keep the earlier one.",
            "The same title at another time is no double.",
            "How many did you cancel?",
        ),
        name=name,
    )
    traps = (
        wrong(
            "title_only",
            "dropped_condition",
            "takes the same title at another time for a double",
            _doubles(name, same_time=False),
        ),
        wrong("keeps_newer", "order", "keeps the later one", _doubles(name, later=False)),
        wrong("other_calendar", "neighbour", "does it in another calendar", _doubles(other)),
    )
    return Draft(
        "remove_doubles", "calendar", "Remove doubles", instruction, trapped(_doubles(name), traps), office.cast
    )
