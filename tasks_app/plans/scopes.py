"""Relations that many motifs begin with: from a name that a person says down to the rows it stands for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tasks_app.plans.algebra import Expr, Plan, Rel, Trap, cmp, col, eq, join, lit, scan, use, where


def course(name: str) -> Rel:
    return where(scan("Course", "course"), eq("course.name", lit(name)))


def section(name: str, state: str = "ACTIVE") -> Rel:
    """The courses of a section, all in one state."""
    return where(scan("Course", "course"), eq("course.section", lit(name)), eq("course.course_state", lit(state)))


def of_course(entity: str, alias: str) -> Rel:
    """The rows of a child entity of the let "course"."""
    return join(use("course"), scan(entity, alias), eq(f"{alias}.course_id", "course.id"))


def submissions(work: str = "work") -> Rel:
    """The submissions to the assignments of a let."""
    return join(
        use(work),
        scan("StudentSubmission", "sub"),
        eq("sub.course_id", "work.course_id"),
        eq("sub.course_work_id", "work.id"),
    )


def with_person(rel: Rel, column: str) -> Rel:
    """Beside each row the profile of the person that `column` identifies."""
    return join(rel, scan("UserProfile", "person"), eq("person.id", column))


def calendar(summary: str) -> Rel:
    return where(scan("CalendarListEntry", "calendar"), eq("calendar.summary", lit(summary)))


def of_calendar(alias: str = "event", let: str = "calendar", entity: str = "Event") -> Rel:
    return join(use(let), scan(entity, alias), eq(f"{alias}.calendar_id", f"{let}.id"))


EVENT_KEY = {"calendarId": col("event.calendar_id"), "eventId": col("event.id")}
LIVE = cmp("!=", col("event.status"), lit("cancelled"))


def guests_of(let: str, alias: str = "guest") -> Rel:
    """The guests of the events of a let."""
    return join(
        use(let),
        scan("EventAttendee", alias),
        eq(f"{alias}.calendar_id", "event.calendar_id"),
        eq(f"{alias}.event_id", "event.id"),
    )


def live_between(first: str, until: str, live: bool = True) -> Rel:
    """Events of the let "calendar" that start in a stretch of days and are not cancelled."""
    return where(of_calendar(), *([LIVE] if live else []), *between("event.start_time", first, until))


def between(column: str, first: str, until: str) -> tuple[Expr, Expr]:
    """`first` is in, `until` is not: the two ends of a stretch of days."""
    return cmp(">=", col(column), lit(first)), cmp("<", col(column), lit(until))


def one_of(column: str, *values: Any) -> Expr:
    return ("in", col(column), values)


def no(expr: Expr) -> Expr:
    return ("not", expr)


def missing(column: str) -> Expr:
    return ("null", col(column))


def given(column: str) -> Expr:
    return no(missing(column))


def wrong(name: str, kind: str, says: str, plan: Plan) -> Trap:
    """A trap that is another Plan."""
    return Trap(name, kind, says, plan=plan)


def trapped(plan: Plan, traps: tuple[Trap, ...]) -> Plan:
    """The Plan with its traps."""
    return replace(plan, traps=traps)
