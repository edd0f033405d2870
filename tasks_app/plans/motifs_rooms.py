"""Motifs of Calendar about rooms and clashes: what overlaps, what is double, what doesn't fit."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import (
    Answer, Effect, FileReport, Plan, Rel, cmp, col, eq, fn, group, join, lit, scan, use, where, file,
)
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.motifs_meetings import EVENT_KEY, LIVE, WEEK, guests_of
from tasks_app.plans.office import Office
from tasks_app.plans.scopes import between, calendar, of_calendar, trapped, wrong
from tasks_app.wording.voices import say

FAR = {"status": "confirmed", "recurrence": None, "start_time": stamp("2026-12-09", "06:00"),
       "end_time": stamp("2026-12-09", "06:30")}


def _week(first: str, until: str, live: bool = True) -> Rel:
    return where(of_calendar(), *([LIVE] if live else []), *between("event.start_time", first, until))


def _clashes(name: str, first: str, until: str, op: str = "<") -> Plan:
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "week": _week(first, until),
            "clashes": join(use("week"), use("week", "later"), cmp("<", col("event.start_time"), col("later.start_time")),
                            cmp(op, col("later.start_time"), col("event.end_time"))),
        },
        files=(FileReport("clashes.csv", use("clashes"),
                          (("first", "event.summary"), ("second", "later.summary"), ("second starts", "later.start_time")),
                          order=(("later.start_time", "asc"), ("event.summary", "asc"))),),
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
    office.cast.grow("Event", 0.4, {"calendar_id": ref(room), **FAR})
    instruction = say(
        rng,
        ("Twice this month two groups stood before the same door.", "People complain that the room is given away twice."),
        ('Which meetings in the calendar "[name]" overlap in the week from Monday 9 to Friday 13 November 2026 (UTC, by '
         "their start)? Meetings where one ends as the next begins don't, and cancelled ones don't count.",
         "Write clashes.csv, a line for each pair: first (the title of the one that starts earlier), second, second starts "
         "(as the calendar gives it), sorted by second starts and then first.",
         "And tell me how many pairs there are."),
        name=name,
    )
    first, until = stamp(WEEK[0]), stamp("2026-11-14")
    traps = (
        wrong("touching", "boundary", "takes meetings that only touch for a clash", _clashes(name, first, until, "<=")),
        wrong("next_week", "boundary", "counts the week after too", _clashes(name, first, stamp("2026-11-21"))),
        wrong("other_room", "neighbour", "looks at another room", _clashes(other, first, until)),
    )
    return Draft("list_clashes", "calendar", "Double bookings of a room", instruction,
                 trapped(_clashes(name, first, until), traps), office.cast)


def _move_clashes(name: str, spare: str, first: str, until: str, op: str = "<") -> Plan:
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "week": _week(first, until),
            "second": join(use("week"), use("week", "before"), cmp("<", col("before.start_time"), col("event.start_time")),
                           cmp(op, col("event.start_time"), col("before.end_time")), how="semi"),
            "target": where(scan("CalendarListEntry", "target"), eq("target.summary", lit(spare))),
            "moved": join(use("target"), use("second", "event"), cmp("!=", col("target.id"), col("event.calendar_id"))),
        },
        effects=(Effect("move", "Event", "events_move", use("moved"), key=EVENT_KEY, set={"calendar_id": col("target.id")}),),
        answers=(Answer("moved", use("moved"), "count"),),
    )


@motif("move_clashes")
def move_clashes(rng: Random) -> Draft:
    office = Office(rng)
    name, spare, other = office.rooms(3)
    room, target, twin = office.calendar(name), office.calendar(spare), office.calendar(other)
    _double_booked(office, room, twin, WEEK)
    office.event(target, office.summaries(1)[0], WEEK[2], "08:00", 30)
    office.cast.grow("Event", 0.4, {"calendar_id": ref(room), **FAR})
    instruction = say(
        rng,
        ("The room has been given away twice again.", "Two groups can't share one room."),
        ('In the week from Monday 9 to Friday 13 November 2026 (UTC), move every meeting in the calendar "[name]" that '
         'starts while an earlier one there is still running to the calendar "[spare]", which is free all week.',
         "The earlier ones stay. A meeting that starts just as another ends is fine where it is, and cancelled meetings "
         "don't block anything.",
         "How many did you move?"),
        name=name, spare=spare,
    )
    first, until = stamp(WEEK[0]), stamp("2026-11-14")
    traps = (
        wrong("touching", "boundary", "moves meetings that only touch", _move_clashes(name, spare, first, until, "<=")),
        wrong("next_week", "boundary", "moves those of the week after too", _move_clashes(name, spare, first, stamp("2026-11-21"))),
        wrong("other_room", "neighbour", "moves them to another room", _move_clashes(name, other, first, until)),
    )
    return Draft("move_clashes", "calendar", "Move double bookings away", instruction,
                 trapped(_move_clashes(name, spare, first, until), traps), office.cast)


def _relocate(name: str, old: str, first: str, until: str, op: str = "<=", scoped: bool = True) -> Plan:
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "week": where(_week(first, until), *([eq("event.location", lit(old))] if scoped else [])),
            "counts": group(guests_of("week"), ("guest.event_id",), guests=("count", None)),
            "rooms": file("inbox/rooms.csv", "row", (("room", "text"), ("replacement", "text"), ("seats", "integer"))),
            "new": where(use("rooms"), eq("row.room", lit(old))),
            "sized": join(join(use("week"), use("counts", "sum"), eq("event.id", "sum.event_id")), use("new", "row"),
                          eq("event.location", "row.room") if scoped else cmp("!=", col("event.id"), col("row.room"))),
            "fits": where(use("sized"), cmp(op, col("sum.guests"), col("row.seats"))),
            "stuck": join(use("sized"), use("fits", "fit"), eq("event.id", "fit.id"), how="anti"),
        },
        effects=(Effect("update", "Event", "events_patch", use("fits"), key=EVENT_KEY,
                        set={"location": col("row.replacement")}),),
        files=(FileReport("too_large.csv", use("stuck"), (("meeting", "event.summary"), ("guests", "sum.guests")),
                          order=(("sum.guests", "desc"), ("event.summary", "asc"))),),
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
    office.cast.grow("Event", 0.4, {"calendar_id": ref(team), "location": third, **FAR})
    instruction = say(
        rng,
        ("[old] is being painted from Monday 9 to Friday 13 November 2026.",
         "The projector in [old] is broken; it is closed from Monday 9 to Friday 13 November 2026."),
        ('inbox/rooms.csv says which room replaces which, and the seats of the replacement. In the calendar "[name]", give '
         "the meetings with guests that start on those days (UTC) in [old] the replacement as their place, if the guests "
         "fit in; somebody who declined may still come and needs a seat.",
         "Meetings that don't fit stay as they are; list them in too_large.csv: meeting and guests (how many), most first, "
         "by meeting where equal."),
        old=old, name=name,
    )
    first, until = stamp(WEEK[0]), stamp("2026-11-14")
    traps = (
        wrong("one_spare", "boundary", "wants a seat to spare", _relocate(name, old, first, until, "<")),
        wrong("all_rooms", "dropped_condition", "moves meetings in other rooms too", _relocate(name, old, first, until, scoped=False)),
        wrong("next_week", "boundary", "moves the week after too", _relocate(name, old, first, stamp("2026-11-21"))),
        wrong("other_calendar", "neighbour", "does it in another calendar", _relocate(other, old, first, until)),
    )
    return Draft("relocate", "calendar", "A room is closed", instruction, trapped(_relocate(name, old, first, until), traps),
                 office.cast, outcome_kind="partly_refused")


def _give_way(name: str, exams: str, days: int = 7, op: str = "<") -> Plan:
    blocking = where(scan("CalendarListEntry", "exams"), eq("exams.summary", lit(exams)))
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "ours": where(of_calendar(), LIVE),
            "exams": blocking,
            "taken": where(of_calendar("exam", "exams"), cmp("!=", col("exam.status"), lit("cancelled"))),
            "clash": join(use("ours"), use("taken", "exam"), cmp(op, col("event.start_time"), col("exam.end_time")),
                          cmp(op, col("exam.start_time"), col("event.end_time")), how="semi"),
        },
        effects=(Effect("update", "Event", "events_patch", use("clash"), key=EVENT_KEY,
                        set={"start_time": fn("add_days", col("event.start_time"), lit(days)),
                             "end_time": fn("add_days", col("event.end_time"), lit(days))}),),
        files=(FileReport("moved.csv", use("clash"), (("meeting", "event.summary"), ("was", "event.start_time")),
                          order=(("event.start_time", "asc"),)),),
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
    office.cast.grow("Event", 0.3, {"calendar_id": ref(team), **FAR})
    office.cast.grow("Event", 0.1, {"calendar_id": ref(block), **FAR, "start_time": stamp("2026-12-10", "06:00"),
                                    "end_time": stamp("2026-12-10", "06:30")})
    instruction = say(
        rng,
        ("Exams come first, whatever the coach says.", "The headteacher wants nothing to run alongside the exams."),
        ('Move every entry of the calendar "[name]" that overlaps an entry of the calendar "[exams]" to the same time one '
         "week later; cancelled entries count for nothing.",
         "One that begins just when the other ends is no overlap. Don't look at what it might collide with then.",
         "Write moved.csv with meeting and was (the old start, as the calendar gave it), sorted by was."),
        name=name, exams=exams,
    )
    traps = (
        wrong("touching", "boundary", "moves entries that only touch", _give_way(name, exams, op="<=")),
        wrong("two_weeks", "wrong_value", "moves them by two weeks", _give_way(name, exams, days=14)),
        wrong("other_calendar", "neighbour", "moves another group", _give_way(other, exams)),
    )
    return Draft("give_way", "calendar", "Make way for the exams", instruction, trapped(_give_way(name, exams), traps),
                 office.cast)


def _weekend(name: str, sunday: bool = True, shift: int = 0) -> Plan:
    weekday = fn("weekday", col("event.start_time"))
    days = ("case", ((("cmp", "=", weekday, lit(5)), lit(2 + shift)),), lit(1 + shift))
    weekend = (5, 6) if sunday else (5,)
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "odd": where(of_calendar(), LIVE, ("in", weekday, weekend)),
        },
        effects=(Effect("update", "Event", "events_patch", use("odd"), key=EVENT_KEY,
                        set={"start_time": fn("add_days", col("event.start_time"), days),
                             "end_time": fn("add_days", col("event.end_time"), days)}),),
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
        office.event(team, next(summaries), ("2026-11-14", "2026-11-15", "2026-11-21", "2026-11-22")[place], f"1{place}:00", 45)
    for place, day in enumerate(("2026-11-13", "2026-11-16", "2026-11-20", "2026-11-23", "2026-11-25")):
        office.event(team, next(summaries), day, ("23:00", "00:00", "22:30", "00:30", "12:00")[place], 30)
    office.event(team, next(summaries), "2026-11-28", "09:00", status="cancelled")
    for day in ("2026-11-14", "2026-11-15"):
        office.event(twin, next(summaries), day, "09:00")
    office.cast.grow("Event", 0.4, {"calendar_id": ref(team), **FAR})
    instruction = say(
        rng,
        ("The building is closed at weekends from this month on.", "Nobody is paid to open the doors at weekends any more."),
        ('If any meeting in the calendar "[name]" starts on a Saturday or Sunday (UTC), move it to the Monday after, same '
         "time, same length. Cancelled ones don't matter.",
         "{Otherwise change nothing.|If there is none, leave everything as it is.}",
         "Tell me how many you moved; 0 if there was none."),
        name=name,
    )
    traps = (
        wrong("one_day_more", "wrong_value", "moves them to the Tuesday", _weekend(name, shift=1)),
        wrong("only_saturday", "dropped_condition", "forgets the Sunday", _weekend(name, sunday=False)),
        wrong("other_calendar", "neighbour", "does it in another calendar", _weekend(other)),
    )
    return Draft("no_weekends", "calendar", "No meetings at weekends", instruction, trapped(_weekend(name), traps), office.cast,
                 outcome_kind="done" if hits else "nothing_to_do")


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
    office.cast.grow("Event", 0.4, {"calendar_id": ref(team), **FAR})
    instruction = say(
        rng,
        ("The import ran twice and half my calendar is there two times.", "Somebody sent the invitations again, and now I see double."),
        ('In the calendar "[name]", {some meetings are there twice|there are doubles}: same title, same start. Of each such '
         "pair cancel the entry that was created later and keep the earlier one.",
         "The same title at another time is no double.", "How many did you cancel?"),
        name=name,
    )
    traps = (
        wrong("title_only", "dropped_condition", "takes the same title at another time for a double", _doubles(name, same_time=False)),
        wrong("keeps_newer", "order", "keeps the later one", _doubles(name, later=False)),
        wrong("other_calendar", "neighbour", "does it in another calendar", _doubles(other)),
    )
    return Draft("remove_doubles", "calendar", "Remove doubles", instruction, trapped(_doubles(name), traps), office.cast)
