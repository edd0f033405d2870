"""EnvironmentPackage: a compiled environment in a folder, usable without the studio, named by the hash of its content.

Loading executes nothing. `build` runs the package's populate.py in this process: packages are our own compiled code,
never something that a policy wrote. States are cached by (package, seed, sizes, directives), the latest few of them.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tasks_app.domains.model import DomainModel, from_json
from tasks_app.environments.state import State
from tasks_app.scales import Scale

FORMAT = 1
FILES = ("LICENSE", "SOURCE.json", "environment.json", "model.json", "populate.py", "schema.sql", "tools.py")
KEPT_STATES = 24
KEPT_BYTES = 256 * 1024**2
_states: OrderedDict[tuple[str, int, int, int, str], State] = OrderedDict()
_modules: dict[tuple[str, str], ModuleType] = {}


class PackageError(Exception):
    """A folder that is no environment package, or one of another format; says what is missing."""


def digest_of(folder: Path) -> str:
    """sha256 over the sorted (path, sha256) of the package's own files."""
    digest = hashlib.sha256()
    for name in sorted(FILES):
        path = folder / name
        if not path.is_file():
            raise PackageError(f"{folder} is no environment package: {name} is missing")
        digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class EnvironmentPackage:
    """`tools` maps a name to its spec: name, description, parameters and returns (JSON Schemas), writes, method."""

    folder: Path
    digest: str
    model: DomainModel
    tools: Mapping[str, Mapping[str, Any]]
    licence: str
    provenance: Mapping[str, Any]

    @classmethod
    def load(cls, folder: Path | str) -> EnvironmentPackage:
        """Raises PackageError for a folder that is none, or of a newer format."""
        folder = Path(folder)
        digest = digest_of(folder)
        document = json.loads((folder / "environment.json").read_text())
        if document["format"] != FORMAT:
            raise PackageError(f"{folder} has format {document['format']}; this version reads format {FORMAT}")
        model = from_json(json.loads((folder / "model.json").read_text()))
        tools = {spec["name"]: spec for spec in document["tools"]}
        return cls(folder, digest, model, tools, document["licence"], document["provenance"])

    def module(self, name: str = "tools") -> ModuleType:
        """tools.py or populate.py as a module, executed once for each content."""
        key = (self.digest, name)
        if key not in _modules:
            module = ModuleType(f"{self.model.name}_{name}")
            module.__file__ = str(self.folder / f"{name}.py")
            source = (self.folder / f"{name}.py").read_text()
            exec(compile(source, module.__file__, "exec"), module.__dict__)
            _modules[key] = module
        return _modules[key]

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The tools themselves: name → fn(db, **arguments)."""
        functions: Mapping[str, Callable[..., Any]] = self.module("tools").TOOLS
        return functions

    def empty(self) -> sqlite3.Connection:
        """An in-memory database with the schema and no rows; the caller closes it."""
        connection = sqlite3.connect(":memory:")
        connection.executescript((self.folder / "schema.sql").read_text())
        return connection

    def build(self, seed: int, scale: Scale, directives: Mapping[str, Any]) -> State:
        """The state of this seed and size, deterministic. Raises populate's PopulateError where it cannot be made."""
        said = json.dumps(directives, sort_keys=True, ensure_ascii=False)
        key = (self.digest, seed, scale.rows, scale.files, hashlib.sha256(said.encode()).hexdigest())
        if key in _states:
            _states.move_to_end(key)
            return _states[key]
        state = self._populated(seed, scale, json.loads(said))
        _states[key] = state
        while len(_states) > KEPT_STATES or (
            len(_states) > 1 and sum(len(s.image) for s in _states.values()) > KEPT_BYTES
        ):
            _states.popitem(last=False)
        return state

    def _populated(self, seed: int, scale: Scale, directives: dict[str, Any]) -> State:
        connection = self.empty()
        try:
            with tempfile.TemporaryDirectory() as name:
                workspace = Path(name)
                self.module("populate").populate(
                    connection, workspace, seed=seed, rows=scale.rows, files=scale.files, directives=directives
                )
                connection.commit()
                found = sorted(path for path in workspace.rglob("*") if path.is_file())
                files = {path.relative_to(workspace).as_posix(): path.read_bytes() for path in found}
            return State(image=connection.serialize(), files=files)
        finally:
            connection.close()
