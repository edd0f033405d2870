"""Motifs of Classroom about who belongs where: enrolment, invitations, guardians, groups."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import (
    Answer, Effect, FileReport, Plan, Rel, cmp, col, eq, file, fn, group, join, lit, scan, use, where,
)
from tasks_app.plans.drafts import Draft, motif, ref
from tasks_app.plans.school import School
from tasks_app.plans.scopes import course, given, of_course, one_of, section, trapped, with_person, wrong
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
            "invited": join(use("target"), use("fresh", "fresh"), cmp("!=", col("fresh.course_id"), col("target.id"))),
        },
        effects=(Effect("create", "Invitation", "invitations_create", use("invited"),
                        set={"course_id": col("target.id"), "user_id": col("fresh.user_id"), "role": lit(role)}),),
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
    school.cast.grow("Student", 0.2, {"course_id": ref(target)})
    school.cast.grow("Announcement", 0.2, {"course_id": ref(room)})
    instruction = say(
        rng,
        ("The whole class wants to join.", "The form tutor asked me to bring the class along this year.",
         "We have free places this term."),
        ('Invite every student of "[name]" to "[club]" as a student, {except those who are in it already or have an '
         "invitation to it that is still open|but not those who are members or already hold an open invitation to it}.",
         "Don't enrol anybody directly; they should decide for themselves.",
         "Tell me how many you invited."),
        name=name, club=club,
    )
    traps = (
        wrong("members", "dropped_condition", "invites members again", _invite(name, club, enrolled=False)),
        wrong("open_invitations", "dropped_condition", "invites people twice", _invite(name, club, invited=False)),
        wrong("as_teachers", "wrong_value", "invites them as teachers", _invite(name, club, role="TEACHER")),
        wrong("next_door", "neighbour", "invites the parallel class", _invite(neighbour, club)),
    )
    return Draft("invite_class", "classroom", "Invite a class to a club", instruction, trapped(_invite(name, club), traps),
                 school.cast)


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
        effects=(Effect("delete", "Student", "students_delete", use("gone"),
                        key={"courseId": col("student.course_id"), "userId": col("student.user_id")}),),
        files=(FileReport("removed.csv", use("left"), (("e-mail", "person.email_address"), ("courses", "courses")),
                          order=(("person.email_address", "asc"),)),),
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
        school.enrol(room, pupils[place:place + 5])
    school.enrol(old, pupils[:4])
    gone = [pupils[1], pupils[2], pupils[4]]
    rows = [[p.name, p.email.upper() if place == 1 else p.email] for place, p in enumerate(gone)]
    given_name, family = pupils[0].given, pupils[5].family
    rows.append([f"{given_name} {family}", f"{given_name}.{family}@elsewhere.example".lower().replace(" ", "")])
    school.cast.file("inbox/leavers.csv", ("name", "e-mail"), rows)
    school.cast.grow("Student", 0.3, {"course_id": {"choice": [ref(room) for room in rooms]}})
    school.cast.grow("CourseWork", 0.1, {"course_id": ref(rooms[0])})
    instruction = say(
        rng,
        ("The registrar sent the list of those who left us this month.", "The office gave me the names of this month's leavers."),
        ("It is inbox/leavers.csv. Take {these people|everybody on it} out of all active courses of the section "
         '"[label]"; archived courses keep them, for the records.',
         "Go by the e-mail address, whose capital letters don't matter.",
         "Leave me removed.csv with the columns e-mail and courses (from how many courses you took that person), sorted "
         "by e-mail, for those you did remove. Write the addresses as they stand in the profiles."),
        label=label,
    )
    traps = (
        wrong("capitals", "dropped_condition", "misses an address written in capitals", _leavers(label, lower=False)),
        wrong("archived", "wrong_value", "works on the archived course", _leavers(label, active="ARCHIVED")),
    )
    return Draft("remove_leavers", "classroom", "Take leavers out of their courses", instruction,
                 trapped(_leavers(label), traps), school.cast)


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
            "unknown": join(use("alone"), use("contacts", "row"), eq("person.email_address", "row.student"), how="anti"),
        },
        effects=(Effect("create", "GuardianInvitation", "guardian_invitations_create", use("invited"),
                        key={"studentId": col("student.user_id")},
                        set={"invited_email_address": col("row.parent")}),),
        files=(FileReport("no_contact.csv", use("unknown"),
                          (("student", "person.name_full_name"), ("e-mail", "person.email_address")),
                          order=(("person.email_address", "asc"),)),),
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
        school.cast.plant("Guardian", {"student_id": ref(pupils[place].ref), "guardian_id": ref(adult.ref),
                                       "invited_email_address": parents[place]})
    for place, state in ((2, "PENDING"), (3, "COMPLETE")):
        school.cast.plant("GuardianInvitation", {"student_id": ref(pupils[place].ref), "state": state,
                                                 "invited_email_address": parents[place]})
    rows = [[p.email, parents[place]] for place, p in enumerate([*pupils, *others]) if place not in (6, 7)]
    rng.shuffle(rows)
    school.cast.file("inbox/contacts.csv", ("student", "parent"), rows)
    school.cast.grow("Announcement", 0.2, {"course_id": ref(room)})
    school.cast.grow("Student", 0.2, {"course_id": ref(next_door)})
    instruction = say(
        rng,
        ("Parents should get the weekly summaries.", "Before parents' evening I'd like every family to be connected."),
        ('In "[name]", invite a guardian for each student who has none and for whom no invitation is still pending; '
         "{an invitation that was completed doesn't count as pending|completed invitations don't count}.",
         "The addresses are in inbox/contacts.csv, {one line a student with the parent's address|students on the left, "
         "parents on the right}.",
         "Students who would need one but are not in that list go into no_contact.csv, with the columns student (full name) "
         "and e-mail, sorted by e-mail."),
        name=name,
    )
    traps = (
        wrong("pending", "dropped_condition", "invites again where an invitation is pending", _guardians(name, pending=False)),
        wrong("known", "dropped_condition", "invites where there is a guardian", _guardians(name, known=False)),
        wrong("next_door", "neighbour", "does it for the parallel class", _guardians(neighbour)),
    )
    return Draft("invite_guardians", "classroom", "Invite missing guardians", instruction,
                 trapped(_guardians(name), traps), school.cast, outcome_kind="partly_refused")


def _grouping(name: str, title: str, placed: bool = True) -> Plan:
    groups = of_course("StudentGroup", "team")
    members = join(use("teams"), scan("StudentGroupMember", "member"),
                   eq("member.course_id", "team.course_id"), eq("member.student_group_id", "team.id"))
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
        effects=(Effect("create", "StudentGroupMember", "student_group_members_create", use("placed"),
                        key={"courseId": col("team.course_id"), "studentGroupId": col("team.id")},
                        set={"user_id": col("pupil.user_id")}),),
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
    placed = [(refs[0], pupils[0]), (refs[0], pupils[1]), (refs[1], pupils[2]), (refs[1], pupils[3]), (refs[2], pupils[4])]
    for team, pupil in placed:
        school.cast.plant("StudentGroupMember", {"course_id": ref(room), "student_group_id": ref(team),
                                                 "user_id": ref(pupil.ref)})
    school.cast.plant("StudentGroupMember", {"course_id": ref(next_door), "student_group_id": ref(twin),
                                             "user_id": ref(others[0].ref)})
    school.cast.grow("CourseWork", 0.1, {"course_id": ref(room)})
    school.cast.grow("StudentGroup", 0.1, {"course_id": ref(room)})
    school.cast.grow("Student", 0.15, {"course_id": ref(next_door)})
    instruction = say(
        rng,
        ("Some students joined late and nobody gave them a team.", "The project starts on Monday and everybody needs a team."),
        ('In "[name]", put every student who is in no student group yet into the "[team]".',
         "Those who have a group stay in theirs.", "How many did you add?"),
        name=name, team=teams[2],
    )
    traps = (
        wrong("everybody", "dropped_condition", "moves those along who have another team", _grouping(name, teams[2], placed=False)),
        wrong("other_team", "neighbour", "fills another team", _grouping(name, teams[1])),
        wrong("next_door", "neighbour", "does it in the parallel class", _grouping(neighbour, teams[2])),
    )
    return Draft("fill_group", "classroom", "Give everybody a team", instruction, trapped(_grouping(name, teams[2]), traps),
                 school.cast)


def _withdraw(label: str, role: str | None = "STUDENT", state: str = "ACTIVE", enrolled: bool = True) -> Plan:
    open_ones = of_course("Invitation", "invitation")
    if role:
        open_ones = where(open_ones, eq("invitation.role", lit(role)))
    pointless: Rel = use("open")
    if enrolled:
        pointless = join(pointless, use("members", "member"), eq("invitation.course_id", "member.course_id"),
                         eq("invitation.user_id", "member.user_id"), how="semi")
    return Plan(
        "classroom",
        lets={
            "course": section(label, state),
            "members": of_course("Student", "student"),
            "open": open_ones,
            "pointless": pointless,
        },
        effects=(Effect("delete", "Invitation", "invitations_delete", use("pointless"),
                        key={"id": col("invitation.id")}),),
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
        school.enrol(room, pupils[place:place + 4])
        for seat in (place, place + 1, place + 5):
            role = "TEACHER" if place == 1 and seat == 2 else "STUDENT"
            school.cast.plant("Invitation", {"course_id": ref(room), "user_id": ref(pupils[min(seat, 7)].ref), "role": role})
    school.enrol(old, pupils[:2])
    school.cast.plant("Invitation", {"course_id": ref(old), "user_id": ref(pupils[0].ref), "role": "STUDENT"})
    school.cast.grow("Student", 0.3, {"course_id": {"choice": [ref(room) for room in rooms]}})
    instruction = say(
        rng,
        ("People keep asking me what to do with invitations to courses they are already in.",
         "I invited a few people twice and would like to tidy up."),
        ('In the active courses of the section "[label]", withdraw every invitation to join as a student whose recipient '
         "is already a student of that very course.",
         "Invitations to teach, and those to people who are not enrolled, remain open.",
         "Tell me how many you withdrew."),
        label=label,
    )
    traps = (
        wrong("all_roles", "dropped_condition", "withdraws invitations to teach as well", _withdraw(label, role=None)),
        wrong("all_open", "dropped_condition", "withdraws those of people who are not enrolled", _withdraw(label, enrolled=False)),
        wrong("archived", "wrong_value", "works on the archived course", _withdraw(label, state="ARCHIVED")),
    )
    return Draft("withdraw_invitations", "classroom", "Withdraw pointless invitations", instruction,
                 trapped(_withdraw(label), traps), school.cast)


def _staffing(label: str, least: int, op: str = "<", state: str = "ACTIVE") -> Plan:
    return Plan(
        "classroom",
        lets={
            "course": section(label, state),
            "staff": group(of_course("Teacher", "teacher"), ("course.id", "course.name"), teachers=("count", None)),
            "alone": where(use("staff"), cmp(op, col("teachers"), lit(least))),
            "sizes": group(of_course("Student", "student"), ("course.id",), students=("count", None)),
            "rows": join(use("alone"), use("sizes", "size"), eq("course.id", "size.id")),
        },
        files=(FileReport("one_teacher.csv", use("rows"),
                          (("course", "course.name"), ("teachers", "teachers"), ("students", "size.students")),
                          order=(("size.students", "desc"), ("course.name", "asc"))),),
        answers=(Answer("courses", use("rows"), "count"),),
    )


@motif("thin_staffing")
def thin_staffing(rng: Random) -> Draft:
    school = School(rng)
    label = rng.choice(("Day school 2026", "Boarding school 2026", "Saturday school 2026"))
    names = school.subject_names(7)
    rooms = [school.course(name, section=label) for name in names[:6]]
    old = school.course(names[6], section=label, course_state="ARCHIVED")
    staff, pupils = school.people(4), school.people(7)
    for place, room in enumerate(rooms):
        school.teach(room, staff[:1] if place < 3 else staff[:2 + place % 2])
        school.enrol(room, pupils[:3 + place % 4])
    school.teach(old, staff[:1])
    school.enrol(old, pupils[:2])
    school.cast.grow("CourseWork", 0.1, {"course_id": ref(rooms[3])})
    school.cast.grow("Student", 0.25, {"course_id": {"choice": [ref(room) for room in rooms[3:]]}})
    instruction = say(
        rng,
        ("If somebody falls ill, courses with a single teacher are the ones that stop.",
         "I plan the cover for the winter and need to know where we are thin."),
        ('Which active courses of the section "[label]" have fewer than two teachers? Write one_teacher.csv with the columns '
         "course, teachers and students (both as numbers), most students first, by name where equal.",
         "And tell me how many courses that is."),
        label=label,
    )
    traps = (
        wrong("two_as_well", "boundary", "counts courses with two teachers", _staffing(label, 2, "<=")),
        wrong("archived", "wrong_value", "looks at the archived course", _staffing(label, 2, state="ARCHIVED")),
        wrong("many", "order", "lists those with enough teachers", _staffing(label, 2, ">=")),
    )
    return Draft("thin_staffing", "classroom", "Courses with one teacher", instruction,
                 trapped(_staffing(label, 2), traps), school.cast)
