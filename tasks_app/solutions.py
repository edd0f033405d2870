"""Trusted generated programs (references, probes) run in this process: fast, for proofs and tests. Not for policies.

A program sees the namespace of a kernel cell: `tools`, `ToolError`, builtins. It is safe beside other threads, since
nothing of the process is changed: `print` writes to a list of its own, and the workspace is a dict of bytes behind
`open` and a small `os` (makedirs), given through the program's own builtins. Limits: no pathlib, glob or listing of
folders, no time limit; whoever needs these runs an Episode. An error ends the program, as it would end a person's cell;
what was done before it stays done.
"""

from __future__ import annotations

import builtins
import io
import json
import sqlite3
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any, Protocol

from tasks_app.environments.state import State
from tasks_app.tasks import cells


@dataclass(slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]
    value: Any = None  # the full answer
    error: str = ""  # code of the ToolError
    writes: bool = False

    @property
    def ok(self) -> bool:
        return not self.error

    @property
    def size(self) -> int:
        """Characters of the result as JSON."""
        return len(json.dumps(self.value, ensure_ascii=False)) if not self.error else 0


@dataclass(frozen=True, slots=True)
class Run:
    """What a program did. `error` is "" or the last line of what ended it; `refused`: a tool did."""

    after: State
    answer: str  # the last printed line of the last cell
    calls: tuple[Call, ...]
    printed: tuple[str, ...]  # by cell
    error: str = ""
    refused: bool = False


class Package(Protocol):
    """What is needed of an environment package: specs of its tools, its generated module with TOOLS and ToolError."""

    @property
    def tools(self) -> Mapping[str, Mapping[str, Any]]: ...

    def module(self, name: str = "tools") -> Any: ...


@dataclass
class Workspace:
    """Files of the workspace in memory, behind `open`."""

    files: dict[str, bytes]
    written: set[str] = field(default_factory=set)

    def open(self, path: str, mode: str = "r", *_: Any, encoding: str | None = None, newline: str | None = None) -> Any:
        name = str(path).removeprefix("./")
        if "w" in mode or "a" in mode:
            return _Written(
                self, name, "b" in mode, encoding or "utf-8", self.files.get(name, b"") if "a" in mode else b""
            )
        if name not in self.files:
            raise FileNotFoundError(2, "No such file or directory", name)
        if "b" in mode:
            return io.BytesIO(self.files[name])
        return io.StringIO(self.files[name].decode(encoding or "utf-8"), newline=newline)

    def importer(self, name: str, *rest: Any) -> Any:
        if name == "os":
            return types.SimpleNamespace(makedirs=lambda path, exist_ok=False: None)
        return builtins.__import__(name, *rest)


class _Written(io.StringIO):
    """A file opened for writing; its bytes reach the workspace when it is closed."""

    def __init__(self, workspace: Workspace, name: str, binary: bool, encoding: str, start: bytes) -> None:
        super().__init__(newline="")
        self._workspace, self._name, self._encoding = workspace, name, encoding
        self._bytes = start if not binary else bytearray(start)
        self._binary = binary

    def write(self, text: Any) -> int:
        if isinstance(self._bytes, bytearray):
            self._bytes += text
            return len(text)
        return super().write(text)

    def close(self) -> None:
        if not self.closed:
            self._workspace.files[self._name] = (
                bytes(self._bytes) if self._binary else bytes(self._bytes) + self.getvalue().encode(self._encoding)
            )
        super().close()


class Tools:
    """The `tools` object of a cell; every call is one transaction and is noted."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        allowed: Collection[str],
        db: sqlite3.Connection,
        tool_error: type[Exception],
        writers: Collection[str],
    ) -> None:
        self._functions, self._allowed, self._db = functions, allowed, db
        self._tool_error, self._writers = tool_error, writers
        self.calls: list[Call] = []

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if name not in self._allowed:
            raise AttributeError(f"no tool {name!r}; there are {', '.join(sorted(self._allowed))}")
        return lambda **arguments: self._call(name, arguments)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self[name]

    def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        call = Call(name, arguments, writes=name in self._writers)
        self.calls.append(call)
        self._db.execute("BEGIN")
        try:
            call.value = self._functions[name](self._db, **arguments)
        except self._tool_error as error:
            self._db.execute("ROLLBACK")
            call.error = str(getattr(error, "code", "")) or type(error).__name__
            raise
        self._db.execute("COMMIT")
        return call.value


@lru_cache(maxsize=512)
def _compiled(source: str, name: str) -> CodeType:
    return compile(source, name, "exec", dont_inherit=True)


def run(
    program: str,
    functions: Mapping[str, Callable[..., Any]],
    tool_error: type[Exception],
    state: State,
    allowed: Collection[str] | None = None,
    writers: Collection[str] = (),
) -> Run:
    """Runs the cells of `program` over a private copy of `state`; `writers` are the tools that write."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.deserialize(state.image)
    workspace = Workspace(dict(state.files))
    tools = Tools(functions, functions.keys() if allowed is None else allowed, db, tool_error, writers)
    printed: list[list[str]] = []

    def say(*values: Any, sep: str = " ", end: str = "\n", **_: Any) -> None:
        printed[-1].append(sep.join(map(str, values)) + end)

    given = {**vars(builtins), "print": say, "open": workspace.open, "__import__": workspace.importer}
    namespace: dict[str, Any] = {"__builtins__": given, "__name__": "__main__", "tools": tools, "ToolError": tool_error}
    error, refused = "", False
    try:
        for i, cell in enumerate(cells(program)):
            printed.append([])
            exec(_compiled(cell, f"cell {i + 1}"), namespace)
    except Exception as raised:  # noqa: BLE001  a boundary: a program may fail in any way; it is reported
        error, refused = f"{type(raised).__name__}: {raised}", isinstance(raised, tool_error)
    try:
        after = State(db.serialize(), workspace.files)
    finally:
        db.close()
    texts = tuple("".join(parts) for parts in printed)
    answer = "" if error or not texts else (texts[-1].strip().splitlines() or [""])[-1].strip()
    return Run(after, answer, tuple(tools.calls), texts, error, refused)


def run_in_process(program: str, package: Package, state: State, tools: Collection[str] | None = None) -> Run:
    """`run` with the tools of an environment package; `tools` restricts them to those that a task names."""
    module = package.module()
    writers = {name for name, spec in package.tools.items() if spec["writes"]}
    return run(program, module.TOOLS, module.ToolError, state, tools, writers)
