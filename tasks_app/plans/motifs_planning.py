"""Motifs of Classroom about how work is laid out: dates and topics."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Answer, Effect, FileReport, Plan, Rel, col, eq, file, fn, join, lit, use, where
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.school import School
from tasks_app.plans.scopes import between, course, missing, of_course, one_of, trapped, wrong
from tasks_app.wording.voices import say


def _postpone(
    name: str,
    topic: str,
    first: str,
    until: str,
    days: int = 7,
    spare: bool = True,
    states: tuple[str, ...] = ("PUBLISHED",),
) -> Plan:
    due = where(of_course("CourseWork", "work"), one_of("work.state", *states), *between("work.due_time", first, until))
    exams = where(of_course("Topic", "topic"), eq("topic.name", lit(topic)))
    chosen = (
        join(use("due"), use("exams", "exam"), eq("work.topic_id", "exam.topic_id"), how="anti")
        if spare
        else use("due")
    )
    return Plan(
        "classroom",
        lets={"course": course(name), "due": due, "exams": exams, "chosen": chosen},
        effects=(
            Effect(
                "update",
                "CourseWork",
                "course_work_patch",
                use("chosen"),
                key={"courseId": col("work.course_id"), "id": col("work.id")},
                set={"due_time": fn("add_days", col("work.due_time"), lit(days))},
            ),
        ),
        answers=(Answer("postponed", use("chosen"), "count"),),
    )


@motif("postpone_due_dates")
def postpone_due_dates(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    topic = rng.choice(("Exams", "Coursework for the certificate", "Competition"))
    room, next_door = school.course(name), school.course(neighbour)
    exam, plain = school.topic(room, topic), school.topic(room, rng.choice(("Homework", "Weekly tasks", "Practice")))
    titles = iter(school.titles(12))
    in_week = [
        stamp("2026-11-09", "08:00"),
        stamp("2026-11-10", "14:00"),
        stamp("2026-11-12", "16:30"),
        stamp("2026-11-13", "21:30"),
    ]
    for due in in_week:
        school.work(room, next(titles), due_time=due, topic_id=ref(plain, "topic_id"))
    school.work(room, next(titles), due_time=stamp("2026-11-11", "10:00"))
    school.work(room, next(titles), due_time=stamp("2026-11-11", "12:00"), topic_id=ref(exam, "topic_id"))
    school.work(room, next(titles), due_time=stamp("2026-11-10", "12:00"), state="DRAFT")
    for outside in (stamp("2026-11-08", "22:00"), stamp("2026-11-14", "09:00"), stamp("2026-11-20", "09:00")):
        school.work(room, next(titles), due_time=outside)
    school.work(next_door, next(titles), due_time=stamp("2026-11-11", "15:00"))
    school.cast.grow(
        "CourseWork",
        0.12,
        {
            "course_id": ref(room),
            "state": "PUBLISHED",
            "due_time": {"choice": [f"2026-10-0{d}T09:00:00Z" for d in range(1, 9)]},
        },
    )
    school.cast.grow("Topic", 0.05, {"course_id": ref(room), "name": {"serial": "Side topic {n}"}})
    instruction = say(
        rng,
        (
            "The boiler has broken down and school is closed in the week of 9 November.",
            "My class is on a field trip in the week of 9 November.",
            "I am away in the week of 9 November and there is no cover.",
        ),
        (
            '{Please move|Move} the due date of every published assignment in "[name]" that is due from Monday 9 '
            "to Friday "
            "13 November 2026 (UTC) exactly one week later, at the same time of day.",
            'Anything under the topic "[topic]" {keeps its date|stays as it is}, for those dates are not mine to '
            "change.",
            "Tell me how many you {moved|postponed}.",
        ),
        name=name,
        topic=topic,
    )
    first, until = stamp("2026-11-09"), stamp("2026-11-14")
    args = (name, topic, first, until)
    traps = (
        wrong("topic", "dropped_condition", "moves what is under the spared topic too", _postpone(*args, spare=False)),
        wrong("last_day", "boundary", "leaves the Friday out", _postpone(name, topic, first, stamp("2026-11-13"))),
        wrong("drafts", "dropped_condition", "moves drafts too", _postpone(*args, states=("PUBLISHED", "DRAFT"))),
        wrong("next_door", "neighbour", "does it in the parallel class", _postpone(neighbour, topic, first, until)),
    )
    return Draft(
        "postpone_due_dates",
        "classroom",
        "Postpone a week's assignments",
        instruction,
        trapped(_postpone(*args), traps),
        school.cast,
    )


def _sort_topics(name: str, fill: bool = False) -> Plan:
    listed = file("inbox/topics.csv", "row", (("assignment", "text"), ("topic", "text")))
    known = join(use("work"), use("listed", "row"), eq("work.title", "row.assignment"))
    pairs = join(known, use("topics", "topic"), eq("topic.name", "row.topic"))
    if fill:
        pairs = where(pairs, missing("work.topic_id"))
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": of_course("CourseWork", "work"),
            "topics": of_course("Topic", "topic"),
            "listed": listed,
            "pairs": pairs,
            "unknown": join(use("listed"), use("work", "work"), eq("row.assignment", "work.title"), how="anti"),
        },
        effects=(
            Effect(
                "update",
                "CourseWork",
                "course_work_patch",
                use("pairs"),
                key={"courseId": col("work.course_id"), "id": col("work.id")},
                set={"topic_id": col("topic.topic_id")},
            ),
        ),
        files=(
            FileReport("not_found.csv", use("unknown"), (("assignment", "row.assignment"), ("topic", "row.topic"))),
        ),
    )


@motif("sort_into_topics")
def sort_into_topics(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    room, next_door = school.course(name), school.course(neighbour)
    topics = rng.sample(("Unit 1: Foundations", "Unit 2: Methods", "Unit 3: Projects", "Unit 4: Revision"), 3)
    refs = [school.topic(room, topic) for topic in topics]
    for topic in topics:
        school.topic(next_door, topic)
    titles = school.titles(9)
    rows = []
    for place, title in enumerate(titles[:6]):
        now = None if place < 3 else ref(refs[(place + 1) % 3], "topic_id")
        school.work(room, title, topic_id=now, state="DRAFT" if place == 1 else "PUBLISHED")
        rows.append([title, topics[place % 3]])
    school.work(room, titles[6], topic_id=ref(refs[0], "topic_id"))
    school.work(next_door, titles[7])
    rows += [[titles[7], topics[0]], [titles[8], topics[1]]]
    rng.shuffle(rows)
    school.cast.file("inbox/topics.csv", ("assignment", "topic"), rows)
    school.cast.grow("CourseWork", 0.12, {"course_id": ref(room)})
    school.cast.grow("Announcement", 0.1, {"course_id": ref(room)})
    instruction = say(
        rng,
        (
            "A colleague and I agreed on how our units are laid out.",
            "The department settled the order of our units.",
            "Next year's scheme of work is done.",
        ),
        (
            "The list is in inbox/topics.csv: {one line an assignment, with the topic it belongs under|each line "
            "gives an "
            "assignment and the topic it belongs under}.",
            'Put the assignments of "[name]" under these topics, drafts as well, {also where they are under '
            "another one now|"
            "wherever they are now}. The topics exist already.",
            "What the list does not mention stays where it is. Lines whose assignment is not in that course go into "
            "not_found.csv, with the columns assignment and topic.",
        ),
        name=name,
    )
    traps = (
        wrong("only_empty", "extra_condition", "only fills in what had no topic", _sort_topics(name, fill=True)),
        wrong("next_door", "neighbour", "does it in the parallel class", _sort_topics(neighbour)),
    )
    return Draft(
        "sort_into_topics",
        "classroom",
        "Put assignments under their topics",
        instruction,
        trapped(_sort_topics(name), traps),
        school.cast,
        outcome_kind="partly_refused",
    )


def _topics(name: str, fresh: bool = True) -> Plan:
    wanted = file("inbox/units.csv", "row", (("number", "integer"), ("topic", "text")))
    missing: Rel = use("wanted")
    if fresh:
        missing = join(missing, use("topics", "topic"), eq("row.topic", "topic.name"), how="anti")
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "topics": of_course("Topic", "topic"),
            "wanted": wanted,
            "fresh": missing,
            "made": join(use("course"), use("fresh", "unit")),
        },
        effects=(
            Effect(
                "create",
                "Topic",
                "topics_create",
                use("made"),
                key={"courseId": col("course.id")},
                set={"name": col("unit.topic")},
            ),
        ),
        answers=(Answer("added", use("made"), "count"),),
    )


@motif("add_topics")
def add_topics(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    room, next_door = school.course(name), school.course(neighbour)
    units = rng.sample(
        (
            "Measuring",
            "Reading graphs",
            "Field work",
            "Sources and evidence",
            "Models",
            "Debate",
            "Project week",
            "Revision",
            "Portfolio",
            "Presentations",
        ),
        7,
    )
    for unit in units[:3]:
        school.topic(room, unit)
    for unit in units[3:5]:
        school.topic(next_door, unit)
    school.topic(room, f"{units[4]} (old)")
    rows = [[place + 1, unit] for place, unit in enumerate(units)]
    school.cast.file("inbox/units.csv", ("number", "topic"), rows)
    school.cast.grow("CourseWork", 0.12, {"course_id": ref(room)})
    school.cast.grow("Topic", 0.1, {"course_id": ref(room), "name": {"serial": "Side topic {n}"}})
    instruction = say(
        rng,
        ("The department agreed on the units for this year.", "Our plan for the year is settled."),
        (
            'The units are in inbox/units.csv. In "[name]", add those topics that the course does not have yet, named '
            "{exactly as in the list|as in the list, to the letter}.",
            "Topics that are there already must not be there twice, and none is removed.",
            "How many did you add?",
        ),
        name=name,
    )
    traps = (
        wrong("doubles", "dropped_condition", "adds topics that are there already", _topics(name, fresh=False)),
        wrong("next_door", "neighbour", "does it in the parallel class", _topics(neighbour)),
    )
    return Draft(
        "add_topics", "classroom", "Add the year's topics", instruction, trapped(_topics(name), traps), school.cast
    )
