"""A Plan with one thing wrong: what someone would carry out who drops a condition or takes "at least" for "more than".

Relations are nested tuples, so a perturbation is a tree walk. Every variant is as well typed as the Plan itself; on
which data it matters is for `probes` to find out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tasks_app.plans.algebra import Answer, Effect, Expr, FileReport, Part, Plan, Rel, Trap, both, conjuncts

BOUNDARY = {">=": ">", ">": ">=", "<=": "<", "<": "<="}
Variant = tuple[str, str, Any]  # kind, what someone does who falls for it, the changed piece


def perturbed(plan: Plan) -> Iterator[Trap]:
    """Each Plan that differs in one place; lets first, then the relations and values of effects, reports, answers."""
    found = [
        (kind, says, replace(plan, lets={**plan.lets, let: rel}))
        for let, old in plan.lets.items()
        for kind, says, rel in of_relation(old)
    ]
    parts: tuple[Part, ...] = (*plan.effects, *plan.files, *plan.answers)
    for place, part in enumerate(parts):
        for kind, says, new in _of_part(part):
            found.append((kind, says, _with(plan, (*parts[:place], new, *parts[place + 1 :]))))
    for i, (kind, says, new) in enumerate(found):
        yield Trap(f"{kind}_{i}", kind, says, replace(new, traps=()))


def _with(plan: Plan, parts: tuple[Part, ...]) -> Plan:
    return replace(
        plan,
        effects=tuple(p for p in parts if isinstance(p, Effect)),
        files=tuple(p for p in parts if isinstance(p, FileReport)),
        answers=tuple(p for p in parts if isinstance(p, Answer)),
    )


def _of_part(part: Part) -> Iterator[Variant]:
    for kind, says, rel in of_relation(part.rel):
        yield kind, says, replace(part, rel=rel)
    if isinstance(part, Effect):
        for column, old in part.set.items():
            for kind, says, value in of_value(column, old):
                yield kind, says, replace(part, set={**part.set, column: value})


def of_relation(rel: Rel) -> Iterator[Variant]:
    """Variants of a relation: of this node, then of each node below."""
    yield from _of_node(rel)
    for place in (1, 2):
        if rel[0] in ("scan", "file", "use") or (place == 2 and rel[0] not in ("join", "left", "semi", "anti")):
            return
        for kind, says, below in of_relation(rel[place]):
            yield kind, says, (*rel[:place], below, *rel[place + 1 :])


def _of_node(rel: Rel) -> Iterator[Variant]:
    match rel:
        case ("where", below, condition):
            yield from _conditions(rel, below, condition)
        case ("semi" | "anti" as how, left, _, _):
            yield "dropped_condition", f"forgets the {'second list' if how == 'semi' else 'exceptions'}", left
        case ("left", left, right, condition):
            yield "inner_join", "leaves out what has nothing on the other side", ("join", left, right, condition)
        case ("top", below, order, n):
            yield "one_too_many", f"takes {n + 1} instead of {n}", ("top", below, order, n + 1)
            if n > 1:
                yield "one_too_few", f"takes {n - 1} instead of {n}", ("top", below, order, n - 1)
            turned = (order[0][0], "asc" if order[0][1] == "desc" else "desc")
            yield "wrong_end", "takes the wrong end of the ranking", ("top", below, (turned, *order[1:]), n)


def _conditions(rel: Rel, below: Rel, condition: Expr) -> Iterator[Variant]:
    parts = conjuncts(condition)
    for i, part in enumerate(parts):
        rest = parts[:i] + parts[i + 1 :]
        yield "dropped_condition", f"forgets that {described(part)}", ("where", below, both(*rest)) if rest else below
        for kind, says, changed in _of_condition(part):
            yield kind, says, ("where", below, both(*parts[:i], changed, *parts[i + 1 :]))


def _of_condition(expr: Expr) -> Iterator[Variant]:
    match expr:
        case ("cmp", op, a, b) if op in BOUNDARY:
            yield "boundary", f"takes {BOUNDARY[op]} for {op} in {described(expr)}", ("cmp", BOUNDARY[op], a, b)
        case ("in", a, values) if len(values) > 1:
            yield "dropped_value", f"forgets {values[-1]!r} in {described(expr)}", ("in", a, values[:-1])
        case ("not", a):
            for kind, says, changed in _of_condition(a):
                yield kind, says, ("not", changed)


def of_value(column: str, expr: Expr) -> Iterator[Variant]:
    """Another value than the one that was asked for."""
    match expr:
        case ("lit", bool() as value):
            yield "wrong_value", f"sets {column} to the opposite", ("lit", not value)
        case ("lit", int() | float() as value):
            yield "wrong_value", f"sets {column} to {value + 1}", ("lit", value + 1)
        case ("op", _, a, _):
            yield "wrong_value", f"leaves {column} at what it is computed from", a
        case ("fn", "add_days", time, ("lit", days)):
            yield "wrong_value", f"moves {column} by a day too many", ("fn", "add_days", time, ("lit", days + 1))
        case ("fn", "add_minutes", time, ("lit", minutes)):
            yield (
                "wrong_value",
                f"moves {column} by an hour too many",
                ("fn", "add_minutes", time, ("lit", minutes + 60)),
            )


def described(expr: Expr) -> str:
    """A condition in words that a reviewer understands."""
    match expr:
        case ("col", name):
            return str(name)
        case ("lit" | "param", value):
            return repr(value) if isinstance(value, str) else str(value)
        case ("cmp" | "op", op, a, b):
            return f"{described(a)} {op} {described(b)}"
        case ("in", a, values):
            return f"{described(a)} is one of {', '.join(map(str, values))}"
        case ("null", a):
            return f"{described(a)} is empty"
        case ("not", a):
            return f"not ({described(a)})"
        case ("and" | "or" as word, *parts):
            return f" {word} ".join(described(p) for p in parts)
        case ("fn", name, *arguments):
            return f"{name}({', '.join(described(a) for a in arguments)})"
        case _:
            return "a case"
