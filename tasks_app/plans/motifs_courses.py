"""Motifs of Classroom about courses as a whole: what is old, what is a draft, what is to be published."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Effect, FileReport, Plan, Rel, cmp, col, eq, group, join, lit, use, where
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.school import School
from tasks_app.plans.scopes import course, of_course, one_of, section, trapped, wrong
from tasks_app.wording.voices import say


def _archive(label: str, since: str, states: tuple[str, ...] = ("PUBLISHED",), alive: bool = True) -> Plan:
    chosen: Rel = use("course")
    if alive:
        chosen = join(chosen, use("recent", "recent"), eq("course.id", "recent.course_id"), how="anti")
    return Plan(
        "classroom",
        lets={
            "course": section(label),
            "recent": where(
                of_course("CourseWork", "work"),
                one_of("work.state", *states),
                cmp(">=", col("work.due_time"), lit(since)),
            ),
            "finished": chosen,
        },
        effects=(
            Effect(
                "update",
                "Course",
                "courses_patch",
                use("finished"),
                key={"id": col("course.id")},
                set={"course_state": lit("ARCHIVED")},
            ),
        ),
        files=(
            FileReport(
                "archived.csv",
                use("finished"),
                (("course", "course.name"), ("room", "course.room")),
                order=(("course.name", "asc"),),
            ),
        ),
    )


@motif("archive_finished")
def archive_finished(rng: Random) -> Draft:
    school = School(rng)
    label = rng.choice(("Spring 2026", "Academic year 2025", "Summer term 2026"))
    names = school.subject_names(8)
    since = stamp("2026-09-01")
    titles = iter(school.titles(30))
    for place, name in enumerate(names[:7]):
        state = "PROVISIONED" if place == 6 else "ACTIVE"
        room = school.course(name, section=label, course_state=state, room=f"Room {100 + place}")
        school.work(room, next(titles), due_time=stamp("2026-05-12", "10:00"))
        school.work(room, next(titles), due_time=stamp("2026-08-31", "20:00"))
        if place in (3, 4):
            school.work(room, next(titles), due_time=stamp("2026-09-01" if place == 3 else "2026-10-14", "00:00"))
            last = room
        if place == 1:
            school.work(room, next(titles), due_time=stamp("2026-10-20", "09:00"), state="DRAFT")
    other = school.course(names[7], section="Autumn 2026", room="Room 110")
    school.work(other, next(titles), due_time=stamp("2026-04-02", "09:00"))
    school.cast.grow("CourseWork", 0.12, {"course_id": ref(last), "state": "PUBLISHED"})
    school.cast.grow("Announcement", 0.1, {"course_id": ref(last)})
    instruction = say(
        rng,
        ("My course list is full of classes that ended long ago.", "The office asks us to close what is finished."),
        (
            'Archive the active courses of the section "[label]" that have no published assignment due on or after '
            "1 September 2026 (UTC).",
            "{A draft does not keep a course open|Drafts don't keep a course open}.",
            "List what you archived in archived.csv, with course and room, sorted by course.",
        ),
        label=label,
    )
    traps = (
        wrong(
            "drafts",
            "dropped_condition",
            "lets a draft keep a course open",
            _archive(label, since, ("PUBLISHED", "DRAFT")),
        ),
        wrong("everything", "dropped_condition", "archives the whole section", _archive(label, since, alive=False)),
        wrong("day_late", "boundary", "lets the first of September slip", _archive(label, stamp("2026-09-02"))),
    )
    return Draft(
        "archive_finished",
        "classroom",
        "Archive what is finished",
        instruction,
        trapped(_archive(label, since), traps),
        school.cast,
    )


def _clean(label: str, before: str, states: tuple[str, ...] = ("DRAFT",), state: str = "ACTIVE") -> Plan:
    return Plan(
        "classroom",
        lets={
            "course": section(label, state),
            "stale": where(
                of_course("Announcement", "note"),
                one_of("note.state", *states),
                cmp("<", col("note.creation_time"), lit(before)),
            ),
            "counts": group(use("stale"), ("course.name",), removed=("count", None)),
        },
        effects=(
            Effect(
                "delete",
                "Announcement",
                "announcements_delete",
                use("stale"),
                key={"courseId": col("note.course_id"), "id": col("note.id")},
            ),
        ),
        files=(
            FileReport(
                "cleaned.csv",
                use("counts"),
                (("course", "course.name"), ("removed", "removed")),
                order=(("course.name", "asc"),),
            ),
        ),
    )


@motif("clean_drafts")
def clean_drafts(rng: Random) -> Draft:
    school = School(rng)
    label = rng.choice(("Middle school", "Language department", "Science department"))
    names = school.subject_names(4)
    rooms = [school.course(name, section=label) for name in names[:3]]
    old = school.course(names[3], section=label, course_state="ARCHIVED")
    before = stamp("2026-09-01")
    texts = iter(
        rng.sample(
            [
                f"{what} {when}"
                for what in (
                    "Bring your notebooks",
                    "Room change",
                    "Remember the trip money",
                    "Library visit",
                    "Test coming up",
                    "Photo day",
                )
                for when in ("on Monday.", "next week.", "after the break.", "this Friday.")
            ],
            20,
        )
    )
    for place, room in enumerate(rooms):
        for clock in range(2 - place // 2):
            school.announcement(room, next(texts), state="DRAFT", creation_time=stamp("2026-05-11", f"1{clock}:00"))
        school.announcement(room, next(texts), state="PUBLISHED", creation_time=stamp("2026-05-20", "12:00"))
        school.announcement(
            room, next(texts), state="DRAFT", creation_time=stamp("2026-09-01" if place == 0 else "2026-10-05")
        )
    school.announcement(old, next(texts), state="DRAFT", creation_time=stamp("2026-03-03"))
    school.cast.grow(
        "Announcement", 0.35, {"course_id": {"choice": [ref(room) for room in rooms]}, "state": "PUBLISHED"}
    )
    instruction = say(
        rng,
        (
            "Old drafts of announcements keep getting in my way.",
            "I start every term with the same stale drafts in the list.",
        ),
        (
            'In the active courses of the section "[label]", delete the draft announcements that were created before '
            "1 September 2026 (UTC).",
            "{What has been published stays, and so do newer drafts|Published ones and newer drafts stay}.",
            "Write cleaned.csv with the columns course and removed (how many), sorted by course, for the courses where "
            "something was removed.",
        ),
        label=label,
    )
    traps = (
        wrong(
            "published",
            "dropped_condition",
            "deletes what is published too",
            _clean(label, before, ("DRAFT", "PUBLISHED")),
        ),
        wrong("day_late", "boundary", "takes 1 September along", _clean(label, stamp("2026-09-02"))),
        wrong("archived", "wrong_value", "works on the archived course", _clean(label, before, state="ARCHIVED")),
    )
    return Draft(
        "clean_drafts",
        "classroom",
        "Delete stale drafts",
        instruction,
        trapped(_clean(label, before), traps),
        school.cast,
    )


def _publish(name: str, topic: str, scoped: bool = True) -> Plan:
    drafts = where(of_course("CourseWorkMaterial", "material"), eq("material.state", lit("DRAFT")))
    unit = where(of_course("Topic", "topic"), eq("topic.name", lit(topic)))
    chosen = (
        join(use("drafts"), use("unit", "unit"), eq("material.topic_id", "unit.topic_id"), how="semi")
        if scoped
        else use("drafts")
    )
    return Plan(
        "classroom",
        lets={"course": course(name), "unit": unit, "drafts": drafts, "chosen": chosen},
        effects=(
            Effect(
                "update",
                "CourseWorkMaterial",
                "course_work_materials_patch",
                use("chosen"),
                key={"courseId": col("material.course_id"), "id": col("material.id")},
                set={"state": lit("PUBLISHED")},
            ),
            Effect(
                "create",
                "Announcement",
                "announcements_create",
                use("chosen"),
                key={"courseId": col("material.course_id")},
                set={"state": lit("PUBLISHED")},
                text={"text": ("material.title",)},
            ),
        ),
    )


@motif("publish_unit")
def publish_unit(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    week = rng.randint(3, 9)
    topic, later = f"Week {week}", f"Week {week}0"
    room, next_door = school.course(name), school.course(neighbour)
    unit, after, twin = school.topic(room, topic), school.topic(room, later), school.topic(next_door, topic)
    kinds = iter(
        rng.sample(
            [
                f"{kind} about {thing}"
                for kind in ("Slides", "Reading", "Video", "Handout")
                for thing in ("the basics", "worked examples", "the experiment", "sources")
            ],
            11,
        )
    )

    def material(course_ref: str, topic_ref: str | None, state: str) -> None:
        school.cast.plant(
            "CourseWorkMaterial",
            {
                "course_id": ref(course_ref),
                "title": next(kinds),
                "state": state,
                "topic_id": ref(topic_ref, "topic_id") if topic_ref else None,
                "assignee_mode": "ALL_STUDENTS",
            },
        )

    for state in ("DRAFT", "DRAFT", "DRAFT", "PUBLISHED", "PUBLISHED"):
        material(room, unit, state)
    for topic_ref in (after, after, None):
        material(room, topic_ref, "DRAFT")
    material(next_door, twin, "DRAFT")
    school.cast.grow("CourseWorkMaterial", 0.3, {"course_id": ref(room), "state": "PUBLISHED"})
    school.cast.grow("Announcement", 0.1, {"course_id": ref(room)})
    instruction = say(
        rng,
        ("We begin the next unit tomorrow.", "The next unit starts and its materials are still hidden from the class."),
        (
            'In "[name]", publish the materials under the topic "[topic]" that are still drafts, and for each of '
            'them publish '
            "an announcement in the course that names its title.",
            "Materials of other topics, or of none, stay drafts.",
        ),
        name=name,
        topic=topic,
    )
    traps = (
        wrong(
            "all_topics",
            "dropped_condition",
            "publishes every draft of the course",
            _publish(name, topic, scoped=False),
        ),
        wrong("other_topic", "neighbour", "takes a topic of a similar name", _publish(name, later)),
        wrong("next_door", "neighbour", "does it in the parallel class", _publish(neighbour, topic)),
    )
    return Draft(
        "publish_unit",
        "classroom",
        "Publish a unit's materials",
        instruction,
        trapped(_publish(name, topic), traps),
        school.cast,
    )
