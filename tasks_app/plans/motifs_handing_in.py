"""Motifs of Classroom about work that is handed in, given back or missing."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Effect, FileReport, Plan, cmp, col, eq, group, join, lit, use, where
from tasks_app.plans.drafts import Draft, motif, ref
from tasks_app.plans.school import School
from tasks_app.plans.scopes import (
    course,
    given,
    missing,
    no,
    of_course,
    one_of,
    submissions,
    trapped,
    with_person,
    wrong,
)
from tasks_app.wording.grammar import number
from tasks_app.wording.voices import say

CLASS_FILE = (("assignment", "work.title"), ("student", "person.name_full_name"), ("e-mail", "person.email_address"))


def _chase(
    name: str,
    least: int,
    op: str = ">=",
    handed_in: tuple[str, ...] = ("TURNED_IN", "RETURNED"),
    states: tuple[str, ...] = ("PUBLISHED",),
) -> Plan:
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": where(of_course("CourseWork", "work"), one_of("work.state", *states)),
            "owing": where(submissions(), no(one_of("sub.state", *handed_in))),
            "short": where(
                group(use("owing"), ("work.course_id", "work.id", "work.title"), missing=("count", None)),
                cmp(op, col("missing"), lit(least)),
            ),
            "names": with_person(
                join(use("owing"), use("short", "short"), eq("work.id", "short.id"), how="semi"), "sub.user_id"
            ),
        },
        effects=(
            Effect(
                "create",
                "Announcement",
                "announcements_create",
                use("short"),
                key={"courseId": col("work.course_id")},
                set={"state": lit("PUBLISHED")},
                text={"text": ("work.title", "missing")},
            ),
        ),
        files=(
            FileReport(
                "missing.csv", use("names"), CLASS_FILE, order=(("work.title", "asc"), ("person.email_address", "asc"))
            ),
        ),
    )


@motif("chase_missing")
def chase_missing(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    least = rng.choice((3, 4))
    room, next_door = school.course(name), school.course(neighbour)
    pupils = school.people(least + 4)
    school.enrol(room, pupils)
    school.enrol(next_door, pupils[:3])
    titles = school.titles(6)
    for title, owing in zip(titles[:5], (least, least + 1, least + 2, least - 1, 1), strict=True):
        work = school.work(room, title)
        states = ["NEW", "CREATED", "RECLAIMED_BY_STUDENT"] * 3
        for place, pupil in enumerate(pupils):
            state = states[place] if place < owing else rng.choice(("TURNED_IN", "RETURNED"))
            school.submission(room, work, pupil, state)
    draft = school.work(room, titles[5], state="DRAFT")
    for pupil in pupils[: least + 1]:
        school.submission(room, draft, pupil, "NEW")
    other = school.work(next_door, school.titles(1)[0])
    for pupil in pupils[:least]:
        school.submission(next_door, other, pupil, "NEW")
    # Every student has a submission to every published assignment, at each size: so growth adds drafts, not students.
    school.cast.grow("CourseWork", 0.15, {"course_id": ref(room), "state": "DRAFT"})
    school.cast.grow("Announcement", 0.1, {"course_id": ref(room), "state": "PUBLISHED"})
    instruction = say(
        rng,
        (
            "Term ends on Friday and I want nobody to be surprised by a gap in their marks.",
            "Reports are written next week, and too much work is still missing.",
            "The head of year asked me what is outstanding.",
        ),
        (
            'In "[name]", find every published assignment that {at least [least] students have not handed in|'
            "still lacks the work of [least] or more students}. ",
            "Returned work counts as handed in; {work that a student took back does not|work taken back does not}.",
            "For each of them, publish an announcement in the course that {gives|names} the assignment's title and "
            "how many "
            "are missing.",
            "Also leave me missing.csv with the columns assignment, student (full name) and e-mail, for these "
            "assignments "
            "only, sorted by assignment and then e-mail.",
        ),
        name=name,
        least=number(least),
    )
    plan = _chase(name, least)
    traps = (
        wrong("more_than", "boundary", "takes “at least” for “more than”", _chase(name, least, ">")),
        wrong(
            "taken_back",
            "dropped_condition",
            "counts work that was taken back as handed in",
            _chase(name, least, handed_in=("TURNED_IN", "RETURNED", "RECLAIMED_BY_STUDENT")),
        ),
        wrong(
            "returned",
            "dropped_condition",
            "counts returned work as missing",
            _chase(name, least, handed_in=("TURNED_IN",)),
        ),
        wrong("drafts", "dropped_condition", "takes drafts along", _chase(name, least, states=("PUBLISHED", "DRAFT"))),
        wrong("next_door", "neighbour", "does it in the parallel class", _chase(neighbour, least)),
    )
    return Draft("chase_missing", "classroom", "Chase what is missing", instruction, trapped(plan, traps), school.cast)


def _return(name: str, column: str = "sub.assigned_grade", states: tuple[str, ...] = ("TURNED_IN",)) -> Plan:
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": of_course("CourseWork", "work"),
            "waiting": where(submissions(), one_of("sub.state", *states)),
            "marked": where(use("waiting"), given(column)),
            "unmarked": with_person(where(use("waiting"), missing(column)), "sub.user_id"),
        },
        effects=(
            Effect(
                "transition",
                "StudentSubmission",
                "student_submissions_return",
                use("marked"),
                key={"courseId": col("sub.course_id"), "courseWorkId": col("sub.course_work_id"), "id": col("sub.id")},
            ),
        ),
        files=(
            FileReport(
                "still_to_mark.csv",
                use("unmarked"),
                (("assignment", "work.title"), ("student", "person.name_full_name")),
            ),
        ),
    )


@motif("return_marked")
def return_marked(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    room, next_door = school.course(name), school.course(neighbour)
    pupils = school.people(7)
    school.enrol(room, pupils)
    school.enrol(next_door, pupils[4:])
    works = []
    for title in school.titles(4):
        work = school.work(room, title)
        works.append(work)
        mark = rng.randrange(50, 100)
        school.submission(room, work, pupils[0], "TURNED_IN", assigned_grade=mark, draft_grade=mark)
        school.submission(room, work, pupils[1], "TURNED_IN", draft_grade=mark - 4)
        school.submission(room, work, pupils[2], "TURNED_IN")
        school.submission(room, work, pupils[3], "RETURNED", assigned_grade=mark + 1, draft_grade=mark + 1)
        school.submission(room, work, pupils[4], "RECLAIMED_BY_STUDENT", assigned_grade=mark, draft_grade=mark)
        school.submission(room, work, pupils[5], "NEW")
    work = school.work(next_door, school.titles(1)[0])
    for pupil in pupils[4:6]:
        school.submission(next_door, work, pupil, "TURNED_IN", assigned_grade=71, draft_grade=71)
    school.submission(next_door, work, pupils[6], "TURNED_IN")
    school.more_students(0.12, room)
    school.more_submissions(0.12, room, works, state="RETURNED", draft_grade=64, assigned_grade=64)
    school.cast.grow("Announcement", 0.1, {"course_id": ref(room)})
    instruction = say(
        rng,
        (
            "Parents' evening is on Thursday, so students should have their work back.",
            "I finished most of my marking over the weekend.",
            "My class keeps asking when they get their work back.",
        ),
        (
            'In "[name]", return {everything|all work} that is handed in and has a final grade, {whatever the '
            'assignment|'
            "for every assignment}.",
            "A draft grade alone is not final: {what is handed in without a final grade stays where it is|leave "
            "what is "
            "handed in without a final grade}, and list it in still_to_mark.csv with the columns assignment and "
            "student "
            "(full name), in any order.",
        ),
        name=name,
    )
    traps = (
        wrong("draft_grade", "wrong_column", "takes a draft grade for a final one", _return(name, "sub.draft_grade")),
        wrong(
            "taken_back",
            "dropped_condition",
            "returns work that its student took back",
            _return(name, states=("TURNED_IN", "RECLAIMED_BY_STUDENT")),
        ),
        wrong("next_door", "neighbour", "does it in the parallel class", _return(neighbour)),
    )
    return Draft(
        "return_marked",
        "classroom",
        "Give marked work back",
        instruction,
        trapped(_return(name), traps),
        school.cast,
        outcome_kind="partly_refused",
    )
