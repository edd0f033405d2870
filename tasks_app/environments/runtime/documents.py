"""Helpers of generated tools.py, second part: published documents ↔ columns, masks and merges.

Documents leave out what is null and flags that have their published default. Times are stored as UTC text to the
second, whole days as 10 characters; a path such as "dueDate+dueTime" or "start.dateTime|start.date" is one column.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tasks_app.environments.runtime.checking import MISSING, _invalid


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
    if kind not in ("json", "date") and isinstance(value, (dict, list)):  # a mask may name what lies inside a value
        raise _invalid(f"{path} is {value!r}; a single value is needed")
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
            return datetime(value["year"], value["month"], value["day"], tzinfo=UTC).date().isoformat()
        return datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC).date().isoformat()
    except (KeyError, OverflowError, TypeError, ValueError):
        raise _invalid(f"{path} is {value!r}; a date such as 2026-11-02 is needed") from None


def _moment_of_parts(path: str, document: Mapping[str, Any]) -> Any:
    """ "dueDate+dueTime": one moment in UTC from a Date and a TimeOfDay, or the day where there is no time."""
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
            return datetime(date["year"], date["month"], date["day"], tzinfo=UTC).date().isoformat()
        moment = datetime(
            date["year"], date["month"], date["day"], time.get("hours", 0), time.get("minutes", 0), tzinfo=UTC
        )
    except (KeyError, OverflowError, TypeError, ValueError):
        raise _invalid(f"{date_path} {date!r} with {time_path} {time!r} is no moment") from None
    return _as_stamp(moment)


def _as_stamp(moment: datetime) -> str:
    """UTC text to the second, with four digits of year (strftime leaves out leading zeros)."""
    return moment.replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def _zone(name: str) -> ZoneInfo:
    """A zone by its IANA name; names that are folders or paths fail in ways of their own."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _invalid(f"{name!r} is no IANA time zone") from None


def _utc(value: Any, path: str, zone: str | None = None) -> str:
    """RFC 3339 text as UTC to the second. A time without an offset is read in `zone`, and refused without one."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _invalid(f"{path} is {value!r}; a time such as 2026-11-02T08:30:00Z is needed") from None
    if moment.tzinfo is None:
        if zone is None:
            raise _invalid(f"{path} is {value!r}; it needs an offset (or Z), or a time zone beside it")
        moment = moment.replace(tzinfo=_zone(zone))
    try:
        return _as_stamp(moment.astimezone(UTC))
    except (OverflowError, ValueError):
        raise _invalid(f"{path} is {value!r}; in UTC it lies outside the years 1 to 9999") from None


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
            inner = target.setdefault(part, {})
            if not isinstance(inner, dict):
                raise _invalid(f"{path!r} names a field inside {part}, which can only be written as a whole")
            target = inner
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


def _touched(fields: Mapping[str, tuple[str, str]], paths: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The fields that lie at, below or above one of the JSON paths."""

    def meets(field: str, path: str) -> bool:
        return field == path or field.startswith(path + ".") or path.startswith(field + ".")

    paths = list(paths)
    return {
        f: spec
        for f, spec in fields.items()
        if any(meets(piece, p) for piece in f.replace("|", "+").split("+") for p in paths)
    }


def _changes(
    fields: Mapping[str, tuple[str, str]],
    defaults: Mapping[str, Any],
    document: Mapping[str, Any],
    paths: Iterable[str],
) -> dict[str, Any]:
    """New values of the columns that `paths` touch; what `document` leaves out or nulls goes back to its default."""
    touched = _touched(fields, paths)
    given = _columns(touched, document)
    values = {column: given.get(column) for column, _ in touched.values()}
    return {column: defaults[column] if value is None else value for column, value in values.items()}


def _with_defaults(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    return {**defaults, **{column: value for column, value in given.items() if value is not None}}
