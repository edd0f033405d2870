"""Motifs of Classroom about guardians and groups."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Answer, Effect, FileReport, Plan, Rel, col, eq, file, join, lit, scan, use, where
from tasks_app.plans.drafts import Draft, motif, ref
from tasks_app.plans.school import School
from tasks_app.plans.scopes import course, of_course, trapped, with_person, wrong
from tasks_app.wording.voices import say


def _guardians(name: str, pending: bool = True, known: bool = True) -> Plan:
    alone: Rel = use("pupils")
    if known:
        alone = join(alone, scan("Guardian", "guardian"), eq("guardian.student_id", "student.user_id"), how="anti")
    if pending:
        open_ones = where(scan("GuardianInvitation", "open"), eq("open.state", lit("PENDING")))
        alone = join(alone, open_ones, eq("open.student_id", "student.user_id"), how="anti")
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "pupils": with_person(of_course("Student", "student"), "student.user_id"),
            "alone": alone,
            "contacts": file("inbox/contacts.csv", "row", (("student", "text"), ("parent", "text"))),
            "invited": join(use("alone"), use("contacts", "row"), eq("person.email_address", "row.student")),
            "unknown": join(
                use("alone"), use("contacts", "row"), eq("person.email_address", "row.student"), how="anti"
            ),
        },
        effects=(
            Effect(
                "create",
                "GuardianInvitation",
                "guardian_invitations_create",
                use("invited"),
                key={"studentId": col("student.user_id")},
                set={"invited_email_address": col("row.parent")},
            ),
        ),
        files=(
            FileReport(
                "no_contact.csv",
                use("unknown"),
                (("student", "person.name_full_name"), ("e-mail", "person.email_address")),
                order=(("person.email_address", "asc"),),
            ),
        ),
    )


@motif("invite_guardians")
def invite_guardians(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    room, next_door = school.course(name), school.course(neighbour)
    pupils, others = school.people(9), school.people(2)
    school.enrol(room, pupils)
    school.enrol(next_door, others)
    parents = [(f"parent.{p.email}") for p in [*pupils, *others]]
    for place in (0, 1):
        adult = school.person()
        school.cast.plant(
            "Guardian",
            {
                "student_id": ref(pupils[place].ref),
                "guardian_id": ref(adult.ref),
                "invited_email_address": parents[place],
            },
        )
    for place, state, address in ((2, "PENDING", parents[2]), (3, "COMPLETE", f"former.{parents[3]}")):
        school.cast.plant(
            "GuardianInvitation",
            {"student_id": ref(pupils[place].ref), "state": state, "invited_email_address": address},
        )
    rows = [[p.email, parents[place]] for place, p in enumerate([*pupils, *others]) if place not in (6, 7)]
    rng.shuffle(rows)
    school.cast.file("inbox/contacts.csv", ("student", "parent"), rows)
    school.cast.grow("Announcement", 0.2, {"course_id": ref(room)})
    school.more_students(0.15, next_door)
    instruction = say(
        rng,
        ("Parents should get the weekly summaries.", "Before parents' evening I'd like every family to be connected."),
        (
            'In "[name]", invite a guardian for each student who has none and for whom no invitation is still pending; '
            "{an invitation that was completed doesn't count as pending|completed invitations don't count}.",
            "The addresses are in inbox/contacts.csv, {one line a student with the parent's address|students on "
            "the left, "
            "parents on the right}.",
            "Students who would need one but are not in that list go into no_contact.csv, with the columns student "
            "(full name) "
            "and e-mail, sorted by e-mail.",
        ),
        name=name,
    )
    traps = (
        wrong(
            "pending",
            "dropped_condition",
            "invites again where an invitation is pending",
            _guardians(name, pending=False),
        ),
        wrong("known", "dropped_condition", "invites where there is a guardian", _guardians(name, known=False)),
        wrong("next_door", "neighbour", "does it for the parallel class", _guardians(neighbour)),
    )
    return Draft(
        "invite_guardians",
        "classroom",
        "Invite missing guardians",
        instruction,
        trapped(_guardians(name), traps),
        school.cast,
        outcome_kind="partly_refused",
    )


def _grouping(name: str, title: str, placed: bool = True) -> Plan:
    groups = of_course("StudentGroup", "team")
    members = join(
        use("teams"),
        scan("StudentGroupMember", "member"),
        eq("member.course_id", "team.course_id"),
        eq("member.student_group_id", "team.id"),
    )
    target: Rel = where(use("teams"), eq("team.title", lit(title)))
    alone: Rel = use("pupils")
    if placed:
        alone = join(alone, use("members", "member"), eq("student.user_id", "member.user_id"), how="anti")
    else:
        there = where(use("members", "member"), eq("member.title", lit(title)))
        alone = join(alone, there, eq("student.user_id", "member.user_id"), how="anti")
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "pupils": of_course("Student", "student"),
            "teams": groups,
            "members": members,
            "alone": alone,
            "target": target,
            "placed": join(use("target"), use("alone", "pupil"), eq("team.course_id", "pupil.course_id")),
        },
        effects=(
            Effect(
                "create",
                "StudentGroupMember",
                "student_group_members_create",
                use("placed"),
                key={"courseId": col("team.course_id"), "studentGroupId": col("team.id")},
                set={"user_id": col("pupil.user_id")},
            ),
        ),
        answers=(Answer("added", use("placed"), "count"),),
    )


@motif("fill_group")
def fill_group(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    teams = rng.sample(("Red team", "Blue team", "Green team", "Yellow team"), 3)
    room, next_door = school.course(name), school.course(neighbour)
    pupils, others = school.people(10), school.people(3)
    school.enrol(room, pupils)
    school.enrol(next_door, others)
    refs = [school.cast.plant("StudentGroup", {"course_id": ref(room), "title": team}) for team in teams]
    twin = school.cast.plant("StudentGroup", {"course_id": ref(next_door), "title": teams[2]})
    placed = [
        (refs[0], pupils[0]),
        (refs[0], pupils[1]),
        (refs[1], pupils[2]),
        (refs[1], pupils[3]),
        (refs[2], pupils[4]),
    ]
    for team, pupil in placed:
        school.cast.plant(
            "StudentGroupMember", {"course_id": ref(room), "student_group_id": ref(team), "user_id": ref(pupil.ref)}
        )
    school.cast.plant(
        "StudentGroupMember",
        {"course_id": ref(next_door), "student_group_id": ref(twin), "user_id": ref(others[0].ref)},
    )
    school.cast.grow("CourseWork", 0.1, {"course_id": ref(room)})
    school.more_students(0.05, room)
    school.more_students(0.15, next_door)
    instruction = say(
        rng,
        (
            "Some students joined late and nobody gave them a team.",
            "The project starts on Monday and everybody needs a team.",
        ),
        (
            'In "[name]", put every student who is in no student group yet into the "[team]".',
            "Those who have a group stay in theirs.",
            "How many did you add?",
        ),
        name=name,
        team=teams[2],
    )
    traps = (
        wrong(
            "everybody",
            "dropped_condition",
            "moves those along who have another team",
            _grouping(name, teams[2], placed=False),
        ),
        wrong("other_team", "neighbour", "fills another team", _grouping(name, teams[1])),
        wrong("next_door", "neighbour", "does it in the parallel class", _grouping(neighbour, teams[2])),
    )
    return Draft(
        "fill_group",
        "classroom",
        "Give everybody a team",
        instruction,
        trapped(_grouping(name, teams[2]), traps),
        school.cast,
        growing=True,
    )
