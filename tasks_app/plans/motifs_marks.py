"""Motifs of Classroom about marks: making them final, correcting them, entering them."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Answer, Effect, FileReport, Plan, cmp, col, eq, file, fn, join, lit, use, where
from tasks_app.plans.drafts import Draft, motif, ref
from tasks_app.plans.school import School
from tasks_app.plans.scopes import course, given, missing, of_course, one_of, submissions, trapped, with_person, wrong
from tasks_app.wording.voices import say

SUBMISSION_KEY = {"courseId": col("sub.course_id"), "courseWorkId": col("sub.course_work_id"), "id": col("sub.id")}


def _late_penalty(
    name: str,
    title: str,
    share: float,
    states: tuple[str, ...] = ("TURNED_IN",),
    fresh: bool = True,
    mild: bool = False,
) -> Plan:
    conditions = [one_of("sub.state", *states), given("sub.draft_grade")]
    if fresh:
        conditions.append(missing("sub.assigned_grade"))
    less = fn("round", ("op", "*", col("sub.draft_grade"), lit(share)), lit(1))
    grade = col("sub.draft_grade") if mild else ("case", ((eq("sub.late", lit(True)), less),), col("sub.draft_grade"))
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": where(of_course("CourseWork", "work"), eq("work.title", lit(title))),
            "ready": where(submissions(), *conditions),
        },
        effects=(
            Effect(
                "update",
                "StudentSubmission",
                "student_submissions_patch",
                use("ready"),
                key={"courseId": col("sub.course_id"), "courseWorkId": col("sub.course_work_id"), "id": col("sub.id")},
                set={"assigned_grade": grade},
            ),
        ),
        answers=(Answer("graded", use("ready"), "count"),),
    )


@motif("late_penalty")
def late_penalty(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    share, words = rng.choice(((0.9, "10%"), (0.8, "20%")))
    title = school.titles(1)[0]
    room, next_door = school.course(name), school.course(neighbour)
    pupils = school.people(10)
    school.enrol(room, pupils)
    school.enrol(next_door, pupils[:2])
    work, twin = school.work(room, title), school.work(next_door, title)
    for place, pupil in enumerate(pupils):
        mark, late = 10 * rng.randint(4, 9), place % 2
        if place < 6:
            school.submission(room, work, pupil, "TURNED_IN", draft_grade=mark, late=late)
        elif place == 6:
            school.submission(room, work, pupil, "TURNED_IN", late=late)
        elif place == 7:
            school.submission(room, work, pupil, "TURNED_IN", draft_grade=mark, assigned_grade=mark, late=late)
        else:
            school.submission(
                room, work, pupil, ("RETURNED", "RECLAIMED_BY_STUDENT")[place % 2], draft_grade=mark, late=late
            )
    for pupil in pupils[:2]:
        school.submission(next_door, twin, pupil, "TURNED_IN", draft_grade=60, late=1)
    school.cast.grow("CourseWork", 0.12, {"course_id": ref(room)})
    school.more_students(0.12, room)
    school.more_submissions(0.05, room, [work], state="RETURNED", draft_grade=50, assigned_grade=50)
    instruction = say(
        rng,
        ("Grades for the report cards are due tomorrow.", "I promised the office the grades by tonight."),
        (
            'For "[title]" in "[name]", {turn my draft grades into final ones|make my draft grades final}, for '
            'work that is '
            "handed in and has no final grade yet: the final grade is the draft grade, less [words] if the work is "
            "marked "
            "late (round to one decimal).",
            "Work already returned, or taken back by its student, stays as it is. Don't return anything.",
            "{How many did you grade?|Tell me how many you graded.}",
        ),
        name=name,
        title=title,
        words=words,
    )
    traps = (
        wrong(
            "no_penalty",
            "dropped_condition",
            "forgets what late work loses",
            _late_penalty(name, title, share, mild=True),
        ),
        wrong(
            "all_states",
            "dropped_condition",
            "grades returned and withdrawn work too",
            _late_penalty(name, title, share, states=("TURNED_IN", "RETURNED", "RECLAIMED_BY_STUDENT")),
        ),
        wrong(
            "regraded",
            "dropped_condition",
            "grades again what has a final grade",
            _late_penalty(name, title, share, fresh=False),
        ),
        wrong("next_door", "neighbour", "does it in the parallel class", _late_penalty(neighbour, title, share)),
    )
    return Draft(
        "late_penalty",
        "classroom",
        "Final grades, late work with a penalty",
        instruction,
        trapped(_late_penalty(name, title, share), traps),
        school.cast,
    )


def _cap(name: str, op: str = ">", column: str = "assigned_grade", ceiling: float | None = None) -> Plan:
    most = col("work.max_points") if ceiling is None else lit(ceiling)
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": where(of_course("CourseWork", "work"), eq("work.state", lit("PUBLISHED"))),
            "over": where(submissions(), cmp(op, col(f"sub.{column}"), most)),
        },
        effects=(
            Effect(
                "update",
                "StudentSubmission",
                "student_submissions_patch",
                use("over"),
                key=SUBMISSION_KEY,
                set={column: most},
            ),
        ),
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
    works: list[str] = []
    for place, (title, most) in enumerate(zip(school.titles(4), (20, 40, 50, 100), strict=True)):
        work = school.work(room, title, max_points=most)
        works.append(work)
        for seat, pupil in enumerate(pupils):
            grade = most + 2 if place < over and seat == place else most - 2 * seat
            state = "RETURNED" if seat % 2 else "TURNED_IN"
            draft = most + 5 if seat == 5 else grade
            school.submission(room, work, pupil, state, assigned_grade=grade, draft_grade=draft)
    other = school.work(next_door, school.titles(1)[0], max_points=30)
    for pupil in pupils[:2]:
        school.submission(next_door, other, pupil, "RETURNED", assigned_grade=33, draft_grade=33)
    school.more_students(0.12, room)
    school.more_submissions(0.12, room, works, state="RETURNED", draft_grade=15, assigned_grade=15)
    instruction = say(
        rng,
        (
            "The report program refuses grades above the maximum.",
            "A parent wrote that their child has 52 out of 50 points somewhere.",
        ),
        (
            'If any final grade in a published assignment of "[name]" is above what that assignment is worth, set '
            'it to '
            "the {assignment's maximum|maximum of the assignment}. Draft grades don't matter.",
            "{Tell me how many you corrected; if there were none, change nothing and say 0|Say how many grades you "
            "corrected, 0 if nothing was wrong, and then leave everything alone}.",
        ),
        name=name,
    )
    traps = (
        wrong("fixed_hundred", "wrong_column", "takes 50 as everybody's maximum", _cap(name, ceiling=50)),
        wrong("drafts", "wrong_column", "corrects draft grades", _cap(name, column="draft_grade")),
        wrong("next_door", "neighbour", "does it in the parallel class", _cap(neighbour)),
    )
    return Draft(
        "cap_grades",
        "classroom",
        "Grades above the maximum",
        instruction,
        trapped(_cap(name), traps),
        school.cast,
        outcome_kind="done" if over else "nothing_to_do",
    )


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
        effects=(
            Effect(
                "update",
                "StudentSubmission",
                "student_submissions_patch",
                use("entered"),
                key=SUBMISSION_KEY,
                set={"draft_grade": col("row.points")},
            ),
        ),
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
    school.cast.grow("CourseWork", 0.12, {"course_id": ref(room)})
    school.more_students(0.12, room)
    school.more_submissions(0.05, room, [other], state="TURNED_IN")
    instruction = say(
        rng,
        (
            "The teaching assistant sent me the marks of the last test.",
            "My colleague has marked the test for me.",
            "I read the papers on the train and typed the points into a list.",
        ),
        (
            'They are in inbox/marks.csv. Enter them as draft grades for "[title]" in "[name]", {also over a draft '
            'grade that '
            "is there already|replacing draft grades that are there}; capital letters in an e-mail address don't "
            "matter.",
            "Points above the assignment's maximum must not be entered.",
            "Lines that you {could not or must not enter|did not enter} go into not_entered.csv as they stand, "
            "with the "
            "columns e-mail and points.",
        ),
        title=title,
        name=name,
    )
    traps = (
        wrong("full_marks", "boundary", "refuses full marks", _enter(name, title, "<")),
        wrong("only_new", "extra_condition", "doesn't replace draft grades", _enter(name, title, again=False)),
        wrong("other_title", "neighbour", "enters them for another assignment", _enter(name, other_title)),
        wrong("next_door", "neighbour", "does it in the parallel class", _enter(neighbour, title)),
    )
    return Draft(
        "enter_marks",
        "classroom",
        "Enter the marks of a test",
        instruction,
        trapped(_enter(name, title), traps),
        school.cast,
        outcome_kind="partly_refused",
    )
