"""How fast an environment is filled, next to what one would write without thinking: a row at a time from `random`.

The published baseline is Faker; it is not among the project's packages, so the one here is plain python: the same
tables, keys, references and pools, a dictionary a row and one INSERT each. That flatters the baseline (Faker alone
needs half a millisecond a row), and it keeps none of what populate keeps: exact sizes, nesting, consistent times.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tasks_app.domains.reading import read_domain
from tasks_app.environments.compiler import compile_package
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.toolpool import read_source

ROWS = 50_000
SOURCES = ("classroom:v1", "calendar:v3")
BASE = {"base": {"rows": 300, "files": 12}}


def measure(rows: int = ROWS) -> dict[str, dict[str, Any]]:
    """Rows a second of both packages together: the best of three, the image's serialisation left out."""
    ours = naive = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for source in SOURCES:
            package = compile_package(read_domain(read_source(source)), Path(folder) / source.partition(":")[0])
            ours += min(_populate(package, rows) for _ in range(3))
            naive += _naive(package, rows // 10) * 10
    total = rows * len(SOURCES)
    return {
        "rows_per_s": {
            "value": round(total / ours),
            "unit": "rows/s",
            "aim": 100_000,
            "baseline": round(total / naive),
            "baseline_what": "python random, one INSERT a row, nothing kept consistent (Faker is not installed)",
            "ratio": round(naive / ours, 2),
        },
        "seconds_50k": {
            "value": round(max(ours / len(SOURCES), 0.01) * 50_000 / rows, 2),
            "unit": "s",
            "aim": 5,
            "baseline": None,
            "baseline_what": "",
            "ratio": None,
        },
    }


def _populate(package: EnvironmentPackage, rows: int) -> float:
    populate = package.module("populate").populate
    database = package.empty()
    with tempfile.TemporaryDirectory() as workspace:
        started = time.perf_counter()
        populate(database, Path(workspace), seed=1, rows=rows, files=40, directives=BASE)
        database.commit()
        seconds = time.perf_counter() - started
    database.close()
    return seconds


def _naive(package: EnvironmentPackage, rows: int) -> float:
    """Seconds for as many rows of the same tables, made one after another."""
    module = package.module("populate")
    database = package.empty()
    rng = random.Random(1)
    made: dict[str, list[dict[str, Any]]] = {table["table"]: [] for table in module.TABLES}
    weight = sum(table["weight"] for table in module.TABLES)
    started = time.perf_counter()
    for table in module.TABLES:
        for _ in range(round(rows * table["weight"] / weight)):
            _naive_row(database, rng, table, made, module.POOLS)
    database.commit()
    seconds = time.perf_counter() - started
    count = sum(map(len, made.values()))
    database.close()
    return seconds * rows / max(count, 1)


def _naive_row(
    database: sqlite3.Connection,
    rng: random.Random,
    table: Mapping[str, Any],
    made: Mapping[str, list[dict[str, Any]]],
    pools: Mapping[str, list[str]],
) -> None:
    row: dict[str, Any] = {}
    for column in table["columns"]:
        row[column["column"]] = _naive_value(rng, column, pools)
    for link in table["links"]:
        if made[link["table"]]:
            parent = rng.choice(made[link["table"]])
            row.update({ours: parent[theirs] for ours, theirs in zip(link["columns"], link["target"], strict=True)})
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" for _ in row)
    database.execute(f'INSERT OR REPLACE INTO "{table["table"]}" ({names}) VALUES ({marks})', tuple(row.values()))
    made[table["table"]].append(row)


def _naive_value(rng: random.Random, column: Mapping[str, Any], pools: Mapping[str, list[str]]) -> Any:
    kind = column["fill"][0]
    if kind == "enum":
        return rng.choices(list(column["fill"][1]), list(column["fill"][1].values()))[0]
    if kind == "pool":
        return rng.choice(pools[column["fill"][1]] if isinstance(column["fill"][1], str) else column["fill"][1])
    if column["kind"] == "boolean":
        return int(rng.random() < 0.1)
    if column["kind"] == "timestamp":
        return f"2026-{rng.randrange(8, 11):02d}-{rng.randrange(1, 29):02d}T{rng.randrange(7, 18):02d}:30:00Z"
    if column["nulls"] and kind not in ("work", "material", "course", "meeting", "full", "email", "id", "created"):
        return column["default"]
    return str(rng.randrange(10**11, 10**12)) if kind == "id" else f"{rng.choice(pools['WORDS'])} {rng.random()}"


if __name__ == "__main__":
    import json

    print(json.dumps(measure(), indent=1))
