"""Columns of a relation and kinds of an expression: the types that both compilers and the checks of a Plan share.

`Scope(plan, model).columns(rel)` gives the columns in order, each with its kind, whether it may be null, and the
attribute of the model it stems from. Every mistake is a PlanError that says what was written and what there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tasks_app.domains.model import DomainModel, Kind
from tasks_app.plans.algebra import Expr, Plan, PlanError, Rel

FAMILY = {
    "integer": "number",
    "real": "number",
    "boolean": "boolean",
    "text": "text",
    "timestamp": "text",
    "date": "text",
    "json": "json",
    "null": "null",
}
FUNCTIONS: Mapping[str, tuple[tuple[str, ...], Kind]] = {
    # name: families of the arguments ("*" after the last repeats it), kind of the value
    "lower": (("text",), "text"),
    "concat": (("any", "*"), "text"),
    "length": (("text",), "integer"),
    "contains": (("text", "text"), "boolean"),
    "starts_with": (("text", "text"), "boolean"),
    "ends_with": (("text", "text"), "boolean"),
    "coalesce": (("any", "any"), "text"),
    "round": (("number", "number"), "real"),
    "date": (("text",), "date"),
    "local_date": (("text", "text"), "date"),
    "local_time": (("text", "text"), "text"),
    "weekday": (("text",), "integer"),
    "add_days": (("text", "number"), "timestamp"),
    "add_minutes": (("text", "number"), "timestamp"),
    "minutes": (("text", "text"), "integer"),
}
NEVER_NULL = ("contains", "starts_with", "ends_with", "concat")
AGGREGATES = ("count", "sum", "min", "max", "avg", "count_distinct")


@dataclass(frozen=True, slots=True)
class Column:
    kind: str  # of DomainModel, or "null" for the literal
    nullable: bool
    entity: str = ""  # of the model, where the column is an attribute of a scan
    column: str = ""


def renamed(name: str, alias: str) -> str:
    """What `use` with an alias calls a column: "a.b" and "b" become "alias.b"."""
    return f"{alias}.{name.partition('.')[2] or name}" if alias else name


class Scope:
    """Types of one Plan over one model; the columns of each relation are worked out once."""

    def __init__(self, plan: Plan, model: DomainModel) -> None:
        self.plan, self.model = plan, model
        self._known: dict[Rel, dict[str, Column]] = {}

    def columns(self, rel: Rel) -> dict[str, Column]:
        if rel not in self._known:
            self._known[rel] = self._columns(rel)
        return self._known[rel]

    def _columns(self, rel: Rel) -> dict[str, Column]:
        match rel:
            case ("scan" | "file" | "use", _, *_):
                return self._source(rel)
            case ("where", below, condition):
                columns = self.columns(below)
                self.want(condition, columns, "boolean", "where")
                return columns
            case ("join" | "left" | "semi" | "anti" as how, left, right, condition):
                return self._pair(how, left, right, condition)
            case ("extend", below, new):
                return self._extended(below, new)
            case ("group", below, by, aggregates):
                return self._group(below, by, aggregates)
            case ("top", below, order, n):
                return self._top(below, order, n)
            case _:
                raise PlanError(f"no relation: {rel!r:.200}")

    def _source(self, rel: Rel) -> dict[str, Column]:
        if rel[0] == "scan":
            return self._scan(rel[1], rel[2])
        if rel[0] == "use":
            return self._use(rel[1], rel[2])
        return {f"{rel[2]}.{header}": Column(kind, True) for header, kind in rel[3]}

    def _extended(self, below: Rel, new: tuple[tuple[str, Expr], ...]) -> dict[str, Column]:
        columns = dict(self.columns(below))
        for name, expr in new:
            self._fresh(name, columns)
            columns[name] = self.kind(expr, self.columns(below))
        return columns

    def _top(self, below: Rel, order: tuple[tuple[str, str], ...], n: int) -> dict[str, Column]:
        columns = self.columns(below)
        for name, direction in order:
            self.find(name, columns)
            if direction not in ("asc", "desc"):
                raise PlanError(f"top: direction {direction!r} of {name!r} is neither asc nor desc")
        if not isinstance(n, int) or n < 1:
            raise PlanError(f"top: {n!r} is no number of rows")
        return columns

    def _scan(self, entity: str, alias: str) -> dict[str, Column]:
        try:
            found = self.model.entity(entity)
        except KeyError as error:
            raise PlanError(error.args[0]) from error
        always = {*found.key, found.own_key}
        return {
            f"{alias}.{a.column}": Column(
                a.kind, not (a.column in always or a.kind == "boolean" or a.required), entity, a.column
            )
            for a in found.attrs
        }

    def _use(self, let: str, alias: str) -> dict[str, Column]:
        names = list(self.plan.lets)
        if let not in names:
            raise PlanError(f"no let {let!r}; there are {names}")
        columns = self.columns(self.plan.lets[let])
        return {renamed(name, alias): column for name, column in columns.items()}

    def _pair(self, how: str, left: Rel, right: Rel, condition: Expr) -> dict[str, Column]:
        a, b = self.columns(left), self.columns(right)
        if clash := a.keys() & b.keys():
            raise PlanError(f"{how}: both sides have {sorted(clash)}; give one side another alias")
        self.want(condition, {**a, **b}, "boolean", how)
        if how in ("semi", "anti"):
            return a
        return {**a, **({k: replace(c, nullable=True) for k, c in b.items()} if how == "left" else b)}

    def _group(
        self, below: Rel, by: tuple[str, ...], aggregates: tuple[tuple[str, str, Expr | None], ...]
    ) -> dict[str, Column]:
        columns = self.columns(below)
        out = {name: self.find(name, columns) for name in by}
        for name, agg, expr in aggregates:
            self._fresh(name, out)
            out[name] = self.aggregate(agg, expr, columns)
        return out

    def aggregate(self, agg: str, expr: Expr | None, columns: Mapping[str, Column]) -> Column:
        """The type of an aggregate of `expr` over rows with `columns`."""
        if agg not in AGGREGATES:
            raise PlanError(f"no aggregate {agg!r}; there are {AGGREGATES}")
        if expr is None:
            if agg != "count":
                raise PlanError(f"{agg} needs an expression")
            return Column("integer", False)
        found = self.kind(expr, columns)
        if agg in ("count", "count_distinct"):
            return Column("integer", False)
        if agg in ("sum", "avg") and FAMILY[found.kind] != "number":
            raise PlanError(f"{agg} of {expr!r:.80}, which is {found.kind}")
        if agg in ("min", "max") and FAMILY[found.kind] not in ("number", "text"):
            raise PlanError(f"{agg} of {expr!r:.80}, which is {found.kind}")
        return Column("real" if agg == "avg" else found.kind, agg != "sum")

    def _fresh(self, name: str, columns: Mapping[str, Column]) -> None:
        if name in columns:
            raise PlanError(f"there is a column {name!r} already")

    def find(self, name: str, columns: Mapping[str, Column]) -> Column:
        if name not in columns:
            raise PlanError(f"no column {name!r}; there are {list(columns)}")
        return columns[name]

    def want(self, expr: Expr, columns: Mapping[str, Column], family: str, place: str) -> None:
        found = self.kind(expr, columns).kind
        if FAMILY[found] not in (family, "null"):
            raise PlanError(f"{place}: {expr!r:.120} is {found}, not {family}")

    def kind(self, expr: Expr, columns: Mapping[str, Column]) -> Column:
        """The type of an expression over rows with `columns`."""
        match expr:
            case ("col", name):
                return self.find(name, columns)
            case ("lit", value):
                return literal(value)
            case ("param", name):
                if name not in self.plan.params:
                    raise PlanError(f"no parameter {name!r}; there are {sorted(self.plan.params)}")
                return literal(self.plan.params[name])
            case ("op", op, a, b):
                return self._arithmetic(op, a, b, columns)
            case ("case", pairs, otherwise):
                return self._case(pairs, otherwise, columns)
            case ("fn", name, *arguments):
                return self._function(name, tuple(arguments), columns)
            case _:
                return self._condition(expr, columns)

    def _condition(self, expr: Expr, columns: Mapping[str, Column]) -> Column:
        match expr:
            case ("and" | "or" | "not" as word, *parts):
                for part in parts:
                    self.want(part, columns, "boolean", word)
            case ("cmp", op, a, b):
                self._comparison(op, a, b, columns)
            case ("in", a, values):
                for value in values:
                    self._comparison("=", a, ("lit", value), columns)
            case ("null", a):
                self.kind(a, columns)
            case _:
                raise PlanError(f"no expression: {expr!r:.200}")
        return Column("boolean", False)

    def _comparison(self, op: str, a: Expr, b: Expr, columns: Mapping[str, Column]) -> None:
        families = {FAMILY[self.kind(a, columns).kind], FAMILY[self.kind(b, columns).kind]} - {"null"}
        if op not in ("=", "!=", "<", "<=", ">", ">="):
            raise PlanError(f"no comparison {op!r}")
        if len(families) > 1 or "json" in families:
            raise PlanError(f"{a!r:.80} {op} {b!r:.80} compares {' with '.join(sorted(families))}")

    def _arithmetic(self, op: str, a: Expr, b: Expr, columns: Mapping[str, Column]) -> Column:
        if op not in ("+", "-", "*", "/"):
            raise PlanError(f"no operation {op!r}")
        self.want(a, columns, "number", op)
        self.want(b, columns, "number", op)
        both = [self.kind(a, columns), self.kind(b, columns)]
        real = op == "/" or any(c.kind == "real" for c in both)
        return Column("real" if real else "integer", op == "/" or any(c.nullable for c in both))

    def _case(self, pairs: tuple[tuple[Expr, Expr], ...], otherwise: Expr, columns: Mapping[str, Column]) -> Column:
        for condition, _ in pairs:
            self.want(condition, columns, "boolean", "case")
        return common([self.kind(e, columns) for e in (*(value for _, value in pairs), otherwise)])

    def _function(self, name: str, arguments: tuple[Expr, ...], columns: Mapping[str, Column]) -> Column:
        if name not in FUNCTIONS:
            raise PlanError(f"no function {name!r}; there are {sorted(FUNCTIONS)}")
        families, kind = FUNCTIONS[name]
        wanted = families if families[-1] != "*" else (families[0],) * len(arguments)
        if len(wanted) != len(arguments):
            raise PlanError(f"{name} takes {len(wanted)} arguments, not {len(arguments)}")
        for expr, family in zip(arguments, wanted, strict=True):
            if family != "any":
                self.want(expr, columns, family, name)
        found = [self.kind(e, columns) for e in arguments]
        if name == "coalesce":
            return replace(common(found), nullable=all(c.nullable for c in found))
        if name in ("add_days", "add_minutes") and found[0].kind == "date":
            kind = "date"
        return Column(kind, name not in NEVER_NULL and any(c.nullable for c in found))


def literal(value: object) -> Column:
    match value:
        case None:
            return Column("null", True)
        case bool():
            return Column("boolean", False)
        case int():
            return Column("integer", False)
        case float():
            return Column("real", False)
        case str():
            return Column("text", False)
        case _:
            raise PlanError(f"no literal: {value!r:.80}")


def common(found: list[Column]) -> Column:
    """The one type of several branches."""
    kinds = {c.kind for c in found} - {"null"}
    nullable = any(c.nullable for c in found)
    if len({FAMILY[k] for k in kinds}) > 1:
        raise PlanError(f"branches are of different kinds: {sorted(kinds)}")
    if len(kinds) == 1:
        return Column(kinds.pop(), nullable)
    return Column("real" if kinds == {"integer", "real"} else "text" if kinds else "null", nullable)
