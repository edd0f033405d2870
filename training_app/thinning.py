"""Fewer points for a chart, keeping its extremes: the lowest and the highest of each bucket, in order. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def thin(points: Sequence[Mapping[str, Any]], most: int, key: str) -> list[Mapping[str, Any]]:
    """At most `most` points (and those without the key, which are few, all kept)."""
    drawn = [index for index, point in enumerate(points) if point.get(key) is not None]
    if len(drawn) <= most:
        return list(points)
    size = -(-len(drawn) * 2 // most)
    kept: set[int] = {drawn[0], drawn[-1]}
    for start in range(0, len(drawn), size):
        bucket = drawn[start : start + size]
        kept.add(min(bucket, key=lambda index: points[index][key]))
        kept.add(max(bucket, key=lambda index: points[index][key]))
    return [point for index, point in enumerate(points) if index in kept or point.get(key) is None]
