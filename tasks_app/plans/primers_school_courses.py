"""Primers of Classroom that change a course and what hangs in it."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Effect, Plan, col, eq, lit
from tasks_app.plans.drafts import Draft, primer
from tasks_app.plans.primer_school import TOPICS, child_of, course_named, ended, notice, school_primer, two_courses
from tasks_app.plans.school import School
from tasks_app.wording.voices import ask


@primer("archive_course")
def archive_course(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, _, _ = two_courses(school)

    def plan(course: str) -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "update",
                    "Course",
                    "courses_patch",
                    course_named(course),
                    key={"id": col("course.id")},
                    set={"course_state": lit("ARCHIVED")},
                ),
            ),
        )

    words = ask(
        rng,
        ('Archive the course "[name]".', '"[name]" has ended; archive it.', 'Put "[name]" into the archive.'),
        name=name,
    )
    return school_primer(
        "archive_course",
        f"Archive {name}",
        words,
        plan(name),
        school,
        ("next_door", "archives another course", plan(neighbour)),
    )


@primer("change_room")
def change_room(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    first, second, third = (f"Room {n}" for n in rng.sample(range(100, 480), 3))
    school.course(name, room=first)
    school.course(neighbour, room=second)

    def plan(course: str, room: str) -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "update",
                    "Course",
                    "courses_patch",
                    course_named(course),
                    key={"id": col("course.id")},
                    set={"room": lit(room)},
                ),
            ),
        )

    words = ask(
        rng,
        (
            '"[name]" now meets in [room]; change that.',
            'Set the room of "[name]" to "[room]".',
            'The course "[name]" has moved to [room]. Please enter it.',
        ),
        name=name,
        room=third,
    )
    return school_primer(
        "change_room",
        f"New room for {name}",
        words,
        plan(name, third),
        school,
        ("next_door", "changes another course", plan(neighbour, third)),
    )


@primer("post_notice")
def post_notice(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, _, _ = two_courses(school)
    text = notice(rng)

    def plan(course: str, state: str = "PUBLISHED") -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "create",
                    "Announcement",
                    "announcements_create",
                    course_named(course),
                    key={"courseId": col("course.id")},
                    set={"text": lit(text), "state": lit(state)},
                ),
            ),
        )

    words = ask(
        rng,
        ('Publish this announcement in "[name]": "[text]"', 'Announce in "[name]", published at once: "[text]"'),
        name=name,
        text=text,
    )
    return school_primer(
        "post_notice",
        f"Announce in {name}",
        ended(words),
        plan(name),
        school,
        ("next_door", "announces it in another course", plan(neighbour)),
        ("as_draft", "leaves it as a draft", plan(name, "DRAFT")),
    )


@primer("delete_notice")
def delete_notice(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = two_courses(school)
    text = notice(rng)
    other = notice(rng)
    while other == text:
        other = notice(rng)
    school.announcement(room, text)
    school.announcement(room, other)
    school.announcement(next_door, text)

    def plan(course: str, said: str) -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "delete",
                    "Announcement",
                    "announcements_delete",
                    child_of(course, "Announcement", "note", eq("note.text", lit(said))),
                    key={"courseId": col("note.course_id"), "id": col("note.id")},
                ),
            ),
        )

    words = ask(
        rng,
        ('Delete the announcement "[text]" in "[name]".', 'In "[name]", remove the announcement that says "[text]".'),
        name=name,
        text=text,
    )
    return school_primer(
        "delete_notice",
        f"Delete a notice in {name}",
        ended(words),
        plan(name, text),
        school,
        ("next_door", "deletes it in another course", plan(neighbour, text)),
        ("other_note", "deletes another announcement", plan(name, other)),
    )


@primer("add_topic")
def add_topic(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, _ = two_courses(school)
    topic, other = rng.sample(TOPICS, 2)
    school.topic(room, other)

    def plan(course: str, label: str) -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "create",
                    "Topic",
                    "topics_create",
                    course_named(course),
                    key={"courseId": col("course.id")},
                    set={"name": lit(label)},
                ),
            ),
        )

    words = ask(
        rng,
        ('Add the topic "[topic]" to "[name]".', 'Create a topic called "[topic]" in "[name]".'),
        name=name,
        topic=topic,
    )
    return school_primer(
        "add_topic",
        f"Add {topic}",
        words,
        plan(name, topic),
        school,
        ("next_door", "adds it to another course", plan(neighbour, topic)),
        ("other_topic", "adds another topic", plan(name, other)),
    )


@primer("rename_topic")
def rename_topic(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = two_courses(school)
    old, other, new = rng.sample(TOPICS, 3)
    for course, label in ((room, old), (room, other), (next_door, old)):
        school.topic(course, label)

    def plan(course: str, label: str) -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "update",
                    "Topic",
                    "topics_patch",
                    child_of(course, "Topic", "topic", eq("topic.name", lit(label))),
                    key={"courseId": col("topic.course_id"), "id": col("topic.topic_id")},
                    set={"name": lit(new)},
                ),
            ),
        )

    words = ask(
        rng,
        ('Rename the topic "[old]" of "[name]" to "[new]".', 'In "[name]", the topic "[old]" shall be called "[new]".'),
        name=name,
        old=old,
        new=new,
    )
    return school_primer(
        "rename_topic",
        f"Rename {old}",
        words,
        plan(name, old),
        school,
        ("next_door", "renames it in another course", plan(neighbour, old)),
        ("other_topic", "renames another topic", plan(name, other)),
    )


@primer("new_group")
def new_group(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, _, _ = two_courses(school)
    colour = rng.choice(("Red", "Blue", "Green", "Amber", "Silver", "Violet"))
    title = f"{colour} {rng.choice(('team', 'table', 'group', 'crew'))}"

    def plan(course: str) -> Plan:
        return Plan(
            "classroom",
            effects=(
                Effect(
                    "create",
                    "StudentGroup",
                    "student_groups_create",
                    course_named(course),
                    key={"courseId": col("course.id")},
                    set={"title": lit(title)},
                ),
            ),
        )

    words = ask(
        rng,
        ('Create a student group "[title]" in "[name]".', '"[name]" needs a new student group called "[title]".'),
        name=name,
        title=title,
    )
    return school_primer(
        "new_group",
        f"New group in {name}",
        words,
        plan(name),
        school,
        ("next_door", "makes it in another course", plan(neighbour)),
    )
