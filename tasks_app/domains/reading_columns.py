"""From the properties of a schema to columns, parts and embedded copies of other entities.

Nests of scalars become columns named by their path. A nest of date and time becomes one timestamp. An array whose
elements have a key of their own becomes a part (a table); what has none, maps, deep or deprecated nests and links to
things outside become JSON columns.

Limits: nests deeper than MAX_NEST are JSON. `kind` and `etag` are marks of the wire format and no columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tasks_app.domains import reading_prose as prose
from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Attr, Kind, Role
from tasks_app.toolpool.schemas import Schemas

Schema = Mapping[str, Any]
MAX_NEST = 3
WIRE = {"etag", "kind"}
YMD, HMS = {"year", "month", "day"}, {"hours", "minutes"}
DAY_OR_TIME = {"date", "dateTime"}
TIME_FORMATS = {"date-time", "google-datetime", "date"}
NUMBERS: dict[str, Kind] = {"number": "real", "integer": "integer"}
STATUS_WORDS = {"state", "status"}
TITLE_WORDS = {"title", "name", "summary"}
TEXT_WORDS = {"description", "text", "body", "content", "comment", "notes", "note", "message", "snippet"}
PLACE_WORDS = {"location", "room", "address", "place", "building", "city", "country"}
LINK_WORDS = {"link", "url", "uri", "href"}
MEASURE_WORDS = {"grade", "points", "score", "weight", "size", "duration", "minutes", "amount", "price"}


@dataclass(frozen=True, slots=True)
class PartSpec:
    """An array whose elements have a key: its path, the schema's name if it has one, and the key's properties."""

    path: str
    schema: str
    element: Schema
    keys: tuple[str, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Flags:
    """What a nest hands down to its leaves."""

    readonly: bool = False
    needed: bool = True
    depth: int = 0


@dataclass(slots=True)
class Columns:
    attrs: list[Attr] = field(default_factory=list)
    parts: list[PartSpec] = field(default_factory=list)
    embeds: dict[str, str] = field(default_factory=dict)  # path → schema of the entity shown there

    def add(self, attr: Attr) -> None:
        if all(attr.column != known.column for known in self.attrs):
            self.attrs.append(attr)


class ColumnReader:
    """Reads schemas of one document. `entities` are the schemas that are entities themselves."""

    def __init__(self, schemas: Schemas, entities: frozenset[str]) -> None:
        self._schemas = schemas
        self._entities = entities

    def read(self, schema: Schema) -> Columns:
        columns = Columns()
        self._nest(columns, self._schemas.properties(schema), "", Flags())
        return columns

    def _nest(self, columns: Columns, properties: Mapping[str, Schema], prefix: str, flags: Flags) -> None:
        for name, schema in properties.items():
            if not prefix and name in WIRE:
                continue
            self._property(columns, properties, prefix + name, schema, flags)

    def _property(self, columns: Columns, siblings: Mapping[str, Schema], path: str, raw: Schema, flags: Flags) -> None:
        schema = self._schemas.follow(raw)
        text = str(raw.get("description") or schema.get("description", ""))
        below = Flags(
            flags.readonly or bool(raw.get("readOnly")) or prose.read_only(text),
            flags.needed and needed(raw, text),
            flags.depth + 1,
        )
        properties = self._schemas.properties(schema)
        if str(raw.get("$ref", "")) in self._entities:
            columns.embeds[path] = str(raw["$ref"])
        elif schema.get("type") == "array":
            self._array(columns, path, schema, text, below.readonly)
        elif properties and self._timed(columns, siblings, path, properties, text, below):
            return
        elif properties and flags.depth < MAX_NEST and self._is_flat(schema, text):
            self._nest(columns, properties, path + ".", below)
        elif properties or schema.get("type") in ("object", "any") or "additionalProperties" in schema:
            columns.add(json_column(path, text, readonly=below.readonly))
        else:
            attr = scalar(path, {**schema, "description": text}, below.readonly, below.needed)
            optional = flags.depth > 0 and not flags.needed and attr.kind != "boolean"
            columns.add(replace(attr, default=None) if optional else attr)  # no value until there is a nest

    def _array(self, columns: Columns, path: str, schema: Schema, text: str, readonly: bool) -> None:
        inner = schema.get("items")
        element = self._schemas.follow(inner) if isinstance(inner, Mapping) else {}
        readonly = readonly or (isinstance(inner, Mapping) and inner.get("$ref") in self._entities)  # rows of their own
        keys = () if readonly else self._element_keys(path, element)
        if keys:
            columns.parts.append(
                PartSpec(path, str(inner.get("$ref", "")) if isinstance(inner, Mapping) else "", element, keys, text)
            )
        else:
            columns.add(json_column(path, text, readonly=readonly))

    def _element_keys(self, path: str, element: Schema) -> tuple[str, ...]:
        """The properties by which one element is told from another; ("." ,) for scalars that are ids; () for none."""
        properties = self._schemas.properties(element)
        if not properties:
            leaf = lexicon.words(path.rsplit(".", 1)[-1])
            return (".",) if leaf[-1:] == ("ids",) and len(leaf) > 1 else ()
        if any("$ref" in value for value in properties.values()) and len(properties) > 1 and "id" not in properties:
            return ()
        needed = tuple(k for k, v in properties.items() if "Required when adding" in str(v.get("description", "")))
        if needed:
            return needed
        for name in ("email", "id"):
            if name in properties:
                return (name,)
        return ()

    def _timed(
        self,
        columns: Columns,
        siblings: Mapping[str, Schema],
        path: str,
        properties: Mapping[str, Schema],
        text: str,
        below: Flags,
    ) -> bool:
        """Whether the nest is a date, a time, or either; its column is added then."""
        names = set(properties)
        flags: dict[str, Any] = {
            "readonly": below.readonly,
            "required": below.needed,
            "immutable": prose.immutable(text),
            "description": text,
        }
        if names >= DAY_OR_TIME:
            column = lexicon.snake(path.replace(".", "_"))
            column = column if column.endswith("time") else f"{column}_time"
            columns.add(Attr(f"{path}.dateTime|{path}.date", column, "timestamp", "time", **flags))
            if "timeZone" in properties:
                zone = str(properties["timeZone"].get("description", ""))
                columns.add(
                    Attr(
                        f"{path}.timeZone",
                        f"{column.removesuffix('_time')}_time_zone",
                        "text",
                        "text",
                        **{**flags, "description": zone, "required": False},
                    )
                )
            return True
        if names >= YMD and names <= YMD:
            partner = _partner(path, "Date", "Time", siblings, self._schemas)
            if partner:
                columns.add(Attr(f"{path}+{partner}", lexicon.column_name(partner), "timestamp", "time", **flags))
            else:
                columns.add(Attr(path, lexicon.column_name(path), "date", "time", **flags))
            return True
        return names >= HMS and bool(_partner(path, "Time", "Date", siblings, self._schemas))

    def _is_flat(self, schema: Schema, text: str) -> bool:
        """Whether a nest is worth columns: not deprecated, no link to a thing outside, no deep nests in it."""
        properties = self._schemas.properties(schema)
        names = {lexicon.words(name)[-1] for name in properties if lexicon.words(name)}
        if prose.deprecated(text + " ") or "gets deprecated" in text or ("id" in properties and names & LINK_WORDS):
            return False
        inner = [self._schemas.follow(value) for value in properties.values()]
        arrays = [value for value in inner if value.get("type") == "array"]
        nests = [value for value in inner if self._schemas.properties(value)]
        deep = any(
            self._schemas.properties(leaf)
            for nest in nests
            for leaf in map(self._schemas.follow, self._schemas.properties(nest).values())
        )
        return not deep and len(arrays) <= 1 and len(nests) <= 2


def _partner(path: str, ending: str, other: str, siblings: Mapping[str, Schema], schemas: Schemas) -> str:
    """The sibling that completes a date with its time of day, or a time of day with its date."""
    head, leaf = path.rpartition(".")[::2]
    if not leaf.endswith(ending):
        return ""
    name = leaf.removesuffix(ending) + other
    wanted = HMS if other == "Time" else YMD
    if name in siblings and set(schemas.properties(schemas.follow(siblings[name]))) >= wanted:
        return f"{head}.{name}" if head else name
    return ""


def json_column(path: str, text: str, *, readonly: bool) -> Attr:
    return Attr(
        path,
        lexicon.column_name(path),
        "json",
        "system" if readonly else "json",
        readonly=readonly,
        immutable=prose.immutable(text),
        description=text,
    )


def needed(raw: Schema, text: str) -> bool:
    """Whether creating one asks for this property: by annotation of an insert, or in words."""
    methods = (raw.get("annotations") or {}).get("required")
    if methods is not None:
        return any(str(method).rsplit(".", 1)[-1] in ("insert", "create") for method in methods)
    return prose.required(text)


def scalar(path: str, schema: Schema, readonly: bool = False, required: bool = False) -> Attr:
    """A column for a scalar property; kind, role, enum, default and flags from its schema and description."""
    text = str(schema.get("description", ""))
    values = tuple(
        v for v in schema.get("enum", ()) if "UNSPECIFIED" not in v and not v.startswith("UNKNOWN_")
    ) or prose.enum(text)
    kind = _kind(schema)
    role = _role(path, kind, values, text, readonly)
    default = _default(schema, text, values, kind)
    if default is None and role == "status" and not required:
        default = values[0]  # a row is in its first state until something is said
    return Attr(
        path=path,
        column=lexicon.column_name(path),
        kind=kind,
        role=role,
        enum=values,
        required=required,
        readonly=readonly,
        immutable=prose.immutable(text),
        default=default,
        description=text,
    )


def _kind(schema: Schema) -> Kind:
    if schema.get("format") in TIME_FORMATS:
        return "date" if schema["format"] == "date" else "timestamp"
    if schema.get("format") in ("int64", "uint64") or schema.get("type") == "integer":
        return "integer"
    if schema.get("type") == "boolean":
        return "boolean"
    return NUMBERS.get(str(schema.get("type")), "text")


def _default(schema: Schema, text: str, values: tuple[str, ...], kind: Kind) -> Any:
    said = schema.get("default", prose.default(text))
    if kind == "boolean":
        return str(said).lower() == "true"
    if said in (None, "") or (values and said not in values):
        return None
    if kind == "integer":
        return int(said) if str(said).lstrip("-").isdigit() else None
    return said if values else None


def _role(path: str, kind: Kind, values: tuple[str, ...], text: str, readonly: bool) -> Role:
    leaf = lexicon.words(path.rsplit(".", 1)[-1]) or ("value",)
    whole = lexicon.words(path)
    if kind == "boolean":
        return "flag"
    if kind in ("timestamp", "date"):
        return "system" if readonly else "time"
    if values:
        return "status" if leaf[-1] in STATUS_WORDS else "enum"
    if leaf[-1] in LINK_WORDS:
        return "system" if readonly else "url"
    if "email" in whole:
        return "email"
    if kind in ("integer", "real"):
        return "measure" if set(whole) & MEASURE_WORDS else "quantity"
    if leaf[-1] in TITLE_WORDS:
        return "person" if leaf[0] in ("display", "given", "family", "full") else "title"
    if leaf[-1] in TEXT_WORDS:
        return "text"
    if set(leaf) & PLACE_WORDS:
        return "place"
    return "text"
