"""Verbs beyond create, read, update, delete: what they do, from the verb, the enum, the request and the words.

Each reader knows one class of verbs and answers None when the method is not of it; the first that answers wins. A
verb leads to a state only by the state's *whole participle* (turnIn → TURNED_IN). What no reader understands is left
out with its reason, never taken for an update.
"""

from __future__ import annotations

import re
from typing import Any

from tasks_app.domains import reading_prose as prose
from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Attr, Effect, Entity
from tasks_app.domains.reading_effects import EXCEPT_TYPES, Context, Reader, server_values, shown
from tasks_app.domains.reading_filters import orders
from tasks_app.domains.reading_members import accept, caller, members
from tasks_app.domains.reading_resources import LIST_VERBS, is_list
from tasks_app.tools import Tool

PLUMBING_VERBS = {
    "watch": "pushes notifications to a channel; nothing a later read shows",
    "stop": "ends a notification channel",
    "wait": "waits for a server-side operation",
    "test": "tests permissions of the caller",
    "export": "streams the bytes of a file",
    "download": "streams the bytes of a file",
    "upload": "takes the bytes of a file",
    "generate": "makes ids or tokens for the caller; nothing a later read shows",
}
PLUMBING_NOUNS = {
    "operations": "server-side operations",
    "media": "bytes of files",
    "token": "tokens",
}
ALL_OF = re.compile(r"deletes all (\w+) associated with (?:the )?(?:primary )?(\w+)", re.I)
ONLY_PRIMARY = re.compile(r"\bprimary \w+\b", re.I)
ONLY_TRUE = re.compile(r"only true is accepted")


def plumbing(tool: Tool) -> str:
    """Why a method is plumbing, or ""."""
    verb = lexicon.words(tool.verb)
    if "iam" in verb:
        return "plumbing: access policies of a cloud platform"
    if verb[0] in PLUMBING_VERBS and not (verb[0] == "test" and len(verb) == 1):
        return PLUMBING_VERBS[verb[0]]
    for noun in tool.resource[-1:]:
        if noun in PLUMBING_NOUNS:
            return f"plumbing: {PLUMBING_NOUNS[noun]}"
    return ""


def special(context: Context) -> Effect | None:
    """The effect of a verb beyond the standard ones; None when it isn't understood."""
    for reader in READERS:
        found = reader(context)
        if found:
            return found
    return None


def _busy(context: Context) -> Effect | None:
    """Intervals in which something is taken, computed from rows with a start and an end."""
    properties = context.schemas.properties({"$ref": context.tool.response})
    for key, value in properties.items():
        inner = value.get("additionalProperties")
        intervals = context.schemas.properties(inner).get("busy", {}) if isinstance(inner, dict) else {}
        names = set(context.schemas.properties(intervals.get("items", {}))) if intervals else set()
        timed = next(
            (
                e
                for e in context.world.entities
                if {"start_time", "end_time"} <= {a.column for a in e.attrs} and e.parents
            ),
            None,
        )
        if names >= {"start", "end"} and timed:
            return Effect(
                "free_busy",
                {
                    "items": "items",
                    "entity": timed.name,
                    "scope": timed.parents[0].column,
                    "of": timed.parents[0].entity,
                    "answer": key,
                    "start": "start_time",
                    "end": "end_time",
                    "from": "timeMin",
                    "to": "timeMax",
                    "unless": _not_busy(timed),
                },
            )
    return None


def _not_busy(entity: Entity) -> dict[str, str]:
    """Rows that take no time: cancelled ones, and those that say they don't block."""
    unless = {}
    for attr in entity.attrs:
        for value in attr.enum:
            if value == "transparent" or (attr.role == "status" and lexicon.SPELLINGS.get(value, "") == "cancelled"):
                unless[attr.column] = value
    return unless


def _expand(context: Context) -> Effect | None:
    """Instances of a recurring row."""
    columns = {a.column: a for a in context.entity.attrs}
    if context.verb != ("instances",) or "recurrence" not in columns or not is_list(context.tool, context.schemas):
        return None
    parent = next(
        (a.column for a in columns.values() if a.references and a.references.entity == context.entity.name), ""
    )
    return Effect(
        "expand",
        {
            "recurrence": "recurrence",
            "start": "start_time",
            "end": "end_time",
            "parent": parent,
            "original_start": "original_start_time",
            **orders(context.params, context.entity, ""),
            "order": [["start_time", "asc"]],
        },
    )


def _transition(context: Context) -> Effect | None:
    """A verb whose whole participle is a state of the entity."""
    for attr in context.entity.attrs:
        if attr.role != "status":
            continue
        target = next((value for value in attr.enum if lexicon.means(context.verb, lexicon.words(value))), None)
        if target:
            states = [_state(attr, word) for word in prose.needed_state(context.tool.description)]
            detail: dict[str, Any] = {
                "column": attr.column,
                "to": target,
                "from": [s for s in dict.fromkeys(states) if s],
            }
            return Effect(
                "transition", {**detail, "set": server_values(context.entity, insert=False), **caller(context)}
            )
    return None


def _state(attr: Attr, word: str) -> str:
    return next((v for v in attr.enum if v == word or lexicon.words(v) == tuple(word.split())), "")


def _flag(context: Context) -> Effect | None:
    """trash, untrash, hide: a flag whose name is the participle; `un` takes it back."""
    verb, value = context.verb, True
    if verb[0].startswith("un") and len(verb[0]) > 4:
        verb, value = (verb[0][2:], *verb[1:]), False
    for attr in context.entity.attrs:
        if attr.kind == "boolean" and lexicon.means(verb, lexicon.words(attr.path.rsplit(".", 1)[-1])):
            return Effect(
                "update", {"mode": "patch", "set": {attr.column: value, **server_values(context.entity, insert=False)}}
            )
    return None


def _move(context: Context) -> Effect | None:
    """To another parent: a parameter that names "the target calendar"."""
    if context.verb[0] != "move":
        return None
    for param in context.params:
        for parent in context.entity.parents:
            noun = " ".join(lexicon.stem(parent.entity)).lower()
            if (
                param.where != "path"
                and ("destination" in param.name or "target" in param.description)
                and noun in param.description.lower()
            ):
                only = EXCEPT_TYPES.search(context.tool.description)
                attr = next(
                    (a for a in context.entity.attrs if only and only.group(1) in a.enum and a.column.endswith("type")),
                    None,
                )
                return Effect(
                    "move",
                    {
                        "param": param.name,
                        "column": parent.column,
                        "to": parent.entity,
                        **({"only": {attr.column: only.group(1)}} if attr and only else {}),
                        "set": server_values(context.entity, insert=False),
                    },
                )
    return None


def _quick_add(context: Context) -> Effect | None:
    text = next((p for p in context.params if p.where == "query" and p.name == "text"), None)
    if context.tool.http != "POST" or text is None or context.tool.response != context.entity.name:
        return None
    title = next(iter(context.entity.natural_keys), "")
    return Effect(
        "quick_add",
        {
            "param": "text",
            "into": title,
            "start": "start_time",
            "end": "end_time",
            "set": server_values(context.entity, insert=True),
        },
    )


def _import(context: Context) -> Effect | None:
    """A private copy of what exists elsewhere: an insert that keeps the caller's own key."""
    if context.verb[0] != "import" or context.tool.request != context.entity.name:
        return None
    raw = context.schemas.properties(context.schemas.get(context.entity.name))
    own = [
        a.column
        for a in context.entity.attrs
        if context.tool.method in (raw.get(a.path, {}).get("annotations") or {}).get("required", ())
    ]
    return Effect(
        "import", {"set": server_values(context.entity, insert=True), "unique": [c for c in own if c.endswith("id")]}
    )


def _clear(context: Context) -> Effect | None:
    """Everything under one row goes: "deletes all events associated with the primary calendar"."""
    said = ALL_OF.search(context.tool.description)
    children = [
        e
        for e in context.world.entities
        if said and e.plural == said.group(1).lower() and any(p.entity == context.entity.name for p in e.parents)
    ]
    if not children:
        return None
    only = {"primary": True} if ONLY_PRIMARY.search(context.tool.description) else {}
    child = children[0]
    return Effect(
        "delete",
        {
            "mode": "cascade",
            "of": child.name,
            "scope": {p.column: context.entity.own_key for p in child.parents if p.entity == context.entity.name},
            **only,
        },
    )


def _new_value(context: Context) -> Effect | None:
    """transferOwnership(newDataOwner): a parameter "new…" for a column of the rest of its name."""
    for param in context.params:
        words = lexicon.words(param.name)
        attr = next(
            (a for a in context.entity.attrs if words[:1] == ("new",) and lexicon.words(a.path) == words[1:]), None
        )
        if attr:
            true = [p.name for p in context.params if ONLY_TRUE.search(p.description)]
            return Effect(
                "update",
                {
                    "mode": "patch",
                    "from_params": {param.name: attr.column},
                    "must_be_true": true,
                    "set": server_values(context.entity, insert=False),
                },
            )
    return None


def _search(context: Context) -> Effect | None:
    """Reads in disguise that list an entity."""
    if context.verb[0] not in LIST_VERBS or not is_list(context.tool, context.schemas):
        return None
    return Effect("list", {**orders(context.params, context.entity, context.tool.description), **shown(context)})


def _copy(context: Context) -> Effect | None:
    if context.verb[0] not in ("copy", "duplicate") or context.tool.response != context.entity.name:
        return None
    return Effect("copy", {"set": server_values(context.entity, insert=True)})


READERS: tuple[Reader, ...] = (
    _busy,
    _expand,
    accept,
    _clear,
    _move,
    members,
    _new_value,
    _quick_add,
    _import,
    _transition,
    _flag,
    _copy,
    _search,
)
