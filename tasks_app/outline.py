"""A Plan as an outline that a person can read: one line a step, with what it is made of below it. Pure.

The words are those of DESIGN.md's operators. It is for looking at, never parsed back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks_app.plans.algebra import Effect, Plan, from_json

COMPARE = {"=": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least"}
PAIR_WORDS = {
    "join": "joined where",
    "left": "with, where there is one,",
    "semi": "kept if there is a match where",
    "anti": "kept if there is no match where",
}


@dataclass(frozen=True, slots=True)
class Line:
    """`op` is the step's word, `text` what it does; `below` is what it works on."""

    op: str
    text: str = ""
    below: tuple[Line, ...] = ()


def expression(expr: Any) -> str:
    """An expression in words: `work.state is "PUBLISHED" and not …`."""
    match expr:
        case ("col", name):
            return str(name)
        case ("lit", value):
            return f"“{value}”" if isinstance(value, str) else str(value)
        case ("param", name):
            return f"‹{name}›"
        case ("cmp", op, a, b):
            return f"{expression(a)} {COMPARE.get(op, op)} {expression(b)}"
        case ("and", *parts):
            return " and ".join(_inner(part) for part in parts)
        case ("or", *parts):
            return " or ".join(_inner(part) for part in parts)
        case ("not", part):
            return f"not ({expression(part)})"
        case ("in", part, values):
            return f"{expression(part)} is one of {', '.join(str(value) for value in values)}"
        case ("null", part):
            return f"{expression(part)} is empty"
        case _:
            return _computed(expr)


def _computed(expr: Any) -> str:
    match expr:
        case ("op", op, a, b):
            return f"{expression(a)} {op} {expression(b)}"
        case ("case", pairs, otherwise):
            cases = "; ".join(f"{expression(value)} if {expression(condition)}" for condition, value in pairs)
            return f"{cases}; otherwise {expression(otherwise)}"
        case ("fn", name, *arguments):
            return f"{str(name).replace('_', ' ')}({', '.join(expression(a) for a in arguments)})"
        case None:
            return "nothing"
        case _:
            return str(expr)


def _inner(expr: Any) -> str:
    return f"({expression(expr)})" if expr[0] in ("or", "and") else expression(expr)


def _order(order: Any) -> str:
    return ", ".join(f"{column} {'rising' if way == 'asc' else 'falling'}" for column, way in order)


def relation(rel: Any) -> Line:
    """A relation as a line, what it is made of below it."""
    match rel:
        case ("scan", entity, alias):
            return Line("every", f"{entity} (called {alias})")
        case ("file", path, alias, columns):
            return Line("rows of", f"{path} (called {alias}): {', '.join(header for header, _ in columns)}")
        case ("use", let, alias):
            return Line("what was called", f"{let}{f', as {alias}' if alias else ''}")
        case ("where", inner, condition):
            return Line("where", expression(condition), (relation(inner),))
        case ("join" | "left" | "semi" | "anti" as how, left, right, condition):
            return Line(PAIR_WORDS[how], expression(condition), (relation(left), relation(right)))
        case ("extend", inner, columns):
            return Line(
                "with", "; ".join(f"{name} = {expression(value)}" for name, value in columns), (relation(inner),)
            )
        case ("group", inner, by, aggregates):
            counted = "; ".join(
                f"{name} = {agg.replace('_', ' ')} {expression(value) if value else ''}".strip()
                for name, agg, value in aggregates
            )
            return Line("grouped by", f"{', '.join(by) or 'nothing'}: {counted}", (relation(inner),))
        case ("top", inner, order, n):
            return Line("the first", f"{n} by {_order(order)}", (relation(inner),))
        case _:
            return Line(str(rel))


def _effect(effect: Effect) -> Line:
    parts = [f"{column} = {expression(value)}" for column, value in effect.set.items()]
    parts += [f"{column} mentions {', '.join(facts)}" for column, facts in effect.text.items()]
    return Line(f"{effect.kind} {effect.entity}", "; ".join(parts) or f"by {effect.tool}", (relation(effect.rel),))


def outline(plan: Plan) -> tuple[tuple[str, tuple[Line, ...]], ...]:
    """Headed groups of lines: what is looked up, changed, left as a file, said; and the traps."""
    files = tuple(
        Line(
            f"leave {report.path}",
            "; ".join(header for header, _ in report.columns)
            + (f", sorted by {_order(report.order)}" if report.order else ""),
            (relation(report.rel),),
        )
        for report in plan.files
    )
    answers = tuple(
        Line(
            f"say {answer.name}",
            f"{answer.agg.replace('_', ' ')} {expression(answer.expr) if answer.expr else ''}".strip(),
            (relation(answer.rel),),
        )
        for answer in plan.answers
    )
    groups = (
        ("Looked up", tuple(Line(name, "", (relation(rel),)) for name, rel in plan.lets.items())),
        ("Changed", tuple(_effect(effect) for effect in plan.effects)),
        ("Left as a file", files),
        ("Said at the end", answers),
        ("Traps planted", tuple(Line(trap.name.replace("_", " "), trap.says) for trap in plan.traps)),
    )
    return tuple((name, lines) for name, lines in groups if lines)


def read(document: Mapping[str, Any]) -> tuple[tuple[str, tuple[Line, ...]], ...]:
    """The outline of plan.json. Raises PlanError for a malformed one."""
    return outline(from_json(document))
