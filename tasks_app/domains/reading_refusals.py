"""Documented failures that can be computed from the state: when a tool refuses, and with which code.

Of the errors a method documents, those are read that speak of rows and columns the model has; errors about accounts,
licences and quotas of the service have nothing to stand on and stay words. Each refusal is
`{"code", "if", "says", …}` by its kind:

    column  a column of the row has a value          {"column", "equals"}
    row     a row of another entity stands in the way {"entity", "by": {its column: our column}}
    parent  a column of the parent names this row     {"entity", "column", "equals": our column}
    same    another row has the same values           {"columns"}
    member  the membership that is offered exists     {"by", "targets": {value: entity}, "copy": {its: our column}}
    empty   nobody would be left                      {"part"}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tasks_app.domains import reading_prose as prose
from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Effect, Entity, ErrorCase
from tasks_app.domains.reading_effects import Context
from tasks_app.domains.reading_members import accept

Refusal = dict[str, Any]
DELETED = re.compile(r"has already been (\w+)")
ALREADY_A = re.compile(r"is already an? ([\w ]+?) in the (\w+)")
SAME = re.compile(r"there exists an? (\w+) in the (\w+) with the same (\w+)")
PRIMARY = re.compile(r"belongs to the (?:primary \w+|owner) of (?:this|the) (\w+)$")
HAS_ROLE = re.compile(r"user already has this role")
EMPTY = re.compile(r"\bEmpty(\w+)")


def refusals(context: Context, effect: Effect) -> dict[str, Any]:
    """{"refuses": […]} or {}."""
    found = [refusal for case in prose.errors(context.tool.description) for refusal in _of(context, effect, case)]
    return {"refuses": found} if found else {}


def _of(context: Context, effect: Effect, case: ErrorCase) -> list[Refusal]:
    result = []
    for reader in READERS:
        body = reader(context, effect, case.when)
        if body:
            result.append({"code": case.code, **body, "says": case.when})
    return result


def _column(context: Context, effect: Effect, text: str) -> Refusal | None:
    said = DELETED.search(text)
    for attr in context.entity.attrs if said and effect.kind != "delete" else ():
        value = next((v for v in attr.enum if said and v.lower() == said.group(1)), "")
        if value and attr.role == "status":
            return {"if": "column", "column": attr.column, "equals": value}
    return None


def _row(context: Context, effect: Effect, text: str) -> Refusal | None:
    """ "the user is already a student or teacher in the course": the other membership of the same two keys."""
    said = ALREADY_A.search(text)
    nouns = said.group(1).split(" or ") if said else []
    others = [e for e in context.world.entities if e.noun in nouns and e.name != context.entity.name]
    same = [e for e in others if e.key == context.entity.key]
    return {"if": "row", "entity": same[0].name, "by": {c: c for c in same[0].key}} if same else None


def _parent(context: Context, effect: Effect, text: str) -> Refusal | None:
    said = PRIMARY.search(text)
    above = _named(context, said.group(1)) if said else None
    own = context.entity.own_key
    if above is None or not own:
        return None
    target = context.entity.attr(own).references
    owner = next(
        (
            a.column
            for a in above.attrs
            if a.references == target or (a.references and target and a.column == "owner_id")
        ),
        "",
    )
    return {"if": "parent", "entity": above.name, "column": owner, "equals": own} if owner and target else None


def _same(context: Context, effect: Effect, text: str) -> Refusal | None:
    said = SAME.search(text)
    above = _named(context, said.group(2)) if said else None
    column = next((a.column for a in context.entity.attrs if said and a.path == said.group(3)), "")
    keys = [p.column for p in context.entity.parents if above and p.entity == above.name]
    return {"if": "same", "columns": [*keys, column]} if keys and column else None


def _member(context: Context, effect: Effect, text: str) -> Refusal | None:
    """What accepting would make exists already."""
    sibling = context.sibling("accept")
    if not HAS_ROLE.search(text) or sibling is None:
        return None
    made = accept(
        Context(sibling, context.entity, context.world, context.schemas, context.document, context.arguments, ())
    )
    return {"if": "member", **{k: made.detail[k] for k in ("by", "targets", "copy")}} if made else None


def _empty(context: Context, effect: Effect, text: str) -> Refusal | None:
    part = str(effect.detail.get("part", ""))
    return {"if": "empty", "part": part} if part and EMPTY.search(text) else None


def _named(context: Context, noun: str) -> Entity | None:
    """The parent that a noun names."""
    above = {parent.entity for parent in context.entity.parents}
    return next(
        (e for e in context.world.entities if e.name in above and lexicon.stem(e.name) == lexicon.words(noun)), None
    )


READERS: tuple[Callable[[Context, Effect, str], Refusal | None], ...] = (_column, _row, _parent, _same, _member, _empty)
