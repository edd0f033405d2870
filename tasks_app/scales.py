"""Scale: a named size of the same environment; same tools, same instruction, same verifier.

`rows` counts rows of all entity tables together, `files` those of the workspace; both are met exactly. v0 … v3 are
presets of one continuous size; their means over the shipped set lie near ProgAgent's published ones (database
99 / 173 / 335 / 711 KB, files 12.7 / 21.9 / 31.1 / 40.3). `tasks_app.growth` makes a task at any size and proves it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tasks_app.environments.package import EnvironmentPackage
    from tasks_app.growth import Growth
    from tasks_app.tasks import TaskSpec

PRESETS = ("v0", "v1", "v2", "v3")
AIMS_KB = {"v0": 99.0, "v1": 173.0, "v2": 335.0, "v3": 711.0}
AIMS_FILES = {"v0": 12.7, "v1": 21.9, "v2": 31.1, "v3": 40.3}
ROWS = {
    "classroom": {"v0": 265, "v1": 580, "v2": 1220, "v3": 2800},
    "calendar": {"v0": 175, "v1": 295, "v2": 570, "v3": 1250},
}


@dataclass(frozen=True, slots=True)
class Scale:
    """`rows` counts rows of all entity tables together, `files` those of the workspace; both are met exactly."""

    name: str
    rows: int
    files: int


def presets(domain: str, lineage: str) -> dict[str, Scale]:
    """v0 … v3 of one task: the domain's sizes, up to a tenth more or less, so that no two tasks are alike in size."""
    found = {}
    for name in PRESETS:
        drawn = int(hashlib.sha256(f"{lineage}/{name}".encode()).hexdigest()[:8], 16)
        rows = ROWS[domain][name]
        spread = rows // 10
        files = AIMS_FILES[name] - 1.5 + (drawn >> 12) % 4
        found[name] = Scale(name, rows - spread + drawn % (2 * spread + 1), round(files))
    return found


def grow(
    task: TaskSpec,
    package: EnvironmentPackage,
    rows: int,
    files: int,
    seed: int | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Growth:
    """`growth.grow`, imported late: growth needs tasks and environments, which need `Scale`."""
    from tasks_app import growth

    return growth.grow(task, package, rows, files, seed, progress)
