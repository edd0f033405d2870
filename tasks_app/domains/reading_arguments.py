"""The arguments of a tool: which published parameters and body fields it takes, and the columns they land in.

Left out of a tool: what is deprecated, synchronisation and add-on tokens (marks of the wire, nothing a later read
shows), fields set by the server, and body fields that repeat a parameter of the path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks_app.domains import reading_prose as prose
from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Attr, Entity, Paging, Param
from tasks_app.domains.reading_columns import WIRE, needed
from tasks_app.domains.reading_entities import World
from tasks_app.domains.reading_resources import place
from tasks_app.toolpool.schemas import Schemas
from tasks_app.tools import Parameter, Tool

SIZE_PARAMS = ("pageSize", "maxResults", "limit")
TOKEN_PARAM, ORDER_PARAM = "pageToken", "orderBy"
DEFAULT_PAGE, MAX_PAGE = 30, 100
CREATING = ("create", "insert", "import", "add")
OWN_ID = re.compile(r"you can specify|may be specified|optionally specif", re.I)
FIELDS_SET = re.compile(r"must have the ((?:`\w+`(?:,? and |, )?)+) fields? set")


@dataclass(frozen=True, slots=True)
class Arguments:
    """Reads the arguments of the tools of one document."""

    schemas: Schemas
    world: World

    def of(self, tool: Tool, entity: Entity) -> tuple[Param, ...]:
        """Path and query first, body after; a name once."""
        columns = self.path_columns(tool, entity)
        found = [self._parameter(p, columns, entity) for p in tool.parameters if not is_wire(p)]
        found = [p for p in found if p.where == "path" or not self._repeats_path(p, columns)]
        taken = {param.name for param in found}
        found += [param for param in self._body(tool, entity, set(columns.values())) if param.name not in taken]
        return tuple(sorted(found, key=lambda param: {"path": 0, "query": 1, "body": 2}[param.where]))

    def path_columns(self, tool: Tool, entity: Entity) -> dict[str, str]:
        """Path parameter → column of the entity."""
        where = place(tool.path)
        columns: dict[str, str] = {}
        for segment, param in where.parents:
            known = [parent.column for parent in entity.parents if (parent.segment, parent.param) == (segment, param)]
            column = known[0] if known else ""
            if not column and self.world.collections.get(segment) == entity.name:
                column = entity.own_key
            alias = self.world.aliases.get((segment, param), "")
            columns[param] = column or (alias if alias in {a.column for a in entity.attrs} else "")
        if where.own:
            columns[where.own] = entity.own_key
        return {param: column for param, column in columns.items() if column}

    def _repeats_path(self, param: Param, columns: Mapping[str, str]) -> bool:
        """Whether a query parameter is another name of a key in the path (itemId beside posts/{postId})."""
        return param.name not in columns and any(
            p == param.name and c in columns.values() for (_, p), c in self.world.aliases.items()
        )

    def _parameter(self, raw: Parameter, columns: Mapping[str, str], entity: Entity) -> Param:
        column = columns.get(raw.name, "")
        if raw.where == "query" and not column:
            column = next((a.column for a in entity.attrs if a.path == raw.name), "")
        schema = {**{k: v for k, v in raw.schema.items() if k != "enumDescriptions"}, "description": raw.description}
        inner = schema.get("items", schema)
        if isinstance(inner, dict) and "enum" in inner:
            inner["enum"] = [value for value in inner["enum"] if "UNSPECIFIED" not in value]
        return Param(
            raw.name, schema, required=raw.required, where=raw.where, column=column, description=raw.description
        )

    def _body(self, tool: Tool, entity: Entity, from_path: set[str]) -> list[Param]:
        if not tool.request:
            return []
        own = tool.request == entity.name
        creates = tool.verb in CREATING
        forced = _forced(tool, entity) if creates and own else set()
        masked = maskable(tool, self.schemas)
        result = []
        for name, raw in self.schemas.properties({"$ref": tool.request}).items():
            schema = self.schemas.follow(raw)
            text = str(raw.get("description") or schema.get("description", ""))
            attrs = [a for a in entity.attrs if _is_under(a.path, name)] if own else []
            if (
                name in WIRE
                or (masked and name not in masked)
                or prose.deprecated(text)
                or not self._is_accepted(name, raw, text, attrs, entity, tool, from_path)
            ):
                continue
            column = next((a.column for a in attrs if a.path == name), "")
            required = _is_required(tool, raw, text, own, creates) or column in forced or name in forced
            result.append(
                Param(
                    name,
                    writable(self.schemas.expanded(raw)),
                    required=required,
                    where="body",
                    column=column,
                    description=text,
                )
            )
        return result

    def _is_accepted(
        self,
        name: str,
        raw: Mapping[str, Any],
        text: str,
        attrs: list[Attr],
        entity: Entity,
        tool: Tool,
        from_path: set[str],
    ) -> bool:
        if prose.read_only_except(text) == tool.verb:
            return True
        if tool.request != entity.name:
            return not raw.get("readOnly") and not prose.read_only(text)
        if raw.get("readOnly") or prose.read_only(text) or name in self.world.embeds.get(entity.name, {}):
            return False
        if attrs and (all(a.readonly for a in attrs) or any(a.column in from_path for a in attrs)):
            return False
        creates = tool.verb in CREATING
        if any(a.column == entity.own_key for a in attrs):
            return creates and (entity.key_assigned_by == "caller" or bool(OWN_ID.search(text)))
        if name in {parent.param for parent in entity.parents} or any(a.derived for a in attrs):
            return False
        return creates or not (attrs and all(a.immutable for a in attrs))


def is_wire(parameter: Parameter) -> bool:
    """Tokens of synchronisation and of add-ons, and deprecated parameters that the path doesn't need."""
    words = lexicon.words(parameter.name)
    token = words[-1:] == ("token",) and parameter.name != TOKEN_PARAM
    retired = parameter.where == "query" and (
        bool(parameter.schema.get("deprecated")) or prose.deprecated(parameter.description)
    )
    return token or retired


def _is_under(path: str, name: str) -> bool:
    return any(part == name or part.startswith(name + ".") for part in re.split(r"[|+]", path))


def _is_required(tool: Tool, raw: Mapping[str, Any], text: str, own: bool, creates: bool) -> bool:
    methods = (raw.get("annotations") or {}).get("required")
    if methods is not None:
        return tool.method in methods
    return needed(raw, text) if creates or not own else False


def _forced(tool: Tool, entity: Entity) -> set[str]:
    """Fields a description of the method asks for: "must have the `student_id` and … fields set", or by uniqueness."""
    found: set[str] = {entity.own_key} if entity.key_assigned_by == "caller" else set()
    said = FIELDS_SET.search(tool.description)
    if said:
        found |= {lexicon.camel(name) for name in re.findall(r"`(\w+)`", said.group(1))}
    return found | set(unique_columns(tool, entity))


def unique_columns(tool: Tool, entity: Entity) -> tuple[str, ...]:
    """Columns that together may hold one value once, by ALREADY_EXISTS: "for the specified user and course"."""
    texts = [case.when for case in prose.errors(tool.description) if case.code == "ALREADY_EXISTS"]
    found = []
    for text in texts:
        said = set(lexicon.words(re.sub(r"`\w+`", " ", text))) if " already " in f" {text} " else set()
        for attr in entity.attrs:
            noun = attr.column.removesuffix("_id")
            if attr.column == entity.own_key and entity.key_assigned_by == "server":
                continue
            if f"`{attr.column}`" in text or (
                attr.column.endswith("_id") and noun in said and noun != lexicon.snake(entity.name)
            ):
                found.append(attr.column)
    return tuple(dict.fromkeys(found)) if len(set(found)) > 1 else ()


def writable(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema for callers: read-only properties and unspecified enum values taken out, bounds that the words give
    put in, at every depth."""
    result = {**schema, **prose.bounds(str(schema.get("description", "")), str(schema.get("type", "")))}
    if "enum" in result:
        result["enum"] = [value for value in result["enum"] if "UNSPECIFIED" not in str(value)]
    if "properties" in result:
        kept = {
            k: v
            for k, v in result["properties"].items()
            if not v.get("readOnly") and not prose.read_only(str(v.get("description", "")))
        }
        result["properties"] = {k: writable(v) for k, v in kept.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = writable(result[key])
    return result


def paging(tool: Tool, schemas: Schemas) -> Paging | None:
    """How a list is paged; sizes that the document leaves open are DEFAULT_PAGE and MAX_PAGE."""
    names = {parameter.name: parameter for parameter in tool.parameters}
    size = next((name for name in SIZE_PARAMS if name in names), "")
    properties = schemas.properties({"$ref": tool.response}) if tool.response else {}
    if TOKEN_PARAM not in names or "nextPageToken" not in properties:
        return None
    text = names[size].description if size else ""
    said = names[size].schema.get("default") if size else None
    default = prose.page_default(text) or (int(str(said)) if str(said).isdigit() else 0)
    maximum = prose.page_max(text) or max(default, MAX_PAGE)
    return Paging(size, TOKEN_PARAM, "nextPageToken", min(default or DEFAULT_PAGE, maximum), maximum)


def unique_where(tool: Tool, entity: Entity) -> dict[str, str]:
    """The state in which alone uniqueness counts: "if there is already a pending guardian invitation for …"."""
    text = " ".join(case.when.lower() for case in prose.errors(tool.description) if case.code == "ALREADY_EXISTS")
    return {
        a.column: value
        for a in entity.attrs
        if a.role == "status"
        for value in a.enum
        if f"already a {value.lower()} " in text
    }


def maskable(tool: Tool, schemas: Schemas) -> tuple[str, ...]:
    """The fields that the tool's mask may name and its request has; () where no mask says."""
    text = next((p.description for p in tool.parameters if p.schema.get("format") == "google-fieldmask"), "")
    known = schemas.properties({"$ref": tool.request}) if tool.request else {}
    return tuple(name for name in prose.mask_fields(text) if name in known)
