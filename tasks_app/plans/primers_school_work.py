"""Primers of Classroom that change one assignment."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Effect, Plan, col, eq, lit
from tasks_app.plans.drafts import Draft, primer, stamp
from tasks_app.plans.primer_school import child_of, school_primer, two_courses
from tasks_app.plans.school import School
from tasks_app.wording.grammar import day
from tasks_app.wording.voices import ask


@primer("publish_draft")
def publish_draft(rng: Random) -> Draft:
    school = School(rng)
    name, _, room, _ = two_courses(school)
    title, other, third = school.titles(3)
    school.work(room, title, state="DRAFT")
    school.work(room, other, state="DRAFT")
    school.work(room, third)

    def plan(work: str) -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "update",
                    "CourseWork",
                    "course_work_patch",
                    child_of(name, "CourseWork", "work", eq("work.title", lit(work))),
                    key={"courseId": col("work.course_id"), "id": col("work.id")},
                    set={"state": lit("PUBLISHED")},
                ),
            ),
        )

    words = ask(
        rng,
        ('Publish the draft "[title]" in "[name]".', 'The assignment "[title]" in "[name]" is ready; publish it.'),
        name=name,
        title=title,
    )
    return school_primer(
        "publish_draft",
        f"Publish {title}",
        words,
        plan(title),
        school,
        ("other_draft", "publishes another draft", plan(other)),
    )


@primer("set_due")
def set_due(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = two_courses(school)
    title = school.titles(1)[0]
    old, new = rng.sample(range(4, 29), 2)
    clock = f"{rng.randint(8, 18):02d}:00"
    school.work(room, title, due_time=stamp(f"2026-11-{old:02d}", clock))
    school.work(next_door, title, due_time=stamp(f"2026-11-{old:02d}", clock))
    when = stamp(f"2026-11-{new:02d}", clock)

    def plan(course: str) -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "update",
                    "CourseWork",
                    "course_work_patch",
                    child_of(course, "CourseWork", "work", eq("work.title", lit(title))),
                    key={"courseId": col("work.course_id"), "id": col("work.id")},
                    set={"due_time": lit(when)},
                ),
            ),
        )

    words = ask(
        rng,
        (
            'Set the due date of "[title]" in "[name]" to [day] 2026, [clock] (UTC).',
            '"[title]" in "[name]" is now due on [day] 2026 at [clock] (UTC); change it.',
        ),
        name=name,
        title=title,
        day=day(when),
        clock=clock,
    )
    return school_primer(
        "set_due",
        f"New date for {title}",
        words,
        plan(name),
        school,
        ("next_door", "changes another course", plan(neighbour)),
    )


@primer("delete_assignment")
def delete_assignment(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = two_courses(school)
    title, other = school.titles(2)
    for course, work in ((room, title), (room, other), (next_door, title)):
        school.work(course, work)

    def plan(course: str, work: str) -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "delete",
                    "CourseWork",
                    "course_work_delete",
                    child_of(course, "CourseWork", "work", eq("work.title", lit(work))),
                    key={"courseId": col("work.course_id"), "id": col("work.id")},
                ),
            ),
        )

    words = ask(
        rng,
        ('Delete the assignment "[title]" from "[name]".', 'Remove "[title]" from the assignments of "[name]".'),
        name=name,
        title=title,
    )
    return school_primer(
        "delete_assignment",
        f"Delete {title}",
        words,
        plan(name, title),
        school,
        ("next_door", "deletes it in another course", plan(neighbour, title)),
        ("other_work", "deletes another assignment", plan(name, other)),
    )
