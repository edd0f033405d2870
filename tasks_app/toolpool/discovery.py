"""Reader of Google Discovery documents (https://developers.google.com/discovery/v1/reference/apis).

Keeps what is published word for word; deprecated global parameters (alt, fields, key …) belong to the document and
not to its methods, and are left out. Limits: discoveryVersion v1; `$ref`s name schemas of the same document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tasks_app.toolpool.schemas import Schemas, typed
from tasks_app.toolpool.shapes import check_name, check_schema
from tasks_app.toolpool.sources import Source
from tasks_app.tools import Parameter, Tool, ToolDocument, ToolSourceError

MAX_NESTING = 40
MAX_METHODS = 5_000


class DiscoveryReader:
    """Document → ToolDocument."""

    format = "Google Discovery"

    def sniffs(self, document: Any) -> bool:
        return isinstance(document, dict) and (
            str(document.get("kind", "")).startswith("discovery#restDescription")
            or ("discoveryVersion" in document and "rootUrl" in document)
            or ("resources" in document and "schemas" in document and "servicePath" in document)
        )

    def read(self, document: Any, source: Source) -> ToolDocument:
        schemas = self._schemas(document, source)
        tools = tuple(_methods(document, (), source.label))
        if len(tools) > MAX_METHODS:
            raise ToolSourceError(
                f"The document describes {len(tools)} methods, more than the {MAX_METHODS} that are read",
                where=f"{source.label}, resources",
                remedy="Split it by resource; nothing was imported.",
            )
        if not tools:
            raise ToolSourceError(
                "The document describes no method",
                where=f"{source.label}, resources",
                remedy="Give a document with resources and methods; nothing was imported.",
            )
        twice = [method for method, count in Counter(tool.method for tool in tools).items() if count > 1]
        if twice:
            raise ToolSourceError(
                f"Method {twice[0]} is described more than once",
                where=f"{source.label}, resources",
                remedy="Fetch the document anew; nothing was imported.",
            )
        notes = (*_dangling(tools, schemas), *Schemas(schemas, source.label).survey())
        return ToolDocument(
            name=_text(document, "name", source),
            version=_text(document, "version", source),
            title=str(document.get("title", document["name"])),
            description=str(document.get("description", "")),
            format=self.format,
            source=source.label,
            sha256=source.sha256,
            licence=source.licence,
            tools=tools,
            schemas=schemas,
            notes=notes,
        )

    def _schemas(self, document: Mapping[str, Any], source: Source) -> Mapping[str, Mapping[str, Any]]:
        named = dict(_objects(document, "schemas", (), source.label))
        for name, schema in named.items():
            check_schema(schema, f"{source.label}, schemas.{check_name(name, source.label)}")
        Schemas(named, source.label)
        return named


def _text(document: Mapping[str, Any], key: str, source: Source) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise ToolSourceError(
            f"The document has no {key}",
            where=f"{source.label}, {key}",
            remedy="Give a whole Discovery document; nothing was imported.",
        )
    return value


def _methods(node: Mapping[str, Any], resource: tuple[str, ...], label: str) -> Iterator[Tool]:
    if len(resource) > MAX_NESTING:
        raise ToolSourceError(
            f"Resources are nested more than {MAX_NESTING} deep",
            where=f"{label}, {'.'.join(resource[:4])}…",
            remedy="Give a document as published; nothing was imported.",
        )
    for verb, method in _objects(node, "methods", resource, label):
        yield _tool(verb, method, resource, label)
    for name, child in _objects(node, "resources", resource, label):
        yield from _methods(child, (*resource, check_name(name, label)), label)


def _objects(
    node: Mapping[str, Any], key: str, resource: tuple[str, ...], label: str
) -> list[tuple[str, dict[str, Any]]]:
    members = node.get(key) or {}
    if not isinstance(members, dict) or not all(isinstance(member, dict) for member in members.values()):
        raise ToolSourceError(
            f"{key!r} does not hold objects",
            where=f"{label}, {'.'.join(resource) or 'top level'}",
            remedy="Fetch the document anew; nothing was imported.",
        )
    return list(members.items())


def _tool(verb: str, method: Mapping[str, Any], resource: tuple[str, ...], label: str) -> Tool:
    missing = [key for key in ("id", "httpMethod", "path") if not isinstance(method.get(key), str)]
    if missing:
        raise ToolSourceError(
            f"Method {verb!r} has no {', '.join(missing)}",
            where=f"{label}, {'.'.join(resource)}",
            remedy="Fetch the document anew; nothing was imported.",
        )
    where = f"{label}, {check_name(method['id'], label)}"
    parameters = [
        _parameter(check_name(name, where), schema, where)
        for name, schema in _objects(method, "parameters", (*resource, verb), label)
    ]
    bodies = {key: method[key] for key in ("request", "response") if method.get(key)}
    named = dict(_objects({"bodies": bodies}, "bodies", (*resource, verb), label))
    return Tool(
        method=method["id"],
        resource=resource,
        verb=check_name(verb, where),
        http=method["httpMethod"],
        path=_path(method),
        parameters=tuple(parameters),
        request=str(named.get("request", {}).get("$ref", "")),
        response=str(named.get("response", {}).get("$ref", "")),
        description=str(method.get("description", "")),
        media=bool(method.get("supportsMediaUpload") or method.get("supportsMediaDownload")),
    )


def _path(method: Mapping[str, Any]) -> str:
    """The path whose parameters the method has: `flatPath` spells resource names out, and serves without."""
    return method["path"] if "{+" in method["path"] else str(method.get("flatPath") or method["path"])


def _parameter(name: str, raw: Mapping[str, Any], where: str) -> Parameter:
    kept = ("type", "format", "enum", "enumDescriptions", "default", "minimum", "maximum", "pattern", "deprecated")
    schema: dict[str, Any] = {key: raw[key] for key in kept if key in raw}
    check_schema(schema, f"{where}, {name}")
    schema = typed(schema, str(schema.get("type", "")))
    if raw.get("repeated"):
        schema = {"type": "array", "items": schema}
    return Parameter(
        name=name,
        schema=schema,
        where="path" if raw.get("location") == "path" else "query",
        required=bool(raw.get("required")),
        description=str(raw.get("description", "")),
    )


def _dangling(tools: tuple[Tool, ...], schemas: Mapping[str, Any]) -> Iterator[str]:
    for tool in tools:
        for name in (tool.request, tool.response):
            if name and name not in schemas:
                yield f"{tool.method} refers to schema {name}, which is not in the document."
