"""Expanding "$ref": from the schemas of a document to one self-contained JSON Schema.

Two kinds of cycle: a schema that is nothing but a reference to itself has no meaning, and is refused; a schema that
contains itself (a tree) is cut at the second visit and accepted as free JSON there. A reference to a name that isn't
there is free JSON too. `survey` says both in sentences for the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from tasks_app.tools import ToolSourceError

MAX_DEPTH, MAX_NODES, MAX_CHAIN, MAX_NOTES = 12, 5_000, 100, 50
KEPT = ("description", "format", "enum", "default", "minimum", "maximum", "readOnly", "pattern")


class Schemas:
    """The named schemas of one document."""

    def __init__(self, raw: Mapping[str, Mapping[str, Any]], label: str) -> None:
        self._raw = raw
        self._label = label
        self._refuse_pure_cycles()

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

    def expanded(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A self-contained JSON Schema: references resolved, Discovery's own keys left out; at most MAX_NODES nodes."""
        return self._expanded(schema, (), [MAX_NODES])

    def _expanded(self, schema: Mapping[str, Any], trail: tuple[str, ...], budget: list[int]) -> dict[str, Any]:
        budget[0] -= 1
        name = str(schema.get("$ref", ""))
        if name:
            if name in trail or len(trail) >= MAX_DEPTH:
                return {"type": "object", "description": f"{name}, as above"}
            if name not in self._raw or budget[0] <= 0:
                return {"type": "object", "description": name}
            trail = (*trail, name)
        source = self.follow(schema)
        result: dict[str, Any] = {} if source.get("type") == "any" else {"type": source.get("type", "object")}
        result |= typed({key: source[key] for key in KEPT if key in source}, str(source.get("type", "")))
        if "properties" in source:
            result["properties"] = {k: self._expanded(v, trail, budget) for k, v in self.properties(source).items()}
        for key in ("items", "additionalProperties"):
            if isinstance(source.get(key), Mapping):
                result[key] = self._expanded(source[key], trail, budget)
        return result

    def survey(self) -> list[str]:
        """What the expansion cuts or mends, in sentences: schemas that contain themselves, names that aren't there."""
        graph = {name: set(_references(schema)) for name, schema in self._raw.items()}
        used = {(target, name) for name, targets in graph.items() for target in targets}
        missing = sorted((target, name) for target, name in used if target not in graph)
        notes = [f"Schema {t} is referred to by {n} but is not in the document: free JSON." for t, n in missing]
        for cycle in _cycles(graph):
            way = " → ".join(cycle)
            notes.append(f"Schema {cycle[0]} contains itself ({way}): cut where it comes again, free JSON below.")
        return notes[:MAX_NOTES]

    def _refuse_pure_cycles(self) -> None:
        for name in self._raw:
            trail = [name]
            target = self._raw[name].get("$ref")
            while isinstance(target, str) and target not in trail and len(trail) < MAX_CHAIN:
                trail.append(target)
                target = self._raw.get(target, {}).get("$ref")
            if isinstance(target, str):
                what = "only a reference to itself" if target in trail else f"a chain of over {MAX_CHAIN} references"
                raise ToolSourceError(
                    f"Schema {name!r} is {what}: {' → '.join([*trail, target][:6])}",
                    where=f"{self._label}, schemas",
                    remedy="Give one of these schemas a type; nothing was imported.",
                )


def typed(values: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Bounds and defaults in the schema's own type: Discovery writes all of them as text ("250", "true").

    What can't be read as that type is left out.
    """
    result = dict(values)
    for key in ("minimum", "maximum", "default"):
        if isinstance(values.get(key), str) and kind in PARSERS:
            parsed = PARSERS[kind](values[key])
            result.pop(key)
            result |= {} if parsed is None else {key: parsed}
    return result


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


PARSERS: Mapping[str, Callable[[str], Any]] = {
    "integer": lambda text: int(text) if text.lstrip("-").isdigit() else None,
    "number": _number,
    "boolean": {"true": True, "false": False}.get,
}


def _references(node: Any) -> Iterator[str]:
    """Names of all "$ref"s in a schema."""
    if isinstance(node, Mapping):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for key, value in node.items():
            if key != "description":
                yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _cycles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Ways from a schema back to itself, one for each knot, at most MAX_NOTES; the least name first."""
    left = {name: set(targets) for name, targets in graph.items()}
    for _ in range(MAX_NOTES):
        try:
            TopologicalSorter(left).prepare()
            return
        except CycleError as error:
            way = list(reversed(error.args[1]))[:-1]
            start = way.index(min(way))
            way = [*way[start:], *way[:start]]
            left[way[-1]].discard(way[0])
            yield [*way, way[0]]
