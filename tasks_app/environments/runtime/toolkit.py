"""Helpers that every generated tools.py begins with: checking of arguments, published documents ↔ rows, pages, ids.

A tool is `fn(db, **arguments)`. `db` has two methods, `execute(sql, parameters)` and `executemany`, as sqlite3's
connection has; rows are tuples. A tool that writes runs inside a savepoint, so a refused call changes nothing.
Time is the environment's own (`_session.now`); new ids come from `_sequence`; the real clock and chance are never read.
Limits: the JSON Schema subset is type, enum, properties, required, items, minimum and maximum.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

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
    except BaseException:
        db.execute("ROLLBACK TO tool")
        db.execute("RELEASE tool")
        raise
    db.execute("RELEASE tool")
    return value


# Arguments ------------------------------------------------------------------------------------------------------

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
    "array": (list, tuple), "object": (dict,), "null": (type(None),),
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
        _check_value(known[key], value, key)


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


# Published documents and rows -----------------------------------------------------------------------------------


def _published(value: Any) -> Any:
    """A document as the service sends it: what is null, and objects left empty by that, are not there."""
    if isinstance(value, dict):
        kept = {key: _published(item) for key, item in value.items() if item is not None}
        return {key: item for key, item in kept.items() if item != {}}
    if isinstance(value, list):
        return [_published(item) for item in value]
    return value


def _flag(value: int | None, default: bool = False) -> bool | None:
    """A flag is said only where it differs from its published default."""
    return None if value is None or bool(value) is default else bool(value)


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _date_of(moment: str | None) -> dict[str, int] | None:
    if moment is None:
        return None
    return {"year": int(moment[0:4]), "month": int(moment[5:7]), "day": int(moment[8:10])}


def _time_of(moment: str | None) -> dict[str, int] | None:
    """The time of day; None where only a date is set."""
    if moment is None or len(moment) == 10:
        return None
    return {"hours": int(moment[11:13]), "minutes": int(moment[14:16])}


def _day_or_moment(text: str | None, day: str, moment: str) -> dict[str, str] | None:
    """A stored time under the name that fits it: 10 characters are a whole day."""
    return None if text is None else {day if len(text) == 10 else moment: text}


def _at(document: Any, path: str) -> Any:
    for part in path.split("."):
        if not isinstance(document, Mapping) or part not in document:
            return MISSING
        document = document[part]
    return document


def _columns(fields: Mapping[str, tuple[str, str]], document: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a published document gives; `fields` maps a JSON path to (column, kind)."""
    values: dict[str, Any] = {}
    for path, (column, kind) in fields.items():
        value = _given(path, document)
        if value is not MISSING:
            values[column] = None if value is None else _to_column(kind, value, path, document)
    return values


def _given(path: str, document: Any) -> Any:
    if path == ".":
        return document
    if "+" in path:
        return _moment_of_parts(path, document)
    if "|" not in path:
        return _at(document, path)
    found = [value for value in (_at(document, name) for name in path.split("|")) if value is not MISSING]
    said = [value for value in found if value is not None]
    if len(said) > 1:
        raise _invalid(f"give one of {path.replace('|', ', ')}, not both")
    return said[0] if said else (None if found else MISSING)


def _to_column(kind: str, value: Any, path: str, document: Mapping[str, Any]) -> Any:
    if kind == "boolean":
        return int(value)
    if kind == "json":
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if kind == "timestamp" and len(str(value)) > 10:
        zone = _at(document, path.partition("|")[0].rpartition(".")[0] + ".timeZone") if "." in path else MISSING
        return _utc(value, path, None if zone is MISSING else zone)
    if kind == "date" or ("|" in path or "+" in path):
        return _day(value, path)
    return _utc(value, path) if kind == "timestamp" else value


def _day(value: Any, path: str) -> str:
    try:
        if isinstance(value, Mapping):
            return datetime(value["year"], value["month"], value["day"]).strftime("%Y-%m-%d")
        return datetime.strptime(value, "%Y-%m-%d").strftime("%Y-%m-%d")
    except (KeyError, TypeError, ValueError):
        raise _invalid(f"{path} is {value!r}; a date such as 2026-11-02 is needed") from None


def _moment_of_parts(path: str, document: Mapping[str, Any]) -> Any:
    """"dueDate+dueTime": one moment in UTC from a Date and a TimeOfDay, or the day where there is no time."""
    date_path, time_path = path.split("+")
    date, time = _at(document, date_path), _at(document, time_path)
    if date is MISSING and time is MISSING:
        return MISSING
    if date is None or date is MISSING:
        if time is None or time is MISSING:
            return None
        raise _invalid(f"{time_path} needs {date_path} beside it")
    try:
        if time is None or time is MISSING:
            return datetime(date["year"], date["month"], date["day"]).strftime("%Y-%m-%d")
        moment = datetime(date["year"], date["month"], date["day"], time.get("hours", 0), time.get("minutes", 0))
    except (KeyError, TypeError, ValueError):
        raise _invalid(f"{date_path} {date!r} with {time_path} {time!r} is no moment") from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _utc(value: Any, path: str, zone: str | None = None) -> str:
    """RFC 3339 text as UTC to the second. A time without an offset is read in `zone`, and refused without one."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _invalid(f"{path} is {value!r}; a time such as 2026-11-02T08:30:00Z is needed") from None
    if moment.tzinfo is None:
        if zone is None:
            raise _invalid(f"{path} is {value!r}; it needs an offset (or Z), or a time zone beside it")
        try:
            moment = moment.replace(tzinfo=ZoneInfo(zone))
        except (ZoneInfoNotFoundError, ValueError):
            raise _invalid(f"{zone!r} is no IANA time zone") from None
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _mask(args: Mapping[str, Any], mask_param: str, allowed: Iterable[str]) -> list[str]:
    """The JSON paths an update mask names; each must be one that the tool may write."""
    allowed = list(allowed)
    paths = [path.strip() for path in args.get(mask_param, "").split(",") if path.strip()]
    if not paths:
        raise _invalid(f"{mask_param} must name at least one of {', '.join(allowed)}")
    for path in paths:
        if not any(path == field or path.startswith(field + ".") for field in allowed):
            raise _invalid(f"{mask_param} names {path!r}; allowed are {', '.join(allowed)}")
    return paths


def _replaced(document: Mapping[str, Any], given: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """`document` with the value at each path taken from `given`; a path that is not given there is cleared."""
    result: dict[str, Any] = json.loads(json.dumps(document))
    for path in paths:
        *parents, last = path.split(".")
        target = result
        for part in parents:
            target = target.setdefault(part, {})
        value = _at(given, path)
        target[last] = None if value is MISSING else value
    return result


def _merged(document: Mapping[str, Any], given: Mapping[str, Any], either: Sequence[str] = ()) -> dict[str, Any]:
    """JSON merge: objects are merged, anything else (arrays too) is replaced whole, null clears.

    `either` names paths of which a document holds one ("start.dateTime|start.date"): giving one drops the other.
    """
    result = dict(document)
    for key, value in given.items():
        old = result.get(key)
        result[key] = _merged(old, value) if isinstance(value, Mapping) and isinstance(old, Mapping) else value
    for names in either:
        paths = names.split("|")
        if any(_at(given, path) not in (MISSING, None) for path in paths):
            for path in paths:
                parent, _, last = path.rpartition(".")
                if _at(given, path) is MISSING and isinstance(result.get(parent), dict):
                    result[parent].pop(last, None)
    return result


def _only(args: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: args[name] for name in names if name in args}


# Rows -----------------------------------------------------------------------------------------------------------


def _session(db: Any) -> dict[str, str]:
    row = db.execute("SELECT user_id, email, name, time_zone, now FROM _session").fetchone()
    return dict(zip(("user_id", "email", "name", "time_zone", "now"), row, strict=True))


def _select(db: Any, table: str, columns: Sequence[str], where: Mapping[str, Any]) -> dict[str, Any] | None:
    condition = " AND ".join(f'"{column}" = ?' for column in where) or "1"
    names = ", ".join(f'"{column}"' for column in columns)
    row = db.execute(f'SELECT {names} FROM "{table}" WHERE {condition}', tuple(where.values())).fetchone()
    return None if row is None else dict(zip(columns, row, strict=True))


def _find(db: Any, table: str, columns: Sequence[str], where: Mapping[str, Any], noun: str) -> dict[str, Any]:
    row = _select(db, table, columns, where)
    if row is None:
        told = ", ".join(f"{column} {value!r}" for column, value in where.items())
        raise ToolError("NOT_FOUND", f"there is no {noun} with {told or 'these arguments'}")
    return row


def _require(db: Any, table: str, where: Mapping[str, Any], noun: str) -> None:
    """The row that a reference points at must exist (a reference left null asks nothing)."""
    if all(value is not None for value in where.values()):
        _find(db, table, tuple(where), where, noun)


def _require_any(db: Any, places: Sequence[tuple[str, Mapping[str, Any]]], noun: str) -> None:
    if all(_select(db, table, tuple(where), where) is None for table, where in places):
        raise ToolError("NOT_FOUND", f"there is no {noun} with {dict(places[0][1])}")


def _insert(db: Any, table: str, values: Mapping[str, Any]) -> None:
    names = ", ".join(f'"{column}"' for column in values)
    marks = ", ".join("?" for _ in values)
    db.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(values.values()))


def _update(db: Any, table: str, where: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    if values:
        changes = ", ".join(f'"{column}" = ?' for column in values)
        condition = " AND ".join(f'"{column}" = ?' for column in where)
        db.execute(f'UPDATE "{table}" SET {changes} WHERE {condition}', (*values.values(), *where.values()))


def _delete(db: Any, table: str, where: Mapping[str, Any]) -> None:
    condition = " AND ".join(f'"{column}" = ?' for column in where)
    db.execute(f'DELETE FROM "{table}" WHERE {condition}', tuple(where.values()))


def _new_id(db: Any, name: str, style: str) -> str:
    """The next id of a table: from its sequence, in the service's own form, without an order one could rely on."""
    db.execute("INSERT INTO _sequence(name, value) VALUES (?, 0) ON CONFLICT(name) DO NOTHING", (name,))
    db.execute("UPDATE _sequence SET value = value + 1 WHERE name = ?", (name,))
    value = db.execute("SELECT value FROM _sequence WHERE name = ?", (name,)).fetchone()[0]
    number = int.from_bytes(hashlib.sha256(f"{name}:{value}".encode()).digest()[:16], "big")
    if style == "numeric":
        return str(10**11 + number % (9 * 10**11))
    letters = "0123456789abcdefghijklmnopqrstuv"
    text = "".join(letters[number >> shift & 31] for shift in range(0, 130, 5))
    return f"c_{text}@group.calendar.google.com" if style == "calendar" else text


# Lists ----------------------------------------------------------------------------------------------------------


def _one_of(column: str, values: Sequence[Any], where: list[str], parameters: list[Any]) -> None:
    where.append(f'"{column}" IN ({", ".join("?" for _ in values)})')
    parameters.extend(values)


def _search(conditions: Sequence[str], text: str, where: list[str], parameters: list[Any]) -> None:
    """Every word of `text` must meet one of the conditions; case does not matter for Latin letters."""
    for word in text.lower().split():
        where.append("(" + " OR ".join(conditions) + ")")
        parameters.extend(word for _ in conditions)


def _property(column: str, asked: Sequence[str], param: str, where: list[str], parameters: list[Any]) -> None:
    """Each "name=value" must hold in the JSON object of `column`."""
    for pair in asked:
        name, equals, value = pair.partition("=")
        if not equals:
            raise _invalid(f"{param} is {pair!r}; name=value is needed")
        where.append(f'json_extract("{column}", ?) = ?')
        parameters.extend((f'$."{name}"', value))


def _order(asked: str, allowed: Mapping[str, str], param: str) -> str:
    """"updateTime desc, dueDate" as SQL, by the published names in `allowed`."""
    terms = []
    for term in asked.split(","):
        name, _, direction = term.strip().partition(" ")
        if name not in allowed or direction.strip() not in ("", "asc", "desc"):
            raise _invalid(f"{param} is {asked!r}; allowed are {', '.join(allowed)}, each with asc or desc after it")
        terms.append(f'"{allowed[name]}" {direction.strip() or "asc"}')
    return ", ".join(terms)


def _bounds(args: Mapping[str, Any], size: str, token: str, default: int, most: int) -> tuple[int, int]:
    """Offset and length of the page asked for. A token belongs to the other arguments it was given out with."""
    length = args.get(size, 0)
    if length < 0:
        raise _invalid(f"{size} is {length}; it must not be negative")
    length = min(length or default, most)
    if not args.get(token):
        return 0, length
    try:
        offset, mark = base64.urlsafe_b64decode(args[token].encode()).decode().split(":")
        start = int(offset)
    except (ValueError, UnicodeDecodeError):
        raise _invalid(f"{token} {args[token]!r} is none that a list gave out") from None
    if mark != _mark_of(args, size, token):
        raise _invalid(f"{token} was given out for other arguments; keep them the same from page to page")
    return start, length


def _mark_of(args: Mapping[str, Any], size: str, token: str) -> str:
    rest = {key: value for key, value in args.items() if key not in (size, token)}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:8]


def _token(args: Mapping[str, Any], size: str, token: str, offset: int) -> str:
    return base64.urlsafe_b64encode(f"{offset}:{_mark_of(args, size, token)}".encode()).decode()


def _rows(
    db: Any, table: str, columns: Sequence[str], where: Sequence[str], parameters: Sequence[Any], order: str,
    offset: int = 0, length: int = -1,
) -> list[dict[str, Any]]:
    names = ", ".join(f'"{column}"' for column in columns)
    condition = " AND ".join(where) or "1"
    sql = f'SELECT {names} FROM "{table}" WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?'
    found = db.execute(sql, (*parameters, length, offset)).fetchall()
    return [dict(zip(columns, row, strict=True)) for row in found]


def _page(
    db: Any, table: str, columns: Sequence[str], where: Sequence[str], parameters: Sequence[Any], order: str,
    args: Mapping[str, Any], paging: tuple[str, str, int, int],
) -> tuple[list[dict[str, Any]], str | None]:
    """One page of rows and the token of the next (None on the last). `paging`: size, token, default, most."""
    size, token, default, most = paging
    offset, length = _bounds(args, size, token, default, most)
    rows = _rows(db, table, columns, where, parameters, order, offset, length + 1)
    following = _token(args, size, token, offset + length) if len(rows) > length else None
    return rows[:length], following


def _later(moment: str, seconds: int) -> str:
    return (datetime.fromisoformat(moment) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _need(what: str, required: Sequence[str], row: Mapping[str, Any]) -> None:
    """Columns that must have a value; the message names the first that has none."""
    for column in required:
        if row.get(column) is None:
            raise _invalid(f"{what} needs a value for {column}")


def _mine(db: Any, value: str) -> str:
    """"me" is the acting user's id, "primary" the acting user's own calendar, whose id is their e-mail."""
    session = _session(db)
    return {"me": session["user_id"], "primary": session["email"]}.get(value, value)


def _user(db: Any, value: str, table: str, key: str, email: str) -> str:
    """A user by id, by e-mail address, or as "me"."""
    if "@" in value and email:
        row = _select(db, table, (key,), {email: value})
        return value if row is None else str(row[key])
    return _mine(db, value)


def _touched(fields: Mapping[str, tuple[str, str]], paths: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The fields that lie at, below or above one of the JSON paths."""

    def meets(field: str, path: str) -> bool:
        return field == path or field.startswith(path + ".") or path.startswith(field + ".")

    paths = list(paths)
    return {f: spec for f, spec in fields.items() if any(meets(piece, p) for piece in f.replace("|", "+").split("+") for p in paths)}


def _changes(
    fields: Mapping[str, tuple[str, str]], defaults: Mapping[str, Any], document: Mapping[str, Any],
    paths: Iterable[str],
) -> dict[str, Any]:
    """New values of the columns that `paths` touch; what `document` leaves out or nulls goes back to its default."""
    touched = _touched(fields, paths)
    given = _columns(touched, document)
    values = {column: given.get(column) for column, _ in touched.values()}
    return {column: defaults[column] if value is None else value for column, value in values.items()}


def _with_defaults(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    return {**defaults, **{column: value for column, value in given.items() if value is not None}}
