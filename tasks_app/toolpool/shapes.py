"""The shape of a schema node, checked once when a document is read, so that nothing behind it need ask again.

Names become columns, arguments and files of generated code: only letters, digits and a few marks are let in.
Raises ToolSourceError with the path to the place; nothing is mended.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tasks_app.tools import ToolSourceError

NAME = re.compile(r"[A-Za-z_$@][\w.$@:*/ -]{0,199}")
MAX_NESTING = 60
TEXTS = ("type", "$ref", "description", "format", "pattern", "id")
NESTED = ("items", "additionalProperties")


def check_name(name: Any, where: str) -> str:
    """The name itself, if it may be the name of a method, parameter, schema or property."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise _wrong(f"{str(name)[:40]!a} is no name", where)
    return name


def check_schema(node: Any, where: str, depth: int = 0) -> None:
    """That a node is a schema, at every depth."""
    if depth > MAX_NESTING:
        raise _wrong(f"A schema is nested more than {MAX_NESTING} levels deep", where[:120])
    if not isinstance(node, Mapping):
        raise _wrong(f"A schema is a {type(node).__name__}, not an object", where)
    for key in TEXTS:
        if key in node and not isinstance(node[key], str):
            raise _wrong(f"{key!r} of a schema is no text", where)
    _check_values(node, where)
    properties = node.get("properties", {})
    if not isinstance(properties, Mapping):
        raise _wrong("The properties of a schema are no object", where)
    for name, child in properties.items():
        check_schema(child, f"{where}.{check_name(name, where)}", depth + 1)
    for key in NESTED:
        if key in node and not isinstance(node[key], bool):
            check_schema(node[key], f"{where}.{key}", depth + 1)


def _check_values(node: Mapping[str, Any], where: str) -> None:
    values = node.get("enum", [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise _wrong("The enum of a schema is no list of texts", where)
    annotations = node.get("annotations", {})
    if not isinstance(annotations, Mapping) or not isinstance(annotations.get("required", []), list):
        raise _wrong("The annotations of a schema hold no list of methods", where)


def _wrong(what: str, where: str) -> ToolSourceError:
    return ToolSourceError(what, where=where, remedy="Fetch the document as published; nothing was imported.")
