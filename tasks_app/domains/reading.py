"""ToolDocument → DomainModel: the one entry of the reading.

Every method ends in an Op or in LeftOut with its reason; none is dropped in silence and none is faked. See
`reading_entities` for what is an entity, `reading_effects` and `reading_verbs` for what a method does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from tasks_app.domains import reading_prose as prose
from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Attr, DomainModel, Effect, Entity, Filter, LeftOut, Op, Param, State
from tasks_app.domains.reading_arguments import ORDER_PARAM, SIZE_PARAMS, TOKEN_PARAM, Arguments, paging
from tasks_app.domains.reading_effects import Context, aliases, standard
from tasks_app.domains.reading_entities import World, read_world
from tasks_app.domains.reading_filters import filters
from tasks_app.domains.reading_refusals import refusals
from tasks_app.domains.reading_resources import home, is_list, items, resources
from tasks_app.domains.reading_verbs import plumbing, special
from tasks_app.toolpool.schemas import Schemas
from tasks_app.tools import Tool, ToolDocument

WILDCARD = '"-"'
READS = ("read_one", "list", "expand", "free_busy")


def read_domain(document: ToolDocument) -> DomainModel:
    """The whole reading. Pure: the same document gives the same model."""
    schemas = Schemas(document.schemas, document.source)
    found = resources(document, schemas)
    world = read_world(document, schemas, found)
    names = tool_names(document.tools)
    ops: list[Op] = []
    left: list[LeftOut] = []
    for tool in document.tools:
        op = _op(tool, names[tool.method], document, schemas, world, found)
        if isinstance(op, Op):
            ops.append(op)
        else:
            left.append(LeftOut(tool.method, op))
    entities = tuple(replace(entity, states=tuple(_states(entity, ops))) for entity in world.entities)
    return DomainModel(
        name=document.name,
        title=document.title,
        source=document.source,
        source_sha256=document.sha256,
        licence=document.licence,
        entities=entities,
        ops=tuple(ops),
        left_out=tuple(left),
        description=document.description,
    )


def _op(
    tool: Tool, name: str, document: ToolDocument, schemas: Schemas, world: World, found: Mapping[str, object]
) -> Op | str:
    """The Op of a method, or why it is left out."""
    reason = plumbing(tool)
    if reason:
        return reason
    if tool.media and tool.verb not in ("get", "create", "insert", "update", "patch"):
        return "moves the bytes of a file"
    owner = home(tool, document, schemas, found)
    if owner in world.views:
        return f"{owner} is computed about the caller and the page they are on; no method writes it and none lists it"
    entity = world.entity(owner)
    context = Context(tool, entity or _nobody(), world, schemas, document, Arguments(schemas, world), ())
    if entity is None:
        return _without_entity(context, name)
    context = replace(context, params=context.arguments.of(tool, entity))
    effect = standard(context) or special(context)
    if effect is None:
        return f"the verb {tool.verb!r} is not understood: no state, flag, parent or list of {entity.name} matches it"
    return _built(
        context, name, Effect(effect.kind, {**effect.detail, **aliases(context), **refusals(context, effect)})
    )


def _without_entity(context: Context, name: str) -> Op | str:
    tool = context.tool
    context = replace(context, params=context.arguments.of(tool, context.entity))
    effect = special(context) if tool.response else None
    if effect and effect.kind == "free_busy":
        return _built(
            replace(context, entity=next(e for e in context.world.entities if e.name == effect.detail["entity"])),
            name,
            effect,
        )
    siblings = [t.request for t in context.document.tools if t.resource == tool.resource and t.request]
    thing = tool.request or next(iter(siblings), "") or tool.response or ".".join(tool.resource)
    return f"nothing of {thing} can be read back: no method gets or lists one"


def _nobody() -> Entity:
    return Entity(name="", table="", kind="value", key=(), own_key="", key_assigned_by="server", attrs=())


def _built(context: Context, name: str, effect: Effect) -> Op:
    tool, entity = context.tool, context.entity
    listing = is_list(tool, context.schemas)
    narrowing = filters(context.params, entity, context.world) if listing else ()
    reads = effect.kind in READS
    params = tuple(p for p in context.params if not reads or p.where != "query" or is_read(p, narrowing, effect))
    return Op(
        tool=name,
        method=tool.method,
        effect=effect,
        entity=entity.name,
        writes=not reads,
        params=params,
        description=tool.description,
        items_key=items(tool, context.schemas)[0] if listing else "",
        paging=paging(tool, context.schemas) if listing else None,
        filters=narrowing,
        order_param=next((p.name for p in params if listing and p.name == ORDER_PARAM), ""),
        mask_param=next((p.name for p in params if p.schema.get("format") == "google-fieldmask"), ""),
        wildcard=next(
            (p.name for p in params if p.where == "path" and WILDCARD in p.description), _wildcard(tool, params)
        ),
        preconditions=prose.needed_state(tool.description),
        errors=prose.errors(tool.description),
        returns=context.schemas.expanded({"$ref": tool.response}) if tool.response else {},
    )


def is_read(param: Param, narrowing: Iterable[Filter], effect: Effect) -> bool:
    """Whether a reading tool does something with a query parameter; one that it would ignore is left out of it."""
    known = {*SIZE_PARAMS, TOKEN_PARAM, ORDER_PARAM, *(f.param for f in narrowing)}
    return param.name in known or param.name == effect.detail.get("expand_param") or bool(param.column)


def _wildcard(tool: Tool, params: Iterable[object]) -> str:
    """The last parent of a list whose description lets "-" stand for all of them."""
    said = "`-` for the" in tool.description or "(`-`) may be specified as the" in tool.description
    names = [p.name for p in tool.parameters if p.where == "path"]
    return names[-1] if said and names else ""


def _states(entity: Entity, ops: Iterable[Op]) -> list[State]:
    """The arrows of an entity's status columns: transitions, marks of deletion, and values an update may write."""
    found: list[State] = []
    for op in (op for op in ops if op.entity == entity.name):
        detail = op.effect.detail
        if op.effect.kind == "transition":
            found += [State(detail["column"], source, detail["to"], op.tool) for source in detail["from"] or ["*"]]
        elif op.effect.kind == "delete" and detail.get("mode") == "mark":
            found += [
                State(c, "*", str(v), op.tool)
                for c, v in detail["set"].items()
                if any(a.column == c and a.enum for a in entity.attrs)
            ]
        elif op.effect.kind in ("update", "upsert"):
            found += _written(entity, op)
    return found


def _written(entity: Entity, op: Op) -> list[State]:
    only = op.effect.detail.get("only")
    if only:
        return [State(only["column"], only["from"], only["to"], op.tool)]
    fields = op.effect.detail.get("mask_fields") or [p.name for p in op.params if p.where == "body"]
    return [
        State(a.column, "*", value, op.tool)
        for a in entity.attrs
        if _may_write(a, fields)
        for value in a.enum
        if value.lower() != "deleted"
    ]


def _may_write(attr: Attr, fields: Iterable[str]) -> bool:
    return attr.role == "status" and not attr.readonly and attr.path in fields


def tool_names(tools: Iterable[Tool]) -> dict[str, str]:
    """Method → tool: last resource noun and verb; where several want a name, the least deep keeps it, the others
    get nouns of their parents before it until each is unique."""
    listed = list(tools)
    depth = {tool.method: 1 for tool in listed}

    def name(tool: Tool) -> str:
        parts = [*tool.resource[max(0, len(tool.resource) - depth[tool.method]) :], tool.verb]
        return "_".join(lexicon.snake(part) for part in parts) or tool.verb

    for _ in range(max((len(tool.resource) for tool in listed), default=0)):
        clashes = {n for n, count in Counter(map(name, listed)).items() if count > 1}
        for wanted in clashes:
            rivals = [tool for tool in listed if name(tool) == wanted]
            least = min(len(tool.resource) for tool in rivals)
            keepers = [tool for tool in rivals if len(tool.resource) == least]
            for tool in rivals:
                if len(keepers) > 1 or tool is not keepers[0]:
                    depth[tool.method] += 1
    return {tool.method: name(tool) for tool in listed}
