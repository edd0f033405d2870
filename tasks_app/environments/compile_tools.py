"""DomainModel → tools.py: one plain function a tool, and the schemas its arguments are checked against.

The text is: helpers (copied from `runtime`), tables and documents, then a function for each Op. An effect without a
compiler is an error here, never a tool that does nothing.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from tasks_app.domains.model import DomainModel, Entity, Op, to_json
from tasks_app.environments import compile_calendar, compile_reads, compile_verbs, compile_writes
from tasks_app.environments.compile_documents import compile_documents, compile_parts, parts_of
from tasks_app.environments.compile_schema import tables
from tasks_app.environments.runtime import checking, documents, recurrence, rows

_COMPILERS: dict[str, Callable[[Op, DomainModel], Iterator[str]]] = {
    "read_one": compile_reads.read_one,
    "insert": compile_writes.insert,
    "update": compile_writes.update,
    "upsert": compile_writes.upsert,
    "delete": compile_writes.delete,
    "transition": compile_verbs.transition,
    "link": compile_verbs.link,
    "unlink": compile_verbs.link,
    "append": compile_verbs.append,
    "move": compile_verbs.move,
    "quick_add": compile_verbs.quick_add,
    "import": compile_verbs.import_row,
    "copy": compile_verbs.import_row,
    "expand": compile_calendar.expand,
    "free_busy": compile_calendar.free_busy,
}


class CannotCompile(Exception):
    """The model asks for something that the compiler has no code for; says which tool and what."""


def source_of(*modules: ModuleType) -> str:
    """The text of runtime modules as the head of a generated file: one set of imports, none of them ours."""
    imports: set[str] = set()
    bodies: list[str] = []
    for module in modules:
        text = inspect.getsource(module)
        tree = ast.parse(text)
        cut: set[int] = set()
        for node in tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                cut.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
                if not (isinstance(node, ast.ImportFrom) and str(node.module).startswith(("tasks_app", "__future__"))):
                    imports.update(_plain(node))
        if ast.get_docstring(tree) is not None:
            first = tree.body[0]
            cut.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
        lines = [line for number, line in enumerate(text.splitlines(), 1) if number not in cut]
        bodies.append("\n".join(lines).strip("\n"))
    return "\n".join(sorted(imports)) + "\n\n" + "\n\n\n".join(bodies)


def _plain(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (f"import {a.name}" + (f" as {a.asname}" if a.asname else "") for a in node.names)
    else:
        yield from (f"from {node.module} import {a.name}" for a in node.names)


def parameters_of(op: Op, model: DomainModel) -> dict[str, Any]:
    """JSON Schema of a tool's arguments.

    A page token may also be null, so that a first page needs no special case. Values that only the prose names
    ("confirmed", "tentative") and that the column is checked for stand in the schema too.
    """
    properties: dict[str, Any] = {}
    for param in op.params:
        schema = json.loads(json.dumps(to_json(param.schema)))
        if param.description and "description" not in schema:
            schema["description"] = param.description
        if op.paging and param.name == op.paging.token_param:
            schema["type"] = ["string", "null"]
        properties[param.name] = schema
    body = {p.name: properties[p.name] for p in op.params if p.where == "body"}
    if op.writes and body and op.effect.kind != "free_busy":
        _say_values(model.entity(op.entity), model, {"properties": body})
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "required": [p.name for p in op.params if p.required],
    }


def _say_values(entity: Entity, model: DomainModel, schema: dict[str, Any]) -> None:
    """Put the values of the columns' CHECKs where the schema describes them, parts included."""
    for attr in entity.attrs:
        place = _place_of(schema, attr.path) if attr.enum and not set(attr.path) & set("+|") else None
        if place is not None and place.get("type") == "string":
            place["enum"] = list(attr.enum)
    for part in parts_of(entity, model):
        place = _place_of(schema, part.part_path)
        if place is not None and isinstance(place.get("items"), dict):
            _say_values(part, model, place["items"])


def _place_of(schema: dict[str, Any], path: str) -> dict[str, Any] | None:
    for part in path.split("."):
        inner = schema.get("properties", {}).get(part)
        if not isinstance(inner, dict):
            return None
        schema = inner
    return schema


def without_prose(schema: Any) -> Any:
    """A schema as the check needs it: descriptions left out."""
    if isinstance(schema, Mapping):
        kept = {k: v for k, v in schema.items() if not (k == "description" and isinstance(v, str))}
        return {k: without_prose(v) for k, v in kept.items()}
    return [without_prose(item) for item in schema] if isinstance(schema, list) else schema


def body_of(op: Op, model: DomainModel) -> Iterator[str]:
    if op.effect.kind == "list":
        recurs = op.entity and compile_calendar.recurring_names(model.entity(op.entity))
        yield from (compile_calendar.list_recurring if recurs else compile_reads.read_list)(op, model)
        return
    compiler = _COMPILERS.get(op.effect.kind)
    if compiler is None:
        raise CannotCompile(f"{op.tool} ({op.method}): no compiler for the effect {op.effect.kind!r}")
    try:
        yield from compiler(op, model)
    except (KeyError, StopIteration, IndexError, ValueError) as error:
        raise CannotCompile(f"{op.tool} ({op.method}), effect {op.effect.kind!r}: {error!r}") from error


def compile_tool(op: Op, model: DomainModel) -> str:
    summary = re.sub(r"\s+", " ", op.description).replace("\\", "\\\\").replace('"""', "'''").strip() or op.method
    doc = textwrap.fill(summary, 110, subsequent_indent="    ")
    lines = [
        f"@tool({json.dumps(op.tool)}, SCHEMAS[{json.dumps(op.tool)}]{', writes=True' if op.writes else ''})",
        f"def {op.tool}(db, args):",
        f'    """{doc}',
        f"    ({op.method})",
        '    """',
    ]
    lines.extend(f"    {line}" for line in body_of(op, model))
    return "\n".join(lines)


def compile_tools(model: DomainModel) -> str:
    """The text of tools.py. Raises CannotCompile."""
    recurring = any(compile_calendar.recurring_names(e) for e in tables(model))
    head = source_of(checking, documents, rows, *([recurrence] if recurring else []))
    schemas = ",\n".join(
        f"    {json.dumps(op.tool)}: {_python(without_prose(parameters_of(op, model)))}" for op in model.ops
    )
    names = "\n".join(filter(None, (compile_calendar.names_constant(e) for e in tables(model))))
    intro = (
        f'"""Tools of {model.title or model.name}, generated from {model.source}. Standard library only.\n\n'
        "Every tool is called as TOOLS[name](db, **arguments) and raises ToolError for what a caller can mend.\n"
        "The acting user (_session) administers the domain: who may do what is not checked, only what is possible.\n"
        "Documents leave out nulls and flags that have their published default; a list always has its items.\n"
        '"""\n'
    )
    functions = "\n\n\n".join(compile_tool(op, model) for op in model.ops)
    parts = [
        intro + "from __future__ import annotations\n\n" + head,
        f"# Arguments of each tool as JSON Schema\n\nSCHEMAS = {{\n{schemas},\n}}",
        "# Tables and documents\n\n" + compile_documents(model),
        names,
        compile_parts(model),
        "# Tools\n\n" + functions,
    ]
    return "\n\n\n".join(part for part in parts if part) + "\n"


def _python(value: Any) -> str:
    return repr(value)
