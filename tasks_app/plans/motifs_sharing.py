"""Motifs of Calendar about who may see what, which calendars there are, and entries that come from a list."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import (
    Answer, Effect, FileReport, Plan, Rel, cmp, col, eq, file, fn, group, join, lit, scan, use, where,
)
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.motifs_meetings import EVENT_KEY, LIVE, guests_of
from tasks_app.plans.motifs_rooms import FAR
from tasks_app.plans.office import Office
from tasks_app.plans.scopes import between, calendar, no, of_calendar, one_of, trapped, wrong
from tasks_app.wording.grammar import listed
from tasks_app.wording.voices import say

RULE_KEY = {"calendarId": col("rule.calendar_id"), "ruleId": col("rule.id")}


def _revoke(names: tuple[str, ...], spare_owner: bool = True, lower: bool = True) -> Plan:
    mail = fn("lower", col("row.e-mail")) if lower else col("row.e-mail")
    rules = where(of_calendar("rule", entity="AclRule"), eq("rule.scope_type", lit("user")), cmp("!=", col("rule.role"), lit("none")))
    gone: Rel = join(use("rules"), use("leavers", "row"), eq("rule.scope_value", mail), how="semi")
    if spare_owner:
        gone = where(gone, cmp("!=", col("rule.role"), lit("owner")))
    return Plan(
        "calendar",
        lets={
            "calendar": where(scan("CalendarListEntry", "calendar"), one_of("calendar.summary", *names)),
            "rules": rules,
            "leavers": file("inbox/leavers.csv", "row", (("name", "text"), ("e-mail", "text"))),
            "gone": gone,
        },
        effects=(Effect("delete", "AclRule", "acl_delete", use("gone"), key=RULE_KEY),),
        files=(FileReport("revoked.csv", use("gone"), (("calendar", "calendar.summary"), ("e-mail", "rule.scope_value")),
                          order=(("calendar.summary", "asc"), ("rule.scope_value", "asc"))),),
    )


@motif("revoke_access")
def revoke_access(rng: Random) -> Draft:
    office = Office(rng)
    *names, other = office.projects(4)
    calendars = [office.calendar(name) for name in names]
    twin = office.calendar(other)
    people = office.people(7)
    for place, shared in enumerate(calendars):
        for seat, person in enumerate(people[place:place + 5]):
            role = "owner" if (place, seat) == (2, 0) else ("reader", "writer")[seat % 2]
            office.rule(shared, person, role)
    office.rule(twin, people[1], "reader")
    leavers = [people[1], people[2], people[4]]
    rows = [[p.name, p.email.upper() if place == 2 else p.email] for place, p in enumerate(leavers)]
    rows.append([f"{people[5].given} {people[0].family}", f"{people[5].given}@elsewhere.example".lower()])
    office.cast.file("inbox/leavers.csv", ("name", "e-mail"), rows)
    office.cast.grow("Event", 0.2, {"calendar_id": ref(calendars[0]), **FAR})
    instruction = say(
        rng,
        ("Personnel sent me the people who left.", "These colleagues no longer work here."),
        ("They are in inbox/leavers.csv. Take away their access to the calendars [names]; capital letters in an address "
         "don't matter. If one of them is the owner of a calendar, leave that one, I'll settle it in person.",
         "Other calendars are not my business.",
         "Leave me revoked.csv with the columns calendar and e-mail (as in the calendar's sharing), sorted by calendar and "
         "then e-mail."),
        names=listed([f'"{name}"' for name in names]),
    )
    args = tuple(names)
    traps = (
        wrong("owners", "dropped_condition", "takes an owner's access away", _revoke(args, spare_owner=False)),
        wrong("capitals", "dropped_condition", "misses an address in capitals", _revoke(args, lower=False)),
        wrong("one_more", "neighbour", "works on another calendar too", _revoke((*args, other))),
    )
    return Draft("revoke_access", "calendar", "Take away leavers' access", instruction, trapped(_revoke(args), traps), office.cast,
                 outcome_kind="partly_refused")


def _readers(name: str, roles: tuple[str, ...] = ("writer",), listed_only: bool = True) -> Plan:
    editors: Rel = where(of_calendar("rule", entity="AclRule"), eq("rule.scope_type", lit("user")), one_of("rule.role", *roles))
    chosen: Rel = use("editors")
    if listed_only:
        chosen = join(chosen, use("team", "row"), eq("rule.scope_value", "row.e-mail"), how="anti")
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "editors": editors,
            "team": file("inbox/team.csv", "row", (("e-mail", "text"), ("since", "text"))),
            "demoted": chosen,
        },
        effects=(Effect("update", "AclRule", "acl_patch", use("demoted"), key=RULE_KEY, set={"role": lit("reader")}),),
        answers=(Answer("changed", use("demoted"), "count"),),
    )


@motif("only_readers")
def only_readers(rng: Random) -> Draft:
    office = Office(rng)
    name, other = office.projects(2)
    shared, twin = office.calendar(name), office.calendar(other)
    people = office.people(9)
    roles = ("writer", "writer", "writer", "writer", "writer", "writer", "reader", "owner", "freeBusyReader")
    for person, role in zip(people, roles, strict=True):
        office.rule(shared, person, role)
    for person in people[:2]:
        office.rule(twin, person, "writer")
    rows = [[people[place].email, f"202{place}-0{place + 1}-01"] for place in (4, 5, 6)]
    office.cast.file("inbox/team.csv", ("e-mail", "since"), rows)
    office.cast.grow("Event", 0.2, {"calendar_id": ref(shared), **FAR})
    office.cast.grow("AclRule", 0.1, {"calendar_id": ref(shared), "role": "reader", "scope_type": "user"})
    instruction = say(
        rng,
        ("Too many people move my meetings about.", "Somebody outside the team changed an entry yesterday."),
        ('inbox/team.csv lists my team. In the calendar "[name]", people who may write and are not on that list shall only '
         "be able to read {from now on|in future}.",
         "Owners, and those who see no more than that already, stay as they are; nobody loses access altogether.",
         "How many people did that change?"),
        name=name,
    )
    traps = (
        wrong("owners", "dropped_condition", "demotes owners", _readers(name, ("writer", "owner"))),
        wrong("team", "dropped_condition", "demotes the team as well", _readers(name, listed_only=False)),
        wrong("other_calendar", "neighbour", "does it in another calendar", _readers(other)),
    )
    return Draft("only_readers", "calendar", "Only the team may write", instruction, trapped(_readers(name), traps), office.cast)


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
            "made": join(use("calendar"), use("missing", "day"), cmp("!=", col("day.date"), col("calendar.id"))),
        },
        effects=(Effect("create", "Event", "events_insert", use("made"), key={"calendarId": col("calendar.id")},
                        set={"summary": col("day.holiday"), "start_time": col("day.date"),
                             "end_time": fn("add_days", col("day.date"), lit(1))}),),
        answers=(Answer("added", use("made"), "count"),),
    )


@motif("add_holidays")
def add_holidays(rng: Random) -> Draft:
    office = Office(rng)
    name, other = rng.sample(("Days off", "School year", "Site closures"), 2)
    shared, twin = office.calendar(name), office.calendar(other)
    days = (("2026-12-24", "Christmas Eve"), ("2026-12-25", "Christmas Day"), ("2026-12-31", "New Year's Eve"),
            ("2027-01-01", "New Year's Day"), ("2027-01-06", "Epiphany"), ("2027-02-15", "Carnival Monday"),
            ("2027-03-26", "Good Friday"), ("2027-05-01", "Labour Day"))
    known = rng.sample(range(8), 3)
    for place, (day, holiday) in enumerate(days):
        if place in known:
            label = holiday if place % 2 else f"{holiday} (closed)"
            office.cast.plant("Event", {"calendar_id": ref(shared), "summary": label, "status": "confirmed",
                                        "event_type": "default", "start_time": day, "recurrence": None,
                                        "end_time": f"{day[:8]}{int(day[8:]) + 1:02d}" if day[8:] != "31" else "2027-01-01"})
    office.cast.plant("Event", {"calendar_id": ref(twin), "summary": "Staff party", "status": "confirmed", "recurrence": None,
                                "event_type": "default", "start_time": "2026-12-18", "end_time": "2026-12-19"})
    office.cast.file("inbox/holidays.csv", ("date", "holiday"), [list(row) for row in days])
    office.cast.grow("Event", 0.3, {"calendar_id": ref(shared), **FAR})
    instruction = say(
        rng,
        ("People kept booking meetings on public holidays last year.", "The calendar of the next months lacks most public holidays."),
        ('Add the days in inbox/holidays.csv to the calendar "[name]" as all-day entries of one day, titled as in the list. ',
         "Where an all-day entry begins on such a date already, whatever it is called, {don't add another|leave it at that}.",
         "How many did you add?"),
        name=name,
    )
    traps = (
        wrong("doubles", "dropped_condition", "adds days that are there already", _holidays(name, fresh=False)),
        wrong("other_calendar", "neighbour", "adds them to another calendar", _holidays(other)),
    )
    return Draft("add_holidays", "calendar", "Enter the public holidays", instruction, trapped(_holidays(name), traps), office.cast)


def _hide(prefix: str, since: str, alive: bool = True, live: bool = True) -> Plan:
    chosen: Rel = use("trips")
    if alive:
        chosen = join(chosen, use("coming", "coming"), eq("calendar.id", "coming.calendar_id"), how="anti")
    return Plan(
        "calendar",
        lets={
            "trips": where(scan("CalendarListEntry", "calendar"), fn("starts_with", col("calendar.summary"), lit(prefix))),
            "coming": where(join(use("trips"), scan("Event", "event"), eq("event.calendar_id", "calendar.id")),
                            *([LIVE] if live else []), cmp(">=", col("event.start_time"), lit(since))),
            "over": chosen,
        },
        effects=(Effect("update", "CalendarListEntry", "calendar_list_patch", use("over"),
                        key={"calendarId": col("calendar.id")}, set={"hidden": lit(True)}),),
        files=(FileReport("hidden.csv", use("over"), (("calendar", "calendar.summary"),),
                          order=(("calendar.summary", "asc"),)),),
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
    office.cast.grow("Event", 0.3, {"calendar_id": ref(last), **FAR})
    instruction = say(
        rng,
        ("My list of calendars is endless.", "I can't find anything in my list of calendars any more."),
        ('Hide those calendars whose name begins with "[prefix]" in which nothing takes place on or after 1 November 2026 '
         "(UTC, by start); {what was cancelled does not take place|a cancelled entry doesn't take place}.",
         "Don't delete any calendar or entry.",
         "List what you hid in hidden.csv, one column, calendar, sorted by name."),
        prefix=prefix.strip(),
    )
    since = stamp("2026-11-01")
    traps = (
        wrong("all_trips", "dropped_condition", "hides all of them", _hide(prefix, since, alive=False)),
        wrong("boundary", "boundary", "lets the first of November slip", _hide(prefix, stamp("2026-11-02"))),
    )
    return Draft("hide_past", "calendar", "Hide what is over", instruction, trapped(_hide(prefix, since), traps), office.cast)


def _outsiders(name: str, domain: str, first: str, statuses: bool = True, negate: bool = True) -> Plan:
    inside = fn("contains", col("guest.email"), lit(domain))
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "coming": where(of_calendar(), *([LIVE] if statuses else []), cmp(">=", col("event.start_time"), lit(first))),
            "outside": where(guests_of("coming"), no(inside) if negate else inside),
            "exposed": join(use("coming"), use("outside", "guest"), eq("event.id", "guest.event_id"), how="semi"),
        },
        effects=(Effect("update", "Event", "events_patch", use("exposed"), key=EVENT_KEY, set={"visibility": lit("private")}),),
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
        office.cast.plant("EventAttendee", {
            "calendar_id": ref(shared), "event_id": ref(event), "email": f"{label}@{domain}", "display_name": label.title(),
            "response_status": "needsAction", "optional": 0, "resource": 0, "organizer": 0})

    for place in range(8):
        event = office.event(team, next(summaries), f"2026-11-{10 + place}", "10:30", visibility="default")
        office.guests(team, event, people[:1 + place % 3])
        if place < 4:
            outsider(event, team, f"partner{place}", ("supplier.example", "northfield.partners.example")[place % 2])
    event = office.event(team, next(summaries), "2026-11-04", "10:30", visibility="default")
    outsider(event, team, "partner8", "supplier.example")
    event = office.event(twin, next(summaries), "2026-11-12", "10:30", visibility="default")
    outsider(event, twin, "partner9", "supplier.example")
    office.cast.grow("Event", 0.4, {"calendar_id": ref(team), **FAR})
    instruction = say(
        rng,
        ("A customer read the title of a meeting that was not meant for them.", "Before the audit I want to be careful with titles."),
        ('In the calendar "[name]", make every meeting from 9 November 2026 (UTC) on private that has a guest from outside, '
         "that is, with an address that is not @northfield.example.",
         "{All others keep the visibility they have|Leave the visibility of the others}.",
         "How many meetings are that?"),
        name=name,
    )
    first, domain = stamp("2026-11-09"), "@northfield.example"
    traps = (
        wrong("insiders", "order", "takes those with guests from inside", _outsiders(name, domain, first, negate=False)),
        wrong("earlier", "boundary", "begins a week too early", _outsiders(name, domain, stamp("2026-11-02"))),
        wrong("look_alike", "dropped_condition", "takes northfield.partners for northfield", _outsiders(name, "@northfield.", first)),
        wrong("other_calendar", "neighbour", "does it in another calendar", _outsiders(other, domain, first)),
    )
    return Draft("outside_guests", "calendar", "Meetings with outsiders are private", instruction,
                 trapped(_outsiders(name, domain, first), traps), office.cast)


def _archive(name: str, target: str, before: str, keep: str | None) -> Plan:
    return Plan(
        "calendar",
        lets={
            "calendar": calendar(name),
            "old": where(of_calendar(), LIVE, cmp("<", col("event.start_time"), lit(before)),
                         *([no(eq("event.location", lit(keep)))] if keep else [])),
            "target": where(scan("CalendarListEntry", "target"), eq("target.summary", lit(target))),
            "moved": join(use("target"), use("old", "event"), cmp("!=", col("target.id"), col("event.calendar_id"))),
            "months": group(use("moved"), ("event.location",), meetings=("count", None)),
        },
        effects=(Effect("move", "Event", "events_move", use("moved"), key=EVENT_KEY, set={"calendar_id": col("target.id")}),),
        files=(FileReport("moved.csv", use("months"), (("place", "event.location"), ("meetings", "meetings")),
                          order=(("event.location", "asc"),)),),
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
    office.cast.grow("Event", 0.4, {"calendar_id": ref(team), "location": places[1], **FAR})
    instruction = say(
        rng,
        ("The calendar has become slow to read.", "The new colleagues should see only what is current."),
        ('Move the meetings of "[name]" that started before 1 September 2026 (UTC) to the calendar "[target]", cancelled '
         "ones excepted.",
         "What took place in [keep] stays, because the insurance still needs it.",
         "Leave me moved.csv with the columns place and meetings (how many you moved from there), sorted by place."),
        name=name, target=target, keep=places[2],
    )
    before = stamp("2026-09-01")
    traps = (
        wrong("spared_room", "dropped_condition", "moves what should stay", _archive(name, target, before, None)),
        wrong("day_late", "boundary", "takes 1 September along", _archive(name, target, stamp("2026-09-02"), places[2])),
        wrong("other_calendar", "neighbour", "moves another calendar's meetings", _archive(other, target, before, places[2])),
    )
    return Draft("archive_meetings", "calendar", "Move old meetings away", instruction,
                 trapped(_archive(name, target, before, places[2]), traps), office.cast)
