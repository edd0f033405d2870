"""Helpers of generated tools.py, third part: rows, ids of new rows, conditions and pages of lists.

A page token carries an offset and a mark of the other arguments; a list's order is total, so pages never overlap
while nothing is written in between.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tasks_app.environments.runtime.checking import ToolError, _invalid

_MOST_WORDS = 100  # of one search: each is a condition, and SQLite nests at most 1000
_MOST_VALUES = 5_000


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


def _mine(db: Any, value: str) -> str:
    """ "me" is the acting user's id, "primary" the acting user's own calendar, whose id is their e-mail."""
    session = _session(db)
    return {"me": session["user_id"], "primary": session["email"]}.get(value, value)


def _known_as(db: Any, value: str, table: str, alias: str, key: str) -> str:
    """A key, or an alias of it such as "d:school_math" that stands in a table of aliases."""
    row = _select(db, table, (key,), {alias: value}) if ":" in value else None
    return value if row is None else str(row[key])


def _user(db: Any, value: str, table: str, key: str, email: str) -> str:
    """A user by id, by e-mail address, or as "me"."""
    if "@" in value and email:
        row = _select(db, table, (key,), {email: value})
        return value if row is None else str(row[key])
    return _mine(db, value)


def _one_of(column: str, values: Sequence[Any], where: list[str], parameters: list[Any]) -> None:
    if len(values) > _MOST_VALUES:
        raise _invalid(f"{len(values)} values are given for {column}; at most {_MOST_VALUES} are allowed")
    where.append(f'"{column}" IN ({", ".join("?" for _ in values)})')
    parameters.extend(values)


def _search(conditions: Sequence[str], text: str, where: list[str], parameters: list[Any]) -> None:
    """Every word of `text` must meet one of the conditions; case does not matter for Latin letters."""
    words = list(dict.fromkeys(text.lower().split()))
    if len(words) > _MOST_WORDS:
        raise _invalid(f"the text searched for has {len(words)} words; at most {_MOST_WORDS} are allowed")
    for word in words:
        where.append("(" + " OR ".join(conditions) + ")")
        parameters.extend(word for _ in conditions)


def _property(column: str, asked: Sequence[str], param: str, where: list[str], parameters: list[Any]) -> None:
    """Each "name=value" must hold in the JSON object of `column`."""
    if len(asked) > _MOST_WORDS:
        raise _invalid(f"{param} has {len(asked)} entries; at most {_MOST_WORDS} are allowed")
    for pair in asked:
        name, equals, value = pair.partition("=")
        if not equals or '"' in name:
            raise _invalid(f"{param} is {pair!r}; name=value is needed, without quotes in the name")
        where.append(f'json_extract("{column}", ?) = ?')
        parameters.extend((f'$."{name}"', value))


def _order(asked: str, allowed: Mapping[str, str], param: str) -> str:
    """ "updateTime desc, dueDate" as SQL, by the published names in `allowed`."""
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
        if not 0 <= start < 2**31:
            raise ValueError(start)
    except ValueError:
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
    db: Any,
    table: str,
    columns: Sequence[str],
    where: Sequence[str],
    parameters: Sequence[Any],
    order: str,
    offset: int = 0,
    length: int = -1,
) -> list[dict[str, Any]]:
    names = ", ".join(f'"{column}"' for column in columns)
    condition = " AND ".join(where) or "1"
    sql = f'SELECT {names} FROM "{table}" WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?'
    found = db.execute(sql, (*parameters, length, offset)).fetchall()
    return [dict(zip(columns, row, strict=True)) for row in found]


def _page(
    db: Any,
    table: str,
    columns: Sequence[str],
    where: Sequence[str],
    parameters: Sequence[Any],
    order: str,
    args: Mapping[str, Any],
    paging: tuple[str, str, int, int],
) -> tuple[list[dict[str, Any]], str | None]:
    """One page of rows and the token of the next (None on the last). `paging`: size, token, default, most."""
    size, token, default, most = paging
    offset, length = _bounds(args, size, token, default, most)
    rows = _rows(db, table, columns, where, parameters, order, offset, length + 1)
    following = _token(args, size, token, offset + length) if len(rows) > length else None
    return rows[:length], following
