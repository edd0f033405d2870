"""Plan: what is wanted, as plain data. Relations and expressions are nested tuples: changing one is a tree walk.

    Rel   ("scan", entity, alias)                        all rows; columns are "alias.column"
          ("file", path, alias, ((header, kind), …))     a CSV of the workspace; columns are "alias.header"
          ("where", rel, expr)
          ("join" | "left" | "semi" | "anti", left, right, expr)   write the side that is read first (the parent) left
          ("extend", rel, ((name, expr), …))             new columns, unqualified names
          ("group", rel, (column, …), ((name, agg, expr | None), …))   agg: count sum min max avg count_distinct
          ("top", rel, ((column, "asc" | "desc"), …), n)               the keys must order totally
          ("use", let, alias)                            a let again. alias "" keeps the names of its columns;
                                                         with alias "x" each "a.b" (or "b") is called "x.b",
                                                         the last column of one name wins
    Expr  ("col", name) ("lit", value) ("param", name) ("cmp", op, a, b) with op in = != < <= > >=
          ("and", e, …) ("or", e, …) ("not", e) ("in", e, (value, …)) ("null", e)
          ("op", "+" | "-" | "*" | "/", a, b) ("case", ((condition, value), …), otherwise) ("fn", name, arg, …)
    fn    lower(text) concat(x, …) length(text) contains(text, part) starts_with(text, x) ends_with(text, x)
          coalesce(x, y) round(x, n)
          date(time) local_date(time, zone) local_time(time, zone) weekday(date or time: 0 Monday)
          add_days(time or date, n) add_minutes(time, n) minutes(earlier, later)

The algebra is two-valued: a comparison with null is false, `not` of it is true; != of null and anything is false.
Sorting puts nulls last in either direction; aggregates skip nulls, and of nothing are null (count 0, sum 0). "/" is
real division, null where the divisor is 0. Text compares by code point; a null key joins nothing, yet groups as a key.
Its two compilers, `to_sql` and `to_python`, share these types and no code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

Rel = tuple[Any, ...]
Expr = tuple[Any, ...]
Json = Any

SOURCES = ("scan", "file", "use")
PAIRS = ("join", "left", "semi", "anti")


class PlanError(ValueError):
    """A Plan that is malformed, ill-typed or not visible; the message says where and what is there instead."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One kind of change, done for every row of `rel`.

    kind: create · update · transition · delete · move. `tool` carries it out. `key` maps the tool's path parameters
    to expressions over `rel`; `set` maps columns of the entity to expressions over `rel`; `text` names free-worded
    columns with the facts (columns of `rel`) each must mention; `free` are columns the verifier leaves to the solver.
    A part (an event's attendee) is created, updated or deleted through the patching tool of its owner: `key` then
    also holds the part's own key column. `name` is the criterion's name; "" makes one from kind and noun.
    """

    kind: Literal["create", "update", "transition", "delete", "move"]
    entity: str
    tool: str
    rel: Rel
    key: Mapping[str, Expr] = field(default_factory=dict)
    set: Mapping[str, Expr] = field(default_factory=dict)
    text: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class FileReport:
    """A file to leave in the workspace: (header, column of `rel`) pairs; `order` as in top, () where any is right."""

    path: str
    rel: Rel
    columns: tuple[tuple[str, str], ...]
    order: tuple[tuple[str, str], ...] = ()
    format: Literal["csv", "json", "md"] = "csv"


@dataclass(frozen=True, slots=True)
class Answer:
    """A value to be said at the end: `agg` of `expr` over `rel`; "only" is the value of the one row there is."""

    name: str
    rel: Rel
    agg: Literal["count", "sum", "min", "max", "avg", "count_distinct", "only"]
    expr: Expr | None = None


Part = Effect | FileReport | Answer


@dataclass(frozen=True, slots=True)
class Trap:
    """One honest mistake: the whole Plan as somebody carries it out who falls for it (or an option of the program)."""

    name: str
    kind: str  # dropped_condition · boundary · neighbour · first_page · default_filter · over_reach · …
    says: str  # one sentence for people
    plan: Plan | None = None
    option: str = ""  # "first_page", "no_effects", "twice", …: where the Plan is the same, the program differs


@dataclass(frozen=True, slots=True)
class Plan:
    domain: str
    lets: Mapping[str, Rel] = field(default_factory=dict)
    effects: tuple[Effect, ...] = ()
    files: tuple[FileReport, ...] = ()
    answers: tuple[Answer, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    traps: tuple[Trap, ...] = ()


# Constructors: nested tuples with less noise.


def scan(entity: str, alias: str) -> Rel:
    return ("scan", entity, alias)


def file(path: str, alias: str, columns: tuple[tuple[str, str], ...]) -> Rel:
    return ("file", path, alias, columns)


def use(let: str, alias: str = "") -> Rel:
    return ("use", let, alias)


def where(rel: Rel, *conditions: Expr) -> Rel:
    return ("where", rel, both(*conditions))


def join(left: Rel, right: Rel, *conditions: Expr, how: str = "join") -> Rel:
    """`how`: join · left · semi · anti."""
    return (how, left, right, both(*conditions))


def extend(rel: Rel, **columns: Expr) -> Rel:
    return ("extend", rel, tuple(columns.items()))


def group(rel: Rel, by: tuple[str, ...], **aggregates: tuple[str, Expr | None]) -> Rel:
    """`aggregates`: name=("count", None), name=("sum", col("x.n")), …"""
    return ("group", rel, by, tuple((name, agg, expr) for name, (agg, expr) in aggregates.items()))


def top(rel: Rel, order: tuple[tuple[str, str], ...], n: int) -> Rel:
    return ("top", rel, order, n)


def col(name: str) -> Expr:
    return ("col", name)


def lit(value: Any) -> Expr:
    return ("lit", value)


def param(name: str) -> Expr:
    return ("param", name)


def cmp(op: str, a: Expr, b: Expr) -> Expr:
    return ("cmp", op, a, b)


def eq(a: str, b: str | Expr) -> Expr:
    """`a` names a column; `b` is an expression, or the name of another column."""
    return ("cmp", "=", ("col", a), ("col", b) if isinstance(b, str) else b)


def both(*conditions: Expr) -> Expr:
    """All of them; of none, true (so that `join` without a condition pairs each with each)."""
    if not conditions:
        return ("lit", True)
    return conditions[0] if len(conditions) == 1 else ("and", *conditions)


def fn(name: str, *arguments: Expr) -> Expr:
    return ("fn", name, *arguments)


# Walks: what the other modules of this room build on.


def inner(rel: Rel) -> tuple[Rel, ...]:
    """The relations that a relation is made of."""
    if rel[0] in SOURCES:
        return ()
    return (rel[1], rel[2]) if rel[0] in PAIRS else (rel[1],)


def relations(rel: Rel) -> Iterator[Rel]:
    """The relation and all below it, parents before children."""
    yield rel
    for below in inner(rel):
        yield from relations(below)


def expressions(rel: Rel) -> tuple[Expr, ...]:
    """The expressions that stand at this node, not below it."""
    match rel[0]:
        case "where":
            return (rel[2],)
        case "join" | "left" | "semi" | "anti":
            return (rel[3],)
        case "extend":
            return tuple(expr for _, expr in rel[2])
        case "group":
            return tuple(expr for _, _, expr in rel[3] if expr is not None)
        case _:
            return ()


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that an expression is made of."""
    match expr[0]:
        case "col" | "lit" | "param":
            return ()
        case "cmp" | "op":
            return expr[2:]
        case "fn":
            return expr[2:]
        case "in" | "null" | "not":
            return (expr[1],)
        case "case":
            return (*(part for pair in expr[1] for part in pair), expr[2])
        case _:
            return expr[1:]


def walk(expr: Expr) -> Iterator[Expr]:
    yield expr
    for below in operands(expr):
        yield from walk(below)


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The conditions that must all hold, nested "and"s flattened."""
    if expr[0] != "and":
        return (expr,)
    return tuple(part for below in expr[1:] for part in conjuncts(below))


def roots(plan: Plan) -> Iterator[Rel]:
    """The relations a Plan speaks of: lets in order, then those of effects, files and answers."""
    yield from plan.lets.values()
    parts: tuple[Part, ...] = (*plan.effects, *plan.files, *plan.answers)
    for part in parts:
        yield part.rel


# JSON: lists for tuples on the way out, tuples for lists on the way in.


def to_json(value: Any) -> Json:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    return value


def frozen(value: Json) -> Any:
    """Lists become tuples, all the way down."""
    if isinstance(value, (list, tuple)):
        return tuple(frozen(v) for v in value)
    if isinstance(value, Mapping):
        return {k: frozen(v) for k, v in value.items()}
    return value


def from_json(row: Json) -> Plan:
    """The inverse of `to_json` for a Plan. Raises PlanError on a malformed document."""
    try:
        plain = frozen(row)
        traps = tuple(Trap(**{**t, "plan": from_json(t["plan"]) if t.get("plan") else None}) for t in plain["traps"])
        return Plan(
            **{
                **plain,
                "effects": tuple(Effect(**e) for e in plain["effects"]),
                "files": tuple(FileReport(**f) for f in plain["files"]),
                "answers": tuple(Answer(**a) for a in plain["answers"]),
                "traps": traps,
            }
        )
    except (KeyError, TypeError) as error:
        raise PlanError(f"malformed plan: {error}") from error
