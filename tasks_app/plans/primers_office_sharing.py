"""Primers of Calendar about sharing and hiding a calendar."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Effect, Plan, col, eq, lit
from tasks_app.plans.drafts import Draft, primer
from tasks_app.plans.office import Office
from tasks_app.plans.primer_office import calendar_named, office_primer, row_of, two_calendars
from tasks_app.wording.voices import ask


@primer("share_calendar")
def share_calendar(rng: Random) -> Draft:
    office = Office(rng)
    name, other, _, _ = two_calendars(office)
    person = office.person()
    role, phrase = rng.choice((("reader", "read"), ("writer", "change")))

    def plan(calendar: str, given: str = role) -> Plan:
        return Plan(
            "calendar",
            effects=(
                Effect(
                    "create",
                    "AclRule",
                    "acl_insert",
                    calendar_named(calendar),
                    key={"calendarId": col("calendar.id")},
                    set={"role": lit(given), "scope_type": lit("user"), "scope_value": lit(person.email)},
                ),
            ),
        )

    words = ask(
        rng,
        (
            'Let [mail] [phrase] the calendar "[name]".',
            '[who] ([mail]) should be able to [phrase] the calendar "[name]".',
        ),
        name=name,
        mail=person.email,
        who=person.name,
        phrase=phrase,
    )
    return office_primer(
        "share_calendar",
        f"Share {name}",
        words,
        plan(name),
        office,
        ("other", "shares another calendar", plan(other)),
        ("owner", "gives more than was asked", plan(name, "owner")),
    )


@primer("unshare_calendar")
def unshare_calendar(rng: Random) -> Draft:
    office = Office(rng)
    name, other, team, twin = two_calendars(office)
    person, second = office.people(2)
    for calendar, who in ((team, person), (team, second), (twin, person)):
        office.rule(calendar, who, "reader")

    def plan(calendar: str, mail: str) -> Plan:
        return Plan(
            "calendar",
            effects=(
                Effect(
                    "delete",
                    "AclRule",
                    "acl_delete",
                    row_of(calendar, eq("rule.scope_value", lit(mail)), entity="AclRule", alias="rule"),
                    key={"calendarId": col("rule.calendar_id"), "ruleId": col("rule.id")},
                ),
            ),
        )

    words = ask(
        rng,
        (
            'Take away the access of [mail] to the calendar "[name]".',
            '[mail] should no longer see the calendar "[name]".',
        ),
        name=name,
        mail=person.email,
    )
    return office_primer(
        "unshare_calendar",
        f"Unshare {name}",
        words,
        plan(name, person.email),
        office,
        ("other", "works on another calendar", plan(other, person.email)),
        ("second", "takes it from somebody else", plan(name, second.email)),
    )


@primer("hide_calendar")
def hide_calendar(rng: Random) -> Draft:
    office = Office(rng)
    name, other, _, _ = two_calendars(office)

    def plan(calendar: str) -> Plan:
        return Plan(
            "calendar",
            effects=(
                Effect(
                    "update",
                    "CalendarListEntry",
                    "calendar_list_patch",
                    calendar_named(calendar),
                    key={"calendarId": col("calendar.id")},
                    set={"hidden": lit(True)},
                ),
            ),
        )

    words = ask(
        rng,
        ('Hide the calendar "[name]" in my list.', 'I don\'t want to see "[name]" in my list of calendars; hide it.'),
        name=name,
    )
    return office_primer(
        "hide_calendar", f"Hide {name}", words, plan(name), office, ("other", "hides another calendar", plan(other))
    )
