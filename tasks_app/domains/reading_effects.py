"""Standard verbs as effects: get, list, create, update, patch, delete.

Everything is read from the shape of the method and from what its description says; what the server fills in is read
from the names of read-only fields. Special verbs are in `reading_verbs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tasks_app.domains import reading_prose as prose
from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Attr, Effect, Entity, Param
from tasks_app.domains.reading_arguments import Arguments, maskable, unique_columns, unique_where
from tasks_app.domains.reading_entities import World
from tasks_app.domains.reading_filters import orders
from tasks_app.toolpool.schemas import Schemas
from tasks_app.tools import Tool, ToolDocument

CREATED = {
    ("creation", "time"),
    ("created",),
    ("created", "time"),
    ("created", "at"),
    ("create", "time"),
    ("created", "date"),
}
UPDATED = {
    ("update", "time"),
    ("updated",),
    ("updated", "time"),
    ("updated", "at"),
    ("modified", "time"),
    ("modified", "date"),
    ("last", "modified"),
}
ALIAS = re.compile(r"can be either the [\w-]+ identifier or an alias")
MAKERS = {"creator", "owner", "author", "organizer"}
ALSO_ADDED = re.compile(r"`(\w+)` is the owner of the created \w+ and added as an? (\w+)")
EXCEPT_TYPES = re.compile(r"[Oo]nly (\w+) events (?:can|may) be moved")


@dataclass(frozen=True, slots=True)
class Context:
    """All that the reading of one method may look at."""

    tool: Tool
    entity: Entity
    world: World
    schemas: Schemas
    document: ToolDocument
    arguments: Arguments
    params: tuple[Param, ...]

    @property
    def verb(self) -> tuple[str, ...]:
        return lexicon.words(self.tool.verb)

    def sibling(self, verb: str) -> Tool | None:
        return next((t for t in self.document.tools if t.resource == self.tool.resource and t.verb == verb), None)


Reader = Callable[[Context], Effect | None]


def standard(context: Context) -> Effect | None:
    """The effect of a standard verb; None for any other verb."""
    head, said = context.verb[0], lexicon.stem(context.tool.verb)[1:]
    noun = lexicon.stem(context.entity.name)
    about = not said or said in (noun[: len(said)], noun[-len(said) :])
    return READERS[head](context) if about and head in READERS else None


def _read_one(context: Context) -> Effect:
    return Effect("read_one", shown(context))


def _list(context: Context) -> Effect:
    texts = next((p.schema.get("enumDescriptions", ()) for p in context.tool.parameters if p.name == "orderBy"), ())
    detail = {**orders(context.params, context.entity, context.tool.description, texts), **shown(context)}
    needed = prose.needs_one_of(context.tool.description)
    excluded = {p.name: list(prose.excluded(p.description)) for p in context.params if prose.excluded(p.description)}
    return Effect(
        "list",
        {
            **detail,
            **({"needs_one_of": list(needed)} if needed else {}),
            **({"excludes": excluded} if excluded else {}),
        },
    )


def shown(context: Context) -> dict[str, Any]:
    """Copies of other entities in the answer."""
    embeds = context.world.embeds.get(context.entity.name, {})
    known = {entity.name: entity for entity in context.world.entities}
    detail: dict[str, Any] = {}
    if embeds:
        detail["embed"] = {
            path: {"entity": name, "by": {column: known[name].own_key}} for path, (name, column) in embeds.items()
        }
    return detail


def aliases(context: Context) -> dict[str, Any]:
    """Parameters that take an alias in place of a key: param → the entity of aliases, its own column, and the key's."""
    known = [e for e in context.world.entities if lexicon.stem(e.name)[-1] == "alias" and len(e.key) > 1]
    found = {
        param.name: {"entity": known[0].name, "by": known[0].own_key, "gives": known[0].key[0]}
        for param in context.params
        if known and param.where == "path" and param.column and ALIAS.search(param.description)
    }
    return {"aliases": found} if found else {}


def _insert(context: Context) -> Effect:
    entity, tool = context.entity, context.tool
    detail: dict[str, Any] = {"set": server_values(entity, insert=True), **shown(context)}
    unique = unique_columns(tool, entity)
    if unique:
        detail["unique"] = list(unique)
        where = unique_where(tool, entity)
        if where:
            detail["unique_where"] = where
    also = _also(context)
    if also:
        detail["also"] = also
    return Effect("insert", detail)


def _also(context: Context) -> list[dict[str, Any]]:
    """Rows that come with a new one: an owner "added as a teacher", the twin by which it can be listed."""
    entity, found = context.entity, []
    said = ALSO_ADDED.search(context.tool.description)
    if said:
        member = next(
            (
                e
                for e in context.world.entities
                if e.noun == said.group(2) and any(p.entity == entity.name for p in e.parents)
            ),
            None,
        )
        owner = next((a.column for a in entity.attrs if a.path == said.group(1)), "")
        if member and owner:
            above = next(p.column for p in member.parents if p.entity == entity.name)
            found.append(
                {"entity": member.name, "set": {above: {"column": entity.own_key}, member.own_key: {"column": owner}}}
            )
    for twin in context.world.entities:
        key = next((a for a in twin.attrs if a.column == twin.own_key), None)
        if (
            twin.kind == "table"
            and key
            and key.references
            and key.references.entity == entity.name
            and any(a.derived for a in twin.attrs)
        ):
            values: dict[str, Any] = {twin.own_key: {"column": entity.own_key}}
            values |= {a.column: {"column": a.derived.split(".")[1]} for a in twin.attrs if a.derived}
            values |= {
                a.column: {"literal": "owner"} for a in twin.attrs if a.readonly and not a.derived and "owner" in a.enum
            }
            found.append({"entity": twin.name, "set": values})
    return found


def server_values(entity: Entity, *, insert: bool) -> dict[str, Any]:
    """Column → "$now", "$user_id", "$user_email", "$user_name", "$one", what the server writes on its own."""
    values: dict[str, Any] = {}
    for attr in entity.attrs:
        token = _server_value(attr, insert)
        if token and not attr.derived:
            values[attr.column] = token
    return values


def _server_value(attr: Attr, insert: bool) -> str:
    leaf = lexicon.words(attr.path.rsplit(".", 1)[-1]) if attr.path else ()
    if leaf in UPDATED and attr.kind == "timestamp":
        return "$now"
    if not insert or not leaf:
        return ""
    if leaf in CREATED and attr.kind == "timestamp":
        return "$now"
    whole = lexicon.words(attr.path)
    if (attr.readonly or whole[0] == "organizer") and (set(whole) & MAKERS) and whole[0] != "teacher":
        return _maker(attr, leaf)
    return ""


def _maker(attr: Attr, leaf: tuple[str, ...]) -> str:
    if attr.kind == "boolean":
        return "$true" if leaf == ("self",) else ""
    if leaf[-1] == "email" or (attr.references and not attr.references.strict):
        return "$user_email"
    if leaf[-1] == "name":
        return "$user_name"
    return "$user_id" if attr.references else ""


def _update(context: Context) -> Effect:
    entity, tool = context.entity, context.tool
    mask = next((p for p in context.params if _is_mask(p)), None)
    detail: dict[str, Any] = {
        "mode": "put" if tool.http == "PUT" else "patch",
        "set": server_values(entity, insert=False),
        **shown(context),
    }
    if tool.http == "PUT":
        fields = {p.name: p.description for p in context.params if p.where == "body"}
        kept = prose.kept_when_left_out(tool.description, fields)
        detail |= {"keeps": list(kept)} if kept else {}
    if mask:
        detail["mask_fields"] = list(maskable(tool, context.schemas))
        detail["mask_required"] = "required to do an update" in mask.description or mask.description.startswith(
            "Required."
        )
    change = prose.state_change(tool.description)
    if change:
        attr = next((a for a in entity.attrs if a.path == change[0]), None)
        if attr:
            detail["only"] = {"column": attr.column, "from": change[1], "to": change[2]}
    by_query = next(
        (p.name for p in context.params if entity.own_key and p.where == "query" and p.column == entity.own_key), ""
    )
    if by_query:
        detail["key_param"] = by_query  # optional: without it, the only row under the parents
    return Effect("upsert" if entity.kind == "singleton" else "update", detail)


def _is_mask(param: Param) -> bool:
    return param.schema.get("format") == "google-fieldmask" or param.name == "updateMask"


def _delete(context: Context) -> Effect:
    entity = context.entity
    mark = deletion_mark(context)
    if not mark:
        return Effect("delete", {"mode": "cascade"})
    already = any("already been deleted" in case.when for case in prose.errors(context.tool.description))
    return Effect(
        "delete", {"mode": "mark", "set": {**mark, **server_values(entity, insert=False)}, "refused_if_marked": already}
    )


def deletion_mark(context: Context) -> dict[str, Any]:
    """The column and value by which a deleted row stays; {} where the row goes.

    Read from a status with the value DELETED of which the errors say "already been deleted", or from the rows that
    the list's showDeleted brings back. A key that callers choose must be free again: such rows go.
    """
    entity = context.entity
    if entity.key_assigned_by == "caller":
        return {}
    if any("already been deleted" in case.when for case in prose.errors(context.tool.description)):
        for attr in entity.attrs:
            if attr.role == "status" and "DELETED" in attr.enum:
                return {attr.column: "DELETED"}
    listing = context.sibling("list")
    shows = next((p for p in listing.parameters if p.name == "showDeleted"), None) if listing else None
    said = prose.hidden_value(shows.description) if shows else None
    attr_said = next((a for a in entity.attrs if said and a.path == said[0] and said[1] in a.enum), None)
    return {attr_said.column: said[1]} if said and attr_said else {}


READERS: dict[str, Reader] = {
    "get": _read_one,
    "list": _list,
    "create": _insert,
    "insert": _insert,
    "update": _update,
    "patch": _update,
    "delete": _delete,
}
