"""Motifs of Classroom that only look: how a class stands."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import (
    Answer,
    FileReport,
    Plan,
    cmp,
    col,
    eq,
    extend,
    fn,
    group,
    join,
    lit,
    top,
    use,
    where,
)
from tasks_app.plans.drafts import Draft, motif, ref
from tasks_app.plans.school import School
from tasks_app.plans.scopes import course, given, of_course, one_of, section, submissions, trapped, with_person, wrong
from tasks_app.wording.grammar import number
from tasks_app.wording.voices import say


def _weak(
    name: str,
    share: float,
    states: tuple[str, ...] = ("RETURNED",),
    absolute: bool = False,
    column: str = "assigned_grade",
) -> Plan:
    limit = lit(share * 100) if absolute else ("op", "*", lit(share), col("work.max_points"))
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": where(of_course("CourseWork", "work"), eq("work.state", lit("PUBLISHED"))),
            "graded": where(submissions(), one_of("sub.state", *states), given(f"sub.{column}")),
            "means": group(
                use("graded"),
                ("work.id", "work.title", "work.max_points"),
                students=("count", None),
                mean=("avg", col(f"sub.{column}")),
            ),
            "weak": extend(where(use("means"), cmp("<", col("mean"), limit)), average=fn("round", col("mean"), lit(1))),
        },
        files=(
            FileReport(
                "revision.csv",
                use("weak"),
                (("assignment", "work.title"), ("students", "students"), ("average", "average")),
                order=(("work.title", "asc"),),
            ),
        ),
        answers=(Answer("assignments", use("weak"), "count"),),
    )


@motif("weak_assignments")
def weak_assignments(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    share, words = rng.choice(((0.6, "60%"), (0.5, "half")))
    room, next_door = school.course(name), school.course(neighbour)
    pupils = school.people(6)
    school.enrol(room, pupils)
    school.enrol(next_door, pupils[:3])
    works: list[str] = []
    for place, title in enumerate(school.titles(6)):
        most = (20, 40, 50, 200, 80, 10)[place]
        weak = place in (0, 2, 3)
        work = school.work(room, title, max_points=most)
        works.append(work)
        for seat, pupil in enumerate(pupils):
            grade = most * (share - 0.2 if weak else share + 0.1) + seat % 3
            state = "RETURNED" if seat < 4 else "TURNED_IN"
            if place == 4 and seat >= 4:
                grade = 0.0
            school.submission(room, work, pupil, state, assigned_grade=round(grade, 1), draft_grade=round(grade, 1))
    other = school.work(next_door, school.titles(1)[0], max_points=100)
    for pupil in pupils[:3]:
        school.submission(next_door, other, pupil, "RETURNED", assigned_grade=31, draft_grade=31)
    school.more_students(0.12, room)
    school.more_submissions(0.12, room, works, state="TURNED_IN", draft_grade=0, assigned_grade=0)
    instruction = say(
        rng,
        (
            "I plan the revision lessons before the exam.",
            "We have four lessons left and I want to use them for what went badly.",
        ),
        (
            'For which published assignments in "[name]" is the average final grade of returned work below [words] '
            'of what '
            "the assignment is worth?",
            "Write them to revision.csv with the columns assignment, students (how many returned grades count) and "
            "average "
            "(rounded to one decimal), sorted by assignment. Work that has not been returned does not count.",
            "Then tell me how many assignments that makes.",
        ),
        name=name,
        words=words,
    )
    traps = (
        wrong(
            "unreturned",
            "dropped_condition",
            "counts grades that are not returned yet",
            _weak(name, share, states=("RETURNED", "TURNED_IN")),
        ),
        wrong("of_hundred", "wrong_column", "takes every assignment as worth 100", _weak(name, share, absolute=True)),
        wrong("next_door", "neighbour", "looks at the parallel class", _weak(neighbour, share)),
    )
    return Draft(
        "weak_assignments", "classroom", "What to revise", instruction, trapped(_weak(name, share), traps), school.cast
    )


def _late(name: str, n: int, order: str = "desc", everything: bool = False, key: str = "person.email_address") -> Plan:
    late = with_person(submissions(), "sub.user_id")
    if not everything:
        late = where(late, eq("sub.late", lit(True)))
    counted = group(use("late"), ("person.name_full_name", "person.email_address"), times=("count", None))
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": of_course("CourseWork", "work"),
            "late": late,
            "counted": counted,
            "worst": top(use("counted"), (("times", order), (key, "asc")), n),
        },
        files=(
            FileReport(
                "late.csv",
                use("worst"),
                (("student", "person.name_full_name"), ("e-mail", "person.email_address"), ("times late", "times")),
                order=(("times", order), (key, "asc")),
            ),
        ),
    )


@motif("often_late")
def often_late(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    n = rng.choice((3, 4))
    room, next_door = school.course(name), school.course(neighbour)
    pupils = sorted(school.people(8), key=lambda p: p.email)
    order = list(pupils)
    rng.shuffle(order)
    school.enrol(room, pupils)
    school.enrol(next_door, pupils[:4])
    late = dict(zip((p.ref for p in order), (6, 5, 3, 3, 2, 1, 1, 0), strict=True))
    works: list[str] = []
    for place, title in enumerate(school.titles(7)):
        work = school.work(room, title)
        works.append(work)
        for pupil in pupils:
            is_late = int(place < late[pupil.ref])
            state = ("TURNED_IN", "RETURNED", "RECLAIMED_BY_STUDENT")[place % 3]
            school.submission(room, work, pupil, state, late=is_late)
    for title in school.titles(3):
        other = school.work(next_door, title)
        for pupil in pupils[:4]:
            school.submission(next_door, other, pupil, "TURNED_IN", late=1)
    school.more_students(0.12, room)
    school.more_submissions(0.12, room, works, state={"choice": ["TURNED_IN", "RETURNED"]})
    instruction = say(
        rng,
        (
            "I want to talk with those who keep missing the bell.",
            "The tutor asked who needs help with planning their work.",
        ),
        (
            'Who are the [n] students with the most late work in "[name]"? Count {every submission marked '
            'late|each late '
            "submission}, whatever has become of it since.",
            "Write late.csv with the columns student (full name), e-mail and times late: most often first, and by "
            "e-mail "
            "where two are equal; exactly [n] lines below the header.",
        ),
        name=name,
        n=number(n),
    )
    traps = (
        wrong("all_work", "dropped_condition", "counts all work, late or not", _late(name, n, everything=True)),
        wrong("least_first", "order", "takes those who are late least often", _late(name, n, "asc")),
        wrong("one_more", "boundary", "lists one too many", _late(name, n + 1)),
        wrong("next_door", "neighbour", "looks at the parallel class", _late(neighbour, n)),
    )
    return Draft(
        "often_late", "classroom", "Who is late most often", instruction, trapped(_late(name, n), traps), school.cast
    )


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
        files=(
            FileReport(
                "one_teacher.csv",
                use("rows"),
                (("course", "course.name"), ("teachers", "teachers"), ("students", "size.students")),
                order=(("size.students", "desc"), ("course.name", "asc")),
            ),
        ),
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
        school.teach(room, staff[:1] if place < 3 else staff[: 2 + place % 2])
        school.enrol(room, pupils[: 3 + place % 4])
    school.teach(old, staff[:1])
    school.enrol(old, pupils[:2])
    school.cast.grow("CourseWork", 0.1, {"course_id": ref(rooms[3])})
    school.more_students(0.25, *rooms[3:])
    instruction = say(
        rng,
        (
            "If somebody falls ill, courses with a single teacher are the ones that stop.",
            "I plan the cover for the winter and need to know where we are thin.",
        ),
        (
            'Which active courses of the section "[label]" have fewer than two teachers? Write one_teacher.csv '
            'with the columns '
            "course, teachers and students (both as numbers), most students first, by name where equal.",
            "And tell me how many courses that is.",
        ),
        label=label,
    )
    traps = (
        wrong("two_as_well", "boundary", "counts courses with two teachers", _staffing(label, 2, "<=")),
        wrong("archived", "wrong_value", "looks at the archived course", _staffing(label, 2, state="ARCHIVED")),
        wrong("many", "order", "lists those with enough teachers", _staffing(label, 2, ">=")),
    )
    return Draft(
        "thin_staffing",
        "classroom",
        "Courses with one teacher",
        instruction,
        trapped(_staffing(label, 2), traps),
        school.cast,
    )
