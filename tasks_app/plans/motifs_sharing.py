"""Motifs of Calendar about who may see or change what."""

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
    join,
    lit,
    scan,
    use,
    where,
)
from tasks_app.plans.drafts import Draft, motif, ref
from tasks_app.plans.office import FAR, Office
from tasks_app.plans.scopes import calendar, of_calendar, one_of, trapped, wrong
from tasks_app.wording.grammar import listed
from tasks_app.wording.voices import say

RULE_KEY = {"calendarId": col("rule.calendar_id"), "ruleId": col("rule.id")}


def _revoke(names: tuple[str, ...], spare_owner: bool = True, lower: bool = True) -> Plan:
    mail = fn("lower", col("row.e-mail")) if lower else col("row.e-mail")
    rules = where(
        of_calendar("rule", entity="AclRule"),
        eq("rule.scope_type", lit("user")),
        cmp("!=", col("rule.role"), lit("none")),
    )
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
        files=(
            FileReport(
                "revoked.csv",
                use("gone"),
                (("calendar", "calendar.summary"), ("e-mail", "rule.scope_value")),
                order=(("calendar.summary", "asc"), ("rule.scope_value", "asc")),
            ),
        ),
    )


@motif("revoke_access")
def revoke_access(rng: Random) -> Draft:
    office = Office(rng)
    *names, other = office.projects(4)
    calendars = [office.calendar(name) for name in names]
    twin = office.calendar(other)
    people = office.people(7)
    for place, shared in enumerate(calendars):
        for seat, person in enumerate(people[place : place + 5]):
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
        (
            "They are in inbox/leavers.csv. Take away their access to the calendars [names]; capital letters in an "
            "address "
            "don't matter. If one of them is the owner of a calendar, leave that one, I'll settle it in person.",
            "Other calendars are not my business.",
            "Leave me revoked.csv with the columns calendar and e-mail (as in the calendar's sharing), sorted by "
            "calendar and "
            "then e-mail.",
        ),
        names=listed([f'"{name}"' for name in names]),
    )
    args = tuple(names)
    traps = (
        wrong("owners", "dropped_condition", "takes an owner's access away", _revoke(args, spare_owner=False)),
        wrong("capitals", "dropped_condition", "misses an address in capitals", _revoke(args, lower=False)),
        wrong("one_more", "neighbour", "works on another calendar too", _revoke((*args, other))),
    )
    return Draft(
        "revoke_access",
        "calendar",
        "Take away leavers' access",
        instruction,
        trapped(_revoke(args), traps),
        office.cast,
        outcome_kind="partly_refused",
    )


def _readers(name: str, roles: tuple[str, ...] = ("writer",), listed_only: bool = True) -> Plan:
    editors: Rel = where(
        of_calendar("rule", entity="AclRule"), eq("rule.scope_type", lit("user")), one_of("rule.role", *roles)
    )
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
    office.cast.grow("Person", 0.1, {})
    office.cast.grow("AclRule", 0.1, {"calendar_id": ref(shared), "role": "reader", "scope_type": "user"})
    instruction = say(
        rng,
        ("Too many people move my meetings about.", "Somebody outside the team changed an entry yesterday."),
        (
            'inbox/team.csv lists my team. In the calendar "[name]", people who may write and are not on that list '
            'shall only '
            "be able to read {from now on|in future}.",
            "Owners, and those who see no more than that already, stay as they are; nobody loses access altogether.",
            "How many people did that change?",
        ),
        name=name,
    )
    traps = (
        wrong("owners", "dropped_condition", "demotes owners", _readers(name, ("writer", "owner"))),
        wrong("team", "dropped_condition", "demotes the team as well", _readers(name, listed_only=False)),
        wrong("other_calendar", "neighbour", "does it in another calendar", _readers(other)),
    )
    return Draft(
        "only_readers", "calendar", "Only the team may write", instruction, trapped(_readers(name), traps), office.cast
    )
