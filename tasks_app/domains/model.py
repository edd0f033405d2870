"""DomainModel: what the world of a domain is, as plain data.

Read from a published API description by `tasks_app.domains.reading`, compiled to SQL and Python by
`tasks_app.environments`, and sampled by `tasks_app.plans`. Everything here is immutable, JSON-able through
`to_json`/`from_json`, and hashed by content; nothing here executes.

Limits: one SQL table per entity; a repeated part of an entity (an event's attendees) is an entity of its own
with kind "part", keyed by its owner's key plus its own natural key. Repeated scalars without a key are JSON columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any
Role = Literal[
    "key",
    "natural_key",
    "foreign_key",
    "status",
    "quantity",
    "money",
    "time",
    "person",
    "place",
    "text",
    "title",
    "flag",
    "measure",
    "url",
    "email",
    "enum",
    "json",
    "system",
]
Kind = Literal["text", "integer", "real", "boolean", "timestamp", "date", "json"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key: the entity and column pointed at, and the sentence of the document that says so."""

    entity: str
    column: str
    evidence: str = ""
    strict: bool = True  # False: values outside are accepted too (any e-mail address may be invited)


@dataclass(frozen=True, slots=True)
class Attr:
    """One column. `path` is the JSON path in the published resource ("organizer.email"), `column` its SQL name.

    Special paths: "" is only in the URL (an event's calendarId); "." is the element itself (a part of repeated
    scalars); "dueDate+dueTime" is {year month day} and {hours minutes} in one timestamp, the date alone where no time
    is set; "start.dateTime|start.date" is one timestamp given under either name, by its length (10: a day).
    A lone {year month day} has kind "date".
    """

    path: str
    column: str
    kind: Kind
    role: Role
    enum: tuple[str, ...] = ()
    required: bool = False
    readonly: bool = False  # never accepted from a caller; set by tools
    immutable: bool = False  # accepted on insert, not on update
    default: Json = None
    references: Reference | None = None
    derived: str = ""  # "count(Student)", or a twin's column "Calendar.summary": stored, kept in step by tools
    description: str = ""


@dataclass(frozen=True, slots=True)
class Parent:
    """`segment` of the URL, the tool parameter that carries the parent's key, the entity and our column.

    Parents of one entity with the same column are alternatives: the reference is polymorphic, no SQL foreign key.
    """

    segment: str
    param: str
    entity: str
    column: str


@dataclass(frozen=True, slots=True)
class State:
    """One arrow of a state machine over a status column."""

    column: str
    source: str  # "*" for any
    target: str
    tool: str


@dataclass(frozen=True, slots=True)
class Entity:
    name: str  # "CourseWork"
    table: str  # "course_work"
    kind: Literal["table", "part", "singleton", "value"]
    key: tuple[str, ...]  # columns of the primary key, the parents' keys included
    own_key: str  # the column that identifies it beside its parents ("" for singletons)
    key_assigned_by: Literal["server", "caller"]
    attrs: tuple[Attr, ...]
    parents: tuple[Parent, ...] = ()
    part_of: str = ""  # for kind "part": the owner
    part_path: str = ""  # … and the JSON path of the array in it
    natural_keys: tuple[str, ...] = ()  # columns a person would name it by (title, name, e-mail)
    states: tuple[State, ...] = ()
    noun: str = ""  # singular, as a person says it ("assignment")
    plural: str = ""
    description: str = ""

    def attr(self, column: str) -> Attr:
        for attr in self.attrs:
            if attr.column == column:
                return attr
        raise KeyError(f"{self.name} has no column {column!r}; it has {[a.column for a in self.attrs]}")


@dataclass(frozen=True, slots=True)
class Param:
    """An argument of a tool, as published. `column` is where it lands or what it filters, "" where neither."""

    name: str
    schema: Mapping[str, Json]
    required: bool = False
    where: Literal["path", "query", "body"] = "query"
    column: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """A query parameter of a list that restricts rows: `column op value`, with the default that hides rows.

    flag_shows: rows whose `column` equals `hidden` are shown only if the parameter is true · flag_is: `values` maps
    the parameter's words to the flag (LATE_ONLY → true) · search: any of `columns` contains the words, case folded
    ("EventAttendee.email" is a part's column) · rank: at least as high in `values`, a list from low to high ·
    property: "name=value" of a JSON object column. `via` names a child entity one of whose rows must match (courses
    that have a student).
    """

    param: str
    column: str
    op: Literal["eq", "in", "ge", "gt", "le", "lt", "contains", "flag_shows", "flag_is", "search", "rank", "property"]
    default: Json = None  # e.g. ["PUBLISHED"]: what the list shows when the parameter is not given
    hidden: Json = None
    values: Json = None
    columns: tuple[str, ...] = ()
    via: str = ""


@dataclass(frozen=True, slots=True)
class Paging:
    size_param: str
    token_param: str
    next_token: str  # key of the response
    default_size: int
    max_size: int


@dataclass(frozen=True, slots=True)
class ErrorCase:
    """A documented failure: `code` (NOT_FOUND …), when it is raised, and the published words."""

    code: str
    when: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a tool does, in the closed language of the compiler; `detail` is read only by that effect's compiler.

    read_one · list · insert · upsert · update · append · delete · transition · counter · link · unlink · move ·
    copy · batch · expand (instances of a recurrence) · free_busy · import · quick_add
    """

    kind: str
    detail: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Op:
    """One tool: a published method read as an effect on an entity."""

    tool: str  # "course_work_list": unique in the domain, snake_case
    method: str  # "classroom.courses.courseWork.list": as published
    effect: Effect
    entity: str
    writes: bool
    params: tuple[Param, ...]
    description: str
    items_key: str = ""  # for lists: the key of the response that holds the rows
    paging: Paging | None = None
    filters: tuple[Filter, ...] = ()
    order_param: str = ""
    mask_param: str = ""  # updateMask: which fields are written (JSON paths)
    wildcard: str = ""  # parameter that takes "-" for "of all parents"
    preconditions: tuple[str, ...] = ()
    errors: tuple[ErrorCase, ...] = ()
    returns: Mapping[str, Json] = field(default_factory=dict)  # JSON Schema of the answer


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A published method that is not in the domain, and why; shown to people, never dropped in silence."""

    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class DomainModel:
    name: str  # "classroom"
    title: str
    source: str  # "googleapiclient/discovery_cache/documents/classroom.v1.json"
    source_sha256: str
    licence: str
    entities: tuple[Entity, ...]
    ops: tuple[Op, ...]
    left_out: tuple[LeftOut, ...] = ()
    description: str = ""

    def entity(self, name: str) -> Entity:
        for entity in self.entities:
            if entity.name == name:
                return entity
        raise KeyError(f"domain {self.name} has no entity {name!r}")

    def op(self, tool: str) -> Op:
        for op in self.ops:
            if op.tool == tool:
                return op
        raise KeyError(f"domain {self.name} has no tool {tool!r}")


def to_json(value: Json) -> Json:
    """Dataclasses, tuples and mappings of this module as JSON values (tuples become lists)."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    return value


def _tuple(kind: type, rows: list[Json]) -> tuple[Json, ...]:
    return tuple(kind(**row) for row in rows)


def _attr(row: Json) -> Attr:
    reference = row.get("references")
    return Attr(
        **{**row, "enum": tuple(row.get("enum", ())), "references": Reference(**reference) if reference else None}
    )


def _entity(row: Json) -> Entity:
    return Entity(
        **{
            **row,
            "key": tuple(row["key"]),
            "natural_keys": tuple(row.get("natural_keys", ())),
            "attrs": tuple(_attr(a) for a in row["attrs"]),
            "parents": _tuple(Parent, row.get("parents", [])),
            "states": _tuple(State, row.get("states", [])),
        }
    )


def _op(row: Json) -> Op:
    paging = row.get("paging")
    return Op(
        **{
            **row,
            "effect": Effect(**row["effect"]),
            "params": _tuple(Param, row["params"]),
            "paging": Paging(**paging) if paging else None,
            "filters": tuple(Filter(**{**f, "columns": tuple(f.get("columns", ()))}) for f in row.get("filters", [])),
            "preconditions": tuple(row.get("preconditions", ())),
            "errors": _tuple(ErrorCase, row.get("errors", [])),
        }
    )


def from_json(row: Json) -> DomainModel:
    """The inverse of `to_json` for a whole DomainModel. Raises KeyError/TypeError on a malformed document."""
    return DomainModel(
        **{
            **row,
            "entities": tuple(_entity(e) for e in row["entities"]),
            "ops": tuple(_op(o) for o in row["ops"]),
            "left_out": _tuple(LeftOut, row.get("left_out", [])),
        }
    )
