"""Files of the workspace: those that a task plants, and the background that people have lying about.

Background file i depends on the seed and i alone, so a larger workspace contains a smaller one. Nothing is ever put
under inbox/, policies/ or reports/, nor at the top, where tasks read and write.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tasks_app.environments.runtime.pools import (
    FAMILY,
    FILE_STEMS,
    FOLDERS,
    GIVEN,
    ITEMS,
    NOTE_LINES,
    WORDS,
)


def background_file(seed: int, index: int, now: str) -> tuple[str, str]:
    """Path and text of the i-th file that has nothing to do with any task."""
    rng = random.Random(f"{seed}/file/{index}")
    kind = rng.choice(("md", "txt", "csv", "csv", "json", "log"))
    day = date.fromisoformat(now[:10]) - timedelta(days=rng.randrange(3, 500))
    path = f"{rng.choice(FOLDERS)}/{rng.choice(FILE_STEMS[kind])}_{day:%Y-%m-%d}_{index:03d}.{kind}"
    makers = {"md": _note, "txt": _letter, "csv": _table, "json": _settings, "log": _log}
    return path, makers[kind](rng, day)


def _note(rng: random.Random, day: date) -> str:
    lines = rng.sample(NOTE_LINES, rng.randrange(3, 8))
    marks = ("- [ ] ", "- [x] ")
    return f"# Notes of {day:%d %B %Y}\n\n" + "\n".join(rng.choice(marks) + line for line in lines) + "\n"


def _letter(rng: random.Random, day: date) -> str:
    given, family = rng.choice(GIVEN)[0], rng.choice(FAMILY)[0]
    body = " ".join(rng.sample(NOTE_LINES, rng.randrange(2, 6)))
    return f"{day:%d.%m.%Y}\n\nDear {given} {family},\n\n{body}\n\nKind regards\n"


def _table(rng: random.Random, day: date) -> str:
    rows = [
        (day + timedelta(days=rng.randrange(30)), rng.choice(ITEMS), rng.randrange(1, 40), rng.randrange(50, 5000))
        for _ in range(rng.randrange(5, 25))
    ]
    lines = [
        f"{when:%Y-%m-%d},{item},{count},{cents // 100}.{cents % 100:02d}" for when, item, count, cents in sorted(rows)
    ]
    return "date,item,count,cost\n" + "\n".join(lines) + "\n"


def _settings(rng: random.Random, day: date) -> str:
    words = rng.sample(WORDS, 5)
    value = {
        "saved": f"{day:%Y-%m-%d}",
        "theme": words[0],
        "columns": words[1:4],
        "pageSize": rng.choice((20, 50, 100)),
    }
    return json.dumps(value, indent=2) + "\n"


def _log(rng: random.Random, day: date) -> str:
    steps = ("connected", "listed folder", "copied", "skipped, unchanged", "retry after timeout", "done")
    lines = []
    minute = rng.randrange(0, 600)
    for _ in range(rng.randrange(8, 30)):
        minute += rng.randrange(1, 9)
        lines.append(
            f"{day:%Y-%m-%d} {minute // 60 % 24:02d}:{minute % 60:02d} INFO {rng.choice(steps)} {rng.choice(WORDS)}"
        )
    return "\n".join(lines) + "\n"


def render_file(plant: Mapping[str, Any], header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A planted file as text, in its format."""
    kind = plant.get("format") or plant["path"].rpartition(".")[2]
    if "text" in plant:
        return str(plant["text"])
    if kind == "json":
        return json.dumps([dict(zip(header, row, strict=True)) for row in rows], ensure_ascii=False, indent=2) + "\n"
    if kind == "md":
        lines = ["| " + " | ".join(map(str, row)) + " |" for row in (header, ["---"] * len(header), *rows)]
        return "\n".join(lines) + "\n"
    if kind == "txt":
        return "\n".join(" ".join(map(str, row)) for row in rows) + "\n"
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


def write_files(workspace: Path, planted: Mapping[str, str], *, seed: int, count: int, now: str) -> None:
    """The planted files and as many of the background as make `count`."""
    for path, text in planted.items():
        _write(workspace, path, text)
    for index in range(count - len(planted)):
        _write(workspace, *background_file(seed, index, now))


def _write(workspace: Path, path: str, text: str) -> None:
    target = workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())
