"""Forecast of a size nobody has made yet, from the sizes that were measured. Pure.

Bytes, tokens and calls are taken as straight lines in the number of rows between measured points, and go on with the
slope of the last two beyond them; the time grows with rows likewise. It is a forecast: the job's measures replace it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

SECONDS_EACH_ROW, SECONDS_BASE = 1 / 4000, 0.6  # used until this task has a measured time of its own


@dataclass(frozen=True, slots=True)
class Point:
    rows: int
    files: int
    database_bytes: int | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    rows: int
    files: int
    database_bytes: int | None
    tokens: int | None
    calls: int | None
    seconds: float
    beyond: bool  # larger than anything measured


def line(points: Sequence[tuple[int, float]], at: int) -> float | None:
    """The value at `at` on straight lines through `points` (by x); None with fewer than two of them."""
    known = sorted(dict(points).items())
    if len(known) < 2:
        return None
    upper = next((i for i, (x, _) in enumerate(known) if x >= at), len(known) - 1)
    (x0, y0), (x1, y1) = known[max(upper, 1) - 1], known[max(upper, 1)]
    return max(0.0, y0 + (y1 - y0) * (at - x0) / (x1 - x0))


def forecast(points: Sequence[Point], rows: int, files: int) -> Forecast:
    """What `rows` and `files` will come to, given the measured `points` of the same task."""

    def at(read: Callable[[Point], float | None]) -> int | None:
        value = line([(p.rows, v) for p in points if (v := read(p)) is not None], rows)
        return None if value is None else round(value)

    timed = [p for p in points if p.seconds is not None and p.rows]
    rate = max((p.seconds / p.rows for p in timed if p.seconds is not None), default=SECONDS_EACH_ROW)
    return Forecast(
        rows,
        files,
        at(lambda p: p.database_bytes),
        at(lambda p: p.tokens),
        at(lambda p: p.calls),
        SECONDS_BASE + rows * rate,
        rows > max((p.rows for p in points), default=0),
    )
