"""What a reading found and what it left out, as plain data for people, commands and the studio.

Methods beyond create, read, update and delete are counted apart: that is where a reading shows what it understands.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import DomainModel, Entity, Op
from tasks_app.domains.reading_arguments import is_wire
from tasks_app.domains.reading_resources import STANDARD
from tasks_app.tools import ToolDocument


def report(document: ToolDocument, model: DomainModel) -> dict[str, Any]:
    """JSON-able report of one document. Shares are of its methods, 0 … 1."""
    beyond = [tool.method for tool in document.tools if tool.verb not in STANDARD]
    running = {op.method for op in model.ops}
    return {
        "source": document.source,
        "sha256": document.sha256,
        "format": document.format,
        "licence": document.licence or "unknown",
        "domain": document.name,
        "version": document.version,
        "title": document.title,
        "methods": len(document.tools),
        "ops": len(model.ops),
        "share": _share(len(model.ops), len(document.tools)),
        "beyond_crud": {
            "methods": len(beyond),
            "ops": len([m for m in beyond if m in running]),
            "share": _share(len([m for m in beyond if m in running]), len(beyond)),
        },
        "left_out": [{"method": left.method, "reason": left.reason} for left in model.left_out],
        "entities": [_entity(entity) for entity in model.entities],
        "foreign_keys": sum(1 for entity in model.entities for attr in entity.attrs if attr.references),
        "effects": _counted(op.effect.kind for op in model.ops),
        "unread_parameters": unread(document, model),
        "notes": list(document.notes),
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "name": entity.name,
        "noun": entity.noun,
        "kind": entity.kind,
        "key": list(entity.key),
        "columns": len(entity.attrs),
        "references": {a.column: f"{a.references.entity}.{a.references.column}" for a in entity.attrs if a.references},
    }


def _counted(kinds: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items()))


def unread(document: ToolDocument, model: DomainModel) -> list[str]:
    """Query parameters that a reading tool leaves out, because no reading of them is known."""
    published = {tool.method: tool.parameters for tool in document.tools}
    return [
        f"{op.tool}.{parameter.name}"
        for op in model.ops
        if not op.writes
        for parameter in published[op.method]
        if parameter.where == "query" and parameter.name not in {p.name for p in op.params} and not is_wire(parameter)
    ]


def tool_spec(op: Op) -> dict[str, Any]:
    """The tool as models see it: name, description, JSON Schema of arguments and of the answer."""
    properties = {p.name: {**p.schema, **({"description": p.description} if p.description else {})} for p in op.params}
    return {
        "name": op.tool,
        "description": op.description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": [p.name for p in op.params if p.required],
            "additionalProperties": False,
        },
        "returns": dict(op.returns),
    }


def left_out_name(method: str) -> str:
    """A name for a method that has no tool: its last two words in snake case."""
    return "_".join(lexicon.snake(part) for part in method.split(".")[-2:])
