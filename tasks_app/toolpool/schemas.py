"""Expanding "$ref": from the schemas of a document to one self-contained JSON Schema.

Two kinds of cycle: a schema that is nothing but a reference to itself has no meaning, and is refused; a schema that
contains itself (a tree) is cut at the second visit and accepted as free JSON there, and the cut is reported. A
reference to a name that isn't there is reported likewise and accepted as free JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tasks_app.tools import ToolSourceError

MAX_DEPTH = 12
KEPT = ("description", "format", "enum", "default", "minimum", "maximum", "readOnly", "pattern")


class Schemas:
    """The named schemas of one document."""

    def __init__(self, raw: Mapping[str, Mapping[str, Any]], label: str) -> None:
        self._raw = raw
        self._label = label
        self.notes: list[str] = []
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
        return {str(k): v for k, v in properties.items() if isinstance(v, Mapping)} if isinstance(properties, Mapping) else {}

    def expanded(self, schema: Mapping[str, Any], trail: tuple[str, ...] = ()) -> dict[str, Any]:
        """A self-contained JSON Schema: references resolved, Discovery's own keys left out."""
        name = str(schema.get("$ref", ""))
        if name:
            if name in trail or len(trail) >= MAX_DEPTH:
                self._note(f"Schema {name} contains itself ({' → '.join((*trail, name))}): cut there, taken as free JSON below.")
                return {"type": "object", "description": f"{name}, as above"}
            if name not in self._raw:
                self._note(f"Schema {name} is referred to but not in the document: taken as free JSON.")
                return {"type": "object"}
            trail = (*trail, name)
        source = self.follow(schema)
        result: dict[str, Any] = {} if source.get("type") == "any" else {"type": source.get("type", "object")}
        result |= {key: source[key] for key in KEPT if key in source}
        if "properties" in source:
            result["properties"] = {k: self.expanded(v, trail) for k, v in self.properties(source).items()}
        if isinstance(source.get("items"), Mapping):
            result["items"] = self.expanded(source["items"], trail)
        if isinstance(source.get("additionalProperties"), Mapping):
            result["additionalProperties"] = self.expanded(source["additionalProperties"], trail)
        return result

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    def _refuse_pure_cycles(self) -> None:
        for name in self._raw:
            trail = [name]
            for target in self._bare_references(name):
                trail.append(target)
                if trail.count(target) > 1:
                    raise ToolSourceError(
                        f"Schema {name!r} is only a reference to itself: {' → '.join(trail)}", where=f"{self._label}, schemas",
                        remedy="Give one of these schemas a type; nothing was imported.",
                    )

    def _bare_references(self, name: str) -> Iterator[str]:
        for _ in range(len(self._raw) + 1):
            target = self._raw.get(name, {}).get("$ref")
            if not isinstance(target, str):
                return
            yield target
            name = target
