"""Tools as published: what every reader of the ToolPool gives, whatever the format of its source.

A ToolDocument is one published description, read and checked; nothing in it is interpreted yet. What the tools mean
(entities, effects) is read from it by `tasks_app.domains.reading`.

Limits: schemas keep the dialect of JSON Schema that Discovery documents use ("$ref" to a name, "readOnly", "enum",
"annotations"); `toolpool.schemas` expands them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any


class ToolSourceError(Exception):
    """A source that can't be read. The message is one sentence or two: what, where, and what to do about it."""

    def __init__(self, what: str, *, where: str, remedy: str) -> None:
        super().__init__(f"{what} ({where}). {remedy}")
        self.what, self.where, self.remedy = what, where, remedy


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument that travels in the path or the query; fields of a body are in the request schema."""

    name: str
    schema: Mapping[str, Json]
    where: Literal["path", "query"]
    required: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """One published method."""

    method: str  # "classroom.courses.courseWork.list"
    resource: tuple[str, ...]  # ("courses", "courseWork")
    verb: str  # "list"
    http: str  # "GET"
    path: str  # "v1/courses/{courseId}/courseWork"
    parameters: tuple[Parameter, ...]
    request: str = ""  # name of the body's schema
    response: str = ""  # name of the answer's schema
    description: str = ""
    media: bool = False  # moves the bytes of a file

    @property
    def kind(self) -> Literal["read", "write"]:
        return "read" if self.http == "GET" else "write"


@dataclass(frozen=True, slots=True)
class ToolDocument:
    """A published description, whole."""

    name: str  # "classroom"
    version: str  # "v1"
    title: str
    description: str
    format: str  # "discovery"
    source: str  # where it was read from, as people name it
    sha256: str
    licence: str
    tools: tuple[Tool, ...]
    schemas: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what the reader had to cut or mend, in sentences
