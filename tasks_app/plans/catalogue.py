"""Catalogue: all motifs and primers by name; importing it registers them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from random import Random

from tasks_app.plans.drafts import MOTIFS, PRIMERS, Motif

MODULES = (
    "motifs_calendars", "motifs_clashes", "motifs_courses", "motifs_enrolment", "motifs_families", "motifs_guests",
    "motifs_handing_in", "motifs_marks", "motifs_meetings", "motifs_planning", "motifs_rooms", "motifs_sharing",
    "motifs_standing", "primers_office_meetings", "primers_office_questions", "primers_office_sharing",
    "primers_school_courses", "primers_school_questions", "primers_school_work",
)
for _module in MODULES:
    import_module(f"tasks_app.plans.{_module}")


def motifs() -> tuple[str, ...]:
    return tuple(MOTIFS)


def primers() -> tuple[str, ...]:
    return tuple(PRIMERS)


def motif(name: str) -> Motif:
    """Raises KeyError on a name that is neither a motif nor a primer."""
    return MOTIFS[name] if name in MOTIFS else PRIMERS[name]


@cache
def domain_of(name: str) -> str:
    return motif(name)(Random(0)).domain
