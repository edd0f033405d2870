"""Catalogue: all motifs and primers by name; importing it registers them."""

from __future__ import annotations

from functools import cache
from random import Random

from tasks_app.plans import (  # noqa: F401  (imported to register)
    motifs_courses, motifs_marks, motifs_meetings, motifs_people, motifs_rooms, motifs_sharing, motifs_work,
    primers_office, primers_school,
)
from tasks_app.plans.drafts import MOTIFS, PRIMERS, Motif

__all__ = ["domain_of", "motif", "motifs", "primers"]


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
