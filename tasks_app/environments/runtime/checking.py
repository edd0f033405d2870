"""Helpers that every generated tools.py begins with, first part: errors, registration, checking of arguments.

A tool is `fn(db, **arguments)`. `db` has two methods, `execute(sql, parameters)` and `executemany`, as sqlite3's
connection has; rows are tuples. A tool that writes runs inside a savepoint, so a refused call changes nothing.
Time is the environment's own (`_session.now`); new ids come from `_sequence`; the real clock and chance are never read.
Limits: the JSON Schema subset is type, enum, properties, required, items, minimum and maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

MISSING: Any = object()


class ToolError(Exception):
    """A failure that the caller caused and can act on; anything else that is raised is a fault of the environment."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.retryable = retryable


TOOLS: dict[str, Callable[..., Any]] = {}


def tool(name: str, parameters: Mapping[str, Any], *, writes: bool = False) -> Callable[..., Any]:
    """Register a body `fn(db, args)` under `name`: arguments are checked first, and writes are all or nothing."""

    def register(body: Callable[[Any, dict[str, Any]], Any]) -> Callable[..., Any]:
        def call(db: Any, **arguments: Any) -> Any:
            given = {key: value for key, value in arguments.items() if not _means_absent(parameters, key, value)}
            _check_arguments(name, parameters, given)
            return _all_or_nothing(db, body, given) if writes else body(db, given)

        call.__name__ = name
        call.__doc__ = body.__doc__
        TOOLS[name] = call
        return call

    return register


def _all_or_nothing(db: Any, body: Callable[[Any, dict[str, Any]], Any], arguments: dict[str, Any]) -> Any:
    db.execute("SAVEPOINT tool")
    try:
        value = body(db, arguments)
        db.execute("RELEASE tool")  # where this is the outermost savepoint, references are checked here
    except BaseException:
        db.execute("ROLLBACK TO tool")
        db.execute("RELEASE tool")
        raise
    return value


_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}


def _invalid(message: str) -> ToolError:
    return ToolError("INVALID_ARGUMENT", message)


def _means_absent(parameters: Mapping[str, Any], key: str, value: Any) -> bool:
    """None for a parameter that may be null (a page token, say) is the same as leaving it out."""
    kind = parameters["properties"].get(key, {}).get("type")
    return value is None and isinstance(kind, list) and "null" in kind


def _check_arguments(name: str, parameters: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    known = parameters["properties"]
    for key in arguments:
        if key not in known:
            raise _invalid(f"{name} has no argument {key!r}; it takes {', '.join(known) or 'none'}")
    for key in parameters.get("required", ()):
        if key not in arguments:
            raise _invalid(f"{name} needs the argument {key!r}")
    for key, value in arguments.items():
        _check_plain(value, key)
        _check_value(known[key], value, key)


_DEEPEST = 64


def _check_plain(value: Any, where: str, depth: int = 0) -> None:
    """JSON that a database can hold: text that UTF-8 can write, whole numbers of 64 bits, finite ones, no abyss."""
    if depth > _DEEPEST:
        raise _invalid(f"{where[:80]} is nested more than {_DEEPEST} levels deep")
    if isinstance(value, str):
        _check_text(value, where)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key, where)
            _check_plain(item, f"{where}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check_plain(item, f"{where}[{index}]", depth + 1)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise _invalid(f"{where} is a whole number of more than 64 bits")
    elif isinstance(value, float) and not abs(value) < float("inf"):
        raise _invalid(f"{where} is {value}; a finite number is needed")


def _check_text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise _invalid(f"{where} has the key {value!r}; keys must be strings")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _invalid(f"{where} holds half of a surrogate pair, which is no text") from None
    if "\0" in value:
        raise _invalid(f"{where} holds a NUL character, which is no text")


def _check_value(schema: Mapping[str, Any], value: Any, where: str) -> None:
    kinds = schema.get("type")
    if kinds:
        _check_type([kinds] if isinstance(kinds, str) else kinds, value, where)
    if "enum" in schema and value not in schema["enum"]:
        raise _invalid(f"{where} is {value!r}; allowed are {', '.join(map(str, schema['enum']))}")
    if isinstance(value, dict):
        _check_object(schema, value, where)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check_value(schema.get("items", {}), item, f"{where}[{index}]")
    elif isinstance(value, (int, float)):
        _check_bounds(schema, value, where)


def _check_type(kinds: Sequence[str], value: Any, where: str) -> None:
    allowed = tuple(kind for name in kinds for kind in _PYTHON_TYPES[name])
    flag_as_number = isinstance(value, bool) and "boolean" not in kinds
    if flag_as_number or not isinstance(value, allowed):
        raise _invalid(f"{where} must be {' or '.join(kinds)}, not {type(value).__name__}")


def _check_object(schema: Mapping[str, Any], value: Mapping[str, Any], where: str) -> None:
    known = schema.get("properties")
    for key, item in value.items():
        if known is not None and key in known:
            _check_value(known[key], item, f"{where}.{key}")
        elif known and not schema.get("additionalProperties"):
            raise _invalid(f"{where} has no field {key!r}; it has {', '.join(known)}")
    for key in schema.get("required", ()):
        if key not in value:
            raise _invalid(f"{where} needs the field {key!r}")


def _check_bounds(schema: Mapping[str, Any], value: float, where: str) -> None:
    if "minimum" in schema and value < float(schema["minimum"]):
        raise _invalid(f"{where} is {value}; the least allowed is {schema['minimum']}")
    if "maximum" in schema and value > float(schema["maximum"]):
        raise _invalid(f"{where} is {value}; the most allowed is {schema['maximum']}")


def _need(what: str, required: Sequence[str], row: Mapping[str, Any]) -> None:
    """Columns that must have a value; the message names the first that has none."""
    for column in required:
        if row.get(column) is None:
            raise _invalid(f"{what} needs a value for {column}")
