"""Recurring events: expansion of a series into instances, and an instance made a row of its own when it is changed.

RFC 5545 as far as calendars of people use it: FREQ=DAILY, WEEKLY or MONTHLY (same day of the month), INTERVAL, COUNT,
UNTIL, BYDAY with WEEKLY, and EXDATE lines. Occurrences are reckoned in the series' own time zone, so that 9 o'clock
stays 9 o'clock over a change of the clocks. A series without an end is expanded for two years.
`names` says which columns hold what: id scope series start start_day end end_day zone rule original original_day status.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tasks_app.environments.runtime.toolkit import ToolError, _find, _insert, _invalid, _rows, _select

_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FOREVER = timedelta(days=730)


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
    if any(day not in _WEEKDAYS for day in days) or not all(number.isdigit() and int(number) for number in numbers):
        raise _invalid(f"recurrence {list(lines)!r}: BYDAY takes MO…SU, INTERVAL and COUNT whole numbers from 1")
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
        days = sorted(_WEEKDAYS.index(day) for day in parts["BYDAY"].split(",")) if "BYDAY" in parts else [first.weekday()]
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
        if not excluded & {moment.strftime("%Y%m%dT%H%M%SZ"), local.strftime("%Y%m%dT%H%M%S"), local.strftime("%Y%m%d")}:
            yield moment


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _instances(series: Mapping[str, Any], names: Mapping[str, str], high: str | None = None) -> list[dict[str, Any]]:
    """The occurrences of a series as rows, those that start before `high` (a UTC stamp)."""
    all_day = series[names["start"]] is None
    begin = series[names["start_day"]] if all_day else series[names["start"]]
    finish = series[names["end_day"]] if all_day else series[names["end"]]
    first = datetime.fromisoformat(begin).replace(tzinfo=UTC)
    length = datetime.fromisoformat(finish).replace(tzinfo=UTC) - first
    zone = ZoneInfo(series[names["zone"]]) if names.get("zone") and series[names["zone"]] and not all_day else UTC
    horizon = datetime.fromisoformat(high) if high else first + _FOREVER
    made = []
    for start in _starts(first.astimezone(zone), json.loads(series[names["rule"]]), min(horizon, first + _FOREVER)):
        made.append(_instance(series, names, start, start + length, all_day))
    return made


def _instance(
    series: Mapping[str, Any], names: Mapping[str, str], start: datetime, end: datetime, all_day: bool,
) -> dict[str, Any]:
    suffix = start.strftime("%Y%m%d" if all_day else "%Y%m%dT%H%M%SZ")
    row = {**series, names["id"]: f"{series[names['id']]}_{suffix}", names["series"]: series[names["id"]]}
    row[names["rule"]] = None
    day, stamp = start.strftime("%Y-%m-%d"), _stamp(start)
    if all_day:
        row.update({names["start_day"]: day, names["end_day"]: end.strftime("%Y-%m-%d"), names["original_day"]: day})
    else:
        row.update({names["start"]: stamp, names["end"]: _stamp(end), names["original"]: stamp})
    return row


def _series_rows(
    db: Any, table: str, columns: Sequence[str], series: Mapping[str, Any], names: Mapping[str, str],
    high: str | None = None,
) -> list[dict[str, Any]]:
    """Instances of a series; one that was changed or cancelled on its own is the row that says so."""
    scope = series[names["scope"]]
    where = [f'"{names["scope"]}" = ?', f'"{names["series"]}" = ?']
    changed = _rows(db, table, columns, where, (scope, series[names["id"]]), f'"{names["id"]}"')
    own = {row[names["original"]] or row[names["original_day"]]: row for row in changed}
    made = []
    for row in _instances(series, names, high):
        made.append(own.pop(row[names["original"]] or row[names["original_day"]], row))
    return [*made, *own.values()]


def _find_instance(
    db: Any, table: str, columns: Sequence[str], where: Mapping[str, Any], names: Mapping[str, str], noun: str,
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
    db: Any, table: str, columns: Sequence[str], where: Mapping[str, Any], names: Mapping[str, str], noun: str,
    parts: Sequence[tuple[str, Sequence[str], str, str]] = (),
) -> dict[str, Any]:
    """As `_find_instance`, but an instance becomes a row of its own, so that it can be changed by itself.

    `parts`: tables whose rows belong to an event: (table, columns, column of the scope, column of the event's id).
    """
    row = _find_instance(db, table, columns, where, names, noun)
    if _select(db, table, (names["id"],), where) is None:
        _insert(db, table, row)
        for part, part_columns, scope, owner in parts:
            of_series = (row[names["scope"]], row[names["series"]])
            found = _rows(db, part, part_columns, [f'"{scope}" = ?', f'"{owner}" = ?'], of_series, f'"{owner}"')
            for copy in found:
                _insert(db, part, {**copy, owner: row[names["id"]]})
    return row


def _begins(row: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """When an event begins, as a UTC stamp; a whole day begins at midnight UTC."""
    return str(row[names["start"]] or f"{row[names['start_day']]}T00:00:00Z")


def _ends(row: Mapping[str, Any], names: Mapping[str, str]) -> str:
    return str(row[names["end"]] or f"{row[names['end_day']]}T00:00:00Z")


def _within(row: Mapping[str, Any], names: Mapping[str, str], low: str | None, high: str | None) -> bool:
    """Does the event end after `low` and begin before `high`?"""
    return (low is None or _ends(row, names) > low) and (high is None or _begins(row, names) < high)


def _check_span(row: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """An event has a start and an end of the same kind (moments or days), in this order."""
    timed = row[names["start"]] is not None and row[names["end"]] is not None
    days = row[names["start_day"]] is not None and row[names["end_day"]] is not None
    if timed == days:
        raise _invalid("start and end must both have a dateTime, or both have a date")
    if _ends(row, names) < _begins(row, names):
        raise ToolError("INVALID_ARGUMENT", f"the event would end ({_ends(row, names)}) before it starts")


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
