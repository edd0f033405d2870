"""Seeded phrases: one template, many ways to say it, the same words for the same seed.

    {please|could you} archive «the course» [name]

`{a|b|c}` is a choice (they nest), `[name]` a fact. A fact is put in last, so that what a person wrote can never be
read as a choice. Limits: choices only; agreement in number is the template's job (`plural` helps).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from random import Random

_CHOICE = re.compile(r"\{([^{}]*)\}")
_FACT = re.compile(r"\[([a-z_0-9]+)\]")
_HEAD = re.compile(r"(^|[.?!] )([a-z])(?!\S*(?:@|\.(?:csv|md|txt|json)\b))")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


class WordingError(Exception):
    """A template that names a fact which the plan does not give, or an instruction that breaks a rule of wording."""


def expand(template: str, rng: Random, facts: Mapping[str, object]) -> str:
    """Choose among the template's alternatives, then put the facts in. Raises WordingError on an unknown fact."""
    text = template
    while match := _CHOICE.search(text):
        text = text[: match.start()] + rng.choice(match.group(1).split("|")) + text[match.end() :]
    unknown = {name for name in _FACT.findall(text) if name not in facts}
    if unknown:
        raise WordingError(f"template names facts that are not given: {sorted(unknown)}; given: {sorted(facts)}")
    return _tidy(_FACT.sub(lambda match: str(facts[match.group(1)]), text))


def _tidy(text: str) -> str:
    """Single spaces, none before punctuation, a capital where a sentence begins (but no path or address)."""
    text = re.sub(r"[ \t]+", " ", text).strip()
    text = re.sub(r" ([.,;:?!])", r"\1", text)
    return _HEAD.sub(lambda match: match.group(1) + match.group(2).upper(), text)


def number(value: int) -> str:
    """Small numbers as words, as people write them."""
    return _NUMBERS[value] if 0 < value < len(_NUMBERS) else str(value)


def plural(value: int, one: str, many: str = "") -> str:
    """`number` with its noun: "three students"."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def day(stamp: str, *, weekday: bool = False, year: bool = False) -> str:
    """ "2026-11-02…" as "2 November", with its weekday or year where asked for."""
    when = date.fromisoformat(stamp[:10])
    words = f"{when.day} {_MONTHS[when.month - 1]}"
    if year:
        words += f" {when.year}"
    return f"{_DAYS[when.weekday()]}, {words}" if weekday else words


def clock(stamp: str) -> str:
    """ "2026-11-02T08:30:00Z" as "08:30"."""
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).strftime("%H:%M")


def listed(names: list[str]) -> str:
    """ "A, B and C"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
