"""What growth must keep: rules 1 to 9 of DESIGN.md's *Scaling*, each a function that gives a Proof.

A proof that is not held names the row or text at fault and says what to do. Rule 10 (token presets) does not apply:
the unit of size is rows and files. The functions read tables and runs; they build nothing and execute nothing.

Limits: order in lists is taken as key order (rule 7); an id is "visible" where its text stands in an earlier answer,
in a file of the workspace or in the instruction (rule 6), whatever it was said of there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks_app.domains.model import DomainModel, Entity
from tasks_app.environments.state import State
from tasks_app.rows import Change, Key, Row, Tables, changes, derived_columns, ids, stored, system_columns, without

Json = Any
FEW = 5  # below so many base rows, or twice as many added ones, "interleaved" says nothing


@dataclass(frozen=True, slots=True)
class Proof:
    """`detail` says what was compared; where it is not held, which row or text is at fault and what to do."""

    rule: int
    name: str
    held: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Called:
    """One call of the reference, with its whole answer."""

    tool: str
    arguments: Mapping[str, Json]
    value: Json
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """The reference at one size: what was there, what is there now, what it said, what it called."""

    before: Tables
    after: Tables
    files_before: Mapping[str, bytes]
    files_after: Mapping[str, bytes]
    answer: str
    calls: Sequence[Called]


def base_kept(
    model: DomainModel, base: Tables, grown: Tables, base_files: Mapping[str, bytes], grown_files: Mapping[str, bytes]
) -> Proof:
    """Rule 1: base rows and files identical; derived columns are recomputed and not compared."""
    name, count = "base rows and files are identical", 0
    for entity in stored(model):
        derived = derived_columns(entity)
        for key, row in base.get(entity.name, {}).items():
            other = grown.get(entity.name, {}).get(key)
            if other is None:
                return Proof(
                    1, name, False, f"{entity.name} {key} is gone; populate must make the base from its seed alone"
                )
            if without(row, derived) != without(other, derived):
                return Proof(
                    1,
                    name,
                    False,
                    f"{entity.name} {key} differs: {_difference(row, other)}; "
                    "growth must not draw from the base's randomness",
                )
            count += 1
    for path, body in base_files.items():
        if grown_files.get(path) != body:
            return Proof(1, name, False, f"file {path} differs or is gone; growth may only add files")
    return Proof(1, name, True, f"{count} rows and {len(base_files)} files compared, all equal")


def _difference(row: Row, other: Row) -> str:
    pairs = [f"{column} {row[column]!r} → {other.get(column)!r}" for column in row if row[column] != other.get(column)]
    return ", ".join(pairs[:3])


def texts_equal(pairs: Mapping[str, tuple[str, str]]) -> Proof:
    """Rule 2: name of a text → its hash at the base and at this size."""
    for what, (base, grown) in pairs.items():
        if base != grown:
            return Proof(
                2,
                "same instruction, schemas, verifier, reference",
                False,
                f"{what}: {base[:12]} became {grown[:12]}; a task never changes with size, make another task",
            )
    shown = ", ".join(f"{what} {base[:8]}" for what, (base, _) in pairs.items())
    return Proof(2, "same instruction, schemas, verifier, reference", True, f"equal by hash: {shown}")


def names_unique(model: DomainModel, texts: Iterable[str], base: Tables, grown: Tables) -> Proof:
    """Rule 3: what the instruction names by a natural key means the same rows at this size."""
    name, counted = "names in the instruction stay unique", 0
    said = set(texts)
    for entity in stored(model):
        for column in entity.natural_keys:
            before = Counter(row.get(column) for row in base.get(entity.name, {}).values())
            after = Counter(row.get(column) for row in grown.get(entity.name, {}).values())
            for text in sorted(said & {value for value in after if isinstance(value, str)}):
                counted += 1
                if after[text] != before[text]:
                    return Proof(
                        3,
                        name,
                        False,
                        f"{entity.name}.{column} {text!r} is borne by {after[text]} rows, by "
                        f"{before[text]} at the base; keep it out of the pools that growth draws from",
                    )
    return Proof(3, name, True, f"{counted} names of the instruction found in the data, none borne by an added row")


def named_texts(instruction: str, literals: Iterable[str]) -> set[str]:
    """What an instruction names: its quotations, and literals of the plan that stand in it."""
    quoted = set(re.findall(r'"([^"]+)"', instruction))
    return quoted | {text for text in literals if text and text in instruction}


def foreign_keys_clean(model: DomainModel, state: State, grown: Tables) -> Proof:
    """Rule 4: every foreign key meets a row: those that SQL knows, and strict references of the model."""
    name = "foreign keys are clean"
    connection = state.connect()
    try:
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    finally:
        connection.close()
    if broken:
        return Proof(
            4, name, False, f"{len(broken)} rows, first {broken[0]}; parents must be made before their children"
        )
    checked = 0
    for entity in stored(model):
        for attr in entity.attrs:
            link = attr.references
            if link is None or not getattr(link, "strict", True):
                continue
            targets = {row.get(link.column) for row in grown.get(link.entity, {}).values()}
            for key, row in grown.get(entity.name, {}).items():
                checked += 1
                if row[attr.column] is not None and row[attr.column] not in targets:
                    return Proof(
                        4,
                        name,
                        False,
                        f"{entity.name} {key}: {attr.column} {row[attr.column]!r} meets no {link.entity}; "
                        "populate must draw it from the rows that are there",
                    )
    return Proof(4, name, True, f"{checked} references checked")


def _essence(model: DomainModel, change: Change) -> tuple[str, Any, Any]:
    """A change without what a server assigns: the same for the same effect, whatever ids and clocks say."""
    entity = model.entity(change.entity)
    ignored = system_columns(entity) | derived_columns(entity)
    key: Key | None = change.key
    if change.before is None and entity.key_assigned_by == "server":
        ignored = ignored | {entity.own_key}
        key = None
    after = None if change.after is None else tuple(sorted(without(change.after, ignored).items(), key=repr))
    return change.entity, key, after


def effects_equal(model: DomainModel, base: Ran, grown: Ran, *, growing: bool) -> Proof:
    """Rule 5: the same effects on base rows, and no added row qualifies, unless the plan is declared growing."""
    name = "same effects on base rows"
    before = Counter(_essence(model, change) for change in changes(model, base.before, base.after))
    after = Counter(_essence(model, change) for change in changes(model, grown.before, grown.after))
    lost, more = before - after, after - before
    if lost:
        return Proof(
            5,
            name,
            False,
            f"an effect of the base is missing here: {_shown(next(iter(lost)))}; a name or a page is lost",
        )
    if growing:
        return Proof(
            5,
            name,
            True,
            f"{sum(before.values())} effects as at the base; declared growing: {sum(more.values())} "
            "added rows qualify by the same condition",
        )
    if more:
        return Proof(
            5,
            name,
            False,
            f"an added row qualifies: {_shown(next(iter(more)))}; narrow what growth sets, or declare the plan growing",
        )
    if base.answer != grown.answer:
        return Proof(5, name, False, f"the answer was {base.answer!r} and is {grown.answer!r}; an added row counts")
    for path in sorted(_written(base) | _written(grown)):
        if base.files_after.get(path) != grown.files_after.get(path):
            return Proof(5, name, False, f"{path} is not what it is at the base; an added row is listed in it")
    return Proof(
        5,
        name,
        True,
        f"{sum(before.values())} changed rows, {len(_written(base))} files and the answer are as at the base",
    )


def _shown(essence: tuple[str, Any, Any]) -> str:
    return f"{essence[0]} {essence[1] or dict(essence[2] or ())}"[:200]


def _written(ran: Ran) -> set[str]:
    return {path for path, body in ran.files_after.items() if ran.files_before.get(path) != body}


def _words(value: Json) -> Iterable[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _words(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _words(part)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def ids_visible(model: DomainModel, instruction: str, ran: Ran) -> Proof:
    """Rule 6: each id that the reference hands over was seen before: in an answer, a file or the instruction."""
    name, counted = "each id is seen before it is used", 0
    known = ids(model, ran.before)
    seen: set[str] = {"me", "primary"}
    prose = instruction + "\n" + "\n".join(body.decode("utf-8", "replace") for body in ran.files_before.values())
    for call in ran.calls:
        for word in _words(call.arguments):
            if word in known:
                counted += 1
                if word not in seen and word not in prose:
                    return Proof(
                        6,
                        name,
                        False,
                        f"{call.tool} is given {word!r}, which no earlier answer shows; the plan reads "
                        "something that no read tool gives",
                    )
        seen.update(_words(call.value))
    return Proof(6, name, True, f"{counted} ids in {len(ran.calls)} calls, each seen before")


def interleaved(model: DomainModel, base: Tables, grown: Tables) -> Proof:
    """Rule 7: in key order added rows lie among those of the base, not all behind or all before them."""
    name, looked = "added rows lie among the base rows", 0
    for entity in stored(model):
        old = base.get(entity.name, {})
        new = [key for key in grown.get(entity.name, {}) if key not in old]
        if len(old) < FEW or len(new) < 2 * FEW:
            continue
        looked += 1
        first, last = min(old, key=repr), max(old, key=repr)
        inside = sum(repr(first) < repr(key) < repr(last) for key in new)
        if inside == 0:
            return Proof(
                7,
                name,
                False,
                f"{entity.name}: all {len(new)} added rows lie outside the base's range of keys; "
                "keys must be drawn at random, not counted up",
            )
    return Proof(7, name, True, f"{looked} tables with enough rows to tell, each interleaved")


_COUNT = re.compile(r"^(count|sum)\((\w+)(?:\.(\w+))?\)$")


def aggregates_agree(model: DomainModel, grown: Tables) -> Proof:
    """Rule 8: no stored aggregate contradicts its rows."""
    name, checked = "stored aggregates agree with their rows", 0
    for entity in stored(model):
        for attr in entity.attrs:
            match = _COUNT.match(attr.derived)
            if match is None:
                continue
            expected = _aggregate(model, entity, match, grown)
            for key, row in grown.get(entity.name, {}).items():
                checked += 1
                if (row[attr.column] or 0) != expected.get(row[entity.own_key], 0):
                    return Proof(
                        8,
                        name,
                        False,
                        f"{entity.name} {key}: {attr.column} is {row[attr.column]}, its rows give "
                        f"{expected.get(row[entity.own_key], 0)}; recompute derived columns after growth",
                    )
    return Proof(
        8, name, True, f"{checked} stored aggregates recomputed" if checked else "this domain stores no aggregate"
    )


def _aggregate(model: DomainModel, entity: Entity, match: re.Match[str], grown: Tables) -> dict[Any, float]:
    """Value by own key of `entity`, over the rows of the child that reference it."""
    kind, child_name, column = match.groups()
    child = model.entity(child_name)
    link = next(attr.column for attr in child.attrs if attr.references and attr.references.entity == entity.name)
    found: dict[Any, float] = {}
    for row in grown.get(child_name, {}).values():
        found[row[link]] = found.get(row[link], 0) + (1 if kind == "count" else row[column] or 0)
    return found


def wrong_attempts_fail(rewards: Mapping[str, float], *, nothing_to_do: bool) -> Proof:
    """Rule 9: attempts at a wrong target fail, and doing nothing fails unless nothing is to do."""
    name = "wrong targets and doing nothing fail"
    for attempt, reward in rewards.items():
        expected = 1.0 if attempt == "nothing" and nothing_to_do else 0.0
        if reward != expected and not (attempt == "nothing" and nothing_to_do):
            return Proof(
                9,
                name,
                False,
                f"“{attempt}” was given {reward}; the verifier has a hole, or the size has lost what "
                "tells the two apart",
            )
    return Proof(9, name, True, f"{len(rewards)} wrong attempts judged: {', '.join(sorted(rewards))}")


def token_count(calls: Iterable[Called]) -> int:
    """Tokens that the reference's reads return, by `TOKEN_COUNTER`: a quarter of their bytes as compact JSON."""
    return (
        sum(
            len(json.dumps(call.value, ensure_ascii=False, separators=(",", ":")).encode())
            for call in calls
            if not call.writes
        )
        // 4
    )


TOKEN_COUNTER = "utf8-bytes/4"
