"""Resources and columns put together into entities: keys, parents, parts, natural keys, twins.

Limits: a parent that is reached under several segments is one column without a target of its own; a twin (an entity
whose own key is another entity's key, like an entry of a list of calendars) takes the columns that its description
calls read-only from the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tasks_app.domains import reading_prose as prose
from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Attr, Entity, Parent, Reference
from tasks_app.domains.reading_columns import WIRE, ColumnReader, Columns, PartSpec, json_column
from tasks_app.domains.reading_relations import mentioned, with_references
from tasks_app.domains.reading_resources import Resource
from tasks_app.toolpool.schemas import Schemas
from tasks_app.tools import ToolDocument

MAX_PARTS = 3


@dataclass(frozen=True, slots=True)
class World:
    """What the document's entities are. `collections` maps a URL segment to its entity; `embeds` an entity's path to
    the entity shown there and the columns that find it; `views` are answers computed about the caller (no entity);
    `aliases` maps (segment, parameter) of any path to the column it is the key in."""

    entities: tuple[Entity, ...]
    collections: Mapping[str, str]
    embeds: Mapping[str, Mapping[str, tuple[str, str]]]
    views: tuple[str, ...]
    aliases: Mapping[tuple[str, str], str]

    def entity(self, name: str) -> Entity | None:
        return next((entity for entity in self.entities if entity.name == name), None)


def read_world(document: ToolDocument, schemas: Schemas, found: Mapping[str, Resource]) -> World:
    """All entities with their relations."""
    views = tuple(name for name, resource in found.items() if _is_view(resource, schemas))
    kept = {name: resource for name, resource in found.items() if name not in views}
    collections = _collections(kept)
    reader = ColumnReader(schemas, frozenset(name for name, r in kept.items() if r.own_param or r.listed))
    read = {name: reader.read(schemas.get(name)) for name in kept}
    entities: list[Entity] = []
    aliases: dict[tuple[str, str], str] = {}
    for name, resource in kept.items():
        entities.append(_entity(name, resource, read[name], schemas, collections, aliases))
    uses = _element_uses(read)
    for entity in list(entities):
        entities.extend(_parts(entity, read[entity.name].parts, uses, reader, (entity.name,)))
    entities = [_said(entity) for entity in with_references(_copies(_twins(_parent_references(entities))))]
    embeds = {name: _embedded(name, columns, entities) for name, columns in read.items() if columns.embeds}
    return World(tuple(entities), collections, embeds, views, aliases)


def _is_view(resource: Resource, schemas: Schemas) -> bool:
    """An answer about one thing that no method writes and none lists: computed for the caller, not kept.

    A palette is none: under no parent, and every property of it said to be read-only.
    """
    if resource.own_param or resource.listed or resource.written:
        return False
    fields = [schema for name, schema in schemas.properties(schemas.get(resource.schema)).items() if name not in WIRE]
    constant = all(f.get("readOnly") or prose.read_only(str(f.get("description", ""))) for f in fields)
    return not constant or any(place.parents for place in resource.places)


def _collections(found: Mapping[str, Resource]) -> dict[str, str]:
    result: dict[str, str] = {}
    for name, resource in found.items():
        for place in resource.places:
            if place.own and place.segment and not place.resource_name:
                result.setdefault(place.segment, name)
    return result


def _entity(
    name: str,
    resource: Resource,
    columns: Columns,
    schemas: Schemas,
    collections: Mapping[str, str],
    aliases: dict[tuple[str, str], str],
) -> Entity:
    properties = schemas.properties(schemas.get(name))
    attrs = {attr.column: attr for attr in columns.attrs}
    parents: list[Parent] = []
    ways: list[list[str]] = []  # the parents' columns of each place, in the order of its path
    for place in resource.places:
        ways.append([])
        for segment, param in place.parents:
            column = aliases.setdefault((segment, param), _parent_column(param, segment, attrs, collections))
            targets = (
                [collections[segment]] if segment in collections else _alternatives(column, attrs, collections.values())
            )
            attrs.setdefault(column, Attr("", column, "text", "foreign_key", required=True, readonly=True))
            parents += [Parent(segment, param, target, column) for target in targets]
            ways[-1] += [column] if segment else []
    parents = list(dict.fromkeys(parents))
    attrs = {
        column: attr
        for column, attr in attrs.items()
        if not prose.deprecated(attr.description) or column in {p.column for p in parents}
    }
    own = _own_column(name, resource, properties, attrs)
    if own and own not in attrs:
        attrs[own] = Attr("", own, "text", "key", required=True, readonly=True)
    above = _above(parents, ways, own)
    caller = bool(own) and _caller_assigns(own, attrs[own], resource)
    for column in (*above, *((own,) if own else ())):
        attrs[column] = replace(
            attrs[column], role="key" if column == own else "foreign_key", required=True, enum=(), default=None
        )
    key = (*above, own) if own else above
    kind: Literal["table", "singleton", "value"] = "table" if own else "singleton" if above else "value"
    ordered = [attrs[column] for column in key] + [attr for column, attr in attrs.items() if column not in key]
    return Entity(
        name=name,
        table=lexicon.snake(name),
        kind=kind,
        key=key,
        own_key=own,
        attrs=tuple(ordered),
        parents=tuple(parents),
        key_assigned_by="caller" if caller or (not own and above) else "server",
        description=str(schemas.get(name).get("description", "")),
    )


def _above(parents: Iterable[Parent], ways: list[list[str]], own: str) -> tuple[str, ...]:
    """Columns of the key before the own one: keys of parents, and what every path to such a row holds."""
    known = {parent.column for parent in parents}
    columns = dict.fromkeys(column for way in ways for column in way)
    return tuple(c for c in columns if c != own and (c in known or all(c in way for way in ways)))


def _parent_column(param: str, segment: str, attrs: Mapping[str, Attr], collections: Mapping[str, str]) -> str:
    name = lexicon.column_name(param)
    if name == "id":
        return f"{lexicon.snake(collections.get(segment, segment))}_id"
    if name in attrs:
        instead = attrs[name].description
        for other in attrs:
            if f"use `{other}` instead" in instead:
                return other
    return name


def _alternatives(column: str, attrs: Mapping[str, Attr], found: Iterable[str]) -> list[str]:
    return mentioned(attrs[column].description, found) if column in attrs else []


def _own_column(name: str, resource: Resource, properties: Mapping[str, object], attrs: Mapping[str, Attr]) -> str:
    param = resource.own_param
    if not param:
        return "id" if resource.listed and "id" in attrs else ""
    noun = lexicon.snake(name)
    for candidate in (
        lexicon.column_name(param),
        "id",
        f"{noun}_id",
        "resource_name",
        "name",
        lexicon.snake(lexicon.stem(name)[-1]) + "_id",
    ):
        if candidate in attrs and attrs[candidate].kind == "text":
            return candidate
    return lexicon.column_name(param)


def _caller_assigns(own: str, attr: Attr, resource: Resource) -> bool:
    """Whether the caller chooses the key: it says who or what is meant (userId), or is not an id at all (an alias)."""
    if attr.readonly or "ssigned" in attr.description:
        return False
    says_who = own.endswith("_id") and lexicon.stem(own)[:-1] != lexicon.stem(resource.schema) and own != "id"
    is_name = not own.endswith("id") and own not in ("name", "resource_name")
    return says_who or is_name or (own == "id" and attr.required and "insert" in {tool.verb for tool in resource.tools})


def _element_uses(read: Mapping[str, Columns]) -> dict[str, int]:
    uses: dict[str, int] = {}
    for columns in read.values():
        for part in columns.parts:
            uses[part.schema] = uses.get(part.schema, 0) + 1
    return uses


def _parts(
    owner: Entity, specs: Iterable[PartSpec], uses: Mapping[str, int], reader: ColumnReader, trail: tuple[str, ...]
) -> list[Entity]:
    """The parts of an owner and their own. What contains itself, or lies deeper than MAX_PARTS, is a JSON column."""
    result: list[Entity] = []
    for spec in specs:
        columns = Columns([_element_id(spec)]) if spec.keys == (".",) else reader.read(spec.element)
        below = [
            inner
            for inner in columns.parts
            if inner.schema not in trail and inner.schema != spec.schema and len(trail) < MAX_PARTS
        ]
        for inner in columns.parts:
            if inner not in below:
                columns.add(json_column(inner.path, inner.description, readonly=False))
        above = _owner_columns(owner)
        keys = (
            tuple(lexicon.column_name(key) for key in spec.keys) if spec.keys != (".",) else (columns.attrs[0].column,)
        )
        attrs = [
            *above,
            *(
                replace(a, role="key", required=True, enum=a.enum) if a.column in keys else a
                for a in columns.attrs
                if a.column not in {b.column for b in above}
            ),
        ]
        part = Entity(
            name=_part_name(owner, spec, uses),
            table="",
            kind="part",
            key=(*(a.column for a in above), *keys),
            own_key=keys[-1],
            key_assigned_by="server" if keys == ("id",) else "caller",
            attrs=tuple(attrs),
            part_of=owner.name,
            part_path=spec.path,
            parents=(Parent(spec.path, "", owner.name, above[-1].column),) if above else (),
            description=spec.description,
        )
        part = replace(part, table=lexicon.snake(part.name))
        result += [part, *_parts(part, below, uses, reader, (*trail, spec.schema))]
    return result


def _element_id(spec: PartSpec) -> Attr:
    leaf = lexicon.words(spec.path.rsplit(".", 1)[-1])
    return Attr(".", "_".join((*leaf[:-1], "id")), "text", "key", required=True, description=spec.description)


def _owner_columns(owner: Entity) -> list[Attr]:
    """Columns that tie a part to its owner: the owner's key, a plain "id" named after it."""
    result = []
    for column in owner.key:
        name = f"{lexicon.snake(owner.name)}_id" if column == "id" else column
        result.append(
            Attr(
                "",
                name,
                "text",
                "foreign_key",
                required=True,
                readonly=True,
                references=Reference(owner.name, column, "part of"),
            )
        )
    return result


def _part_name(owner: Entity, spec: PartSpec, uses: Mapping[str, int]) -> str:
    if spec.schema and (
        uses.get(spec.schema, 0) <= 1 or lexicon.words(spec.schema)[:1] == lexicon.words(owner.name)[-1:]
    ):
        return spec.schema
    leaf = lexicon.stem(spec.path.rsplit(".", 1)[-1])
    leaf = leaf[:-1] if leaf[-1:] == ("id",) else leaf
    return owner.name + "".join(word.capitalize() for word in leaf)


def _parent_references(entities: Iterable[Entity]) -> list[Entity]:
    """Keys of parents as foreign keys; a parent with alternatives stays without one."""
    known = {entity.name: entity for entity in entities}
    result = []
    for entity in known.values():
        targets: dict[str, set[str]] = {}
        for parent in entity.parents:
            targets.setdefault(parent.column, set()).add(parent.entity)
        attrs = []
        for attr in entity.attrs:
            names = targets.get(attr.column, set())
            if len(names) == 1 and not attr.references and entity.kind != "part":
                target = known[next(iter(names))]
                attr = replace(attr, references=Reference(target.name, target.own_key, "parent in the path"))
            attrs.append(attr)
        result.append(replace(entity, attrs=tuple(attrs)))
    return result


def _twins(entities: list[Entity]) -> list[Entity]:
    """An entity whose own path parameter is another's id shows that other's columns where it calls them read-only."""
    known = {lexicon.stem(entity.name): entity for entity in entities}
    result = []
    for entity in entities:
        twin = _twin_of(entity, known)
        if twin is None:
            result.append(entity)
            continue
        shared = {attr.column for attr in twin.attrs} - set(twin.key)
        attrs = tuple(
            replace(attr, references=Reference(twin.name, twin.own_key, attr.description[:200]))
            if attr.column == entity.own_key
            else replace(attr, derived=f"{twin.name}.{attr.column}")
            if attr.readonly and attr.column in shared
            else attr
            for attr in entity.attrs
        )
        result.append(replace(entity, attrs=attrs, key_assigned_by="caller"))
    return result


def _copies(entities: list[Entity]) -> list[Entity]:
    """A read-only enum with the very values of an enum of the parent, named after it, is a copy of the parent's."""
    known = {entity.name: entity for entity in entities}
    result = []
    for entity in entities:
        above = [
            known[parent.entity] for parent in entity.parents[-1:] if parent.entity in known and entity.kind == "table"
        ]
        sources = {
            a.enum: f"{parent.name}.{a.column}" for parent in above for a in parent.attrs if a.enum and a.role == "enum"
        }
        attrs = tuple(
            replace(a, derived=sources[a.enum]) if a.readonly and a.role == "enum" and a.enum in sources else a
            for a in entity.attrs
        )
        result.append(replace(entity, attrs=attrs))
    return result


def _twin_of(entity: Entity, known: Mapping[tuple[str, ...], Entity]) -> Entity | None:
    if entity.kind != "table" or entity.parents or not entity.own_key:
        return None
    text = entity.attr(entity.own_key).description.lower()
    for stem, other in known.items():
        named = f"identifier of the {' '.join(stem)}"
        alike = lexicon.stem(entity.name)[: len(stem)] == stem and other.name != entity.name
        if alike and other.kind == "table" and text.startswith(named) and not other.parents:
            return other
    return None


def _said(entity: Entity) -> Entity:
    """Natural keys, and the nouns people use."""
    natural = [a.column for a in entity.attrs if a.column not in entity.key and a.role == "title" and "." not in a.path]
    natural += [a.column for a in entity.attrs if a.role == "person" and a.path.endswith("fullName")]
    natural += [
        a.column for a in entity.attrs if a.role == "email" and a.column not in entity.key and a.path == "emailAddress"
    ]
    if not natural and entity.part_of:
        natural = [a.column for a in entity.attrs if a.path in ("displayName", "email")]
    noun, many = (entity.noun, entity.plural) if entity.noun else lexicon.nouns(entity.name)
    if entity.part_of:
        noun, many = lexicon.nouns(entity.name, drop=lexicon.stem(entity.part_of))
    return replace(entity, natural_keys=entity.natural_keys or tuple(natural), noun=noun, plural=many)


def _embedded(name: str, columns: Columns, entities: Iterable[Entity]) -> dict[str, tuple[str, str]]:
    """path → (entity shown there, our column that finds it): `guardianProfile` by guardian_id, `profile` by user_id."""
    known = {entity.name: entity for entity in entities}
    result: dict[str, tuple[str, str]] = {}
    for path, target in columns.embeds.items():
        references = [a.column for a in known[name].attrs if a.references and a.references.entity == target]
        wanted = "_".join((*lexicon.words(path)[:-1], "id"))
        column = wanted if wanted in references else known[name].own_key if known[name].own_key in references else ""
        if column:
            result[path] = (target, column)
    return result
