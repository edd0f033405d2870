"""The columns of one batch of rows: what each generator of TABLES makes, in the order in which they need one another.

A batch is the rows of one table that come from one source: the planted ones, the base, or one kind of growth.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tasks_app.environments.runtime.filling import (
    DAY,
    HOUR,
    NOW,
    Ints,
    avoiding,
    between,
    blanked,
    days,
    epoch,
    epochs,
    hash_of,
    ids,
    stamps,
    work_titles,
)
from tasks_app.environments.runtime.pools import (
    COURSE_LEVELS,
    MATERIAL_KINDS,
    MEETING_ABOUT,
    MEETINGS,
    POOLS,
    SUBJECTS,
    WORDS,
)
from tasks_app.environments.runtime.tables import Batch

_NOW = epoch(NOW)
# Generators that need other columns of the row come later.
_RANK = {
    "created": 1,
    "due": 2,
    "start": 2,
    "updated": 3,
    "end": 3,
    "email": 4,
    "same": 5,
    "name_of": 4,
    "acl": 5,
    "grade": 5,
    "ical": 5,
    "link": 5,
}


Filler = Callable[[Batch, Mapping[str, Any], Any, float], list[Any]]


def _null(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return [None] * b.count


def _default_value(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return [c["default"]] * b.count


def _id(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return ids(arg, b.table.spec["table"], b.draw.seed, b.indices)


def _enum(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    if b.planted:
        return [max(arg, key=lambda value: arg[value])] * b.count
    return b.draw.pick(c["column"], list(arg), list(arg.values()))


def _chance(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    if b.planted:
        return [c["default"]] * b.count
    flags: list[Any] = (b.draw.uniform(c["column"]) < arg).astype(int).tolist()
    return flags


def _pool(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    if b.planted and c["nulls"]:
        return [c["default"]] * b.count
    pool: Sequence[Any] = POOLS[arg] if isinstance(arg, str) else arg
    values = avoiding(b.draw.pick(c["column"], pool), pool, b.avoid.get(c["column"], set()))
    return blanked(b.draw, c["column"], values, nulls)


def _person(part: int) -> Filler:
    def fill(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
        return list(b.people()[part])

    return fill


def _email(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return [f"{local}@northfield.example" for local in b.people()[3]]


def _address(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return [f"{local}@familymail.example" for local in b.people()[3]]


def _course(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    subjects, levels = list(SUBJECTS), b.draw.pick("level", COURSE_LEVELS)
    names = [f"{subject} {level}" for subject, level in zip(b.draw.pick("subject", subjects), levels, strict=True)]
    every = [f"{subject} {level}" for subject in subjects for level in COURSE_LEVELS]
    return avoiding(names, every, b.avoid.get(c["column"], set()))


def _work(kinds: Sequence[str] | None) -> Filler:
    def fill(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
        courses = b.of_parent("course", "name")
        titles = work_titles(b.draw, courses, kinds) if kinds else work_titles(b.draw, courses)
        avoid = b.avoid.get(c["column"], set())
        return [f"Extra {title[0].lower()}{title[1:]}" if title in avoid else title for title in titles]

    return fill


def _meeting(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    kinds = avoiding(b.draw.pick("kind", MEETINGS), MEETINGS, b.avoid.get(c["column"], set()))
    return [kind + about for kind, about in zip(kinds, b.draw.pick("about", MEETING_ABOUT), strict=True)]


def _created(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    low = b.since()
    root = not b.parents or b.table.spec["entity"] in ("Course", "Calendar")
    high = np.full(b.count, _NOW - (66 * DAY if root else HOUR), dtype=np.int64)
    return stamps(between(b.draw, c["column"], low, np.maximum(high, low)))


def _seconds(b: Batch, column: str, otherwise: Ints) -> Ints:
    values = b.values.get(column)
    if values is None:
        return otherwise
    return epochs(values, otherwise)


def _made(b: Batch) -> Ints:
    """When the rows were made."""
    name = next((c["column"] for c in b.table.spec["columns"] if c["fill"][0] == "created"), "")
    return _seconds(b, name, b.since())


def _updated(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    made = _made(b)
    due = b.of_parent("course_work", "due_time") if "late" in b.values else [None] * b.count
    high = np.minimum(made + 14 * DAY, _NOW)
    if any(due):
        deadline = epochs(due, np.full(b.count, _NOW, dtype=np.int64))
        high = np.minimum(np.maximum(deadline + DAY, made), _NOW)
    moments = between(b.draw, c["column"], made, np.maximum(high, made), 0.6)
    if "late" in b.values and not b.planted:
        handed_in = np.asarray([state in ("TURNED_IN", "RETURNED") for state in b.values["state"]], dtype=bool)
        deadline = epochs(due, np.full(b.count, _NOW + DAY, dtype=np.int64))
        b.values["late"] = (handed_in & (moments > deadline)).astype(int).tolist()
    return stamps(moments)


def _due(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    if b.planted:
        return [None] * b.count
    made = _made(b)
    day = between(b.draw, c["column"], made + 3 * DAY, made + 15 * DAY, step=DAY)
    hours = np.asarray(b.draw.pick("due hour", [8, 12, 15, 16, 17, 22]), dtype=np.int64)
    return blanked(b.draw, c["column"], stamps(day + hours * HOUR), nulls)


def _start(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    low = np.full(b.count, _NOW - 42 * DAY, dtype=np.int64)
    day = between(b.draw, "day", low, low + 98 * DAY, step=DAY)
    weekday = (day // DAY + 3) % 7
    day = day - np.where(weekday > 4, (weekday - 4) * DAY, 0)
    moments = stamps(
        day + between(b.draw, "time of day", np.full(b.count, 7 * HOUR), np.full(b.count, 17 * HOUR), step=HOUR // 2)
    )
    whole = (b.draw.uniform("whole day") < (0.0 if b.planted else 0.06)).tolist()
    return [text if not all_day else date for text, date, all_day in zip(moments, days(day), whole, strict=True)]


def _end(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    minutes = b.draw.pick("length", [15, 30, 30, 30, 45, 60, 60, 60, 90, 120])
    starts = b.values["start_time"]
    begun = epochs(starts, np.zeros(b.count, dtype=np.int64))
    moments = stamps(begun + np.asarray(minutes, dtype=np.int64) * 60)
    following = days(begun + DAY)
    return [date if len(start) == 10 else text for start, text, date in zip(starts, moments, following, strict=True)]


def _grade(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    """Points only where work came back (or, as a draft, where it was handed in), never more than there are."""
    if b.planted:
        return [None] * b.count
    most = b.of_parent("course_work", "max_points")
    quality = 0.45 + 0.55 * np.sqrt(b.draw.uniform("grade"))
    graded = b.draw.uniform(f"{c['column']}/given")
    allowed = {"RETURNED": 0.95} if c["column"].startswith("assigned") else {"RETURNED": 0.95, "TURNED_IN": 0.4}
    return [
        round(share * points) * 1.0 if points and chance < allowed.get(state, 0.0) else None
        for share, points, chance, state in zip(quality.tolist(), most, graded.tolist(), b.values["state"], strict=True)
    ]


def _of_parent(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    parent = b.main_parent()
    return b.of_parent(parent.spec["table"], arg) if parent else [None] * b.count


def _same(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return list(b.values[arg])


def _name_of(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    """The name of the person whose address stands beside it."""
    beside = c["column"].replace("display_name", "email")
    table = b.table.tables.get("person")
    if table is None or beside not in b.values:
        return [None] * b.count
    known = table.index(("email",))
    names = table.columns["display_name"]
    rows = [known.get((email,), -1) for email in b.values[beside]]
    return [names[row] if row >= 0 else None for row in rows]


def _ical(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return [f"{key}@google.com" for key in b.values["id"]]


def _rule_text(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    if b.planted:
        return [None] * b.count
    rules = b.draw.pick(c["column"], [json.dumps([rule]) for rule in POOLS[arg]])
    return blanked(b.draw, c["column"], rules, nulls)


def _acl(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    pairs = zip(b.values["scope_type"], b.values["scope_value"], strict=True)
    return [f"{kind}:{value}" if value else kind for kind, value in pairs]


def _alias(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return [f"d:{word}-{index}" for word, index in zip(b.draw.pick("word", WORDS), b.indices.tolist(), strict=True)]


def _code(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    letters = "abcdefghijkmnpqrstuvwxyz23456789"
    marks = [hash_of(f"{b.draw.seed}/{index}") for index in b.indices.tolist()]
    return ["".join(letters[mark >> shift & 31] for shift in range(0, 35, 5)) for mark in marks]


def _day(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    low = np.full(b.count, _NOW + arg[0] * DAY, dtype=np.int64)
    return days(between(b.draw, c["column"], low, low + (arg[1] - arg[0]) * DAY, step=DAY))


def _url(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return [f"{arg}{text}" for text in ids("base32hex", b.table.spec["table"], b.draw.seed, b.indices)]


def _own_link(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return [f"{arg}{key}" for key in b.values[b.table.spec["own"]]]


def _words(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    return b.draw.pick(c["column"], WORDS)


def _copy(b: Batch, c: Mapping[str, Any], arg: Any, nulls: float) -> list[Any]:
    """A column that shows what another table says: (table, its column, our reference)."""
    return b.of_parent(c["fill"][1], c["fill"][2])


FILLERS: dict[str, Filler] = {
    "null": _null,
    "default": _default_value,
    "id": _id,
    "enum": _enum,
    "flag": _chance,
    "pool": _pool,
    "full": _person(2),
    "given": _person(0),
    "family": _person(1),
    "email": _email,
    "address": _address,
    "course": _course,
    "work": _work(None),
    "material": _work(MATERIAL_KINDS),
    "meeting": _meeting,
    "created": _created,
    "updated": _updated,
    "due": _due,
    "start": _start,
    "end": _end,
    "grade": _grade,
    "of_parent": _of_parent,
    "same": _same,
    "name_of": _name_of,
    "ical": _ical,
    "rule": _rule_text,
    "acl": _acl,
    "alias": _alias,
    "code": _code,
    "day": _day,
    "url": _url,
    "link": _own_link,
    "required_text": _words,
    "twin": _copy,
}


def fill_columns(batch: Batch) -> None:
    """Fill every column of the batch that has no values; in planted rows, what the directive left open."""
    for column in sorted(batch.table.spec["columns"], key=lambda c: _RANK.get(c["fill"][0], 0)):
        name, fill = column["column"], column["fill"]
        given = batch.given.get(name)
        if name in batch.values and (given is None or all(given)):
            continue
        made = FILLERS[fill[0]](
            batch, column, fill[1] if len(fill) > 1 else None, fill[2] if len(fill) > 2 and fill[0] != "twin" else 0.0
        )
        old = batch.values.get(name)
        if old is not None and given is not None:
            made = [kept if said else new for kept, said, new in zip(old, given, made, strict=True)]
        batch.values[name] = made
