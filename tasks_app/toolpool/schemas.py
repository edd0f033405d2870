"""Expanding "$ref": from the schemas of a document to one self-contained JSON Schema.

Two kinds of cycle: a schema that is nothing but a reference to itself has no meaning, and is refused; a schema that
contains itself (a tree) is cut at the second visit and accepted as free JSON there. A reference to a name that isn't
there is free JSON too. `survey` says both in sentences for the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tasks_app.tools import ToolSourceError

MAX_DEPTH, MAX_NESTING = 12, 60
KEPT = ("description", "format", "enum", "default", "minimum", "maximum", "readOnly", "pattern")


class Schemas:
    """The named schemas of one document."""

    def __init__(self, raw: Mapping[str, Mapping[str, Any]], label: str) -> None:
        self._raw = raw
        self._label = label
        self._refuse_pure_cycles()

    def __contains__(self, name: str) -> bool:
        return name in self._raw

    def get(self, name: str) -> Mapping[str, Any]:
        """The schema of that name with its own "$ref" followed, properties left as they are; {} where it is missing."""
        seen = []
        schema = self._raw.get(name, {})
        while "$ref" in schema and schema["$ref"] not in seen:
            seen.append(schema["$ref"])
            schema = self._raw.get(schema["$ref"], {})
        return schema

    def follow(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema behind a "$ref", with the description given at the reference; the schema itself without one."""
        if "$ref" not in schema:
            return schema
        return {**self.get(schema["$ref"]), **{k: v for k, v in schema.items() if k != "$ref"}}

    def properties(self, schema: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        properties = self.follow(schema).get("properties", {})
        return (
            {str(k): v for k, v in properties.items() if isinstance(v, Mapping)}
            if isinstance(properties, Mapping)
            else {}
        )

    def expanded(self, schema: Mapping[str, Any], trail: tuple[str, ...] = (), depth: int = 0) -> dict[str, Any]:
        """A self-contained JSON Schema: references resolved, Discovery's own keys left out. Raises ToolSourceError
        where it is nested deeper than any service is."""
        if depth > MAX_NESTING:
            raise ToolSourceError(
                f"A schema is nested more than {MAX_NESTING} levels deep",
                where=f"{self._label}, {' → '.join(trail) or 'schemas'}",
                remedy="Give a document as published; nothing was imported.",
            )
        name = str(schema.get("$ref", ""))
        if name:
            if name in trail or len(trail) >= MAX_DEPTH:
                return {"type": "object", "description": f"{name}, as above"}
            if name not in self._raw:
                return {"type": "object"}
            trail = (*trail, name)
        source = self.follow(schema)
        result: dict[str, Any] = {} if source.get("type") == "any" else {"type": source.get("type", "object")}
        result |= {key: source[key] for key in KEPT if key in source}
        if "properties" in source:
            result["properties"] = {k: self.expanded(v, trail, depth + 1) for k, v in self.properties(source).items()}
        if isinstance(source.get("items"), Mapping):
            result["items"] = self.expanded(source["items"], trail, depth + 1)
        if isinstance(source.get("additionalProperties"), Mapping):
            result["additionalProperties"] = self.expanded(source["additionalProperties"], trail, depth + 1)
        return result

    def survey(self) -> list[str]:
        """What the expansion cuts or mends, in sentences: schemas that contain themselves, names that aren't there."""
        graph = {name: list(dict.fromkeys(_references(schema))) for name, schema in self._raw.items()}
        notes = [
            f"Schema {target} is referred to by {name} but is not in the document: taken as free JSON."
            for name, targets in graph.items()
            for target in targets
            if target not in graph
        ]
        for name in graph:
            cycle = _cycle(name, graph)
            if cycle and name == min(cycle):
                notes.append(
                    f"Schema {name} contains itself ({' → '.join(cycle)}): cut where it comes again, free JSON below."
                )
        return notes

    def _refuse_pure_cycles(self) -> None:
        for name in self._raw:
            trail = [name]
            for target in self._bare_references(name):
                trail.append(target)
                if trail.count(target) > 1:
                    raise ToolSourceError(
                        f"Schema {name!r} is only a reference to itself: {' → '.join(trail)}",
                        where=f"{self._label}, schemas",
                        remedy="Give one of these schemas a type; nothing was imported.",
                    )

    def _bare_references(self, name: str) -> Iterator[str]:
        for _ in range(len(self._raw) + 1):
            target = self._raw.get(name, {}).get("$ref")
            if not isinstance(target, str):
                return
            yield target
            name = target


def _references(node: Any, depth: int = 0) -> Iterator[str]:
    """Names of all "$ref"s in a schema, a bounded way down."""
    if depth > MAX_NESTING:
        return
    if isinstance(node, Mapping):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for key, value in node.items():
            if key != "description":
                yield from _references(value, depth + 1)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value, depth + 1)


def _cycle(start: str, graph: Mapping[str, list[str]]) -> list[str]:
    """The shortest way from a schema back to itself, or []."""
    ways: list[list[str]] = [[start]]
    seen: set[str] = set()
    while ways:
        way = ways.pop(0)
        for target in graph.get(way[-1], []):
            if target == start:
                return [*way, start]
            if target not in seen:
                seen.add(target)
                ways.append([*way, target])
    return []
