"""Motifs of Calendar about the guests of meetings."""

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
    extend,
    fn,
    group,
    join,
    lit,
    scan,
    top,
    use,
    where,
)
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.office import FAR, Office
from tasks_app.plans.scopes import (
    EVENT_KEY,
    LIVE,
    calendar,
    guests_of,
    live_between,
    no,
    of_calendar,
    one_of,
    trapped,
    wrong,
)
from tasks_app.wording.grammar import number
from tasks_app.wording.voices import say


def _hours(
    names: tuple[str, str],
    target: str,
    n: int,
    month: tuple[str, str],
    responses: tuple[str, ...] = ("accepted",),
    by: str = "minutes",
) -> Plan:
    order = ((by, "desc"), ("guest.email", "asc"))
    return Plan(
        "calendar",
        lets={
            "calendar": where(scan("CalendarListEntry", "calendar"), one_of("calendar.summary", *names)),
            "month": live_between(*month),
            "coming": extend(
                where(guests_of("month"), one_of("guest.response_status", *responses)),
                length=fn("minutes", col("event.start_time"), col("event.end_time")),
            ),
            "load": group(use("coming"), ("guest.email",), meetings=("count", None), minutes=("sum", col("length"))),
            "most": top(use("load"), order, n),
            "target": where(scan("CalendarListEntry", "target"), eq("target.summary", lit(target))),
            "days": join(use("target"), use("most", "most")),
        },
        effects=(
            Effect(
                "create",
                "Event",
                "events_insert",
                use("days"),
                key={"calendarId": col("target.id")},
                set={"start_time": lit("2026-12-01"), "end_time": lit("2026-12-02")},
                text={"summary": ("most.email",)},
            ),
        ),
        files=(
            FileReport(
                "load.csv",
                use("most"),
                (("guest", "guest.email"), ("meetings", "meetings"), ("minutes", "minutes")),
                order=order,
            ),
        ),
    )


@motif("meeting_load")
def meeting_load(rng: Random) -> Draft:
    office = Office(rng)
    name, second, other = office.projects(3)
    n, target = rng.choice((3, 4)), rng.choice(("Focus days", "Quiet days", "Writing days"))
    team, also, twin = office.calendar(name), office.calendar(second), office.calendar(other)
    office.calendar(target)
    people = office.people(7)
    summaries = iter(office.summaries(20))
    often, long, absent = people[:3], people[3:6], people[6]
    for place, minutes in enumerate((30, 30, 30, 240, 30, 200, 30, 30)):
        home = also if place % 3 == 2 else team
        event = office.event(home, next(summaries), f"2026-11-{10 + place}", "13:00", minutes)
        coming = often if minutes == 30 else long[:2] if minutes == 240 else long[::2]
        office.guests(home, event, coming)
        office.guests(home, event, [absent], ("declined",))
    for day in ("2026-10-31", "2026-12-01"):
        event = office.event(team, next(summaries), day, "09:00", 300)
        office.guests(team, event, people[4:])
    event = office.event(twin, next(summaries), "2026-11-12", "09:00", 200)
    office.guests(twin, event, people[5:])
    office.cast.grow("Event", 0.2, {"calendar_id": {"choice": [ref(team), ref(also)]}, **FAR})
    instruction = say(
        rng,
        (
            "Some of us sit in meetings all day and get nothing else done.",
            "Before December I want to give the busiest of us a day without meetings.",
        ),
        (
            'Which [n] people spend most time in the meetings of "[name]" and "[second]" together in November 2026 '
            "(UTC)? {Only those who accepted are there|Count a person only where they accepted}.",
            "Write load.csv with the columns guest (the e-mail address), meetings (how many) and minutes (together), "
            "most minutes first, by address where equal: exactly [n] lines below the header.",
            'For each of the [n], enter an all-day entry on 1 December 2026 in the calendar "[target]", with the '
            "address in its title.",
        ),
        name=name,
        second=second,
        n=number(n),
        target=target,
    )
    names, month = (name, second), (stamp("2026-11-01"), stamp("2026-12-01"))
    everyone = ("accepted", "declined", "tentative", "needsAction")
    traps = (
        wrong("everybody", "dropped_condition", "counts those who declined", _hours(names, target, n, month, everyone)),
        wrong(
            "by_number",
            "wrong_column",
            "ranks by the number of meetings",
            _hours(names, target, n, month, by="meetings"),
        ),
        wrong(
            "whole_autumn",
            "boundary",
            "counts October and December",
            _hours(names, target, n, (stamp("2026-10-01"), stamp("2027-01-01"))),
        ),
        wrong("other_calendar", "neighbour", "looks at another calendar", _hours((name, other), target, n, month)),
    )
    return Draft(
        "meeting_load",
        "calendar",
        "Who sits in meetings most",
        instruction,
        trapped(_hours(names, target, n, month), traps),
        office.cast,
    )


def _stand_in(name: str, leaver: str, heir: str, first: str, fresh: bool = True) -> Plan:
    chosen: Rel = join(use("later"), use("his", "his"), eq("event.id", "his.event_id"), how="semi")
    if fresh:
        chosen = join(chosen, use("hers", "hers"), eq("event.id", "hers.event_id"), how="anti")
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "later": where(of_calendar(), LIVE, cmp(">=", col("event.start_time"), lit(first))),
            "guests": guests_of("later"),
            "his": where(use("guests"), eq("guest.email", lit(leaver))),
            "hers": where(use("guests"), eq("guest.email", lit(heir))),
            "handed": chosen,
        },
        effects=(
            Effect(
                "create",
                "EventAttendee",
                "events_patch",
                use("handed"),
                key={**EVENT_KEY, "email": lit(heir)},
                free=("response_status", "display_name"),
            ),
        ),
        answers=(Answer("meetings", use("handed"), "count"),),
    )


@motif("hand_over")
def hand_over(rng: Random) -> Draft:
    office = Office(rng)
    name, other = office.projects(2)
    team, twin = office.calendar(name), office.calendar(other)
    leaver, heir, *people = office.people(6)
    summaries = iter(office.summaries(16))
    for place in range(4):
        event = office.event(team, next(summaries), f"2026-11-{16 + place}", "11:00")
        office.guests(team, event, [leaver, *people[:2]], ("accepted", "declined", "needsAction"))
    for guests in ([leaver, heir, people[0]], people[:3], [heir]):
        event = office.event(team, next(summaries), "2026-11-24", f"1{len(guests)}:00")
        office.guests(team, event, guests)
    event = office.event(team, next(summaries), "2026-11-13", "11:00")
    office.guests(team, event, [leaver, people[1]])
    event = office.event(twin, next(summaries), "2026-11-17", "15:00")
    office.guests(twin, event, [leaver, people[2]])
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), **FAR})
    instruction = say(
        rng,
        (
            "[leaver] goes on leave, and [heir] takes over from 16 November 2026.",
            "From 16 November 2026 on, [heir] stands in for [leaver].",
        ),
        (
            'In the calendar "[name]", add [heir] ([mail]) to the guests of every meeting from that day (UTC) on '
            "to which "
            "[leaver] ([old]) is invited, {unless [heir] is invited already|where the successor is not a guest yet}.",
            "Everybody who is invited remains invited, [leaver] as well, and answers that were given are kept.",
            "To how many meetings did you add somebody?",
        ),
        leaver=leaver.name,
        heir=heir.name,
        mail=heir.email,
        old=leaver.email,
        name=name,
    )
    first = stamp("2026-11-16")
    traps = (
        wrong(
            "earlier",
            "boundary",
            "begins a week too early",
            _stand_in(name, leaver.email, heir.email, stamp("2026-11-09")),
        ),
        wrong(
            "other_calendar",
            "neighbour",
            "does it in another calendar",
            _stand_in(other, leaver.email, heir.email, first),
        ),
    )
    return Draft(
        "hand_over",
        "calendar",
        "Hand over a colleague's meetings",
        instruction,
        trapped(_stand_in(name, leaver.email, heir.email, first), traps),
        office.cast,
    )


def _outsiders(name: str, domain: str, first: str, statuses: bool = True, negate: bool = True) -> Plan:
    inside = fn("contains", col("guest.email"), lit(domain))
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "coming": where(
                of_calendar(), *([LIVE] if statuses else []), cmp(">=", col("event.start_time"), lit(first))
            ),
            "outside": where(guests_of("coming"), no(inside) if negate else inside),
            "exposed": join(use("coming"), use("outside", "guest"), eq("event.id", "guest.event_id"), how="semi"),
        },
        effects=(
            Effect(
                "update", "Event", "events_patch", use("exposed"), key=EVENT_KEY, set={"visibility": lit("private")}
            ),
        ),
        answers=(Answer("private", use("exposed"), "count"),),
    )


@motif("outside_guests")
def outside_guests(rng: Random) -> Draft:
    office = Office(rng)
    name, other = office.projects(2)
    team, twin = office.calendar(name), office.calendar(other)
    people = office.people(5)
    summaries = iter(office.summaries(16))

    def outsider(event: str, shared: str, label: str, domain: str) -> None:
        office.cast.plant(
            "EventAttendee",
            {
                "calendar_id": ref(shared),
                "event_id": ref(event),
                "email": f"{label}@{domain}",
                "display_name": label.title(),
                "response_status": "needsAction",
                "optional": 0,
                "resource": 0,
                "organizer": 0,
                "additional_guests": 0,
            },
        )

    for place in range(8):
        event = office.event(team, next(summaries), f"2026-11-{10 + place}", "10:30", visibility="default")
        office.guests(team, event, people[: 1 + place % 3])
        if place < 4:
            outsider(event, team, f"partner{place}", ("supplier.example", "northfield.partners.example")[place % 2])
    event = office.event(team, next(summaries), "2026-11-04", "10:30", visibility="default")
    outsider(event, team, "partner8", "supplier.example")
    event = office.event(twin, next(summaries), "2026-11-12", "10:30", visibility="default")
    outsider(event, twin, "partner9", "supplier.example")
    office.cast.grow("Event", 0.2, {"calendar_id": ref(team), **FAR})
    instruction = say(
        rng,
        (
            "A customer read the title of a meeting that was not meant for them.",
            "Before the audit I want to be careful with titles.",
        ),
        (
            'In the calendar "[name]", make every meeting from 9 November 2026 (UTC) on private that has a guest '
            "from outside, "
            "that is, with an address that is not @northfield.example.",
            "{All others keep the visibility they have|Leave the visibility of the others}.",
            "How many meetings are that?",
        ),
        name=name,
    )
    first, domain = stamp("2026-11-09"), "@northfield.example"
    traps = (
        wrong(
            "insiders", "order", "takes those with guests from inside", _outsiders(name, domain, first, negate=False)
        ),
        wrong("earlier", "boundary", "begins a week too early", _outsiders(name, domain, stamp("2026-11-02"))),
        wrong(
            "look_alike",
            "dropped_condition",
            "takes northfield.partners for northfield",
            _outsiders(name, "@northfield.", first),
        ),
        wrong("other_calendar", "neighbour", "does it in another calendar", _outsiders(other, domain, first)),
    )
    return Draft(
        "outside_guests",
        "calendar",
        "Meetings with outsiders are private",
        instruction,
        trapped(_outsiders(name, domain, first), traps),
        office.cast,
    )
