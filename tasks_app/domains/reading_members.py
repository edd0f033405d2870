"""Verbs of membership: who is added to a thing or taken from it, and invitations that become memberships.

A request that lists things to add or remove (`addStudentIds`, `removeLabelIds`) speaks of a part of ids or of a list
column whose noun is the same; a verb alone never is enough.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Effect, Entity
from tasks_app.domains.reading_effects import Context, server_values

MEMBER_VERBS = ("modify", "add", "remove", "set", "batch")
REMOVING = re.compile(r"removing it and adding the (?:\w+ )*?(\w+) to the (\w+) or (\w+)", re.I)
ONLY_OWNER = re.compile(
    r"[Oo]nly the (\w+) that owns|only be called by the (\w+) that owns|[Oo]nly the invited (\w+) may"
)
TYPED = re.compile(r"with a `(\w+)` of `(\w+)`")
ONLY_WHEN = re.compile(r"only when `\w+` is `([A-Z_]+)`")
Ways = Mapping[tuple[str, tuple[str, ...]], str]  # ("add", noun) → dotted path in the request


def members(context: Context) -> Effect | None:
    """addX / removeX lists of a request, over a part of ids or a list column of that noun."""
    if context.verb[0] not in MEMBER_VERBS or not context.tool.request:
        return None
    ways = _ways(context, {"$ref": context.tool.request}, "")
    return _of_part(context, ways) or _of_list(context, ways)


def _ways(context: Context, schema: Mapping[str, Any], prefix: str) -> dict[tuple[str, tuple[str, ...]], str]:
    found: dict[tuple[str, tuple[str, ...]], str] = {}
    for name, value in context.schemas.properties(schema).items():
        words = lexicon.words(name)
        if value.get("type") == "array" and words[0] in ("add", "remove") and len(words) > 1:
            found[(words[0], lexicon.stem(name)[1:])] = prefix + name
        elif not prefix and context.schemas.properties(value):
            found |= _ways(context, value, name + ".")
    return found


def _of_part(context: Context, ways: Ways) -> Effect | None:
    for part in context.world.entities:
        noun = lexicon.stem(part.own_key)
        add, remove = ways.get(("add", noun), ""), ways.get(("remove", noun), "")
        if part.part_of == context.entity.name and (add or remove):
            written = server_values(context.entity, insert=False)
            detail = {"part": part.name, "column": part.own_key, "add": add, "remove": remove, "set": written}
            return Effect("link", {**detail, **_gate(context)})
    return None


def _of_list(context: Context, ways: Ways) -> Effect | None:
    written = server_values(context.entity, insert=False)
    for attr in context.entity.attrs:
        noun = lexicon.stem(attr.path.rsplit(".", 1)[-1])
        add, remove = ways.get(("add", noun), ""), ways.get(("remove", noun), "")
        if attr.kind != "json" or not (add or remove):
            continue
        if not remove:
            return Effect("append", {"column": attr.column, "param": add, **_only(context), "set": written})
        return Effect("link", {"column": attr.column, "add": add, "remove": remove, "set": written})
    return None


def _only(context: Context) -> dict[str, Any]:
    """The kind of row that alone takes them: "course work objects with a `workType` of `ASSIGNMENT`"."""
    said = TYPED.search(context.tool.description)
    if not said:
        return {}
    name, value = lexicon.column_name(said.group(1)), said.group(2)
    column = next((a.column for a in context.entity.attrs if value in a.enum and a.column.endswith(name)), "")
    return {"only": {"column": column, "value": value}} if column else {}


def _gate(context: Context) -> dict[str, Any]:
    """A mode among the request's fields that says whether members count: assigneeMode is INDIVIDUAL_STUDENTS."""
    fields = context.schemas.properties({"$ref": context.tool.request})
    said = ONLY_WHEN.search(" ".join(str(field.get("description", "")) for field in fields.values()))
    attr = next((a for a in context.entity.attrs if a.path in fields and a.enum), None)
    return {"mode": {"param": attr.path, "column": attr.column, "with_members": said.group(1)}} if attr and said else {}


def accept(context: Context) -> Effect | None:
    """A row that goes and becomes a membership: "removing it and adding the invited user to the teachers or …"."""
    said = REMOVING.search(context.tool.description)
    if not said:
        return None
    plurals = {entity.plural: entity for entity in context.world.entities if entity.kind == "table"}
    joined = [plurals[noun] for noun in (said.group(2), said.group(3)) if noun in plurals]
    by = next((a for a in context.entity.attrs if any(_names(v, member) for v in a.enum for member in joined)), None)
    if by is None:
        return None
    targets = {value: member.name for value in by.enum for member in joined if _names(value, member)}
    ours = {attr.column for attr in context.entity.attrs}
    copy = {column: column for column in joined[0].key if column in ours}
    return Effect("link", {"by": by.column, "targets": targets, "copy": copy, "consume": True, **caller(context)})


def _names(value: str, entity: Entity) -> bool:
    return lexicon.words(value) == lexicon.words(entity.noun)


def caller(context: Context) -> dict[str, Any]:
    """Who alone may call it, as documented; a hint for the compiler."""
    said = ONLY_OWNER.search(context.tool.description)
    column = next((a.column for a in context.entity.attrs if a.column == "user_id"), "")
    return {"caller": column} if said and column else {}
