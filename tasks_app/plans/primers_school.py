"""Primers of Classroom: one short wish over one course, depth 1 or 2, one to four calls."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Answer, Effect, Expr, FileReport, Plan, Rel, col, eq, join, lit, scan, where
from tasks_app.plans.drafts import Draft, primer, ref, stamp
from tasks_app.plans.school import School
from tasks_app.plans.scopes import trapped, wrong
from tasks_app.wording.grammar import day
from tasks_app.wording.voices import ask

NOTICES = ("Bring your {thing} on Monday.", "No class on Friday.", "We meet in the library tomorrow.", "The trip is on Thursday.",
           "Please read chapter {n} by Wednesday.", "The quiz covers chapters 1 to {n}.", "Room {n} is closed today.",
           "Hand in your {thing} at the desk.", "Chapter {n} is off the list.", "We start ten minutes late on day {n}.")
THINGS = ("calculators", "notebooks", "lab coats", "maps", "sketches", "reading logs", "posters", "instruments")
TOPICS = ("Optics", "Grammar", "Essays", "Lab safety", "Fractions", "Poetry", "Climate", "Trade", "Rhythm", "Waves",
          "Soil", "Statistics", "Revision", "Field work", "Orbits", "Dialogue", "Textiles", "Currents")


def _named(name: str) -> Rel:
    return where(scan("Course", "course"), eq("course.name", lit(name)))


def _child(name: str, entity: str, alias: str, *conditions: Expr) -> Rel:
    return join(_named(name), scan(entity, alias), eq(f"{alias}.course_id", "course.id"), *conditions)


def _notice(rng: Random) -> str:
    return rng.choice(NOTICES).format(thing=rng.choice(THINGS), n=rng.randint(2, 30))


def _pair(school: School, **row: object) -> tuple[str, str, str, str]:
    """A course and its neighbour: both names, both references."""
    name, neighbour = school.class_names()
    return name, neighbour, school.course(name, **row), school.course(neighbour, **row)


def _draft(motif: str, title: str, instruction: str, plan: Plan, school: School, *traps: tuple[str, str, Plan]) -> Draft:
    faults = tuple(wrong(name, "neighbour", says, other) for name, says, other in traps)
    return Draft(motif, "classroom", title, instruction, trapped(plan, faults), school.cast, tier="primer")


@primer("count_students")
def count_students(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = _pair(school)
    n = rng.randint(3, 12)
    pupils = school.people(n + 2)
    school.enrol(room, pupils[:n])
    school.enrol(next_door, pupils[:n + 2] if rng.random() < 0.5 else pupils[:n - 1])

    def plan(course: str) -> Plan:
        return Plan("classroom", answers=(Answer("students", _child(course, "Student", "student"), "count"),))

    words = ask(rng, ('How many students are in "[name]"? Answer with the number.', 'Tell me the number of students in "[name]".',
                      'Count the students of the course "[name]" and give me just the number.'), name=name)
    return _draft("count_students", f"Students of {name}", words, plan(name), school,
                  ("next_door", "counts another course", plan(neighbour)))


@primer("count_assignments")
def count_assignments(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = _pair(school)
    n = rng.randint(2, 8)
    titles = school.titles(n + 3)
    for title in titles[:n]:
        school.work(room, title)
    school.work(room, titles[n], state="DRAFT")
    school.work(next_door, titles[n + 1])

    def plan(course: str, *states: Expr) -> Plan:
        return Plan("classroom", answers=(Answer("assignments", _child(course, "CourseWork", "work", *states), "count"),))

    words = ask(rng, ('How many published assignments does "[name]" have? Answer with the number; drafts don\'t count.',
                      'Give me the number of published assignments in "[name]", without drafts.'), name=name)
    published = eq("work.state", lit("PUBLISHED"))
    return _draft("count_assignments", f"Assignments of {name}", words, plan(name, published), school,
                  ("next_door", "counts another course", plan(neighbour, published)),
                  ("drafts", "counts drafts too", plan(name, ("in", col("work.state"), ("PUBLISHED", "DRAFT")))))


@primer("which_room")
def which_room(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    first, second = rng.sample(range(100, 480), 2)
    school.course(name, room=f"Room {first}")
    school.course(neighbour, room=f"Room {second}")

    def plan(course: str) -> Plan:
        return Plan("classroom", answers=(Answer("room", _named(course), "only", col("course.room")),))

    words = ask(rng, ('Which room is "[name]" in? Answer with the room alone.', 'Where does "[name]" meet? Just give me the room.'),
                name=name)
    return _draft("which_room", f"Where {name} meets", words, plan(name), school,
                  ("next_door", "names another course's room", plan(neighbour)))


@primer("worth")
def worth(rng: Random) -> Draft:
    school = School(rng)
    name, _, room, _ = _pair(school)
    title, other = school.titles(2)
    points = rng.sample(range(10, 200, 5), 2)
    school.work(room, title, max_points=points[0])
    school.work(room, other, max_points=points[1])

    def plan(work: str) -> Plan:
        return Plan("classroom", answers=(
            Answer("points", _child(name, "CourseWork", "work", eq("work.title", lit(work))), "only", col("work.max_points")),))

    words = ask(rng, ('How many points is "[title]" in "[name]" worth? Answer with the number.',
                      'What is the maximum for "[title]" in "[name]"? Just the number of points.'), name=name, title=title)
    return _draft("worth", f"Points for {title}", words, plan(title), school,
                  ("other_work", "looks at another assignment", plan(other)))


@primer("archive_course")
def archive_course(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, _, _ = _pair(school)

    def plan(course: str) -> Plan:
        return Plan("classroom", effects=(Effect("update", "Course", "courses_patch", _named(course),
                                                 key={"id": col("course.id")}, set={"course_state": lit("ARCHIVED")}),))

    words = ask(rng, ('Archive the course "[name]".', '"[name]" has ended; archive it.', 'Put "[name]" into the archive.'), name=name)
    return _draft("archive_course", f"Archive {name}", words, plan(name), school,
                  ("next_door", "archives another course", plan(neighbour)))


@primer("change_room")
def change_room(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    first, second, third = (f"Room {n}" for n in rng.sample(range(100, 480), 3))
    school.course(name, room=first)
    school.course(neighbour, room=second)

    def plan(course: str, room: str) -> Plan:
        return Plan("classroom", effects=(Effect("update", "Course", "courses_patch", _named(course),
                                                 key={"id": col("course.id")}, set={"room": lit(room)}),))

    words = ask(rng, ('"[name]" now meets in [room]; change that.', 'Set the room of "[name]" to "[room]".',
                      'The course "[name]" has moved to [room]. Please enter it.'), name=name, room=third)
    return _draft("change_room", f"New room for {name}", words, plan(name, third), school,
                  ("next_door", "changes another course", plan(neighbour, third)))


@primer("post_notice")
def post_notice(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, _, _ = _pair(school)
    text = _notice(rng)

    def plan(course: str, state: str = "PUBLISHED") -> Plan:
        return Plan("classroom", effects=(Effect("create", "Announcement", "announcements_create", _named(course),
                                                 key={"courseId": col("course.id")},
                                                 set={"text": lit(text), "state": lit(state)}),))

    words = ask(rng, ('Publish this announcement in "[name]": "[text]"', 'Announce in "[name]", published at once: "[text]"'),
                name=name, text=text)
    return _draft("post_notice", f"Announce in {name}", _ended(words), plan(name), school,
                  ("next_door", "announces it in another course", plan(neighbour)),
                  ("as_draft", "leaves it as a draft", plan(name, "DRAFT")))


def _ended(words: str) -> str:
    """A quotation at the end carries its full stop outside as well, so that the text in it stays exact."""
    return words + "." if words.endswith('"') else words


@primer("delete_notice")
def delete_notice(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = _pair(school)
    text = _notice(rng)
    other = _notice(rng)
    while other == text:
        other = _notice(rng)
    school.announcement(room, text)
    school.announcement(room, other)
    school.announcement(next_door, text)

    def plan(course: str, said: str) -> Plan:
        return Plan("classroom", effects=(Effect("delete", "Announcement", "announcements_delete",
                                                 _child(course, "Announcement", "note", eq("note.text", lit(said))),
                                                 key={"courseId": col("note.course_id"), "id": col("note.id")}),))

    words = ask(rng, ('Delete the announcement "[text]" in "[name]".', 'In "[name]", remove the announcement that says "[text]".'),
                name=name, text=text)
    return _draft("delete_notice", f"Delete a notice in {name}", _ended(words), plan(name, text), school,
                  ("next_door", "deletes it in another course", plan(neighbour, text)),
                  ("other_note", "deletes another announcement", plan(name, other)))


@primer("publish_draft")
def publish_draft(rng: Random) -> Draft:
    school = School(rng)
    name, _, room, _ = _pair(school)
    title, other, third = school.titles(3)
    school.work(room, title, state="DRAFT")
    school.work(room, other, state="DRAFT")
    school.work(room, third)

    def plan(work: str) -> Plan:
        return Plan("classroom", effects=(Effect("update", "CourseWork", "course_work_patch",
                                                 _child(name, "CourseWork", "work", eq("work.title", lit(work))),
                                                 key={"courseId": col("work.course_id"), "id": col("work.id")},
                                                 set={"state": lit("PUBLISHED")}),))

    words = ask(rng, ('Publish the draft "[title]" in "[name]".', 'The assignment "[title]" in "[name]" is ready; publish it.'),
                name=name, title=title)
    return _draft("publish_draft", f"Publish {title}", words, plan(title), school,
                  ("other_draft", "publishes another draft", plan(other)))


@primer("set_due")
def set_due(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = _pair(school)
    title = school.titles(1)[0]
    old, new = rng.sample(range(4, 29), 2)
    clock = f"{rng.randint(8, 18):02d}:00"
    school.work(room, title, due_time=stamp(f"2026-11-{old:02d}", clock))
    school.work(next_door, title, due_time=stamp(f"2026-11-{old:02d}", clock))
    when = stamp(f"2026-11-{new:02d}", clock)

    def plan(course: str) -> Plan:
        return Plan("classroom", effects=(Effect("update", "CourseWork", "course_work_patch",
                                                 _child(course, "CourseWork", "work", eq("work.title", lit(title))),
                                                 key={"courseId": col("work.course_id"), "id": col("work.id")},
                                                 set={"due_time": lit(when)}),))

    words = ask(rng, ('Set the due date of "[title]" in "[name]" to [day] 2026, [clock] (UTC).',
                      '"[title]" in "[name]" is now due on [day] 2026 at [clock] (UTC); change it.'),
                name=name, title=title, day=day(when), clock=clock)
    return _draft("set_due", f"New date for {title}", words, plan(name), school,
                  ("next_door", "changes another course", plan(neighbour)))


@primer("delete_assignment")
def delete_assignment(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = _pair(school)
    title, other = school.titles(2)
    for course, work in ((room, title), (room, other), (next_door, title)):
        school.work(course, work)

    def plan(course: str, work: str) -> Plan:
        return Plan("classroom", effects=(Effect("delete", "CourseWork", "course_work_delete",
                                                 _child(course, "CourseWork", "work", eq("work.title", lit(work))),
                                                 key={"courseId": col("work.course_id"), "id": col("work.id")}),))

    words = ask(rng, ('Delete the assignment "[title]" from "[name]".', 'Remove "[title]" from the assignments of "[name]".'),
                name=name, title=title)
    return _draft("delete_assignment", f"Delete {title}", words, plan(name, title), school,
                  ("next_door", "deletes it in another course", plan(neighbour, title)),
                  ("other_work", "deletes another assignment", plan(name, other)))


@primer("add_topic")
def add_topic(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, _ = _pair(school)
    topic, other = rng.sample(TOPICS, 2)
    school.topic(room, other)

    def plan(course: str, label: str) -> Plan:
        return Plan("classroom", effects=(Effect("create", "Topic", "topics_create", _named(course),
                                                 key={"courseId": col("course.id")}, set={"name": lit(label)}),))

    words = ask(rng, ('Add the topic "[topic]" to "[name]".', 'Create a topic called "[topic]" in "[name]".'), name=name, topic=topic)
    return _draft("add_topic", f"Add {topic}", words, plan(name, topic), school,
                  ("next_door", "adds it to another course", plan(neighbour, topic)),
                  ("other_topic", "adds another topic", plan(name, other)))


@primer("rename_topic")
def rename_topic(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = _pair(school)
    old, other, new = rng.sample(TOPICS, 3)
    for course, label in ((room, old), (room, other), (next_door, old)):
        school.topic(course, label)

    def plan(course: str, label: str) -> Plan:
        return Plan("classroom", effects=(Effect("update", "Topic", "topics_patch",
                                                 _child(course, "Topic", "topic", eq("topic.name", lit(label))),
                                                 key={"courseId": col("topic.course_id"), "id": col("topic.topic_id")},
                                                 set={"name": lit(new)}),))

    words = ask(rng, ('Rename the topic "[old]" of "[name]" to "[new]".', 'In "[name]", the topic "[old]" shall be called "[new]".'),
                name=name, old=old, new=new)
    return _draft("rename_topic", f"Rename {old}", words, plan(name, old), school,
                  ("next_door", "renames it in another course", plan(neighbour, old)),
                  ("other_topic", "renames another topic", plan(name, other)))


@primer("new_group")
def new_group(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, _, _ = _pair(school)
    title = f"{rng.choice(('Red', 'Blue', 'Green', 'Amber', 'Silver', 'Violet'))} {rng.choice(('team', 'table', 'group', 'crew'))}"

    def plan(course: str) -> Plan:
        return Plan("classroom", effects=(Effect("create", "StudentGroup", "student_groups_create", _named(course),
                                                 key={"courseId": col("course.id")}, set={"title": lit(title)}),))

    words = ask(rng, ('Create a student group "[title]" in "[name]".', '"[name]" needs a new student group called "[title]".'),
                name=name, title=title)
    return _draft("new_group", f"New group in {name}", words, plan(name), school,
                  ("next_door", "makes it in another course", plan(neighbour)))


@primer("list_assignments")
def list_assignments(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = _pair(school)
    path = rng.choice(("assignments.csv", "titles.csv", "work.csv"))
    for title in school.titles(rng.randint(3, 6)):
        school.work(room, title, max_points=rng.randrange(10, 100, 5))
    for title in school.titles(2):
        school.work(next_door, title)

    def plan(course: str) -> Plan:
        return Plan("classroom", files=(FileReport(path, _child(course, "CourseWork", "work"),
                                                   (("title", "work.title"), ("points", "work.max_points")),
                                                   order=(("work.title", "asc"),)),))

    words = ask(rng, ('Write the assignments of "[name]" to [path], with the columns title and points (the maximum), sorted by title.',
                      'List the assignments of "[name]" in [path]: columns title and points (the maximum), by title.'),
                name=name, path=path)
    return _draft("list_assignments", f"Assignments of {name} as a file", words, plan(name), school,
                  ("next_door", "lists another course", plan(neighbour)))


@primer("list_topics")
def list_topics(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour, room, next_door = _pair(school)
    labels = rng.sample(TOPICS, 7)
    for label in labels[:rng.randint(3, 5)]:
        school.topic(room, label)
    for label in labels[5:]:
        school.topic(next_door, label)

    def plan(course: str) -> Plan:
        return Plan("classroom", files=(FileReport("topics.csv", _child(course, "Topic", "topic"), (("topic", "topic.name"),),
                                                   order=(("topic.name", "asc"),)),))

    words = ask(rng, ('Write the topics of "[name]" to topics.csv, one column called topic, in alphabetical order.',
                      'I need topics.csv with the topics of "[name]": one column, topic, sorted.'), name=name)
    return _draft("list_topics", f"Topics of {name} as a file", words, plan(name), school,
                  ("next_door", "lists another course", plan(neighbour)))
