"""Motifs of Classroom about assignments and what was handed in."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import (
    Answer, Effect, FileReport, Plan, cmp, col, eq, file, fn, group, join, lit, use, where,
)
from tasks_app.plans.drafts import Draft, motif, ref, stamp
from tasks_app.plans.school import School
from tasks_app.plans.scopes import (
    between, course, given, missing, no, of_course, one_of, submissions, trapped, with_person, wrong,
)
from tasks_app.wording.grammar import day, number
from tasks_app.wording.voices import say

CLASS_FILE = (("assignment", "work.title"), ("student", "person.name_full_name"), ("e-mail", "person.email_address"))


def _chase(name: str, least: int, op: str = ">=", handed_in: tuple[str, ...] = ("TURNED_IN", "RETURNED"),
           states: tuple[str, ...] = ("PUBLISHED",)) -> Plan:
    return Plan(
        "classroom",
        lets={
            "course": course(name),
            "work": where(of_course("CourseWork", "work"), one_of("work.state", *states)),
            "owing": where(submissions(), no(one_of("sub.state", *handed_in))),
            "short": where(group(use("owing"), ("work.course_id", "work.id", "work.title"), missing=("count", None)),
                           cmp(op, col("missing"), lit(least))),
            "names": with_person(join(use("owing"), use("short", "short"), eq("work.id", "short.id"), how="semi"),
                                 "sub.user_id"),
        },
        effects=(Effect("create", "Announcement", "announcements_create", use("short"),
                        key={"courseId": col("work.course_id")}, set={"state": lit("PUBLISHED")},
                        text={"text": ("work.title", "missing")}),),
        files=(FileReport("missing.csv", use("names"), CLASS_FILE,
                          order=(("work.title", "asc"), ("person.email_address", "asc"))),),
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
    for pupil in pupils[:least + 1]:
        school.submission(room, draft, pupil, "NEW")
    other = school.work(next_door, school.titles(1)[0])
    for pupil in pupils[:least]:
        school.submission(next_door, other, pupil, "NEW")
    school.cast.grow("CourseWork", 0.2, {"course_id": ref(room), "state": "PUBLISHED"})
    school.cast.grow("Announcement", 0.15, {"course_id": ref(room), "state": "PUBLISHED"})
    school.cast.grow("CourseWorkMaterial", 0.1, {"course_id": ref(room)})
    instruction = say(
        rng,
        ("Term ends on Friday and I want nobody to be surprised by a gap in their marks.",
         "Reports are written next week, and too much work is still missing.",
         "The head of year asked me what is outstanding."),
        ('In "[name]", find every published assignment that {at least [least] students have not handed in|'
         'still lacks the work of [least] or more students}. ',
         'Returned work counts as handed in; {work that a student took back does not|work taken back does not}.',
         "For each of them, publish an announcement in the course that {gives|names} the assignment's title and how many "
         "are missing.",
         "Also leave me missing.csv with the columns assignment, student (full name) and e-mail, for these assignments "
         "only, sorted by assignment and then e-mail."),
        name=name, least=number(least),
    )
    plan = _chase(name, least)
    traps = (
        wrong("more_than", "boundary", "takes “at least” for “more than”", _chase(name, least, ">")),
        wrong("taken_back", "dropped_condition", "counts work that was taken back as handed in",
              _chase(name, least, handed_in=("TURNED_IN", "RETURNED", "RECLAIMED_BY_STUDENT"))),
        wrong("returned", "dropped_condition", "counts returned work as missing", _chase(name, least, handed_in=("TURNED_IN",))),
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
        effects=(Effect("transition", "StudentSubmission", "student_submissions_return", use("marked"),
                        key={"courseId": col("sub.course_id"), "courseWorkId": col("sub.course_work_id"),
                             "id": col("sub.id")}),),
        files=(FileReport("still_to_mark.csv", use("unmarked"),
                          (("assignment", "work.title"), ("student", "person.name_full_name"))),),
    )


@motif("return_marked")
def return_marked(rng: Random) -> Draft:
    school = School(rng)
    name, neighbour = school.class_names()
    room, next_door = school.course(name), school.course(neighbour)
    pupils = school.people(7)
    school.enrol(room, pupils)
    school.enrol(next_door, pupils[4:])
    for title in school.titles(4):
        work = school.work(room, title)
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
    school.cast.grow("CourseWork", 0.3, {"course_id": ref(room), "state": "PUBLISHED"})
    school.cast.grow("Announcement", 0.2, {"course_id": ref(room)})
    instruction = say(
        rng,
        ("Parents' evening is on Thursday, so students should have their work back.",
         "I finished most of my marking over the weekend.",
         "My class keeps asking when they get their work back."),
        ('In "[name]", return {everything|all work} that is handed in and has a final grade, {whatever the assignment|'
         "for every assignment}.",
         "A draft grade alone is not final: {what is handed in without a final grade stays where it is|leave what is "
         "handed in without a final grade}, and list it in still_to_mark.csv with the columns assignment and student "
         "(full name), in any order."),
        name=name,
    )
    traps = (
        wrong("draft_grade", "wrong_column", "takes a draft grade for a final one", _return(name, "sub.draft_grade")),
        wrong("taken_back", "dropped_condition", "returns work that its student took back",
              _return(name, states=("TURNED_IN", "RECLAIMED_BY_STUDENT"))),
        wrong("next_door", "neighbour", "does it in the parallel class", _return(neighbour)),
    )
    return Draft("return_marked", "classroom", "Give marked work back", instruction, trapped(_return(name), traps),
                 school.cast, outcome_kind="partly_refused")


def _postpone(name: str, topic: str, first: str, until: str, days: int = 7, spare: bool = True,
              states: tuple[str, ...] = ("PUBLISHED",)) -> Plan:
    due = where(of_course("CourseWork", "work"), one_of("work.state", *states), *between("work.due_time", first, until))
    exams = where(of_course("Topic", "topic"), eq("topic.name", lit(topic)))
    chosen = join(use("due"), use("exams", "exam"), eq("work.topic_id", "exam.topic_id"), how="anti") if spare else use("due")
    return Plan(
        "classroom",
        lets={"course": course(name), "due": due, "exams": exams, "chosen": chosen},
        effects=(Effect("update", "CourseWork", "course_work_patch", use("chosen"),
                        key={"courseId": col("work.course_id"), "id": col("work.id")},
                        set={"due_time": fn("add_days", col("work.due_time"), lit(days))}),),
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
    in_week = [stamp("2026-11-09", "08:00"), stamp("2026-11-10", "14:00"), stamp("2026-11-12", "16:30"),
               stamp("2026-11-13", "21:30")]
    for due in in_week:
        school.work(room, next(titles), due_time=due, topic_id=ref(plain, "topic_id"))
    school.work(room, next(titles), due_time=stamp("2026-11-11", "10:00"))
    school.work(room, next(titles), due_time=stamp("2026-11-11", "12:00"), topic_id=ref(exam, "topic_id"))
    school.work(room, next(titles), due_time=stamp("2026-11-10", "12:00"), state="DRAFT")
    for outside in (stamp("2026-11-08", "22:00"), stamp("2026-11-14", "09:00"), stamp("2026-11-20", "09:00")):
        school.work(room, next(titles), due_time=outside)
    school.work(next_door, next(titles), due_time=stamp("2026-11-11", "15:00"))
    school.cast.grow("CourseWork", 0.3, {"course_id": ref(room), "state": "PUBLISHED",
                                         "due_time": {"choice": ["2026-10-0%dT09:00:00Z" % d for d in range(1, 9)]}})
    school.cast.grow("Topic", 0.05, {"course_id": ref(room)})
    instruction = say(
        rng,
        ("The boiler has broken down and school is closed in the week of 9 November.",
         "My class is on a field trip in the week of 9 November.",
         "I am away in the week of 9 November and there is no cover."),
        ('{Please move|Move} the due date of every published assignment in "[name]" that is due from Monday 9 to Friday '
         "13 November 2026 (UTC) exactly one week later, at the same time of day.",
         'Anything under the topic "[topic]" {keeps its date|stays as it is}, for those dates are not mine to change.',
         "Tell me how many you {moved|postponed}."),
        name=name, topic=topic,
    )
    first, until = stamp("2026-11-09"), stamp("2026-11-14")
    args = (name, topic, first, until)
    traps = (
        wrong("topic", "dropped_condition", "moves what is under the spared topic too", _postpone(*args, spare=False)),
        wrong("last_day", "boundary", "leaves the Friday out", _postpone(name, topic, first, stamp("2026-11-13"))),
        wrong("drafts", "dropped_condition", "moves drafts too", _postpone(*args, states=("PUBLISHED", "DRAFT"))),
        wrong("next_door", "neighbour", "does it in the parallel class", _postpone(neighbour, topic, first, until)),
    )
    return Draft("postpone_due_dates", "classroom", "Postpone a week's assignments", instruction,
                 trapped(_postpone(*args), traps), school.cast)


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
        effects=(Effect("update", "CourseWork", "course_work_patch", use("pairs"),
                        key={"courseId": col("work.course_id"), "id": col("work.id")},
                        set={"topic_id": col("topic.topic_id")}),),
        files=(FileReport("not_found.csv", use("unknown"), (("assignment", "row.assignment"), ("topic", "row.topic"))),),
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
    school.cast.grow("CourseWork", 0.3, {"course_id": ref(room)})
    school.cast.grow("Announcement", 0.1, {"course_id": ref(room)})
    instruction = say(
        rng,
        ("A colleague and I agreed on how our units are laid out.", "The department settled the order of our units.",
         "Next year's scheme of work is done."),
        ('The list is in inbox/topics.csv: {one line an assignment, with the topic it belongs under|each line gives an '
         "assignment and the topic it belongs under}.",
         'Put the assignments of "[name]" under these topics, drafts as well, {also where they are under another one now|'
         "wherever they are now}. The topics exist already.",
         "What the list does not mention stays where it is. Lines whose assignment is not in that course go into "
         "not_found.csv, with the columns assignment and topic."),
        name=name,
    )
    traps = (
        wrong("only_empty", "extra_condition", "only fills in what had no topic", _sort_topics(name, fill=True)),
        wrong("next_door", "neighbour", "does it in the parallel class", _sort_topics(neighbour)),
    )
    return Draft("sort_into_topics", "classroom", "Put assignments under their topics", instruction,
                 trapped(_sort_topics(name), traps), school.cast, outcome_kind="partly_refused")


def _late_penalty(name: str, title: str, share: float, states: tuple[str, ...] = ("TURNED_IN",),
                  fresh: bool = True, mild: bool = False) -> Plan:
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
        effects=(Effect("update", "StudentSubmission", "student_submissions_patch", use("ready"),
                        key={"courseId": col("sub.course_id"), "courseWorkId": col("sub.course_work_id"),
                             "id": col("sub.id")},
                        set={"assigned_grade": grade}),),
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
            school.submission(room, work, pupil, ("RETURNED", "RECLAIMED_BY_STUDENT")[place % 2], draft_grade=mark, late=late)
    for pupil in pupils[:2]:
        school.submission(next_door, twin, pupil, "TURNED_IN", draft_grade=60, late=1)
    school.cast.grow("CourseWork", 0.2, {"course_id": ref(room)})
    school.cast.grow("StudentSubmission", 0.2, {
        "course_id": ref(room), "course_work_id": ref(work), "state": "RETURNED", "draft_grade": 50, "assigned_grade": 50})
    instruction = say(
        rng,
        ("Grades for the report cards are due tomorrow.", "I promised the office the grades by tonight."),
        ('For "[title]" in "[name]", {turn my draft grades into final ones|make my draft grades final}, for work that is '
         "handed in and has no final grade yet: the final grade is the draft grade, less [words] if the work is marked "
         "late (round to one decimal).",
         "Work already returned, or taken back by its student, stays as it is. Don't return anything.",
         "{How many did you grade?|Tell me how many you graded.}"),
        name=name, title=title, words=words,
    )
    traps = (
        wrong("no_penalty", "dropped_condition", "forgets what late work loses", _late_penalty(name, title, share, mild=True)),
        wrong("all_states", "dropped_condition", "grades returned and withdrawn work too",
              _late_penalty(name, title, share, states=("TURNED_IN", "RETURNED", "RECLAIMED_BY_STUDENT"))),
        wrong("regraded", "dropped_condition", "grades again what has a final grade", _late_penalty(name, title, share, fresh=False)),
        wrong("next_door", "neighbour", "does it in the parallel class", _late_penalty(neighbour, title, share)),
    )
    return Draft("late_penalty", "classroom", "Final grades, late work with a penalty", instruction,
                 trapped(_late_penalty(name, title, share), traps), school.cast)
