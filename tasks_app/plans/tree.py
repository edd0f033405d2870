"""Shape of a Plan: its tree without anchors and literals, its depth, the operators that it counts for, its tools.

Two tasks with one plan tree count once. Left out of the tree: values of literals, parameters and `in`, n of top,
paths and headers of files, names of lets, aliases and answers, traps. Kept: entities, columns, operators, effects.
"""

from __future__ import annotations

import hashlib
import json
import re

from tasks_app.domains.model import DomainModel
from tasks_app.plans.algebra import Expr, Json, Part, Plan, Rel, conjuncts, inner, relations, roots
from tasks_app.plans.to_python import compile_reference

OPERATORS = (
    "filter",
    "join",
    "difference",
    "group",
    "top_k",
    "overlap",
    "reconcile",
    "batch_create",
    "batch_update",
    "batch_transition",
    "batch_delete",
    "batch_move",
    "conditional",
    "report",
    "answer",
)


def plan_tree(plan: Plan) -> str:
    """sha256 of the tree of a Plan."""
    return hashlib.sha256(json.dumps(tree(plan), sort_keys=True).encode()).hexdigest()


def tree(plan: Plan) -> Json:
    """The Plan as nested lists without anchors and literals; lets are spelled out where they are used."""
    shape = _Shape(plan)
    effects = [
        [
            e.kind,
            e.entity,
            e.tool,
            shape.rel(e.rel),
            sorted(e.set),
            [shape.expr(e.set[c]) for c in sorted(e.set)],
            sorted(e.text),
        ]
        for e in plan.effects
    ]
    files = [
        [
            f.format,
            shape.rel(f.rel),
            [shape.column(c) for _, c in f.columns],
            [[shape.column(c), d] for c, d in f.order],
        ]
        for f in plan.files
    ]
    answers = [[a.agg, shape.rel(a.rel), shape.expr(a.expr) if a.expr else None] for a in plan.answers]
    return [plan.domain, effects, files, answers]


class _Shape:
    """Relations and expressions as lists; columns lose their aliases, lets are numbered by first use."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._seen: dict[str, int] = {}

    def column(self, name: str) -> str:
        return name.partition(".")[2] or name

    def rel(self, rel: Rel) -> Json:
        match rel:
            case ("scan", entity, _):
                return ["scan", entity]
            case ("file", _, _, columns):
                return ["file", [kind for _, kind in columns]]
            case ("use", let, _):
                if let in self._seen:
                    return ["again", self._seen[let]]
                self._seen[let] = len(self._seen)
                return self.rel(self.plan.lets[let])
            case ("extend", below, new):
                return ["extend", self.rel(below), [self.expr(e) for _, e in new]]
            case ("group", below, by, aggregates):
                return [
                    "group",
                    self.rel(below),
                    [self.column(c) for c in by],
                    [[a, self.expr(e) if e else None] for _, a, e in aggregates],
                ]
            case ("top", below, order, _):
                return ["top", self.rel(below), [[self.column(c), d] for c, d in order]]
            case (word, *_):
                condition = sorted((self.expr(c) for c in conjuncts(rel[-1])), key=json.dumps)
                return [word, *(self.rel(below) for below in inner(rel)), condition]
            case _:
                raise ValueError(f"no relation: {rel!r:.100}")

    def expr(self, expr: Expr) -> Json:
        match expr:
            case ("lit" | "param", _):
                return ["value"]
            case ("col", name):
                return ["col", self.column(name)]
            case ("in", a, _):
                return ["in", self.expr(a)]
            case ("case", pairs, otherwise):
                return ["case", [[self.expr(c), self.expr(v)] for c, v in pairs], self.expr(otherwise)]
            case ("cmp" | "op" | "fn" as word, name, *parts):
                return [word, name, *(self.expr(p) for p in parts)]
            case (word, *parts):
                return [word, *(self.expr(p) for p in parts)]
            case _:
                raise ValueError(f"no expression: {expr!r:.100}")


def depth(plan: Plan) -> int:
    """Rel nodes from the farthest scan (not counted) to an effect, report or answer; a use counts as what it names."""

    def of(rel: Rel) -> int:
        if rel[0] == "use":
            return of(plan.lets[rel[1]])
        return max((1 + of(below) for below in inner(rel)), default=0)

    parts: tuple[Part, ...] = (*plan.effects, *plan.files, *plan.answers)
    return max(of(part.rel) for part in parts)


def operators(plan: Plan) -> tuple[str, ...]:
    """Operators that the Plan holds, in the order of OPERATORS."""
    nodes = [node for rel in roots(plan) for node in relations(rel)]
    kinds = {node[0] for node in nodes}
    spelled = {
        "where": "filter",
        "join": "join",
        "left": "join",
        "anti": "difference",
        "semi": "difference",
        "group": "group",
        "top": "top_k",
        "file": "reconcile",
    }
    found = {spelled[k] for k in kinds if k in spelled} | {f"batch_{e.kind}" for e in plan.effects}
    if any(_overlaps(node) for node in nodes):
        found.add("overlap")
    if _conditional(plan):
        found.add("conditional")
    found |= ({"report"} if plan.files else set()) | ({"answer"} if plan.answers else set())
    return tuple(o for o in OPERATORS if o in found)


def _overlaps(node: Rel) -> bool:
    """A pairing by two inequalities between columns of both sides: start before end, end after start."""
    if node[0] not in ("join", "semi", "anti", "left"):
        return False
    between = [
        c
        for c in conjuncts(node[3])
        if c[0] == "cmp" and c[1] in ("<", "<=", ">", ">=") and c[2][0] == c[3][0] == "col"
    ]
    return len(between) >= 2


def _conditional(plan: Plan) -> bool:
    """A case anywhere, or two effects on one entity that different rows get."""
    targets = [e.entity for e in plan.effects if e.kind != "create"]
    return '["case"' in json.dumps(tree(plan)) or any(targets.count(t) > 1 for t in targets)


def tools_of(plan: Plan, model: DomainModel) -> tuple[str, ...]:
    """Tools that the reference calls, sorted."""
    return tuple(sorted(set(re.findall(r"\btools\.(\w+)", compile_reference(plan, model)))))
