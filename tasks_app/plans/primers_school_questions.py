"""Primers of Classroom that ask: a count, a value, a list as a file."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Answer, Expr, FileReport, Plan, col, eq, lit
from tasks_app.plans.drafts import Draft, primer
from tasks_app.plans.primer_school import TOPICS, child_of, course_named, school_primer, two_courses
from tasks_app.plans.school import School
from tasks_app.wording.voices import ask


@primer("count_students")
def count_students(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = two_courses(school)
    n = rng.randint(3, 12)
    pupils = school.people(n + 2)
    school.enrol(room, pupils[:n])
    school.enrol(next_door, pupils[: n + 2] if rng.random() < 0.5 else pupils[: n - 1])

    def plan(course: str) -> Plan:
        return Plan("classroom", answers=(Answer("students", child_of(course, "Student", "student"), "count"),))

    words = ask(
        rng,
        (
            'How many students are in "[name]"? Answer with the number.',
            'Tell me the number of students in "[name]".',
            'Count the students of the course "[name]" and give me just the number.',
        ),
        name=name,
    )
    return school_primer(
        "count_students",
        f"Students of {name}",
        words,
        plan(name),
        school,
        ("next_door", "counts another course", plan(neighbour)),
    )


@primer("count_assignments")
def count_assignments(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = two_courses(school)
    n = rng.randint(2, 8)
    titles = school.titles(n + 3)
    for title in titles[:n]:
        school.work(room, title)
    school.work(room, titles[n], state="DRAFT")
    school.work(next_door, titles[n + 1])

    def plan(course: str, *states: Expr) -> Plan:
        return Plan(
            "classroom", answers=(Answer("assignments", child_of(course, "CourseWork", "work", *states), "count"),)
        )

    words = ask(
        rng,
        (
            'How many published assignments does "[name]" have? Answer with the number; drafts don\'t count.',
            'Give me the number of published assignments in "[name]", without drafts.',
        ),
        name=name,
    )
    published = eq("work.state", lit("PUBLISHED"))
    return school_primer(
        "count_assignments",
        f"Assignments of {name}",
        words,
        plan(name, published),
        school,
        ("next_door", "counts another course", plan(neighbour, published)),
        ("drafts", "counts drafts too", plan(name, ("in", col("work.state"), ("PUBLISHED", "DRAFT")))),
    )


@primer("which_room")
def which_room(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    first, second = rng.sample(range(100, 480), 2)
    school.course(name, room=f"Room {first}")
    school.course(neighbour, room=f"Room {second}")

    def plan(course: str) -> Plan:
        return Plan("classroom", answers=(Answer("room", course_named(course), "only", col("course.room")),))

    words = ask(
        rng,
        ('Which room is "[name]" in? Answer with the room alone.', 'Where does "[name]" meet? Just give me the room.'),
        name=name,
    )
    return school_primer(
        "which_room",
        f"Where {name} meets",
        words,
        plan(name),
        school,
        ("next_door", "names another course's room", plan(neighbour)),
    )


@primer("worth")
def worth(rng: Random) -> Draft:
    school = School(rng)
    name, _, room, _ = two_courses(school)
    title, other = school.titles(2)
    points = rng.sample(range(10, 200, 5), 2)
    school.work(room, title, max_points=points[0])
    school.work(room, other, max_points=points[1])

    def plan(work: str) -> Plan:
        return Plan(
            "classroom",
            answers=(
                Answer(
                    "points",
                    child_of(name, "CourseWork", "work", eq("work.title", lit(work))),
                    "only",
                    col("work.max_points"),
                ),
            ),
        )

    words = ask(
        rng,
        (
            'How many points is "[title]" in "[name]" worth? Answer with the number.',
            'What is the maximum for "[title]" in "[name]"? Just the number of points.',
        ),
        name=name,
        title=title,
    )
    return school_primer(
        "worth",
        f"Points for {title}",
        words,
        plan(title),
        school,
        ("other_work", "looks at another assignment", plan(other)),
    )


@primer("list_assignments")
def list_assignments(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = two_courses(school)
    path = rng.choice(("assignments.csv", "titles.csv", "work.csv"))
    for title in school.titles(rng.randint(3, 6)):
        school.work(room, title, max_points=rng.randrange(10, 100, 5))
    for title in school.titles(2):
        school.work(next_door, title)

    def plan(course: str) -> Plan:
        return Plan(
            "classroom",
            files=(
                FileReport(
                    path,
                    child_of(course, "CourseWork", "work"),
                    (("title", "work.title"), ("points", "work.max_points")),
                    order=(("work.title", "asc"),),
                ),
            ),
        )

    words = ask(
        rng,
        (
            'Write the assignments of "[name]" to [path], with the columns title and points (the maximum), sorted '
            'by title.',
            'List the assignments of "[name]" in [path]: columns title and points (the maximum), by title.',
        ),
        name=name,
        path=path,
    )
    return school_primer(
        "list_assignments",
        f"Assignments of {name} as a file",
        words,
        plan(name),
        school,
        ("next_door", "lists another course", plan(neighbour)),
    )


@primer("list_topics")
def list_topics(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = two_courses(school)
    labels = rng.sample(TOPICS, 7)
    for label in labels[: rng.randint(3, 5)]:
        school.topic(room, label)
    for label in labels[5:]:
        school.topic(next_door, label)

    def plan(course: str) -> Plan:
        return Plan(
            "classroom",
            files=(
                FileReport(
                    "topics.csv",
                    child_of(course, "Topic", "topic"),
                    (("topic", "topic.name"),),
                    order=(("topic.name", "asc"),),
                ),
            ),
        )

    words = ask(
        rng,
        (
            'Write the topics of "[name]" to topics.csv, one column called topic, in alphabetical order.',
            'I need topics.csv with the topics of "[name]": one column, topic, sorted.',
        ),
        name=name,
    )
    return school_primer(
        "list_topics",
        f"Topics of {name} as a file",
        words,
        plan(name),
        school,
        ("next_door", "lists another course", plan(neighbour)),
    )
