"""Motifs of Classroom about marks: correcting, entering and comparing them."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import (
    Answer, Effect, FileReport, Plan, cmp, col, eq, extend, file, fn, group, join, lit, top, use, where,
)
from tasks_app.plans.drafts import Draft, motif, ref
from tasks_app.plans.school import School
from tasks_app.plans.scopes import (
    course, given, missing, of_course, one_of, submissions, trapped, with_person, wrong,
)
from tasks_app.wording.grammar import number
from tasks_app.wording.voices import say

SUBMISSION_KEY = {"courseId": col("sub.course_id"), "courseWorkId": col("sub.course_work_id"), "id": col("sub.id")}


def _cap(name: str, op: str = ">", column: str = "assigned_grade", ceiling: float | None = None) -> Plan:
    most = col("work.max_points") if ceiling is None else lit(ceiling)
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": where(of_course("CourseWork", "work"), eq("work.state", lit("PUBLISHED"))),
            "over": where(submissions(), cmp(op, col(f"sub.{column}"), most)),
        },
        effects=(Effect("update", "StudentSubmission", "student_submissions_patch", use("over"),
                        key=SUBMISSION_KEY, set={column: most}),),
        answers=(Answer("corrected", use("over"), "count"),),
    )


@motif("cap_grades")
def cap_grades(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    over = rng.choice((0, 4))
    room, next_door = school.course(name), school.course(neighbour)
    pupils = school.people(6)
    school.enrol(room, pupils)
    school.enrol(next_door, pupils[:2])
    for place, (title, most) in enumerate(zip(school.titles(4), (20, 40, 50, 100), strict=True)):
        work = school.work(room, title, max_points=most)
        for seat, pupil in enumerate(pupils):
            grade = most + 2 if place < over and seat == place else most - 2 * seat
            state = "RETURNED" if seat % 2 else "TURNED_IN"
            draft = most + 5 if seat == 5 else grade
            school.submission(room, work, pupil, state, assigned_grade=grade, draft_grade=draft)
    other = school.work(next_door, school.titles(1)[0], max_points=30)
    for pupil in pupils[:2]:
        school.submission(next_door, other, pupil, "RETURNED", assigned_grade=33, draft_grade=33)
    school.cast.grow("CourseWork", 0.25, {"course_id": ref(room), "state": "PUBLISHED"})
    instruction = say(
        rng,
        ("The report program refuses grades above the maximum.",
         "A parent wrote that their child has 52 out of 50 points somewhere."),
        ('If any final grade in a published assignment of "[name]" is above what that assignment is worth, set it to '
         "the {assignment's maximum|maximum of the assignment}. Draft grades don't matter.",
         "{Tell me how many you corrected; if there were none, change nothing and say 0|Say how many grades you "
         "corrected, 0 if nothing was wrong, and then leave everything alone}."),
        name=name,
    )
    traps = (
        wrong("fixed_hundred", "wrong_column", "takes 50 as everybody's maximum", _cap(name, ceiling=50)),
        wrong("drafts", "wrong_column", "corrects draft grades", _cap(name, column="draft_grade")),
        wrong("next_door", "neighbour", "does it in the parallel class", _cap(neighbour)),
    )
    return Draft("cap_grades", "classroom", "Grades above the maximum", instruction, trapped(_cap(name), traps), school.cast,
                 outcome_kind="done" if over else "nothing_to_do")


def _enter(name: str, title: str, op: str = "<=", again: bool = True) -> Plan:
    rows = file("inbox/marks.csv", "row", (("e-mail", "text"), ("points", "real")))
    people = with_person(submissions(), "sub.user_id")
    matched = join(use("people"), use("marks", "row"), eq("person.email_address", fn("lower", col("row.e-mail"))))
    fits = [cmp(op, col("row.points"), col("work.max_points"))]
    if not again:
        fits.append(missing("sub.draft_grade"))
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": where(of_course("CourseWork", "work"), eq("work.title", lit(title))),
            "people": people,
            "marks": rows,
            "matched": matched,
            "entered": where(use("matched"), *fits),
            "refused": join(use("marks"), use("entered", "done"), eq("row.e-mail", "done.e-mail"), how="anti"),
        },
        effects=(Effect("update", "StudentSubmission", "student_submissions_patch", use("entered"),
                        key=SUBMISSION_KEY, set={"draft_grade": col("row.points")}),),
        files=(FileReport("not_entered.csv", use("refused"), (("e-mail", "row.e-mail"), ("points", "row.points"))),),
    )


@motif("enter_marks")
def enter_marks(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    title, other_title = school.titles(2)
    most = rng.choice((40, 60, 80))
    room, next_door = school.course(name), school.course(neighbour)
    pupils = school.people(10)
    stranger = school.person()
    school.enrol(room, pupils)
    school.enrol(next_door, [stranger, *pupils[:2]])
    work, other = school.work(room, title, max_points=most), school.work(room, other_title, max_points=most)
    twin = school.work(next_door, title, max_points=most)
    rows: list[list[object]] = []
    for place, pupil in enumerate(pupils):
        before = most // 2 if place in (2, 3) else None
        school.submission(room, work, pupil, "TURNED_IN", draft_grade=before)
        school.submission(room, other, pupil, "TURNED_IN")
        if place < 8:
            points = most + 3 if place == 5 else most if place == 6 else rng.randint(most // 2 + 1, most - 1)
            rows.append([pupil.email.upper() if place == 1 else pupil.email, points])
    for pupil in (stranger, *pupils[:2]):
        school.submission(next_door, twin, pupil, "TURNED_IN")
    rows.append([stranger.email, most // 2])
    rows.append([f"guest{rng.randint(10, 99)}@visitors.example", most // 3])
    rng.shuffle(rows)
    school.cast.file("inbox/marks.csv", ("e-mail", "points"), rows)
    school.cast.grow("CourseWork", 0.25, {"course_id": ref(room)})
    school.cast.grow("StudentSubmission", 0.2, {"course_id": ref(room), "course_work_id": ref(work), "state": "NEW"})
    instruction = say(
        rng,
        ("The teaching assistant sent me the marks of the last test.", "My colleague has marked the test for me.",
         "I read the papers on the train and typed the points into a list."),
        ('They are in inbox/marks.csv. Enter them as draft grades for "[title]" in "[name]", {also over a draft grade that '
         "is there already|replacing draft grades that are there}; capital letters in an e-mail address don't matter.",
         "Points above the assignment's maximum must not be entered.",
         "Lines that you {could not or must not enter|did not enter} go into not_entered.csv as they stand, with the "
         "columns e-mail and points."),
        title=title, name=name,
    )
    traps = (
        wrong("full_marks", "boundary", "refuses full marks", _enter(name, title, "<")),
        wrong("only_new", "extra_condition", "doesn't replace draft grades", _enter(name, title, again=False)),
        wrong("other_title", "neighbour", "enters them for another assignment", _enter(name, other_title)),
        wrong("next_door", "neighbour", "does it in the parallel class", _enter(neighbour, title)),
    )
    return Draft("enter_marks", "classroom", "Enter the marks of a test", instruction,
                 trapped(_enter(name, title), traps), school.cast, outcome_kind="partly_refused")


def _weak(name: str, share: float, states: tuple[str, ...] = ("RETURNED",), absolute: bool = False,
          column: str = "assigned_grade") -> Plan:
    limit = lit(share * 100) if absolute else ("op", "*", lit(share), col("work.max_points"))
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": where(of_course("CourseWork", "work"), eq("work.state", lit("PUBLISHED"))),
            "graded": where(submissions(), one_of("sub.state", *states), given(f"sub.{column}")),
            "means": group(use("graded"), ("work.id", "work.title", "work.max_points"),
                           students=("count", None), mean=("avg", col(f"sub.{column}"))),
            "weak": extend(where(use("means"), cmp("<", col("mean"), limit)), average=fn("round", col("mean"), lit(1))),
        },
        files=(FileReport("revision.csv", use("weak"),
                          (("assignment", "work.title"), ("students", "students"), ("average", "average")),
                          order=(("work.title", "asc"),)),),
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
    for place, title in enumerate(school.titles(6)):
        most = (20, 40, 50, 200, 80, 10)[place]
        weak = place in (0, 2, 3)
        work = school.work(room, title, max_points=most)
        for seat, pupil in enumerate(pupils):
            grade = most * (share - 0.2 if weak else share + 0.1) + seat % 3
            state = "RETURNED" if seat < 4 else "TURNED_IN"
            if place == 4 and seat >= 4:
                grade = 0.0
            school.submission(room, work, pupil, state, assigned_grade=round(grade, 1), draft_grade=round(grade, 1))
    other = school.work(next_door, school.titles(1)[0], max_points=100)
    for pupil in pupils[:3]:
        school.submission(next_door, other, pupil, "RETURNED", assigned_grade=31, draft_grade=31)
    school.cast.grow("CourseWork", 0.25, {"course_id": ref(room), "state": "PUBLISHED"})
    instruction = say(
        rng,
        ("I plan the revision lessons before the exam.", "We have four lessons left and I want to use them for what went badly."),
        ('For which published assignments in "[name]" is the average final grade of returned work below [words] of what '
         "the assignment is worth?",
         "Write them to revision.csv with the columns assignment, students (how many returned grades count) and average "
         "(rounded to one decimal), sorted by assignment. Work that has not been returned does not count.",
         "Then tell me how many assignments that makes."),
        name=name, words=words,
    )
    traps = (
        wrong("unreturned", "dropped_condition", "counts grades that are not returned yet",
              _weak(name, share, states=("RETURNED", "TURNED_IN"))),
        wrong("of_hundred", "wrong_column", "takes every assignment as worth 100", _weak(name, share, absolute=True)),
        wrong("next_door", "neighbour", "looks at the parallel class", _weak(neighbour, share)),
    )
    return Draft("weak_assignments", "classroom", "What to revise", instruction, trapped(_weak(name, share), traps), school.cast)


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
        files=(FileReport("late.csv", use("worst"),
                          (("student", "person.name_full_name"), ("e-mail", "person.email_address"), ("times late", "times")),
                          order=(("times", order), (key, "asc"))),),
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
    for place, title in enumerate(school.titles(7)):
        work = school.work(room, title)
        for pupil in pupils:
            is_late = int(place < late[pupil.ref])
            state = ("TURNED_IN", "RETURNED", "RECLAIMED_BY_STUDENT")[place % 3]
            school.submission(room, work, pupil, state, late=is_late)
    for title in school.titles(3):
        other = school.work(next_door, title)
        for pupil in pupils[:4]:
            school.submission(next_door, other, pupil, "TURNED_IN", late=1)
    school.cast.grow("CourseWork", 0.25, {"course_id": ref(room)})
    school.cast.grow("CourseWork", 0.1, {"course_id": ref(next_door)})
    instruction = say(
        rng,
        ("I want to talk with those who keep missing the bell.", "The tutor asked who needs help with planning their work."),
        ('Who are the [n] students with the most late work in "[name]"? Count {every submission marked late|each late '
         "submission}, whatever has become of it since.",
         "Write late.csv with the columns student (full name), e-mail and times late: most often first, and by e-mail "
         "where two are equal; exactly [n] lines below the header."),
        name=name, n=number(n),
    )
    traps = (
        wrong("all_work", "dropped_condition", "counts all work, late or not", _late(name, n, everything=True)),
        wrong("least_first", "order", "takes those who are late least often", _late(name, n, "asc")),
        wrong("one_more", "boundary", "lists one too many", _late(name, n + 1)),
        wrong("next_door", "neighbour", "looks at the parallel class", _late(neighbour, n)),
    )
    return Draft("often_late", "classroom", "Who is late most often", instruction, trapped(_late(name, n), traps), school.cast)
