"""Remembering: an environment package whose reads over one state are answered once.

Proving a task runs some dozen programs over the same state, and nearly all of their time goes into the same reads.
Until a program's first write its reads are answers about that one state, so they are kept, as JSON, and given again;
from the first write on every call goes to the tool itself. Only for proofs in process; episodes never see this.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import orjson

from tasks_app.environments.package import EnvironmentPackage


class Remembered:
    """What `solutions` and `probes` need of a package, over one state: `module()` with TOOLS and ToolError."""

    def __init__(self, package: EnvironmentPackage) -> None:
        self._writes = {name: bool(spec["writes"]) for name, spec in package.tools.items()}
        self._answers: dict[bytes, bytes] = {}
        self._database: sqlite3.Connection | None = None
        self._changed = False
        module = package.module()
        tools = {name: self._answering(name, function) for name, function in module.TOOLS.items()}
        self._module = SimpleNamespace(TOOLS=tools, ToolError=module.ToolError)
        self.tools: Mapping[str, Mapping[str, Any]] = package.tools

    def module(self, name: str = "tools") -> Any:
        if name != "tools":
            raise ValueError(f"only the module of the tools is remembered, not {name!r}")
        return self._module

    def _answering(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        writes = self._writes.get(name, True)

        def call(database: sqlite3.Connection, **arguments: Any) -> Any:
            if database is not self._database:  # another run begins, over the untouched state
                self._database, self._changed = database, False
            if writes:
                self._changed = True
            if self._changed:
                return function(database, **arguments)
            key = orjson.dumps([name, arguments], option=orjson.OPT_SORT_KEYS)
            if key not in self._answers:
                self._answers[key] = orjson.dumps(function(database, **arguments))
            return orjson.loads(self._answers[key])

        return call
