"""Values of columns, made column by column with numpy from pools, prefix-stable: n rows begin with the values of fewer.

Each column of each stream of rows has a generator of its own, drawn from once a row, so that neither the number of
rows nor another column changes what a row holds.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks_app.environments.runtime.pools import FAMILY, GIVEN, SUBJECTS, WORK_KINDS

NOW = "2026-11-02T08:00:00Z"
HOUR, DAY = 3600, 86400
_DIGITS = 9 * 10**11
_STRIDE = 556_230_589_873  # golden ratio of it, prime to it: any few ids lie spread over the whole range
_BASE32 = "0123456789abcdefghijklmnopqrstuv"
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def epoch(text: str) -> int:
    """A stored time (20 characters, or 10 for a day) in seconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def epochs(texts: Sequence[str | None], otherwise: Ints) -> Ints:
    """Stored times in seconds, `otherwise` where there is none."""
    moments = np.array([text[:19] if text else "NaT" for text in texts] or [], dtype="datetime64[s]")
    seconds: Ints = np.where(np.isnat(moments), otherwise, moments.astype(np.int64))
    return seconds


def stamps(seconds: Ints) -> list[str]:
    """Seconds as "2026-11-02T08:30:00Z"."""
    texts = np.datetime_as_string(seconds.astype("datetime64[s]"), unit="s")
    return [text + "Z" for text in texts.tolist()]


def days(seconds: Ints) -> list[str]:
    texts: list[str] = np.datetime_as_string(seconds.astype("datetime64[s]").astype("datetime64[D]")).tolist()
    return texts


class Draw:
    """Chance for one stream of rows of one table; `column` gives the generator of one purpose."""

    def __init__(self, seed: int, table: str, stream: str, count: int) -> None:
        self.seed, self.table, self.stream, self.count = seed, table, stream, count

    def uniform(self, purpose: str) -> Floats:
        """One number in [0, 1) a row."""
        key = hashlib.sha256(f"{self.seed}/{self.table}/{self.stream}/{purpose}".encode()).digest()
        return np.random.Generator(np.random.PCG64(int.from_bytes(key[:16], "big"))).random(self.count)

    def pick(self, purpose: str, pool: Sequence[Any], weights: Sequence[float] | None = None) -> list[Any]:
        if not self.count:
            return []
        if weights is None:
            indices = (self.uniform(purpose) * len(pool)).astype(np.int64)
        else:
            shares = np.cumsum(np.asarray(weights, dtype=float) / sum(weights))
            indices = np.minimum(np.searchsorted(shares, self.uniform(purpose), side="right"), len(pool) - 1)
        return [pool[i] for i in indices.tolist()]


def ids(style: str, table: str, seed: int, indices: Ints) -> list[str]:
    """Ids in the service's own form, one for each index, never the same for two indices."""
    start = int.from_bytes(hashlib.sha256(f"{seed}/{table}/ids".encode()).digest()[:5], "big")
    numbers = [(index * _STRIDE + start) % _DIGITS for index in indices.tolist()]
    if style == "numeric":
        return [str(number + 10**11) for number in numbers]
    made = _scrambled(np.asarray(numbers, dtype=np.uint64))
    return [f"c_{text}@group.calendar.google.com" for text in made] if style == "calendar" else made


def _scrambled(numbers: NDArray[np.uint64]) -> list[str]:
    """26 base32hex digits of each number, by three rounds of splitmix64 (collisions: birthday of 130 bits)."""
    digits = np.frombuffer(_BASE32.encode(), dtype=np.uint8)
    text = np.empty((len(numbers), 26), dtype=np.uint8)
    word = numbers
    for column in range(26):
        if column % 12 == 0:
            word = word + np.uint64(0x9E3779B97F4A7C15)
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word = word ^ (word >> np.uint64(31))
        text[:, column] = digits[((word >> np.uint64(5 * (column % 12))) & np.uint64(31)).astype(np.int64)]
    return [row.decode() for row in text.view("S26").ravel().tolist()]


def people(draw: Draw, avoid: set[str]) -> tuple[list[str], list[str], list[str], list[str]]:
    """Given, family, full names and the local part of an address; none has a full name of `avoid`."""
    given, family = draw.pick("given", GIVEN), draw.pick("family", FAMILY)
    for index, (one, two) in enumerate(zip(given, family, strict=True)):
        shift = 1
        while f"{one[0]} {two[0]}" in avoid:
            two = FAMILY[(FAMILY.index(two) + shift) % len(FAMILY)]
            shift += 1
        family[index] = two
    full = [f"{one[0]} {two[0]}" for one, two in zip(given, family, strict=True)]
    local = [f"{one[1]}.{two[1]}" for one, two in zip(given, family, strict=True)]
    return [one[0] for one in given], [two[0] for two in family], full, local


def name_parts(full: str) -> tuple[str, str, str, str]:
    """Given, family and full name, and the local part of an address that fits them."""
    given, _, family = full.partition(" ")
    written = {**dict(GIVEN), **dict(FAMILY)}
    plain = [
        written.get(name) or unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        for name in (given, family)
    ]
    local = ".".join(part for part in (re.sub(r"[^a-z0-9-]", "", word) for word in plain) if part)
    return given, family, full, local or f"person{hash_of(full) % 10_000}"


def avoiding(values: list[Any], pool: Sequence[Any], avoid: set[str]) -> list[Any]:
    """Values that a plant uses are replaced by their next neighbour in the pool that none uses."""
    if not avoid:
        return values
    free = [value for value in pool if value not in avoid] or [f"{pool[0]} (other)"]
    return [free[hash_of(value) % len(free)] if value in avoid else value for value in values]


def hash_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def subject_of(name: str | None) -> str:
    """The school subject that a course's name begins with; Biology where it names none."""
    for subject in SUBJECTS:
        if name and name.startswith(subject):
            return subject
    return list(SUBJECTS)[hash_of(name or "") % len(SUBJECTS)]


def work_titles(draw: Draw, courses: Sequence[str | None], kinds: Sequence[str] = WORK_KINDS) -> list[str]:
    """Titles such as "Lab report: osmosis" that fit the subject of each row's course."""
    about = draw.uniform("about")
    titles = []
    for kind, share, course in zip(draw.pick("kind", kinds), about.tolist(), courses, strict=True):
        topics = SUBJECTS[subject_of(course)]
        titles.append(f"{kind}: {topics[int(share * len(topics))]}")
    return titles


def between(draw: Draw, purpose: str, low: Ints, high: Ints, power: float = 1.0, step: int = 60) -> Ints:
    """Moments in [low, high], sooner rather than later for power > 1, rounded down to `step` seconds."""
    span = np.maximum(high - low, 0)
    moments = low + (draw.uniform(purpose) ** power * span).astype(np.int64)
    result: Ints = np.maximum(moments - moments % step, np.minimum(low, high))
    return result


def blanked(draw: Draw, purpose: str, values: list[Any], share: float) -> list[Any]:
    """A share of the values left out."""
    if share <= 0:
        return values
    gone = (draw.uniform(f"{purpose}/null") < share).tolist()
    return [None if out else value for value, out in zip(values, gone, strict=True)]
