"""School: a cast for Classroom. Who is enrolled where, what is set, what was handed in, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from tasks_app.plans.drafts import Cast, Person, ref

SUBJECTS = (
    "Biology",
    "Chemistry",
    "Physics",
    "History",
    "Geography",
    "Latin",
    "Drama",
    "Statistics",
    "Astronomy",
    "Economics",
    "Philosophy",
    "Ceramics",
    "Music Theory",
    "Geology",
    "Botany",
    "Rhetoric",
    "Calculus",
    "Pottery",
    "Robotics",
    "Welsh",
    "Greek",
    "Film Studies",
    "Sociology",
    "Carpentry",
    "Journalism",
)
ESSAYS = (
    "Essay",
    "Field report",
    "Reading log",
    "Problem set",
    "Poster",
    "Lab report",
    "Source analysis",
    "Quiz sheet",
    "Portfolio",
    "Case study",
    "Presentation",
    "Worksheet",
    "Glossary",
    "Timeline",
    "Model",
    "Interview",
)
THEMES = (
    "rivers",
    "light",
    "trade routes",
    "cells",
    "metals",
    "sound",
    "migration",
    "volcanoes",
    "markets",
    "tides",
    "printing",
    "bridges",
    "harvests",
    "glaciers",
    "magnets",
    "orbits",
    "spices",
    "coasts",
    "railways",
    "seeds",
)


class School:
    """Plants rows through its `cast`; every method gives the name by which other rows refer to the new one."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.cast = Cast(rng)
        self._titles: set[str] = set()

    def class_names(self) -> tuple[str, str]:
        """Two courses that are easily taken for one another: "Biology 10B" and "Biology 10A"."""
        subject, year = self.rng.choice(SUBJECTS), self.rng.randint(7, 12)
        first, second = self.rng.sample("ABCD", 2)
        return f"{subject} {year}{first}", f"{subject} {year}{second}"

    def subject_names(self, n: int) -> list[str]:
        """Names of n unlike courses of one year."""
        year = self.rng.randint(7, 12)
        return [f"{subject} {year}{self.rng.choice('ABCD')}" for subject in self.rng.sample(SUBJECTS, n)]

    def titles(self, n: int) -> list[str]:
        """Titles of assignments, no two alike in one draft."""
        found: list[str] = []
        while len(found) < n:
            title = f"{self.rng.choice(ESSAYS)} on {self.rng.choice(THEMES)}"
            if title not in self._titles:
                self._titles.add(title)
                found.append(title)
        return found

    def course(self, name: str, **row: Any) -> str:
        return self.cast.plant("Course", {"name": name, "course_state": "ACTIVE", **row})

    def person(self) -> Person:
        given, family = self.cast.unused_name()
        person = Person("", given, family)
        name = self.cast.plant(
            "UserProfile",
            {
                "name_given_name": given,
                "name_family_name": family,
                "name_full_name": person.name,
                "email_address": person.email,
            },
        )
        return Person(name, given, family)

    def people(self, n: int) -> list[Person]:
        return [self.person() for _ in range(n)]

    def enrol(self, course: str, people: Sequence[Person]) -> None:
        for person in people:
            self.cast.plant("Student", {"course_id": ref(course), "user_id": ref(person.ref)})

    def teach(self, course: str, people: Sequence[Person]) -> None:
        for person in people:
            self.cast.plant("Teacher", {"course_id": ref(course), "user_id": ref(person.ref)})

    def topic(self, course: str, name: str) -> str:
        return self.cast.plant("Topic", {"course_id": ref(course), "name": name})

    def work(self, course: str, title: str, **row: Any) -> str:
        return self.cast.plant(
            "CourseWork",
            {
                "course_id": ref(course),
                "title": title,
                "state": "PUBLISHED",
                "work_type": "ASSIGNMENT",
                "assignee_mode": "ALL_STUDENTS",
                "max_points": 100,
                "topic_id": None,
                **row,
            },
        )

    def submission(self, course: str, work: str, person: Person, state: str, **row: Any) -> str:
        return self.cast.plant(
            "StudentSubmission",
            {
                "course_id": ref(course),
                "course_work_id": ref(work),
                "user_id": ref(person.ref),
                "state": state,
                "late": 0,
                "draft_grade": None,
                "assigned_grade": None,
                "course_work_type": "ASSIGNMENT",
                **row,
            },
        )

    def more_students(self, share: float, *courses: str) -> None:
        """Growth: further people, and each of them a student of one of these courses."""
        self.cast.grow("UserProfile", share, {})
        self.cast.grow("Student", share, {"course_id": {"choice": [ref(course) for course in courses]}})

    def more_submissions(self, share: float, course: str, works: Sequence[str], **row: Any) -> None:
        """Growth: further submissions to these assignments, by members of the course."""
        self.cast.grow(
            "StudentSubmission",
            share,
            {
                "course_id": ref(course),
                "course_work_id": {"choice": [ref(work) for work in works]},
                "late": 0,
                "draft_grade": None,
                "assigned_grade": None,
                **row,
            },
        )

    def announcement(self, course: str, text: str, **row: Any) -> str:
        return self.cast.plant("Announcement", {"course_id": ref(course), "text": text, "state": "PUBLISHED", **row})
