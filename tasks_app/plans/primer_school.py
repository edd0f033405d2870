"""What the primers of Classroom share: two courses, one wish about one of them."""

from __future__ import annotations

from random import Random

from tasks_app.plans.algebra import Expr, Plan, Rel, eq, join, lit, scan, where
from tasks_app.plans.drafts import Draft
from tasks_app.plans.school import School
from tasks_app.plans.scopes import trapped, wrong

NOTICES = (
    "Bring your {thing} on Monday.",
    "No class on Friday.",
    "We meet in the library tomorrow.",
    "The trip is on Thursday.",
    "Please read chapter {n} by Wednesday.",
    "The quiz covers chapters 1 to {n}.",
    "Room {n} is closed today.",
    "Hand in your {thing} at the desk.",
    "Chapter {n} is off the list.",
    "We start ten minutes late on day {n}.",
)


THINGS = ("calculators", "notebooks", "lab coats", "maps", "sketches", "reading logs", "posters", "instruments")


TOPICS = (
    "Optics",
    "Grammar",
    "Essays",
    "Lab safety",
    "Fractions",
    "Poetry",
    "Climate",
    "Trade",
    "Rhythm",
    "Waves",
    "Soil",
    "Statistics",
    "Revision",
    "Field work",
    "Orbits",
    "Dialogue",
    "Textiles",
    "Currents",
)


def course_named(name: str) -> Rel:
    return where(scan("Course", "course"), eq("course.name", lit(name)))


def child_of(name: str, entity: str, alias: str, *conditions: Expr) -> Rel:
    return join(course_named(name), scan(entity, alias), eq(f"{alias}.course_id", "course.id"), *conditions)


def notice(rng: Random) -> str:
    return rng.choice(NOTICES).format(thing=rng.choice(THINGS), n=rng.randint(2, 30))


def ended(words: str) -> str:
    """A quotation at the end carries its full stop outside as well, so that the text in it stays exact."""
    return words + "." if words.endswith('"') else words


def two_courses(school: School, **row: object) -> tuple[str, str, str, str]:
    """A course and its neighbour: both names, both references."""
    name, neighbour = school.class_names()
    return name, neighbour, school.course(name, **row), school.course(neighbour, **row)


def school_primer(
    motif: str, title: str, instruction: str, plan: Plan, school: School, *traps: tuple[str, str, Plan]
) -> Draft:
    faults = tuple(wrong(name, "neighbour", says, other) for name, says, other in traps)
    return Draft(motif, "classroom", title, instruction, trapped(plan, faults), school.cast, tier="primer")
