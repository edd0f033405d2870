"""What narrows a list: parameters read as filters over columns, with the defaults that hide rows, and orders.

A parameter that matches nothing by name, enum or declared phrase is left out of the tool; such
parameters are in the report (`unread_parameters`), never faked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tasks_app.domains import reading_prose as prose
from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Attr, Entity, Filter, Param
from tasks_app.domains.reading_arguments import ORDER_PARAM, SIZE_PARAMS, TOKEN_PARAM
from tasks_app.domains.reading_entities import World

BOUND = re.compile(r"(Upper|Lower) bound(?: \((exclusive|inclusive)\))? for an? [\w ]*?'s ((?:last )?\w+ time)", re.I)
HAVING = re.compile(r"having an? (\w+) with the specified identifier", re.I)
SEARCH_FIELDS = re.compile(r"in the following fields?:(.*?)(?:These search terms|$)", re.S)
RANKS = (
    "none",
    "freeBusyReader",
    "reader",
    "commenter",
    "writerWithoutPrivateAccess",
    "writer",
    "fileOrganizer",
    "organizer",
    "owner",
)
MODIFIED = {"last_modification_time": ("updated", "update_time", "modified_time")}
EXPANDS = re.compile(r"Whether to expand recurring \w+ into instances")
ORDERED_BY = re.compile(r"ordered by (\w+ \w+), with the most recently", re.I)


def filters(params: Iterable[Param], entity: Entity, world: World) -> tuple[Filter, ...]:
    """Filters of a list, in the order of its parameters."""
    found = []
    for param in params:
        if param.where != "query" or param.name in (*SIZE_PARAMS, TOKEN_PARAM, ORDER_PARAM):
            continue
        one = _filter(param, entity, world)
        if one:
            found.append(one)
    return tuple(found)


def _filter(param: Param, entity: Entity, world: World) -> Filter | None:
    readers = (_bound, _shows, _rank, _by_enum, _flag_words, _search, _property, _having, _equal, _link)
    for reader in readers:
        found = reader(param, entity, world)
        if found:
            return found
    return None


def _values(param: Param) -> tuple[str, ...]:
    inner = param.schema.get("items", param.schema)
    return tuple(inner.get("enum", ())) if isinstance(inner, dict) else ()


def _bound(param: Param, entity: Entity, world: World) -> Filter | None:
    """ "Lower bound (exclusive) for an event's end time to filter by"."""
    said = BOUND.search(param.description)
    if not said:
        return None
    name = said.group(3).lower().replace(" ", "_")
    columns = {attr.column for attr in entity.attrs if attr.kind == "timestamp"}
    column = name if name in columns else next((c for c in MODIFIED.get(name, ()) if c in columns), "")
    if not column:
        return None
    strict = (said.group(2) or "inclusive").lower() == "exclusive"
    op: Any = ("gt" if strict else "ge") if said.group(1).lower() == "lower" else ("lt" if strict else "le")
    return Filter(param.name, column, op)


def _shows(param: Param, entity: Entity, world: World) -> Filter | None:
    """showDeleted, showHidden: rows in a state, or with a flag, that the list hides unless asked."""
    words = lexicon.words(param.name)
    if words[:1] not in (("show",), ("include",)) or param.schema.get("type") != "boolean" or len(words) != 2:
        return None
    said = prose.hidden_value(param.description)
    if said:
        attr = next((a for a in entity.attrs if a.path == said[0] and said[1] in a.enum), None)
        return Filter(param.name, attr.column, "flag_shows", default=False, hidden=said[1]) if attr else None
    attr = next((a for a in entity.attrs if a.kind == "boolean" and lexicon.words(a.path) in (words[1:], words)), None)
    return Filter(param.name, attr.column, "flag_shows", default=False, hidden=True) if attr else None


def _by_enum(param: Param, entity: Entity, world: World) -> Filter | None:
    """courseWorkStates, eventTypes: the values of an enum column."""
    values = _values(param)
    if not values:
        return None
    candidates = [a for a in entity.attrs if a.enum and set(values) <= set(a.enum)]
    wanted = lexicon.stem(param.name)
    attr = next((a for a in candidates if lexicon.words(a.path) == wanted[-len(lexicon.words(a.path)) :]), None)
    if attr is None:
        return None
    many = param.schema.get("type") == "array"
    default = list(prose.filter_default(param.description, values)) or None
    return Filter(param.name, attr.column, "in" if many else "eq", default=default)


def _flag_words(param: Param, entity: Entity, world: World) -> Filter | None:
    """`late`: LATE_ONLY, NOT_LATE_ONLY over a flag of that name."""
    attr = next((a for a in entity.attrs if a.kind == "boolean" and a.path == param.name), None)
    if attr is None:
        return None
    values = _values(param)
    if not values:
        return Filter(param.name, attr.column, "eq")
    return Filter(
        param.name, attr.column, "flag_is", values={value: not value.upper().startswith("NOT") for value in values}
    )


def _rank(param: Param, entity: Entity, world: World) -> Filter | None:
    words = lexicon.words(param.name)
    attr = next(
        (a for a in entity.attrs if words[:1] in (("min",), ("minimum",)) and lexicon.words(a.path) == words[1:]), None
    )
    ranks = [rank for rank in RANKS if attr and rank in (*attr.enum, *_values(param))]
    return Filter(param.name, attr.column, "rank", values=ranks) if attr and ranks else None


def _search(param: Param, entity: Entity, world: World) -> Filter | None:
    """Free text over the fields that the description lists."""
    said = SEARCH_FIELDS.search(param.description)
    if not said:
        return None
    columns = []
    for field in re.findall(r"-\s+([\w.']+(?: \w+)?)", said.group(1)):
        owner, _, leaf = field.replace("'s ", ".").partition(".")
        own = next((a.column for a in entity.attrs if a.path == f"{owner}.{leaf}".strip(".")), "")
        part = next(
            (
                e
                for e in world.entities
                if e.part_of == entity.name and lexicon.stem(e.part_path)[-1:] == (lexicon.singular(owner),)
            ),
            None,
        )
        inner = next((a.column for a in part.attrs if a.path == leaf), "") if part else ""
        columns += [own] if own else [f"{part.name}.{inner}"] if part and inner else []
    return Filter(param.name, "", "search", columns=tuple(columns)) if columns else None


def _property(param: Param, entity: Entity, world: World) -> Filter | None:
    """privateExtendedProperty: "propertyName=value" of a map."""
    if "propertyName=value" not in param.description:
        return None
    words = set(lexicon.words(param.name)) - {"property"}
    attr = next((a for a in entity.attrs if a.kind == "json" and words <= set(lexicon.words(a.path))), None)
    return Filter(param.name, attr.column, "property") if attr else None


def _having(param: Param, entity: Entity, world: World) -> Filter | None:
    """ "courses having a student with the specified identifier": through a child."""
    said = HAVING.search(param.description)
    if not said:
        return None
    child = next(
        (
            e
            for e in world.entities
            if e.noun == said.group(1) and e.kind == "table" and any(p.entity == entity.name for p in e.parents)
        ),
        None,
    )
    return Filter(param.name, child.own_key, "eq", via=child.name) if child else None


def _equal(param: Param, entity: Entity, world: World) -> Filter | None:
    attr = next((a for a in entity.attrs if a.path == param.name or a.column == lexicon.column_name(param.name)), None)
    return Filter(param.name, attr.column, "eq") if attr and attr.kind in ("text", "integer", "boolean") else None


def _link(param: Param, entity: Entity, world: World) -> Filter | None:
    """materialLink, materialDriveId: text inside a list of that noun."""
    words = lexicon.words(param.name)
    attr = next(
        (a for a in entity.attrs if a.kind == "json" and lexicon.stem(a.path) == words[:1] and len(words) > 1), None
    )
    return Filter(param.name, attr.column, "contains") if attr else None


def orders(
    params: Iterable[Param], entity: Entity, description: str, order_texts: Iterable[str] = ()
) -> dict[str, Any]:
    """{"order": the default, own key last; "orders": published name → column; "expand_param": makes instances of
    recurring rows; "order_needs": order → parameter that must be true}. `order_texts` describe orderBy's values."""
    by_path = {
        re.split(r"[+|.]", attr.path)[0] if attr.kind in ("timestamp", "date") else attr.path: attr
        for attr in entity.attrs
        if attr.path
    }
    param = next((p for p in params if p.name == ORDER_PARAM), None)
    said: list[list[str]] = []
    found = ORDERED_BY.search(description)
    if found:
        said = [[found.group(1).replace(" ", "_").lower(), "desc"]]
    names: dict[str, str] = {}
    if param:
        for name in prose.order_fields(param.description) or _values(param):
            attr = _ordering(name, by_path, entity)
            if attr:
                names[name] = attr.column
        for part in filter(None, prose.order_default(param.description).split(",")):
            name, _, way = part.strip().partition(" ")
            if name in names:
                said.append([names[name], way or "asc"])
    known = {attr.column for attr in entity.attrs}
    order = [pair for pair in said if pair[0] in known]
    key = [[column, "asc"] for column in entity.key if column not in {pair[0] for pair in order}]
    detail: dict[str, Any] = {"order": [*order, *key], **({"orders": names} if names else {})}
    expanding = next((p.name for p in params if EXPANDS.search(p.description)), "")
    if expanding:
        detail["expand_param"] = expanding
        needing = (
            [v for v, text in zip(_values(param), order_texts, strict=False) if f"parameter {expanding}" in text]
            if param
            else []
        )
        detail["order_needs"] = {value: expanding for value in needing}
    return detail


def _ordering(name: str, by_path: dict[str, Attr], entity: Entity) -> Attr | None:
    return by_path.get(name) or next((a for a in entity.attrs if a.column == lexicon.column_name(name)), None)
