"""Tools as published: what every reader of the ToolPool gives, whatever the format of its source.

A ToolDocument is one published description, read and checked; nothing in it is interpreted yet. What the tools mean
(entities, effects) is read from it by `tasks_app.domains.reading`.

Every format is brought to one normal form, that of a resource-oriented API: a path whose parameters are keys, a verb,
a named schema for the body and one for the answer. Formats that have no paths (RPC services, function lists) are given
the path they would have; `synthetic` says so.

Limits: schemas are the subset of JSON Schema that Discovery documents use, whatever the source: "type" (one name),
"format", "enum", "items", "properties", "required" (names), "additionalProperties", "readOnly", "description",
"default", "minimum", "maximum", "pattern", "$ref" (the bare name of a schema of the same document) and "annotations";
`toolpool.schemas` expands them.
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
class Failure:
    """A documented error: the published code ("ResourceNotFoundException", "404") and its words."""

    code: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Pagination:
    """How a list is paged, where the source declares it: parameters of the request and the place of the next token.

    `next` is the dotted path of the next token in the answer; "" with the style "page" or "offset", which count.
    """

    style: Literal["token", "page", "offset"]
    token: str  # the parameter that takes the token, the page's number or the offset
    size: str = ""  # the parameter that takes the size of a page
    next: str = ""


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
    failures: tuple[Failure, ...] = ()
    pagination: Pagination | None = None
    deprecated: bool = False
    synthetic: bool = False  # resource, verb and path are made by the reader, not published
    inferred: bool = False  # the answer's schema is inferred, not published
    link: str = ""  # its page in the published documentation

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
    licence: str  # SPDX name; "" where it isn't known
    tools: tuple[Tool, ...]
    schemas: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what the reader had to cut or mend, in sentences
    provider: str = ""  # who publishes it ("google", "aws", "github.com"); versions share provider and name

    @property
    def key(self) -> str:
        """Names the service and version in a pool: "google/classroom:v1"."""
        return f"{self.provider}/{self.name}:{self.version}" if self.provider else f"{self.name}:{self.version}"
