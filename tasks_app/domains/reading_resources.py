"""Which schemas are entities, and where they hang: read from paths and from what `get` and `list` answer.

A schema is an entity if a method gets one of it, or lists it. Its own key is the path parameter at the end of the
paths that get, change or delete one; the parameters before it are keys of its parents. One entity may hang under
several segments (attachments of announcements, of course work): its parents are then alternatives for one column.

Limits: resource names ("{+name}") are one opaque key, without parents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks_app.domains import reading_words as lexicon
from tasks_app.toolpool.schemas import Schemas
from tasks_app.tools import Tool, ToolDocument

PATH_PARAM = re.compile(r"\{[+/]?(\w+)\*?\}")
LIST_VERBS = ("list", "search", "query", "find", "lookup")
WRITE_VERBS = ("create", "insert", "update", "patch", "delete", "add", "remove", "set")
READ_VERBS = ("get", *LIST_VERBS)
STANDARD = {*READ_VERBS, "create", "insert", "update", "patch", "delete"}


@dataclass(frozen=True, slots=True)
class Place:
    """A path taken apart: (segment, parameter) pairs of the parents, and the parameter of the own key or ""."""

    parents: tuple[tuple[str, str], ...]
    own: str
    segment: str
    resource_name: bool = False  # the own key is a whole resource name ("{+name}"), its parents are in it


@dataclass(slots=True)
class Resource:
    """A schema found to be an entity, with the methods that speak of it."""

    schema: str
    tools: list[Tool] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    listed: bool = False
    got: bool = False
    written: bool = False
    parent_reads: int = 0

    @property
    def own_param(self) -> str:
        return next((place.own for place in self.places if place.own), "")


def place(path: str) -> Place:
    """ "courses/{courseId}/topics/{id}:verb" → parents ((courses, courseId),), own id, segment topics."""
    segments = [s for s in path.split(":")[0].split("/") if s]
    pairs: list[tuple[str, str]] = []
    last_word = ""
    for segment in segments:
        param = PATH_PARAM.fullmatch(segment)
        if param:
            pairs.append(("" if segment[1] in "+/" else last_word, param.group(1)))
        else:
            last_word = segment
    ends_with_param = bool(segments) and bool(PATH_PARAM.fullmatch(segments[-1]))
    own = pairs.pop()[1] if ends_with_param and pairs else ""
    return Place(tuple(pairs), own, last_word, bool(own) and segments[-1][1] in "+/")


def verb_words(tool: Tool) -> tuple[str, ...]:
    return lexicon.words(tool.verb)


def items(tool: Tool, schemas: Schemas) -> tuple[str, str]:
    """(key, schema) of the rows that a list answers with; ("", "") where the answer is no list of a named schema."""
    properties = schemas.properties({"$ref": tool.response}) if tool.response else {}
    found = [(key, ref) for key, value in properties.items() if (ref := _item_schema(value))]
    if not found:
        return "", ""
    noun = lexicon.stem(tool.resource[-1]) if tool.resource else ()
    best = [pair for pair in found if lexicon.stem(pair[0]) == noun or pair[0] in ("items", "files")]
    return (best or found)[0]


def _item_schema(value: Mapping[str, Any]) -> str:
    inner = value.get("items") if value.get("type") == "array" else None
    return str(inner.get("$ref", "")) if isinstance(inner, Mapping) else ""


def is_list(tool: Tool, schemas: Schemas) -> bool:
    properties = schemas.properties({"$ref": tool.response}) if tool.response else {}
    return bool(items(tool, schemas)[1]) and (verb_words(tool)[0] in LIST_VERBS or "nextPageToken" in properties)


def spoken_of(tool: Tool, schemas: Schemas) -> str:
    """The schema a method speaks of: what it answers with, lists, or takes; "" where it is none."""
    if is_list(tool, schemas):
        return items(tool, schemas)[1]
    if tool.response and schemas.properties({"$ref": tool.response}):
        return tool.response
    return tool.request


def resources(document: ToolDocument, schemas: Schemas) -> dict[str, Resource]:
    """All entity schemas by name, in the order of the document."""
    found: dict[str, Resource] = {}
    for tool in document.tools:
        verb = verb_words(tool)[0]
        listed = is_list(tool, schemas) and verb in LIST_VERBS
        if listed or (
            verb == "get" and tool.response and tool.http == "GET" and schemas.properties({"$ref": tool.response})
        ):
            resource = found.setdefault(spoken_of(tool, schemas), Resource(spoken_of(tool, schemas)))
            resource.listed |= listed
            resource.got |= not listed
    for tool in document.tools:
        name = home(tool, document, schemas, found)
        if name:
            found[name].tools.append(tool)
            if verb_words(tool)[0] in ("get", "update", "patch", "delete", "list", "create", "insert"):
                found[name].places.append(place(tool.path))
            found[name].written |= verb_words(tool)[0] in WRITE_VERBS
    return {name: resource for name, resource in found.items() if resource.places}


def home(tool: Tool, document: ToolDocument, schemas: Schemas, found: Iterable[str]) -> str:
    """The entity whose method this is: by its schemas, else by what the other methods of its resource speak of."""
    found = set(found)
    spoken = spoken_of(tool, schemas)
    if spoken in found:
        return spoken
    if tool.request in found:
        return tool.request
    for sibling in document.tools:
        if sibling.resource == tool.resource and verb_words(sibling)[0] in STANDARD:
            name = spoken_of(sibling, schemas)
            if name in found and len(verb_words(sibling)) == 1:
                return name
    return ""
