"""Recurring events: expansion of a series into instances, and an instance made a row of its own when it is changed.

RFC 5545 as far as calendars of people use it: FREQ=DAILY, WEEKLY or MONTHLY (same day of the month), INTERVAL, COUNT,
UNTIL, BYDAY with WEEKLY, and EXDATE lines. Occurrences are reckoned in the series' own time zone, so that 9 o'clock
stays 9 o'clock over a change of the clocks. A series without an end is expanded for two years.
`names` says which columns hold what: id scope series rule start end zone original. A time of 20 characters is a moment
in UTC, one of 10 a whole day.
An occurrence that has no row of its own carries `_of`, the id of its series, whose guests it shares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tasks_app.environments.runtime.checking import _invalid
from tasks_app.environments.runtime.documents import _as_stamp, _day, _zone
from tasks_app.environments.runtime.rows import _bounds, _find, _insert, _rows, _select, _token

_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FOREVER = timedelta(days=730)
_NUMBER = re.compile(r"0{0,4}[1-9][0-9]{0,3}")
_YEARS = ("1000", "9000")  # of events: with these, no reckoning leaves what a date can hold


def _rule(lines: Sequence[str]) -> tuple[dict[str, str], set[str]]:
    """The parts of the RRULE line, and the digits of each EXDATE."""
    parts: dict[str, str] = {}
    excluded: set[str] = set()
    for line in lines:
        name, _, value = line.partition(":")
        if name == "RRULE":
            parts = dict(part.split("=", 1) for part in value.split(";") if "=" in part)
        elif name.partition(";")[0] == "EXDATE":
            excluded.update(value.split(","))
    if parts.get("FREQ") not in ("DAILY", "WEEKLY", "MONTHLY"):
        raise _invalid(f"recurrence {list(lines)!r} needs an RRULE with FREQ DAILY, WEEKLY or MONTHLY")
    return parts, excluded


def _check_recurrence(lines: Sequence[str] | None) -> None:
    """Refuse a recurrence that could not be expanded later."""
    if not lines:
        return
    parts, _ = _rule(lines)
    days = parts.get("BYDAY", "MO").split(",")
    numbers = [parts.get(name, "1") for name in ("INTERVAL", "COUNT")]
    if any(day not in _WEEKDAYS for day in days) or not all(_NUMBER.fullmatch(number) for number in numbers):
        raise _invalid(
            f"recurrence {list(lines)!r}: BYDAY takes MO…SU, INTERVAL and COUNT whole numbers from 1 to 9999"
        )
    if "UNTIL" in parts:
        _until(parts["UNTIL"])


def _until(text: str) -> datetime:
    try:
        if len(text) == 8:
            return datetime.strptime(text, "%Y%m%d").replace(hour=23, minute=59, second=59, tzinfo=UTC)
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise _invalid(f"UNTIL={text} is no date such as 20261231 or 20261231T235959Z") from None


def _candidates(first: datetime, parts: Mapping[str, str]) -> Iterator[datetime]:
    """Local starts without an end, in order, the first one included."""
    step = int(parts.get("INTERVAL", "1"))
    if parts["FREQ"] == "DAILY":
        for count in range(0, 10_000):
            yield first + timedelta(days=count * step)
    elif parts["FREQ"] == "MONTHLY":
        for count in range(0, 600, step):
            year, month = divmod(first.month - 1 + count, 12)
            try:
                yield first.replace(year=first.year + year, month=month + 1)
            except ValueError:  # the 31st of a month of thirty days: that month has none
                continue
    else:
        named = parts["BYDAY"].split(",") if "BYDAY" in parts else [_WEEKDAYS[first.weekday()]]
        days = sorted({_WEEKDAYS.index(day) for day in named})
        monday = first - timedelta(days=first.weekday())
        for week in range(0, 3_000):
            for day in days:
                moment = monday + timedelta(days=week * step * 7 + day)
                if moment >= first:
                    yield moment


def _starts(first: datetime, lines: Sequence[str], horizon: datetime) -> Iterator[datetime]:
    """Starts of the occurrences in UTC, up to `horizon` (exclusive)."""
    parts, excluded = _rule(lines)
    last = _until(parts["UNTIL"]) if "UNTIL" in parts else None
    left = int(parts["COUNT"]) if "COUNT" in parts else None
    for local in _candidates(first, parts):
        moment = local.astimezone(UTC)
        if moment >= horizon or (last is not None and moment > last) or left == 0:
            return
        left = None if left is None else left - 1
        if not excluded & {
            moment.strftime("%Y%m%dT%H%M%SZ"),
            local.strftime("%Y%m%dT%H%M%S"),
            local.strftime("%Y%m%d"),
        }:
            yield moment


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _instances(series: Mapping[str, Any], names: Mapping[str, str], high: str | None = None) -> list[dict[str, Any]]:
    """The occurrences of a series as rows, those that start before `high` (a UTC stamp)."""
    all_day = len(series[names["start"]]) == 10
    first = _moment(series[names["start"]])
    length = _moment(series[names["end"]]) - first
    zone = _zone(series[names["zone"]]) if series.get(names.get("zone", "")) and not all_day else UTC
    horizon = min(_moment(high), first + _FOREVER) if high else first + _FOREVER
    lines = json.loads(series[names["rule"]])
    return [
        _instance(series, names, start, length, all_day) for start in _starts(first.astimezone(zone), lines, horizon)
    ]


def _instance(
    series: Mapping[str, Any],
    names: Mapping[str, str],
    start: datetime,
    length: timedelta,
    all_day: bool,
) -> dict[str, Any]:
    suffix = start.strftime("%Y%m%d" if all_day else "%Y%m%dT%H%M%SZ")
    form = "%Y-%m-%d" if all_day else "%Y-%m-%dT%H:%M:%SZ"
    begin = start.strftime(form)
    return {
        **series,
        "_of": series[names["id"]],
        names["id"]: f"{series[names['id']]}_{suffix}",
        names["series"]: series[names["id"]],
        names["rule"]: None,
        names["start"]: begin,
        names["end"]: (start + length).strftime(form),
        names["original"]: begin,
    }


def _series_rows(
    db: Any,
    table: str,
    columns: Sequence[str],
    series: Mapping[str, Any],
    names: Mapping[str, str],
    high: str | None = None,
) -> list[dict[str, Any]]:
    """Instances of a series; one that was changed or cancelled on its own is the row that says so."""
    scope = series[names["scope"]]
    where = [f'"{names["scope"]}" = ?', f'"{names["series"]}" = ?']
    changed = _rows(db, table, columns, where, (scope, series[names["id"]]), f'"{names["id"]}"')
    own = {row[names["original"]]: row for row in changed}
    made = []
    for row in _instances(series, names, high):
        made.append(own.pop(row[names["original"]], row))
    return [*made, *own.values()]


def _find_instance(
    db: Any,
    table: str,
    columns: Sequence[str],
    where: Mapping[str, Any],
    names: Mapping[str, str],
    noun: str,
) -> dict[str, Any]:
    """The row with this key, or the instance of a series that the id names ("<series>_20261102T090000Z")."""
    row = _select(db, table, columns, where)
    if row is not None:
        return row
    series_id, mark, _ = str(where[names["id"]]).rpartition("_")
    series = _select(db, table, columns, {**where, names["id"]: series_id}) if mark else None
    if series is not None and series[names["rule"]]:
        for instance in _instances(series, names):
            if instance[names["id"]] == where[names["id"]]:
                return instance
    return _find(db, table, columns, where, noun)


def _own_row(
    db: Any,
    table: str,
    columns: Sequence[str],
    where: Mapping[str, Any],
    names: Mapping[str, str],
    noun: str,
    parts: Sequence[tuple[str, Sequence[str], str, str]] = (),
) -> dict[str, Any]:
    """As `_find_instance`, but an instance becomes a row of its own, so that it can be changed by itself.

    `parts`: tables whose rows belong to an event: (table, columns, column of the scope, column of the event's id).
    """
    row = _find_instance(db, table, columns, where, names, noun)
    if _select(db, table, (names["id"],), where) is None:
        _insert(db, table, {column: row[column] for column in columns})
        for part, part_columns, scope, owner in parts:
            of_series = (row[names["scope"]], row[names["series"]])
            found = _rows(db, part, part_columns, [f'"{scope}" = ?', f'"{owner}" = ?'], of_series, f'"{owner}"')
            for copy in found:
                _insert(db, part, {**copy, owner: row[names["id"]]})
        row = _find(db, table, columns, where, noun)
    return row


def _stamp(text: str) -> str:
    """A stored time as a UTC stamp; a whole day begins (and, as an end, is over) at midnight UTC."""
    return text if len(text) > 10 else f"{text}T00:00:00Z"


def _begins(row: Mapping[str, Any], names: Mapping[str, str]) -> str:
    return _stamp(row[names["start"]])


def _ends(row: Mapping[str, Any], names: Mapping[str, str]) -> str:
    return _stamp(row[names["end"]])


def _within(row: Mapping[str, Any], names: Mapping[str, str], low: str | None, high: str | None) -> bool:
    """Does the event end after `low` and begin before `high`?"""
    return (low is None or _ends(row, names) > low) and (high is None or _begins(row, names) < high)


def _check_span(row: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """An event has a start and an end of the same kind (moments or days), in this order."""
    start, end = row.get(names["start"]), row.get(names["end"])
    if start is None or end is None:
        raise _invalid("an event needs a start and an end")
    if len(start) != len(end):
        raise _invalid("start and end must both have a dateTime, or both have a date")
    for column, value in ((names["start"], start), (names["end"], end)):
        if not _YEARS[0] <= value[:4] < _YEARS[1]:
            raise _invalid(f"{column} is {value}; an event lies in the years {_YEARS[0]} to {int(_YEARS[1]) - 1}")
    if row.get(names["zone"]):
        _zone(row[names["zone"]])
    if end < start:
        raise _invalid(f"the event would end ({end}) before it starts ({start})")


def _busy(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], low: str, high: str) -> list[dict[str, str]]:
    """Busy stretches in [low, high], clipped to it, those that touch or overlap joined."""
    spans = sorted((max(_begins(row, names), low), min(_ends(row, names), high)) for row in rows)
    joined: list[dict[str, str]] = []
    for start, end in spans:
        if joined and start <= joined[-1]["end"]:
            joined[-1]["end"] = max(joined[-1]["end"], end)
        elif start < end:
            joined.append({"start": start, "end": end})
    return joined


def _in_view(
    db: Any,
    table: str,
    columns: Sequence[str],
    names: Mapping[str, str],
    where: Sequence[str],
    values: Sequence[Any],
    span: tuple[str | None, str | None],
    *,
    single: bool,
) -> list[dict[str, Any]]:
    """Rows that meet the conditions and lie in the span; with `single` a series is shown as its instances.

    Without `single`, a series is in the span if one of its instances is.
    """
    low, high = span
    narrowed = [*where]
    for column, compare, moment in ((names["end"], ">", low), (names["start"], "<", high)):
        if moment is not None:  # a series may reach into the span from outside; whole days are looked at below
            narrowed.append(f'("{names["rule"]}" IS NOT NULL OR "{column}" {compare} ?)')
    bound = [moment for moment in (low, high) if moment is not None]
    rows = _rows(db, table, columns, narrowed, [*values, *bound], f'"{names["id"]}"')
    shown = []
    for row in rows:
        if not row[names["rule"]]:
            shown.extend([row] if (not single or not row[names["series"]]) and _within(row, names, low, high) else [])
            continue
        instances = _series_rows(db, table, columns, row, names, high) if single else _instances(row, names, high)
        inside = [instance for instance in instances if _within(instance, names, low, high)]
        shown.extend(inside if single else [row] * bool(inside))
    return shown


def _slice(
    rows: Sequence[dict[str, Any]],
    args: Mapping[str, Any],
    paging: tuple[str, str, int, int],
) -> tuple[list[dict[str, Any]], str | None]:
    """One page of rows that are all at hand, as `_page` gives it."""
    size, token, default, most = paging
    offset, length = _bounds(args, size, token, default, most)
    following = _token(args, size, token, offset + length) if len(rows) > offset + length else None
    return list(rows[offset : offset + length]), following


_TIME = re.compile(
    r"\b(?:at )?(\d{1,2})(?::(\d{2}))?\s*(am|pm)\b|\b(?:at )?(\d{1,2}):(\d{2})\b|\bat (\d{1,2})\b", re.IGNORECASE
)
_LENGTH = re.compile(r"\bfor (\d+)\s*(minutes?|min|hours?|h)\b", re.IGNORECASE)
_DATE = re.compile(
    r"\b(?:on )?(\d{4}-\d{2}-\d{2}|today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", re.IGNORECASE
)


def _quick(text: str, now: str, zone: str) -> dict[str, str]:
    """What "Lunch on Friday at 12:30 for 45 minutes" says: summary, start, end (an hour, or a day, if not said)."""
    moment = _moment(now).astimezone(_zone(zone))
    day = _said_day(_DATE.search(text), moment)
    summary = text
    clock, length = _TIME.search(text), _LENGTH.search(text)
    for found in (_DATE.search(text), clock, length):
        summary = summary.replace(found[0], "") if found else summary
    summary = " ".join(summary.split()).strip(" ,;-") or text
    if clock is None:
        return {
            "summary": summary,
            "start": day.strftime("%Y-%m-%d"),
            "end": (day + timedelta(days=1)).strftime("%Y-%m-%d"),
        }
    hour, minute = int(clock[1] or clock[4] or clock[6]), int(clock[2] or clock[5] or 0)
    if clock[3]:
        hour = hour % 12 + (12 if clock[3].lower() == "pm" else 0)
    if hour > 23 or minute > 59:
        raise _invalid(f"text says {clock[0]!r}, which is no time of day")
    start = day.replace(hour=hour, minute=minute, second=0, microsecond=0).astimezone(UTC)
    if length and len(length[1]) > 6:
        raise _invalid(f"text says {length[0][:40]!r}, which is too long for an event")
    minutes = int(length[1]) * (60 if length[2].lower().startswith("h") else 1) if length else 60
    return {"summary": summary, "start": _as_stamp(start), "end": _as_stamp(start + timedelta(minutes=minutes))}


def _said_day(found: re.Match[str] | None, moment: datetime) -> datetime:
    word = found[1].lower() if found else "today"
    if word[0].isdigit():
        given = datetime.fromisoformat(_day(word, "text"))
        if not int(_YEARS[0]) <= given.year < int(_YEARS[1]):
            raise _invalid(f"text says {word!r}; an event lies in the years {_YEARS[0]} to {int(_YEARS[1]) - 1}")
        return moment.replace(year=given.year, month=given.month, day=given.day)
    if word in ("today", "tomorrow"):
        return moment + timedelta(days=int(word == "tomorrow"))
    weekday = _WEEKDAYS.index(word[:2].upper())
    return moment + timedelta(days=(weekday - moment.weekday()) % 7)
