"""What the viewer shows of a Step, worked out purely: its title and figures, changes by table, evidence links, bars.

`summarise` is computed once, when the step is recorded; the other functions when a page is rendered.

Limits: tokens are estimated at four characters each (the figures are marked with ≈). A criterion is linked to the
steps that touched a table or file that its name or detail mentions: a help to the reader, not a proof.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sandbox_app.interfaces import OPEN, observation
from sandbox_app.storing import storable
from sandbox_app.trajectories import CellResult, RowChange, Step

TITLE = 90
CHARACTERS_A_TOKEN = 4
EVIDENCE_STEPS = 3                   # the first ones; more would be no help


@dataclass(frozen=True, slots=True)
class Touched:
    """One table or file that a step changed, with counts."""

    kind: Literal["table", "file"]
    name: str
    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def says(self) -> str:
        """ "+2 ~1 −3", the zeros left out."""
        parts = (("+", self.added), ("~", self.changed), ("−", self.removed))
        return " ".join(f"{sign}{count}" for sign, count in parts if count)


@dataclass(frozen=True, slots=True)
class Summary:
    title: str
    kind: Literal["code", "answer", "malformed"]
    outcome: str
    calls: int
    failed_calls: int
    changed_rows: int
    changed_files: int
    returned_tokens: int
    kept_tokens: int
    touched: tuple[Touched, ...]


def token_estimate(characters: int) -> int:
    return math.ceil(characters / CHARACTERS_A_TOKEN)


def summarise(step: Step) -> Summary:
    """The columns of a StepRow. Kept tokens: what tools answered beyond what was printed."""
    result = step.result
    if result is None:
        return Summary("Answer", "answer", "", 0, 0, 0, 0, 0, 0, ())
    returned = token_estimate(len(observation(result)))
    answered = token_estimate(sum(call.bytes for call in result.calls))
    return Summary(
        title=title(step),
        kind="code" if step.code is not None else "malformed",
        outcome=result.outcome,
        calls=len(result.calls),
        failed_calls=sum(not call.ok for call in result.calls),
        changed_rows=len(result.rows),
        changed_files=len(result.files),
        returned_tokens=returned,
        kept_tokens=max(0, answered - returned),
        touched=touched(step),
    )


def title(step: Step) -> str:
    """What the step does in a few words: its first comment, else its tools, files, what it printed, what was said."""
    if step.code is None:
        return "Answer" if step.result is None else "A malformed call"
    first = step.code.lstrip().split("\n", 1)[0]
    comment = first.lstrip("# ").strip() if first.startswith("#") else ""
    said = step.message.split(OPEN, 1)[0].strip().split("\n", 1)[0]
    chosen = comment[:1].upper() + comment[1:] or _did(step.result) or said or first or "A cell"
    return storable(chosen if len(chosen) <= TITLE else chosen[: TITLE - 1].rstrip() + "…")


def _did(result: CellResult | None) -> str:
    """ "events_list, events_patch", "writes moved.csv" or "→ clash: 4"; "" when nothing of it happened."""
    if result is None:
        return ""
    tools = list(dict.fromkeys(call.tool for call in result.calls))
    if tools:
        return ", ".join(tools[:3]) + (" …" if len(tools) > 3 else "")
    if result.files:
        return f"writes {result.files[0].path}" + (" …" if len(result.files) > 1 else "")
    if result.error is not None:
        return result.error.name
    printed = result.stdout.strip().split("\n", 1)[0]
    return f"→ {printed}" if printed else ""


def touched(step: Step) -> tuple[Touched, ...]:
    if step.result is None:
        return ()
    counts: dict[tuple[str, str], list[int]] = {}
    for row in step.result.rows:
        place = 0 if row.before is None else 2 if row.after is None else 1
        counts.setdefault(("table", row.table), [0, 0, 0])[place] += 1
    for file in step.result.files:
        place = {"added": 0, "changed": 1, "removed": 2}[file.change]
        counts.setdefault(("file", file.path), [0, 0, 0])[place] += 1
    return tuple(Touched(kind, name, *numbers) for (kind, name), numbers in counts.items())  # type: ignore[arg-type]


def touched_to_json(parts: Sequence[Touched]) -> list[list[Any]]:
    return [[part.kind, storable(part.name), part.added, part.changed, part.removed] for part in parts]


def touched_from_json(rows: Sequence[Sequence[Any]]) -> tuple[Touched, ...]:
    return tuple(Touched(*row) for row in rows)


@dataclass(frozen=True, slots=True)
class Cell:
    """One column of a changed row."""

    column: str
    before: Any
    after: Any
    changed: bool


@dataclass(frozen=True, slots=True)
class ChangedRow:
    sign: Literal["+", "~", "−"]
    word: Literal["added", "changed", "removed"]
    key: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class ChangedTable:
    name: str
    added: int
    changed: int
    removed: int
    rows: tuple[ChangedRow, ...]


def changed_tables(changes: Sequence[RowChange]) -> tuple[ChangedTable, ...]:
    """Changes by table, by first change; of an update the columns that differ, else all that have a value."""
    by_table: dict[str, list[ChangedRow]] = {}
    for change in changes:
        by_table.setdefault(change.table, []).append(_changed_row(change))
    return tuple(
        ChangedTable(
            name=name,
            added=sum(row.sign == "+" for row in rows),
            changed=sum(row.sign == "~" for row in rows),
            removed=sum(row.sign == "−" for row in rows),
            rows=tuple(rows),
        )
        for name, rows in by_table.items()
    )


def _changed_row(change: RowChange) -> ChangedRow:
    key = ", ".join(str(value) for value in change.key.values())
    before, after = change.before, change.after
    if before is None:
        return ChangedRow("+", "added", key, _cells({}, after or {}))
    if after is None:
        return ChangedRow("−", "removed", key, _cells(before, {}))
    changed = tuple(cell for cell in _cells(before, {**after, **change.key}) if cell.changed)   # a key does not change
    return ChangedRow("~", "changed", key, changed)


def _cells(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Cell, ...]:
    columns = list(dict.fromkeys([*before, *after]))
    cells = (Cell(name, before.get(name), after.get(name), before.get(name) != after.get(name)) for name in columns)
    return tuple(cell for cell in cells if cell.before is not None or cell.after is not None)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the timeline in a drawing of HEIGHT units: what entered the context at the foot, what stayed above."""

    index: int
    title: str
    entered_tokens: int
    kept_tokens: int
    entered: float
    kept: float
    kept_y: float
    entered_y: float
    erred: bool


HEIGHT = 48.0
_LEAST = 3.0


def bars(steps: Sequence[Any]) -> tuple[Bar, ...]:
    """`steps` are StepRows. Heights go by the square root, so that 60 tokens beside 80,000 are still seen."""
    most = max((step.returned_tokens + step.kept_tokens for step in steps), default=0)
    return tuple(_bar(step, most) for step in steps)


def _bar(step: Any, most: int) -> Bar:
    total = step.returned_tokens + step.kept_tokens
    height = HEIGHT * math.sqrt(total / most) if most else 0.0
    entered = max(_LEAST, height * step.returned_tokens / total) if total else _LEAST
    kept = max(0.0, min(height, HEIGHT) - entered)
    return Bar(
        index=step.index, title=step.title, entered_tokens=step.returned_tokens, kept_tokens=step.kept_tokens,
        entered=round(entered, 1), kept=round(kept, 1), entered_y=round(HEIGHT - entered, 1),
        kept_y=round(HEIGHT - entered - kept, 1), erred=step.erred,
    )


@dataclass(frozen=True, slots=True)
class Folded:
    """A long text's beginning, and how much is hidden."""

    text: str
    hidden: int
    characters: int


def fold(text: str, limit: int, *, whole: bool = False) -> Folded:
    """The first `limit` characters, cut at a line's end where there is one near."""
    if whole or len(text) <= limit:
        return Folded(text, 0, len(text))
    cut = text.rfind("\n", limit // 2, limit)
    head = text[: cut if cut > 0 else limit]
    return Folded(head, len(text) - len(head), len(text))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A criterion with the steps to look at."""

    name: str
    passed: bool
    detail: str
    steps: tuple[int, ...]


def evidence(criteria: Sequence[Mapping[str, Any]], steps: Sequence[Any]) -> tuple[Evidence, ...]:
    """`steps` are StepRows; a criterion that speaks of the answer is linked to the last."""
    places = [(step.index, touched_from_json(step.touched)) for step in steps]
    found = []
    for criterion in criteria:
        text = f"{criterion['name']} {criterion.get('detail', '')}".casefold()
        linked = [index for index, parts in places if any(_mentions(text, part.name) for part in parts)]
        if not linked and "answer" in text and steps and steps[-1].kind == "answer":
            linked = [steps[-1].index]
        detail = str(criterion.get("detail", ""))
        shown = tuple(linked[:EVIDENCE_STEPS])
        found.append(Evidence(str(criterion["name"]), bool(criterion["passed"]), detail, shown))
    return tuple(found)


def _mentions(text: str, name: str) -> bool:
    """ "event" is spoken of as "events", "course_work" as "course work"."""
    spoken = re.escape(name.casefold().replace("_", " "))
    return re.search(rf"(?<![\w.]){spoken}(e?s)?(?!\w)", text.replace("_", " ")) is not None
