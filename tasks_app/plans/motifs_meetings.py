"""Motifs of Calendar about meetings that are to be moved, confirmed or cancelled."""

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
    fn,
    group,
    join,
    lit,
    use,
    where,
)
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.office import FAR, WEEK, Office
from tasks_app.plans.scopes import (
    EVENT_KEY,
    LIVE,
    between,
    calendar,
    guests_of,
    no,
    of_calendar,
    one_of,
    trapped,
    wrong,
)
from tasks_app.wording.grammar import number
from tasks_app.wording.voices import say


def _substitute(
    name: str, mail: str, first: str, until: str, most: int, op: str = "<=", own: bool = True, coming: bool = False
) -> Plan:
    guests = guests_of("his")
    if coming:
        guests = where(guests, cmp("!=", col("guest.response_status"), lit("declined")))
    his = where(
        of_calendar(),
        LIVE,
        *between("event.start_time", first, until),
        *([eq("event.organizer_email", lit(mail))] if own else []),
    )
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "his": his,
            "counts": group(guests, ("guest.calendar_id", "guest.event_id"), guests=("count", None)),
            "large": join(
                use("his"),
                where(use("counts", "sum"), no(cmp(op, col("sum.guests"), lit(most)))),
                eq("event.id", "sum.event_id"),
                how="semi",
            ),
            "small": join(use("his"), use("large", "big"), eq("event.id", "big.id"), how="anti"),
        },
        effects=(
            Effect(
                "update",
                "Event",
                "events_patch",
                use("small"),
                key=EVENT_KEY,
                name="small meetings moved",
                set={
                    "start_time": fn("add_days", col("event.start_time"), lit(7)),
                    "end_time": fn("add_days", col("event.end_time"), lit(7)),
                },
            ),
            Effect("delete", "Event", "events_delete", use("large"), key=EVENT_KEY, name="large meetings cancelled"),
        ),
        answers=(Answer("moved", use("small"), "count"), Answer("cancelled", use("large"), "count")),
    )


@motif("sick_teacher")
def sick_teacher(rng: Random) -> Draft:
    office = Office(rng)
    name, other = office.projects(2)
    team, twin = office.calendar(name), office.calendar(other)
    boss, colleague = office.people(2)
    guests = office.people(6)
    most = 3
    summaries = iter(office.summaries(16))
    for day, size in zip((*WEEK[:3], *WEEK[:3]), (0, 2, 3, 4, 5, 4), strict=True):
        event = office.event(team, next(summaries), day, f"{9 + size}:30".zfill(5), organizer_email=boss.email)
        office.guests(team, event, guests[:size], ("accepted", "declined", "needsAction"))
    for day, size in ((WEEK[1], 2), (WEEK[2], 5)):
        event = office.event(team, next(summaries), day, "16:00", organizer_email=colleague.email)
        office.guests(team, event, [boss, *guests[: size - 1]])
    event = office.event(team, next(summaries), WEEK[3], "09:00", organizer_email=boss.email)
    office.guests(team, event, guests[:2])
    office.event(team, next(summaries), "2026-11-06", "15:00", organizer_email=boss.email)
    event = office.event(twin, next(summaries), WEEK[0], "11:00", organizer_email=boss.email)
    office.guests(twin, event, guests[:2])
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), "organizer_email": colleague.email, **FAR})
    instruction = say(
        rng,
        (
            "[boss] is ill and out from Monday 9 to Wednesday 11 November 2026.",
            "[boss] has to travel and misses Monday 9 to Wednesday 11 November 2026.",
        ),
        (
            'In the calendar "[name]", take each meeting in those three days (UTC) that was organised by [mail]. '
            "With at most "
            "[most] guests, move it to the same time one week later; with more guests, cancel it.",
            "A guest who declined {still counts|counts as well}. Meetings that others organised stay as they are.",
            "Tell me how many you moved and how many you cancelled, as “moved: …, cancelled: …”.",
        ),
        boss=boss.name,
        mail=boss.email,
        name=name,
        most=number(most),
    )
    args = (stamp(WEEK[0]), stamp(WEEK[3]), most)
    traps = (
        wrong(
            "fewer_than", "boundary", "takes “at most” for “fewer than”", _substitute(name, boss.email, *args, op="<")
        ),
        wrong(
            "attended",
            "dropped_condition",
            "moves meetings that others organised",
            _substitute(name, boss.email, *args, own=False),
        ),
        wrong(
            "declined",
            "dropped_condition",
            "doesn't count guests who declined",
            _substitute(name, boss.email, *args, coming=True),
        ),
        wrong(
            "one_day_more",
            "boundary",
            "takes Thursday along",
            _substitute(name, boss.email, args[0], stamp(WEEK[4]), most),
        ),
        wrong("other_calendar", "neighbour", "does it in another calendar", _substitute(other, boss.email, *args)),
    )
    return Draft(
        "sick_teacher",
        "calendar",
        "Away for three days",
        instruction,
        trapped(_substitute(name, boss.email, *args), traps),
        office.cast,
    )


def _unwanted(
    name: str, first: str, until: str, responses: tuple[str, ...] = ("accepted",), invited: bool = True
) -> Plan:
    chosen: Rel = join(use("week"), use("coming", "coming"), eq("event.id", "coming.event_id"), how="anti")
    if invited:
        chosen = join(chosen, use("guests", "asked"), eq("event.id", "asked.event_id"), how="semi")
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "week": where(of_calendar(), LIVE, *between("event.start_time", first, until)),
            "guests": guests_of("week"),
            "coming": where(use("guests"), one_of("guest.response_status", *responses)),
            "unwanted": chosen,
        },
        effects=(Effect("delete", "Event", "events_delete", use("unwanted"), key=EVENT_KEY),),
        files=(
            FileReport(
                "cancelled.csv",
                use("unwanted"),
                (("meeting", "event.summary"), ("starts", "event.start_time")),
                order=(("event.start_time", "asc"),),
            ),
        ),
    )


@motif("nobody_comes")
def nobody_comes(rng: Random) -> Draft:
    office = Office(rng)
    name, other = office.projects(2)
    team, twin = office.calendar(name), office.calendar(other)
    people = office.people(6)
    summaries = iter(office.summaries(16))
    for place, responses in enumerate(
        (
            ("declined",),
            ("needsAction", "declined"),
            ("needsAction",),
            ("declined", "declined"),
            ("accepted", "declined"),
            ("tentative", "declined"),
            (),
        )
    ):
        event = office.event(
            team, next(summaries), WEEK[(place + 4) % 5], f"{10 + place}:00", location=f"Floor {place}"
        )
        if responses:
            office.guests(team, event, people[:3], responses)
    for day in ("2026-11-08", "2026-11-14"):
        event = office.event(team, next(summaries), day, "12:00")
        office.guests(team, event, people[:2], ("declined",))
    event = office.event(twin, next(summaries), WEEK[1], "12:30")
    office.guests(twin, event, people[:2], ("declined",))
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), **FAR})
    instruction = say(
        rng,
        (
            "Rooms are short next week, and some meetings will be empty.",
            "I'd rather give rooms back than sit alone in them.",
        ),
        (
            'In the calendar "[name]", cancel the meetings from Monday 9 to Friday 13 November 2026 (UTC) that '
            "have guests, but "
            "where none of them has said yes or maybe.",
            "{Entries without guests are my own notes; leave them.|Leave entries that have no guests at all: those "
            "are my "
            "own notes.}",
            "List what you cancelled in cancelled.csv: meeting and starts (when it was to start, as the calendar "
            "gives it), "
            "earliest first.",
        ),
        name=name,
    )
    first, until, yes = stamp(WEEK[0]), stamp("2026-11-14"), ("accepted", "tentative")
    traps = (
        wrong("maybe", "dropped_condition", "takes a maybe for a no", _unwanted(name, first, until, ("accepted",))),
        wrong(
            "no_guests",
            "dropped_condition",
            "cancels entries without guests",
            _unwanted(name, first, until, yes, invited=False),
        ),
        wrong("last_day", "boundary", "leaves the Friday out", _unwanted(name, first, stamp("2026-11-13"), yes)),
        wrong("other_calendar", "neighbour", "does it in another calendar", _unwanted(other, first, until, yes)),
    )
    return Draft(
        "nobody_comes",
        "calendar",
        "Meetings that nobody comes to",
        instruction,
        trapped(_unwanted(name, first, until, yes), traps),
        office.cast,
    )


def _decide(
    name: str,
    least: int,
    op: str = ">=",
    responses: tuple[str, ...] = ("accepted",),
    statuses: tuple[str, ...] = ("tentative",),
) -> Plan:
    counts = group(use("coming"), ("guest.event_id",), yes=("count", None))
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "open": where(of_calendar(), one_of("event.status", *statuses)),
            "coming": where(guests_of("open"), one_of("guest.response_status", *responses)),
            "enough": where(counts, cmp(op, col("yes"), lit(least))),
            "on": join(use("open"), use("enough", "enough"), eq("event.id", "enough.event_id"), how="semi"),
            "off": join(use("open"), use("on", "on"), eq("event.id", "on.id"), how="anti"),
        },
        effects=(
            Effect(
                "update",
                "Event",
                "events_patch",
                use("on"),
                key=EVENT_KEY,
                set={"status": lit("confirmed")},
                name="enough guests: confirmed",
            ),
            Effect("delete", "Event", "events_delete", use("off"), key=EVENT_KEY, name="too few guests: cancelled"),
        ),
        answers=(Answer("confirmed", use("on"), "count"), Answer("cancelled", use("off"), "count")),
    )


@motif("decide_tentative")
def decide_tentative(rng: Random) -> Draft:
    office = Office(rng)
    name, other = rng.sample(("Autumn workshops", "Autumn outings", "Staff courses", "Evening lectures"), 2)
    least = rng.choice((3, 4))
    team, twin = office.calendar(name), office.calendar(other)
    people = office.people(6)
    summaries = iter(office.summaries(14))
    for place, yes in enumerate((least, least + 1, least + 2, least - 1, 1, 0)):
        event = office.event(
            team, next(summaries), f"2026-11-{16 + place}", f"{9 + place}:00".zfill(5), status="tentative"
        )
        answers = ["accepted"] * yes + ["tentative", "declined", "tentative", "needsAction", "tentative", "declined"]
        office.guests(team, event, people, answers[:6])
    for place in range(2):
        event = office.event(team, next(summaries), f"2026-11-{24 + place}", "14:00")
        office.guests(team, event, people[:2], ("declined", "accepted"))
    event = office.event(twin, next(summaries), "2026-11-18", "17:00", status="tentative")
    office.guests(twin, event, people[:least])
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), **FAR})
    instruction = say(
        rng,
        ("The caterer wants to know today what takes place.", "Registration has closed."),
        (
            'In the calendar "[name]", settle everything that is still tentative: confirm it if [least] or more '
            "guests have "
            "accepted, otherwise cancel it.",
            "A maybe is not a yes. {What is confirmed already stays, whoever comes|Leave alone what is confirmed "
            "already}.",
            "Tell me the two numbers, as “confirmed: …, cancelled: …”.",
        ),
        name=name,
        least=number(least),
    )
    traps = (
        wrong("more_than", "boundary", "wants one guest more", _decide(name, least, ">")),
        wrong(
            "maybe",
            "dropped_condition",
            "counts a maybe as a yes",
            _decide(name, least, responses=("accepted", "tentative")),
        ),
        wrong(
            "settled",
            "dropped_condition",
            "opens what was confirmed",
            _decide(name, least, statuses=("tentative", "confirmed")),
        ),
        wrong("other_calendar", "neighbour", "does it in another calendar", _decide(other, least)),
    )
    return Draft(
        "decide_tentative",
        "calendar",
        "Confirm or cancel what is tentative",
        instruction,
        trapped(_decide(name, least), traps),
        office.cast,
    )
