"""Draft: what a motif gives: a Plan, the rows and files that make each of its traps bite, and what the user says.

A motif is a function of a seeded Random. It plants its cast (`Cast`) row by row, so that who qualifies, and who only
almost does, is decided here and not by luck; the populate step fills in everything that is not said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Literal

from tasks_app.plans.algebra import Plan
from tasks_app.plans.names import FAMILY_NAMES, GIVEN_NAMES

Value = Any
NOW = "2026-11-02T08:00:00Z"  # the environment's clock at the start of every episode: a Monday


@dataclass(frozen=True, slots=True)
class Draft:
    """`growing` declares that rows added by growth qualify by the instruction's own condition (rule 5)."""

    motif: str
    domain: str
    title: str
    instruction: str
    plan: Plan
    cast: Cast
    tier: Literal["task", "primer"] = "task"
    outcome_kind: Literal["done", "partly_refused", "nothing_to_do"] = "done"
    growing: bool = False
    distractors: tuple[str, ...] = ()  # tools that look useful and are not; the rest is filled up by seed

    @property
    def directives(self) -> dict[str, Any]:
        return {"plants": self.cast.plants, "growth": self.cast.growth, "files": self.cast.files}


@dataclass(frozen=True, slots=True)
class Person:
    """A planted user: the name under which directives refer to it, and what it is called."""

    ref: str
    given: str
    family: str

    @property
    def name(self) -> str:
        return f"{self.given} {self.family}"

    @property
    def email(self) -> str:
        return f"{self.given}.{self.family}@northfield.example".lower().replace("'", "").replace(" ", "")


@dataclass(slots=True)
class Cast:
    """Planted rows, growth inside the scope, and planted files of one draft, in directive form."""

    rng: Random
    plants: list[dict[str, Value]] = field(default_factory=list)
    growth: list[dict[str, Value]] = field(default_factory=list)
    files: list[dict[str, Value]] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)

    def plant(self, entity: str, row: Mapping[str, Value]) -> str:
        """Plant one row; gives the name by which others refer to it."""
        name = f"p{len(self.plants)}"
        self.plants.append({"entity": entity, "as": name, "set": dict(row)})
        return name

    def grow(self, entity: str, share: float, row: Mapping[str, Value]) -> None:
        """Of the rows that a larger size adds, `share` are of this entity with these values."""
        self.growth.append({"entity": entity, "share": share, "set": dict(row)})

    def file(self, path: str, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> None:
        """Plant a CSV file in the workspace."""
        self.files.append({"path": path, "columns": list(columns), "rows": [list(r) for r in rows], "format": "csv"})

    def unused_name(self) -> tuple[str, str]:
        """A given and family name that no other person of this cast has together."""
        while True:
            given, family = self.rng.choice(GIVEN_NAMES), self.rng.choice(FAMILY_NAMES)
            if f"{given} {family}" not in self._names:
                self._names.add(f"{given} {family}")
                return given, family


def ref(name: str, column: str = "id") -> dict[str, str]:
    """The value of a column of a planted row, as directives spell it."""
    return {"ref": name, "column": column}


def stamp(day: str, clock: str = "00:00", plus_minutes: int = 0) -> str:
    """ "2026-11-04" and "09:30" as the UTC text of a column."""
    when = datetime.fromisoformat(f"{day}T{clock}:00") + timedelta(minutes=plus_minutes)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


Motif = Callable[[Random], Draft]
MOTIFS: dict[str, Motif] = {}
PRIMERS: dict[str, Motif] = {}


def motif(name: str) -> Callable[[Motif], Motif]:
    """Register a motif of the task tier under its name."""

    def register(make: Motif) -> Motif:
        MOTIFS[name] = make
        return make

    return register


def primer(name: str) -> Callable[[Motif], Motif]:
    """Register a motif of the primer tier under its name."""

    def register(make: Motif) -> Motif:
        PRIMERS[name] = make
        return make

    return register
