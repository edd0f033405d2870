"""The two packages of the first content, compiled once for a run of the tests."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from tasks_app.domains.reading import read_domain
from tasks_app.environments.compiler import compile_package
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.environments.state import State
from tasks_app.scales import Scale
from tasks_app.toolpool import read_source
from tests.tasks_app.environment_worlds import PLANTS

SOURCES = {"classroom": "classroom:v1", "calendar": "calendar:v3"}
_folder = tempfile.TemporaryDirectory(prefix="packages-")


@functools.cache
def package_of(domain: str) -> EnvironmentPackage:
    return compile_package(read_domain(read_source(SOURCES[domain])), Path(_folder.name) / domain)


def world(domain: str, rows: int = 1400, files: int = 12, seed: int = 5) -> State:
    """A state in which every tool of the domain has something to do."""
    return package_of(domain).build(seed, Scale("test", rows, files), PLANTS[domain])
