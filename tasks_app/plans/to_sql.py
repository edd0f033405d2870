"""Plan → verifier program: relations as SQL statements over the state before, one temporary table a node that needs it.

The program is the runtime (`verifier_functions`, `verifier_reports`, `verifier_runtime`: read as text, standard
library only), a mark, and four constants made here: STEPS fill temporary tables on a private copy of the state before,
EFFECTS say which rows of them are to be inserted, updated or deleted, FILES and ANSWERS what is to be reported,
TABLES how each table is compared. It holds the literals of the Plan and no other values, so it is one at every scale.
Shares types with `to_python`, no code: what one misunderstands, the other need not.
"""

from __future__ import annotations

import json
import pprint
import re
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from tasks_app.domains.model import DomainModel, Entity
from tasks_app.environments.state import State
from tasks_app.plans.algebra import (
    Answer,
    Effect,
    Expr,
    FileReport,
    Part,
    Plan,
    Rel,
    expressions,
    relations,
    roots,
    walk,
)
from tasks_app.plans.columns import Column, Scope, renamed
from tasks_app.plans.effects import Change, change, criterion_names, descendants
from tasks_app.verification import RUNTIME_MARK, load

OUR_IMPORT = re.compile(r"^from tasks_app[^(\n]*(?:\([^)]*\))?\n", re.MULTILINE)
PARTS = ("verifier_functions.py", "verifier_reports.py", "verifier_runtime.py")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, (bool, int)):
        return str(int(value))
    return repr(value) if isinstance(value, float) else "'" + str(value).replace("'", "''") + "'"


def words(value: Any) -> set[str]:
    """Each text that occurs in nested data."""
    if isinstance(value, str):
        return {value}
    parts = (
        [*value.keys(), *value.values()]
        if isinstance(value, Mapping)
        else value
        if isinstance(value, (tuple, list))
        else []
    )
    return {word for part in parts for word in words(part)}


def vars_of(part: Part) -> list[Any]:
    return [getattr(part, f.name) for f in fields(part)]


class Expressions:
    """SQL of expressions. `test` stands where null may count as false (ON, WHERE, WHEN); `value` is exactly 0 or 1."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = params

    def test(self, expr: Expr) -> str:
        match expr:
            case ("and" | "or" as word, *parts):
                return "(" + f" {word.upper()} ".join(self.test(p) for p in parts) + ")"
            case ("cmp", op, a, b):
                return f"({self.value(a)} {'<>' if op == '!=' else op} {self.value(b)})"
            case ("in", a, values):
                return f"({self.value(a)} IN ({', '.join(literal(v) for v in values)}))"
            case _:
                return self.value(expr)

    def value(self, expr: Expr) -> str:
        match expr:
            case ("col", name):
                return quoted(name)
            case ("lit", value):
                return literal(value)
            case ("param", name):
                return literal(self.params[name])
            case ("and" | "or" | "cmp" | "in", *_):
                return f"COALESCE({self.test(expr)}, 0)"
            case ("not", a):
                return f"(NOT COALESCE({self.test(a)}, 0))"
            case ("null", a):
                return f"({self.value(a)} IS NULL)"
            case ("op", op, a, b):
                left = f"CAST({self.value(a)} AS REAL)" if op == "/" else self.value(a)
                return f"({left} {op} {self.value(b)})"
            case ("case", pairs, otherwise):
                whens = " ".join(f"WHEN {self.test(c)} THEN {self.value(v)}" for c, v in pairs)
                return f"(CASE {whens} ELSE {self.value(otherwise)} END)"
            case ("fn", name, *arguments):
                return f"fn_{name}({', '.join(self.value(a) for a in arguments)})"
            case _:
                raise ValueError(f"no expression: {expr!r:.100}")


AGGREGATES = {
    "count": "COUNT({})",
    "count_distinct": "COUNT(DISTINCT {})",
    "sum": "COALESCE(SUM({}), 0)",
    "min": "MIN({})",
    "max": "MAX({})",
    "avg": "AVG({})",
}


class Statements:
    """The steps that fill temporary tables, in order. `table` gives the table of a relation, made once."""

    def __init__(self, plan: Plan, model: DomainModel) -> None:
        self.plan, self.model, self.scope = plan, model, Scope(plan, model)
        self.sql = Expressions(plan.params)
        self.steps: list[tuple[Any, ...]] = []
        self._tables: dict[Rel, str] = {}
        parts: tuple[Part, ...] = (*plan.effects, *plan.files, *plan.answers)
        self._words = words([plan.lets, [vars_of(part) for part in parts]])
        self._bare = {word.partition(".")[2] for word in self._words}

    def source(self, rel: Rel) -> str:
        """What can stand after FROM; scans and renamings are inlined, all else is a table of its own."""
        match rel:
            case ("scan", entity, alias):
                found = self.model.entity(entity)
                columns = [a.column for a in found.attrs if self._read(alias, a.column) or a.column in found.key]
                pairs = ", ".join(f"{quoted(c)} AS {quoted(f'{alias}.{c}')}" for c in columns)
                return f"(SELECT {pairs} FROM main.{quoted(found.table)})"
            case ("use", let, alias):
                table = self.table(self.plan.lets[let])
                names = {renamed(n, alias): n for n in self.scope.columns(self.plan.lets[let])}  # the last of one name
                read = [new for new in names if self._read(alias, new.partition(".")[2])] or list(names)[-1:]
                pairs = ", ".join(f"{quoted(names[new])} AS {quoted(new)}" for new in read)
                return f"(SELECT {pairs} FROM {table})" if alias else table
            case _:
                return self.table(rel)

    def _read(self, alias: str, column: str) -> bool:
        """Whether the Plan names the column, by this alias or (after a use) by another."""
        return f"{alias}.{column}" in self._words or column in self._bare

    def table(self, rel: Rel) -> str:
        if rel[0] == "use" and not rel[2]:
            return self.table(self.plan.lets[rel[1]])
        if rel not in self._tables:
            if rel[0] == "file":
                name = self._name(rel)
                self.steps.append(("file", name, rel[1], [[h, kind, f"{rel[2]}.{h}"] for h, kind in rel[3]]))
            else:
                select = self._select(rel)
                name = self._name(rel)
                self.steps.append(("sql", f"CREATE TEMP TABLE {name} AS {select}"))
            self._tables[rel] = name
        return self._tables[rel]

    def _name(self, rel: Rel) -> str:
        names = [let for let, of in self.plan.lets.items() if of == rel]
        return quoted(names[0] if names else f"{rel[0]}_{len(self.steps)}")

    def _select(self, rel: Rel) -> str:
        match rel:
            case ("scan" | "use", *_):
                return f"SELECT * FROM {self.source(rel)}"
            case ("where", below, condition):
                return f"SELECT * FROM {self.source(below)} WHERE {self.sql.test(condition)}"
            case ("join" | "left" as how, left, right, condition):
                word = "JOIN" if how == "join" else "LEFT JOIN"
                return f"SELECT * FROM {self.source(left)} {word} {self.source(right)} ON {self.sql.test(condition)}"
            case ("semi" | "anti" as how, left, right, condition):
                table = self.table(left)
                word = "IN" if how == "semi" else "NOT IN"
                return (
                    f"SELECT * FROM {table} WHERE rowid {word} (SELECT l.rowid FROM {table} AS l "
                    f"JOIN {self.source(right)} ON {self.sql.test(condition)})"
                )
            case ("extend", below, new):
                columns = ", ".join(f"{self.sql.value(e)} AS {quoted(n)}" for n, e in new)
                return f"SELECT *, {columns} FROM {self.source(below)}"
            case ("group", below, by, aggregates):
                keys = [quoted(n) for n in by]
                values = [f"{self.aggregate(a, e)} AS {quoted(n)}" for n, a, e in aggregates]
                tail = f" GROUP BY {', '.join(keys)}" if by else ""
                return f"SELECT {', '.join(keys + values)} FROM {self.source(below)}{tail}"
            case ("top", below, order, n):
                return f"SELECT * FROM {self.source(below)} ORDER BY {self.order(order)} LIMIT {n}"
            case _:
                raise ValueError(f"no relation: {rel!r:.100}")

    def aggregate(self, agg: str, expr: Expr | None) -> str:
        return AGGREGATES[agg].format("*" if expr is None else self.sql.value(expr))

    def order(self, order: tuple[tuple[str, str], ...]) -> str:
        return ", ".join(f"{quoted(n)} IS NULL, {quoted(n)} {d.upper()}" for n, d in order)

    def derived(self, name: str, rel: Rel, columns: Mapping[str, str], distinct: bool) -> str:
        """One more table: named expressions over a relation."""
        pairs = ", ".join(f"{sql} AS {quoted(n)}" for n, sql in columns.items()) or "1 AS one"
        word = "SELECT DISTINCT" if distinct else "SELECT"
        self.steps.append(("sql", f"CREATE TEMP TABLE {quoted(name)} AS {word} {pairs} FROM {self.source(rel)}"))
        return name


def effect_spec(out: Statements, effect: Effect, index: int, name: str) -> dict[str, Any]:
    """What the runtime needs to know of an effect. Columns of its table: "k:" key, "s:" set, "f:" facts of a text."""
    done: Change = change(effect, out.model)
    facts = {column: [f"f:{column}:{i}" for i in range(len(names))] for column, names in effect.text.items()}
    columns = {f"k:{c}": out.sql.value(e) for c, e in done.key.items()}
    columns |= {f"s:{c}": out.sql.value(e) for c, e in done.set.items()}
    for column, names in effect.text.items():
        columns |= dict(zip(facts[column], (quoted(n) for n in names), strict=True))
    table = out.derived(f"effect {index}", effect.rel, columns, distinct=done.kind != "create")
    return {
        "name": name,
        "kind": done.kind,
        "table": done.entity.table,
        "rows": table,
        "key": list(done.key),
        "set": list(done.set),
        "constants": {c: e[1] for c, e in done.set.items() if e[0] == "lit"},
        "facts": facts,
        "free": list(effect.free),
        "defaults": done.defaults,
        "below": [[e.table, pairs] for e, pairs in descendants(done.entity, out.model)] if done.follows else [],
    }


def _kinds(columns: Mapping[str, Column]) -> dict[str, str]:
    return {name: column.kind for name, column in columns.items()}


def file_spec(out: Statements, report: FileReport, name: str) -> dict[str, Any]:
    kinds = _kinds(out.scope.columns(report.rel))
    headers = {column: header for header, column in report.columns}
    rows = f"SELECT {', '.join(quoted(c) for _, c in report.columns)} FROM {out.source(report.rel)}"
    return {
        "name": name,
        "path": report.path,
        "format": report.format,
        "rows": rows,
        "columns": [[header, kinds[column]] for header, column in report.columns],
        "order": [[headers[column], direction] for column, direction in report.order],
    }


def answer_spec(out: Statements, answer: Answer, name: str) -> dict[str, Any]:
    columns = out.scope.columns(answer.rel)
    if answer.agg == "only":
        assert answer.expr is not None, "checked by plans.validate"
        select, kind = out.sql.value(answer.expr), out.scope.kind(answer.expr, columns).kind
    else:
        select, kind = (
            out.aggregate(answer.agg, answer.expr),
            out.scope.aggregate(answer.agg, answer.expr, columns).kind,
        )
    return {
        "name": name,
        "said": answer.name,
        "kind": kind,
        "agg": answer.agg,
        "value": f"SELECT {select} FROM {out.source(answer.rel)}",
    }


def table_spec(entity: Entity) -> dict[str, Any]:
    """How a table is compared: its key, columns that tools keep by themselves, and what a person calls a row."""
    ignored = [a.column for a in entity.attrs if (a.role == "system" or a.derived) and a.column not in entity.key]
    return {
        "key": list(entity.key),
        "ignored": ignored,
        "called": list(entity.natural_keys),
        "noun": entity.noun or entity.name,
        "plural": entity.plural or f"{entity.name}s",
        "part": entity.kind == "part",
    }


def functions_used(plan: Plan) -> tuple[str, ...]:
    exprs = [e for rel in roots(plan) for r in relations(rel) for e in expressions(r)]
    for effect in plan.effects:
        exprs += [*effect.key.values(), *effect.set.values()]
    exprs += [a.expr for a in plan.answers if a.expr is not None]
    return tuple(sorted({e[1] for expr in exprs for e in walk(expr) if e[0] == "fn"}))


def specification(plan: Plan, model: DomainModel, statements: Statements | None = None) -> dict[str, Any]:
    """The constants of the verifier program, as plain data."""
    out = statements or Statements(plan, model)
    names = criterion_names(plan, model)
    for rel in plan.lets.values():
        out.table(rel)
    effects = [effect_spec(out, e, i, names.effects[i]) for i, e in enumerate(plan.effects)]
    files = [file_spec(out, f, names.files[i]) for i, f in enumerate(plan.files)]
    answers = [answer_spec(out, a, names.answers[i]) for i, a in enumerate(plan.answers)]
    below = {
        e.table: [[c.table, pairs] for c, pairs in descendants(e, model)]
        for e in model.entities
        if any(s["kind"] == "create" and s["table"] == e.table for s in effects)
    }
    return {
        "FUNCTIONS_USED": functions_used(plan),
        "STEPS": out.steps,
        "EFFECTS": effects,
        "FILES": files,
        "ANSWERS": answers,
        "MADE_ALONG": below,
        "TABLES": {e.table: table_spec(e) for e in model.entities if e.kind != "value"},
    }


@lru_cache
def runtime() -> str:
    """The text of the runtime modules as one module: one docstring, one future import, no imports of ours."""
    folder = Path(__file__).parent
    kept = [
        '"""Verifier of one task: what must have changed, and that nothing else did. Made from its plan."""\n',
        "from __future__ import annotations\n",
    ]
    for part in PARTS:
        text = (folder / part).read_text(encoding="utf-8")
        body = text.split('"""\n', 1)[1].replace("from __future__ import annotations\n", "")
        kept.append(OUR_IMPORT.sub("", body))
    return "\n".join(kept).rstrip("\n") + "\n"


def compile_verifier(plan: Plan, model: DomainModel) -> str:
    """The text of a self-contained verifier program (see `tasks_app.verification` for its contract)."""
    constants = [
        f"{name} = {pprint.pformat(json.loads(json.dumps(value)), width=116, sort_dicts=False)}\n"
        for name, value in specification(plan, model).items()
    ]
    call = (
        "\n\ndef verify(before, after, files_before, files_after, answer):\n"
        "    task = Asked(FUNCTIONS_USED, STEPS, EFFECTS, FILES, ANSWERS, MADE_ALONG, TABLES)\n"
        "    return judged(task, before, after, files_before, files_after, answer)\n"
    )
    return runtime() + RUNTIME_MARK + "\n".join(constants) + call


@lru_cache
def _runtime_names() -> dict[str, Any]:
    names: dict[str, Any] = load(runtime() + RUNTIME_MARK + "def verify():\n    pass\n").__globals__
    return names


def evaluate(plan: Plan, model: DomainModel, state: State) -> dict[str, Any]:
    """By SQL on a state: for each criterion what it expects (rows as sorted texts, or the answer's value), and under
    "let NAME" the rows of each let. To count what qualifies, and to foretell by which criterion two plans differ."""
    verify, out = _runtime_names(), Statements(plan, model)
    lets = {let: out.table(rel) for let, rel in plan.lets.items()}
    task = verify["Asked"](*specification(plan, model, out).values())
    before = state.connect()
    try:
        found: dict[str, Any] = verify["expectation"](task, before, dict(state.files), lets)
    finally:
        before.close()
    return found
