"""Runtime of verifier programs, part 1: the functions of the algebra, as SQLite calls them.

`to_sql.compile_verifier` copies this module's text into each verifier, so it needs nothing but the standard library.
Times are ISO-8601 UTC text ("2026-11-02T08:30:00Z"), dates "2026-11-02"; null in gives null out, where not said else.
"""

from __future__ import annotations

import datetime
import sqlite3
import zoneinfo
from collections.abc import Callable
from typing import Any


def moment(text: str) -> datetime.datetime:
    """A time or date as an aware datetime; what names no offset is UTC."""
    found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


def stamp(when: datetime.datetime) -> str:
    return when.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shifted(text: str, delta: datetime.timedelta) -> str:
    """`text` moved by `delta`; a date stays a date."""
    if len(text) == 10:
        return (datetime.date.fromisoformat(text) + delta).isoformat()
    return stamp(moment(text) + delta)


def worded(value: Any) -> str:
    """A value inside a longer text: nothing for null, no ".0" on whole numbers."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """Null in, null out."""
    return lambda *values: None if any(v is None for v in values) else function(*values)


def test(function: Callable[..., bool]) -> Callable[..., int]:
    """Null in, false out."""
    return lambda *values: 0 if any(v is None for v in values) else int(function(*values))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "lower": strict(str.lower),
    "concat": lambda *values: "".join(worded(v) for v in values),
    "length": strict(len),
    "contains": test(lambda text, part: part.lower() in text.lower()),
    "starts_with": test(lambda text, part: text.startswith(part)),
    "ends_with": test(lambda text, part: text.endswith(part)),
    "coalesce": lambda a, b: b if a is None else a,
    "round": strict(lambda value, digits: round(float(value), int(digits))),
    "date": strict(lambda text: text[:10]),
    "local_date": strict(lambda text, zone: moment(text).astimezone(zoneinfo.ZoneInfo(zone)).date().isoformat()),
    "local_time": strict(lambda text, zone: moment(text).astimezone(zoneinfo.ZoneInfo(zone)).strftime("%H:%M")),
    "weekday": strict(lambda text: moment(text).weekday()),
    "add_days": strict(lambda text, days: shifted(text, datetime.timedelta(days=days))),
    "add_minutes": strict(lambda text, minutes: shifted(text, datetime.timedelta(minutes=minutes))),
    "minutes": strict(lambda start, end: int((moment(end) - moment(start)).total_seconds() // 60)),
}


def register(connection: sqlite3.Connection, names: tuple[str, ...]) -> None:
    for name in names:
        connection.create_function(f"fn_{name}", -1, FUNCTIONS[name], deterministic=True)
