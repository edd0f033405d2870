"""Primers of Calendar: one short wish over one calendar, depth 1 or 2, one to four calls."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Answer, Effect, Expr, FileReport, Plan, Rel, col, eq, join, lit, scan, where
from tasks_app.plans.drafts import Draft, primer, stamp
from tasks_app.plans.office import Office
from tasks_app.plans.scopes import trapped, wrong
from tasks_app.wording.grammar import clock, day
from tasks_app.wording.voices import ask

KEY = {"calendarId": col("event.calendar_id"), "eventId": col("event.id")}


def _named(name: str) -> Rel:
    return where(scan("CalendarListEntry", "calendar"), eq("calendar.summary", lit(name)))


def _event(name: str, *conditions: Expr, entity: str = "Event", alias: str = "event") -> Rel:
    return join(_named(name), scan(entity, alias), eq(f"{alias}.calendar_id", "calendar.id"), *conditions)


def _titled(name: str, summary: str) -> Rel:
    return _event(name, eq("event.summary", lit(summary)))


def _pair(office: Office) -> tuple[str, str, str, str]:
    """Two calendars: both names, both references."""
    name, other = office.projects(2)
    return name, other, office.calendar(name), office.calendar(other)


def _november(rng: Random) -> str:
    return f"2026-11-{rng.randint(4, 28):02d}"


def _three(office: Office, rng: Random, **row: object) -> tuple[str, str, str, str]:
    """One meeting in each of two calendars under one title, and another in the first: names and both titles."""
    name, other, team, twin = _pair(office)
    title, second = office.summaries(2)
    for calendar, summary in ((team, title), (team, second), (twin, title)):
        office.event(calendar, summary, _november(rng), f"{rng.randint(8, 17):02d}:00", **row)
    return name, other, title, second


def _draft(motif: str, title: str, instruction: str, plan: Plan, office: Office, *traps: tuple[str, str, Plan]) -> Draft:
    faults = tuple(wrong(name, "neighbour", says, other) for name, says, other in traps)
    return Draft(motif, "calendar", title, instruction, trapped(plan, faults), office.cast, tier="primer")


@primer("count_meetings")
def count_meetings(rng: Random) -> Draft:
    office = Office(rng)
    name, other, team, twin = _pair(office)
    n = rng.randint(2, 8)
    for summary in office.summaries(n):
        office.event(team, summary, _november(rng), f"{rng.randint(8, 17):02d}:00")
    for summary in office.summaries(n + 1 if n < 5 else n - 2):
        office.event(twin, summary, _november(rng))

    def plan(calendar: str) -> Plan:
        return Plan("calendar", answers=(Answer("meetings", _event(calendar), "count"),))

    words = ask(rng, ('How many entries are in the calendar "[name]"? Answer with the number.',
                      'Count the entries of the calendar "[name]"; just tell me the number.'), name=name)
    return _draft("count_meetings", f"Entries of {name}", words, plan(name), office, ("other", "counts another calendar", plan(other)))


@primer("count_unconfirmed")
def count_unconfirmed(rng: Random) -> Draft:
    office = Office(rng)
    name, other, team, twin = _pair(office)
    n = rng.randint(1, 5)
    for place, summary in enumerate(office.summaries(n + 3)):
        office.event(team, summary, _november(rng), status="tentative" if place < n else "confirmed")
    for summary in office.summaries(n + 1):
        office.event(twin, summary, _november(rng), status="tentative")

    def plan(calendar: str, status: str = "tentative") -> Plan:
        return Plan("calendar", answers=(Answer("tentative", _event(calendar, eq("event.status", lit(status))), "count"),))

    words = ask(rng, ('How many entries of the calendar "[name]" are still tentative? Answer with the number.',
                      'Tell me how many tentative entries "[name]" has, as a number.'), name=name)
    return _draft("count_unconfirmed", f"Tentative in {name}", words, plan(name), office,
                  ("other", "counts another calendar", plan(other)), ("confirmed", "counts what is confirmed", plan(name, "confirmed")))


@primer("where_is_it")
def where_is_it(rng: Random) -> Draft:
    office = Office(rng)
    name, _, team, _ = _pair(office)
    title, second = office.summaries(2)
    rooms = [f"{room}, floor {rng.randint(1, 9)}" for room in office.rooms(2)]
    for summary, room in zip((title, second), rooms, strict=True):
        office.event(team, summary, _november(rng), location=room)

    def plan(summary: str) -> Plan:
        return Plan("calendar", answers=(Answer("place", _titled(name, summary), "only", col("event.location")),))

    words = ask(rng, ('Where does "[title]" in the calendar "[name]" take place? Answer with the place alone.',
                      'What place is entered for "[title]" in "[name]"? Just the place.'), name=name, title=title)
    return _draft("where_is_it", f"Where {title} is", words, plan(title), office, ("second", "looks at another meeting", plan(second)))


@primer("cancel_meeting")
def cancel_meeting(rng: Random) -> Draft:
    office = Office(rng)
    name, other, title, second = _three(office, rng)

    def plan(calendar: str, summary: str) -> Plan:
        return Plan("calendar", effects=(Effect("delete", "Event", "events_delete", _titled(calendar, summary), key=KEY),))

    words = ask(rng, ('Cancel "[title]" in the calendar "[name]".', '"[title]" in "[name]" is off; please cancel it.',
                      'Please take "[title]" out of the calendar "[name]".'), name=name, title=title)
    return _draft("cancel_meeting", f"Cancel {title}", words, plan(name, title), office,
                  ("other", "cancels it in another calendar", plan(other, title)), ("second", "cancels another meeting", plan(name, second)))


def _changing(motif: str, title: str, office: Office, words: str, places: tuple[str, str, str, str], **values: object) -> Draft:
    """A primer that sets columns of one meeting."""
    name, other, summary, second = places

    def plan(calendar: str, which: str) -> Plan:
        return Plan("calendar", effects=(Effect("update", "Event", "events_patch", _titled(calendar, which), key=KEY,
                                                set={column: lit(value) for column, value in values.items()}),))

    return _draft(motif, title, words, plan(name, summary), office,
                  ("other", "changes it in another calendar", plan(other, summary)),
                  ("second", "changes another meeting", plan(name, second)))


@primer("change_place")
def change_place(rng: Random) -> Draft:
    office = Office(rng)
    places = _three(office, rng, location="Lobby")
    room = f"{office.rooms(1)[0]}, floor {rng.randint(1, 9)}"
    words = ask(rng, ('"[title]" in the calendar "[name]" now takes place in "[room]"; change that.',
                      'Set the place of "[title]" in "[name]" to "[room]".'), name=places[0], title=places[2], room=room)
    return _changing("change_place", f"New place for {places[2]}", office, words, places, location=room)


@primer("reschedule")
def reschedule(rng: Random) -> Draft:
    office = Office(rng)
    places = _three(office, rng)
    start = stamp(f"2026-12-{rng.randint(1, 18):02d}", f"{rng.randint(8, 17):02d}:30")
    end = stamp(start[:10], start[11:16], 60)
    words = ask(rng, ('Move "[title]" in the calendar "[name]" to [day] 2026, [start] to [end] (UTC).',
                      '"[title]" in "[name]" is now on [day] 2026 from [start] to [end] (UTC); change it.'),
                name=places[0], title=places[2], day=day(start), start=clock(start), end=clock(end))
    return _changing("reschedule", f"Reschedule {places[2]}", office, words, places, start_time=start, end_time=end)


@primer("make_private")
def make_private(rng: Random) -> Draft:
    office = Office(rng)
    places = _three(office, rng, visibility="default")
    words = ask(rng, ('Make "[title]" in the calendar "[name]" private.', 'Nobody should read "[title]" in "[name]"; make it private.'),
                name=places[0], title=places[2])
    return _changing("make_private", f"Make {places[2]} private", office, words, places, visibility="private")


@primer("confirm_meeting")
def confirm_meeting(rng: Random) -> Draft:
    office = Office(rng)
    places = _three(office, rng, status="tentative")
    words = ask(rng, ('"[title]" in the calendar "[name]" is no longer tentative: confirm it.', 'Confirm "[title]" in "[name]".'),
                name=places[0], title=places[2])
    return _changing("confirm_meeting", f"Confirm {places[2]}", office, words, places, status="confirmed")


@primer("retitle")
def retitle(rng: Random) -> Draft:
    office = Office(rng)
    places = _three(office, rng)
    new = office.summaries(1)[0]
    words = ask(rng, ('Rename "[title]" in the calendar "[name]" to "[new]".', '"[title]" in "[name]" shall be called "[new]" from now on.'),
                name=places[0], title=places[2], new=new)
    return _changing("retitle", f"Rename {places[2]}", office, words, places, summary=new)


@primer("new_meeting")
def new_meeting(rng: Random) -> Draft:
    office = Office(rng)
    name, other, _, _ = _pair(office)
    title = office.summaries(1)[0]
    start = stamp(_november(rng), f"{rng.randint(8, 17):02d}:00")
    end = stamp(start[:10], start[11:16], 30)

    def plan(calendar: str, summary: str = title) -> Plan:
        return Plan("calendar", effects=(Effect("create", "Event", "events_insert", _named(calendar),
                                                key={"calendarId": col("calendar.id")},
                                                set={"summary": lit(summary), "start_time": lit(start), "end_time": lit(end)}),))

    words = ask(rng, ('Enter "[title]" in the calendar "[name]" on [day] 2026 from [start] to [end] (UTC).',
                      'Put "[title]" into "[name]": [day] 2026, [start] to [end] (UTC).'),
                name=name, title=title, day=day(start), start=clock(start), end=clock(end))
    return _draft("new_meeting", f"Enter {title}", words, plan(name), office, ("other", "enters it in another calendar", plan(other)))


@primer("share_calendar")
def share_calendar(rng: Random) -> Draft:
    office = Office(rng)
    name, other, _, _ = _pair(office)
    person = office.person()
    role, phrase = rng.choice((("reader", "read"), ("writer", "change")))

    def plan(calendar: str, given: str = role) -> Plan:
        return Plan("calendar", effects=(Effect("create", "AclRule", "acl_insert", _named(calendar),
                                                key={"calendarId": col("calendar.id")},
                                                set={"role": lit(given), "scope_type": lit("user"), "scope_value": lit(person.email)}),))

    words = ask(rng, ("Let [mail] [phrase] the calendar \"[name]\".", '[who] ([mail]) should be able to [phrase] the calendar "[name]".'),
                name=name, mail=person.email, who=person.name, phrase=phrase)
    return _draft("share_calendar", f"Share {name}", words, plan(name), office, ("other", "shares another calendar", plan(other)),
                  ("owner", "gives more than was asked", plan(name, "owner")))


@primer("unshare_calendar")
def unshare_calendar(rng: Random) -> Draft:
    office = Office(rng)
    name, other, team, twin = _pair(office)
    person, second = office.people(2)
    for calendar, who in ((team, person), (team, second), (twin, person)):
        office.rule(calendar, who, "reader")

    def plan(calendar: str, mail: str) -> Plan:
        return Plan("calendar", effects=(Effect("delete", "AclRule", "acl_delete",
                                                _event(calendar, eq("rule.scope_value", lit(mail)), entity="AclRule", alias="rule"),
                                                key={"calendarId": col("rule.calendar_id"), "ruleId": col("rule.id")}),))

    words = ask(rng, ('Take away the access of [mail] to the calendar "[name]".', '[mail] should no longer see the calendar "[name]".'),
                name=name, mail=person.email)
    return _draft("unshare_calendar", f"Unshare {name}", words, plan(name, person.email), office,
                  ("other", "works on another calendar", plan(other, person.email)),
                  ("second", "takes it from somebody else", plan(name, second.email)))


@primer("hide_calendar")
def hide_calendar(rng: Random) -> Draft:
    office = Office(rng)
    name, other, _, _ = _pair(office)

    def plan(calendar: str) -> Plan:
        return Plan("calendar", effects=(Effect("update", "CalendarListEntry", "calendar_list_patch", _named(calendar),
                                                key={"calendarId": col("calendar.id")}, set={"hidden": lit(True)}),))

    words = ask(rng, ('Hide the calendar "[name]" in my list.', 'I don\'t want to see "[name]" in my list of calendars; hide it.'), name=name)
    return _draft("hide_calendar", f"Hide {name}", words, plan(name), office, ("other", "hides another calendar", plan(other)))


@primer("list_meetings")
def list_meetings(rng: Random) -> Draft:
    office = Office(rng)
    name, other, team, twin = _pair(office)
    for summary in office.summaries(rng.randint(3, 6)):
        office.event(team, summary, _november(rng), f"{rng.randint(8, 17):02d}:00", location=office.rng.choice(("Lobby", "Attic", "Yard")))
    for summary in office.summaries(2):
        office.event(twin, summary, _november(rng), location="Lobby")

    def plan(calendar: str) -> Plan:
        return Plan("calendar", files=(FileReport("meetings.csv", _event(calendar),
                                                  (("title", "event.summary"), ("place", "event.location")),
                                                  order=(("event.summary", "asc"),)),))

    words = ask(rng, ('Write the entries of the calendar "[name]" to meetings.csv, with the columns title and place, sorted by title.',
                      'I need meetings.csv for "[name]": title and place of every entry, by title.'), name=name)
    return _draft("list_meetings", f"Entries of {name} as a file", words, plan(name), office,
                  ("other", "lists another calendar", plan(other)))


@primer("invite_one")
def invite_one(rng: Random) -> Draft:
    office = Office(rng)
    name, other, title, second = _three(office, rng)
    person = office.person()

    def plan(calendar: str, summary: str) -> Plan:
        return Plan("calendar", effects=(Effect("create", "EventAttendee", "events_patch", _titled(calendar, summary),
                                                key={**KEY, "email": lit(person.email)}, free=("response_status", "display_name")),))

    words = ask(rng, ('Invite [mail] to "[title]" in the calendar "[name]".', 'Add [mail] to the guests of "[title]" in "[name]".'),
                name=name, title=title, mail=person.email)
    return _draft("invite_one", f"Invite to {title}", words, plan(name, title), office,
                  ("other", "invites to another calendar's meeting", plan(other, title)),
                  ("second", "invites to another meeting", plan(name, second)))
