"""Motifs of Classroom about who is in a course, who was invited to it, who left."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import (
    Answer,
    Effect,
    FileReport,
    Plan,
    Rel,
    col,
    eq,
    file,
    fn,
    group,
    join,
    lit,
    scan,
    use,
    where,
)
from tasks_app.plans.drafts import Draft, motif, ref
from tasks_app.plans.school import School
from tasks_app.plans.scopes import of_course, section, trapped, with_person, wrong
from tasks_app.wording.voices import say


def _named(alias: str, name: str) -> Rel:
    return where(scan("Course", alias), eq(f"{alias}.name", lit(name)))


def _members(course_alias: str, entity: str, alias: str) -> Rel:
    return join(use(course_alias), scan(entity, alias), eq(f"{alias}.course_id", f"{course_alias}.id"))


def _invite(source: str, target: str, enrolled: bool = True, invited: bool = True, role: str = "STUDENT") -> Plan:
    chosen: Rel = use("pupils")
    if enrolled:
        chosen = join(chosen, use("there", "there"), eq("pupil.user_id", "there.user_id"), how="anti")
    if invited:
        chosen = join(chosen, use("asked", "asked"), eq("pupil.user_id", "asked.user_id"), how="anti")
    return Plan(
        "classroom",
        lets={
            "source": _named("source", source),
            "target": _named("target", target),
            "pupils": _members("source", "Student", "pupil"),
            "there": _members("target", "Student", "member"),
            "asked": _members("target", "Invitation", "invitation"),
            "fresh": chosen,
            "invited": join(use("target"), use("fresh", "fresh")),
        },
        effects=(
            Effect(
                "create",
                "Invitation",
                "invitations_create",
                use("invited"),
                set={"course_id": col("target.id"), "user_id": col("fresh.user_id"), "role": lit(role)},
            ),
        ),
        answers=(Answer("invited", use("invited"), "count"),),
    )


@motif("invite_class")
def invite_class(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    club = rng.choice(("Debating Club", "Robotics Club", "Chess Club", "School Choir", "Newspaper Club"))
    room, next_door, target = school.course(name), school.course(neighbour), school.course(club)
    pupils, others = school.people(9), school.people(3)
    school.enrol(room, pupils)
    school.enrol(next_door, others)
    school.enrol(target, [*pupils[:2], others[0]])
    for pupil in (pupils[2], pupils[3], others[1]):
        school.cast.plant("Invitation", {"course_id": ref(target), "user_id": ref(pupil.ref), "role": "STUDENT"})
    school.cast.plant("Invitation", {"course_id": ref(room), "user_id": ref(pupils[4].ref), "role": "TEACHER"})
    school.more_students(0.2, target)
    school.cast.grow("Announcement", 0.2, {"course_id": ref(room)})
    instruction = say(
        rng,
        (
            "The whole class wants to join.",
            "The form tutor asked me to bring the class along this year.",
            "We have free places this term.",
        ),
        (
            'Invite every student of "[name]" to "[club]" as a student, {except those who are in it already or have an '
            "invitation to it that is still open|but not those who are members or already hold an open invitation "
            "to it}.",
            "Don't enrol anybody directly; they should decide for themselves.",
            "Tell me how many you invited.",
        ),
        name=name,
        club=club,
    )
    traps = (
        wrong("members", "dropped_condition", "invites members again", _invite(name, club, enrolled=False)),
        wrong("open_invitations", "dropped_condition", "invites people twice", _invite(name, club, invited=False)),
        wrong("as_teachers", "wrong_value", "invites them as teachers", _invite(name, club, role="TEACHER")),
        wrong("next_door", "neighbour", "invites the parallel class", _invite(neighbour, club)),
    )
    return Draft(
        "invite_class",
        "classroom",
        "Invite a class to a club",
        instruction,
        trapped(_invite(name, club), traps),
        school.cast,
    )


def _leavers(name: str, lower: bool = True, active: str = "ACTIVE") -> Plan:
    mail = fn("lower", col("row.e-mail")) if lower else col("row.e-mail")
    return Plan(
        "classroom",
        lets={
            "course": section(name, active),
            "members": with_person(of_course("Student", "student"), "student.user_id"),
            "leavers": file("inbox/leavers.csv", "row", (("name", "text"), ("e-mail", "text"))),
            "gone": join(use("members"), use("leavers", "row"), eq("person.email_address", mail), how="semi"),
            "left": group(use("gone"), ("person.email_address",), courses=("count", None)),
        },
        effects=(
            Effect(
                "delete",
                "Student",
                "students_delete",
                use("gone"),
                key={"courseId": col("student.course_id"), "userId": col("student.user_id")},
            ),
        ),
        files=(
            FileReport(
                "removed.csv",
                use("left"),
                (("e-mail", "person.email_address"), ("courses", "courses")),
                order=(("person.email_address", "asc"),),
            ),
        ),
    )


@motif("remove_leavers")
def remove_leavers(rng: Random) -> Draft:
    school = School(rng)
    label = rng.choice(("Evening school 2026", "Sixth form 2026", "Summer school 2026"))
    names = school.subject_names(4)
    rooms = [school.course(name, section=label) for name in names[:3]]
    old = school.course(names[3], section=label, course_state="ARCHIVED")
    pupils = school.people(8)
    for place, room in enumerate(rooms):
        school.enrol(room, pupils[place : place + 5])
    school.enrol(old, pupils[:4])
    gone = [pupils[1], pupils[2], pupils[4]]
    rows = [[p.name, p.email.upper() if place == 1 else p.email] for place, p in enumerate(gone)]
    given_name, family = pupils[0].given, pupils[5].family
    rows.append([f"{given_name} {family}", f"{given_name}.{family}@elsewhere.example".lower().replace(" ", "")])
    school.cast.file("inbox/leavers.csv", ("name", "e-mail"), rows)
    school.more_students(0.25, *rooms)
    school.cast.grow("CourseWork", 0.1, {"course_id": ref(rooms[0])})
    instruction = say(
        rng,
        (
            "The registrar sent the list of those who left us this month.",
            "The office gave me the names of this month's leavers.",
        ),
        (
            "It is inbox/leavers.csv. Take {these people|everybody on it} out of all active courses of the section "
            '"[label]"; archived courses keep them, for the records.',
            "Go by the e-mail address, whose capital letters don't matter.",
            "Leave me removed.csv with the columns e-mail and courses (from how many courses you took that "
            "person), sorted "
            "by e-mail, for those you did remove. Write the addresses as they stand in the profiles.",
        ),
        label=label,
    )
    traps = (
        wrong("capitals", "dropped_condition", "misses an address written in capitals", _leavers(label, lower=False)),
        wrong("archived", "wrong_value", "works on the archived course", _leavers(label, active="ARCHIVED")),
    )
    return Draft(
        "remove_leavers",
        "classroom",
        "Take leavers out of their courses",
        instruction,
        trapped(_leavers(label), traps),
        school.cast,
    )


def _withdraw(label: str, role: str | None = "STUDENT", state: str = "ACTIVE", enrolled: bool = True) -> Plan:
    open_ones = of_course("Invitation", "invitation")
    if role:
        open_ones = where(open_ones, eq("invitation.role", lit(role)))
    pointless: Rel = use("open")
    if enrolled:
        pointless = join(
            pointless,
            use("members", "member"),
            eq("invitation.course_id", "member.course_id"),
            eq("invitation.user_id", "member.user_id"),
            how="semi",
        )
    return Plan(
        "classroom",
        lets={
            "course": section(label, state),
            "members": of_course("Student", "student"),
            "open": open_ones,
            "pointless": pointless,
        },
        effects=(
            Effect("delete", "Invitation", "invitations_delete", use("pointless"), key={"id": col("invitation.id")}),
        ),
        answers=(Answer("withdrawn", use("pointless"), "count"),),
    )


@motif("withdraw_invitations")
def withdraw_invitations(rng: Random) -> Draft:
    school = School(rng)
    label = rng.choice(("Upper school autumn", "Lower school autumn", "Exchange year"))
    names = school.subject_names(4)
    rooms = [school.course(name, section=label) for name in names[:3]]
    old = school.course(names[3], section=label, course_state="ARCHIVED")
    pupils = school.people(8)
    for place, room in enumerate(rooms):
        school.enrol(room, pupils[place : place + 4])
        for seat in (place, place + 1, place + 5):
            role = "TEACHER" if place == 1 and seat == 2 else "STUDENT"
            school.cast.plant(
                "Invitation", {"course_id": ref(room), "user_id": ref(pupils[min(seat, 7)].ref), "role": role}
            )
    school.enrol(old, pupils[:2])
    school.cast.plant("Invitation", {"course_id": ref(old), "user_id": ref(pupils[0].ref), "role": "STUDENT"})
    school.more_students(0.25, *rooms)
    instruction = say(
        rng,
        (
            "People keep asking me what to do with invitations to courses they are already in.",
            "I invited a few people twice and would like to tidy up.",
        ),
        (
            'In the active courses of the section "[label]", withdraw every invitation to join as a student whose '
            'recipient '
            "is already a student of that very course.",
            "Invitations to teach, and those to people who are not enrolled, remain open.",
            "Tell me how many you withdrew.",
        ),
        label=label,
    )
    traps = (
        wrong("all_roles", "dropped_condition", "withdraws invitations to teach as well", _withdraw(label, role=None)),
        wrong(
            "all_open",
            "dropped_condition",
            "withdraws those of people who are not enrolled",
            _withdraw(label, enrolled=False),
        ),
        wrong("archived", "wrong_value", "works on the archived course", _withdraw(label, state="ARCHIVED")),
    )
    return Draft(
        "withdraw_invitations",
        "classroom",
        "Withdraw pointless invitations",
        instruction,
        trapped(_withdraw(label), traps),
        school.cast,
    )
