"""Scans and files of a Plan as Python statements: rows read through tools, page by page, from published documents.

Reading path: a path parameter comes from what is already known (rows of a join's left side, a literal), children are
read once for each set of such values; a parent that nobody named is listed first. A filter of a list is given
explicitly where it would hide rows, restricted only as far as the Plan itself restricts the column (the option
default_filter forgets it).
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks_app.domains.model import Attr, DomainModel, Entity, Filter
from tasks_app.plans.algebra import Expr, Plan, expressions, relations, roots, walk
from tasks_app.plans.columns import Scope
from tasks_app.plans.effects import links
from tasks_app.plans.python_expressions import PythonExpressions, spelled
from tasks_app.plans.reading import Route, keeper, route

OURS = (
    *("a", "b", "row", "rows", "key", "by", "every", "mean", "later", "moment", "plain", "group", "found", "file"),
    *("writer", "line", "lines", "tools", "csv", "json", "os", "date", "datetime", "timedelta", "timezone", "answer"),
    *("page", "part", "parts", "due_text", "day_text", "parts_of_day", "parts_of_time", "ToolError"),
)
WIDTH = 112
RESERVED = frozenset((*keyword.kwlist, *dir(builtins), *OURS))


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the value of a column is known from: rows in a variable, by a column of theirs, or a literal."""

    rows: str
    column: str
    code: str = ""
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a relation's columns before it is read: bound values, and the literals that alone matter."""

    bound: Mapping[str, Bound] = field(default_factory=dict)
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def of(self, names: Mapping[str, Any]) -> Known:
        return Known(
            {n: b for n, b in self.bound.items() if n in names}, {n: v for n, v in self.only.items() if n in names}
        )


def columns_named(plan: Plan) -> set[str]:
    """Each column that some part of the Plan names; with its bare name where a let is used under another alias."""
    names: set[str] = set()
    exprs: list[Expr] = [a.expr for a in plan.answers if a.expr is not None]
    for rel in roots(plan):
        for node in relations(rel):
            exprs += expressions(node)
            if node[0] == "group":
                names |= set(node[2])
            if node[0] == "top":
                names |= {name for name, _ in node[2]}
    for effect in plan.effects:
        exprs += [*effect.key.values(), *effect.set.values()]
        names |= {fact for facts in effect.text.values() for fact in facts}
    for report in plan.files:
        names |= {column for _, column in report.columns} | {column for column, _ in report.order}
    return names | {e[1] for expr in exprs for e in walk(expr) if e[0] == "col"}


class Reader:
    """Statements that read rows; `lines` grows, each method gives the variable that holds its rows."""

    def __init__(self, plan: Plan, model: DomainModel, options: frozenset[str]) -> None:
        self.plan, self.model, self.options = plan, model, options
        self.scope = Scope(plan, model)
        self.python = PythonExpressions(self.scope, plan.params)
        self.lines: list[str] = []
        self.taken: set[str] = set(RESERVED)
        self.loops: set[str] = set()
        self.let_names = {let: self.name(let) for let in plan.lets}
        self.named = columns_named(plan)
        self.aliases = {node[2] for rel in roots(plan) for node in relations(rel) if node[0] == "use" and node[2]}
        self.pager: tuple[str, str] | None = None
        self._uses: dict[tuple[str, str], str] = {}
        self._read_before: dict[tuple[Any, ...], str] = {}

    def _assign(self, wish: str, code: str) -> str:
        variable = self.name(wish)
        self.lines.append(f"{variable} = {code}")
        return variable

    # -- names

    def name(self, wish: str) -> str:
        """A variable that is not taken; a wish of "=x" is x itself, reserved before."""
        if wish.startswith("="):
            return wish[1:]
        base = re.sub(r"\W+", "_", wish).strip("_").lower() or "rows"
        base = f"_{base}" if base[0].isdigit() else base
        found, n = base, 1
        while found in self.taken:
            n += 1
            found = f"{base}_{n}"
        self.taken.add(found)
        return found

    def loop_name(self, wish: str) -> str:
        """A loop variable: it may serve several loops, but never hides a list of rows."""
        base = re.sub(r"\W+", "_", wish).strip("_").lower() or "item"
        found = f"{base}_" if base in self.taken and base not in self.loops else base
        while found in self.taken and found not in self.loops:
            found += "_"
        self.taken.add(found)
        self.loops.add(found)
        return found

    def needed(self, name: str) -> bool:
        bare = name.partition(".")[2] or name
        return name in self.named or any(f"{alias}.{bare}" in self.named for alias in self.aliases)

    # -- sources

    def _file(self, path: str, alias: str, columns: tuple[tuple[str, str], ...], wish: str) -> str:
        self.python.used.add("csv")
        lines = self.name("lines_of_" + re.sub(r"\.\w+$", "", path.rsplit("/", 1)[-1]))
        self.lines += [
            f'with open({spelled(path)}, newline="", encoding="utf-8-sig") as file:',
            f"    {lines} = list(csv.DictReader(file))",
        ]
        pairs = ", ".join(f"{spelled(f'{alias}.{h}')}: {file_value(h, k)}" for h, k in columns)
        return self._assign(wish or alias, f"[{{{pairs}}} for line in {lines}]")

    def scan_along(self, entity: Entity, alias: str, known: Known, equal: set[str], wish: str) -> str | None:
        """A scan read once for each row it is joined with, those rows' columns kept; None where that is not so."""
        bound = {n.partition(".")[2]: b for n, b in known.bound.items() if n.startswith(f"{alias}.")}
        way = route(self.model, entity, bound)
        asked = {column for _, column in way.ask if column in bound and bound[column].rows}
        met = bool(asked) and {f"{alias}.{c}" for c in asked} == equal and all(c in bound for _, c in way.ask)
        if way.entity is not way.owner or not met:
            return None
        return self._read_rows(way, alias, known, bound, wish, along={bound[c].rows for c in asked}.pop())

    def _scan(self, entity: Entity, alias: str, known: Known, wish: str) -> str:
        bound = {n.partition(".")[2]: b for n, b in known.bound.items() if n.startswith(f"{alias}.")}
        way = route(self.model, entity, bound)
        return self._read_rows(way, alias, known, self._completed(way, bound), wish)

    def _read_rows(
        self, way: Route, alias: str, known: Known, bound: dict[str, Bound], wish: str, along: str = ""
    ) -> str:
        """Loops that read an entity's rows; with `along`, once for each of the rows in that variable."""
        entity = way.entity
        only = {n.partition(".")[2]: v for n, v in known.only.items() if n.startswith(f"{alias}.")}
        columns = [a for a in entity.attrs if self.needed(f"{alias}.{a.column}")]
        columns = columns or [entity.attr(c) for c in entity.key]
        said = (sorted(bound.items(), key=str), sorted(only.items()), [a.column for a in columns])
        key = (alias, entity.name, along, repr(said))
        if not wish.startswith("=") and key in self._read_before:
            return self._read_before[key]
        rows = self.name(wish or entity.plural or f"{entity.name}s")
        self.lines.append(f"{rows} = []")
        indent, given = self._along(way, bound, along) if along else self._loops(way, bound)
        document = part = self.loop_name(way.owner.noun or way.owner.name)
        self._read(way, document, indent, given, only)
        indent += "    " if way.lists else ""
        if way.entity is not way.owner:
            part = self.loop_name(entity.noun or entity.name)
            self.lines.append(f"{indent}for {part} in {nested(document, entity.part_path, '[]')}:")
            indent += "    "
        upward = dict(links(entity, way.owner, self.model)) if part != document else {}
        pairs = {f"{alias}.{a.column}": self._value(a, way, part, document, upward, given) for a in columns}
        self._append(rows, pairs, indent, kept=bool(along))
        self._read_before[key] = rows
        return rows

    def _append(self, rows: str, pairs: Mapping[str, str], indent: str, kept: bool) -> None:
        """Adds a row: on one line, or a column a line where it would get too long."""
        items = (["**row"] if kept else []) + [f"{spelled(name)}: {code}" for name, code in pairs.items()]
        line = f"{indent}{rows}.append({{{', '.join(items)}}})"
        if len(line) <= WIDTH:
            self.lines.append(line)
        else:
            self.lines += [f"{indent}{rows}.append({{", *(f"{indent}    {item}," for item in items), f"{indent}}})"]

    def _along(self, way: Route, bound: Mapping[str, Bound], rows: str) -> tuple[str, dict[str, str]]:
        self.lines.append(f"for row in {rows}:")
        return "    ", {c: bound[c].code or f"row[{spelled(bound[c].column)}]" for _, c in way.ask}

    def _completed(self, way: Route, bound: dict[str, Bound]) -> dict[str, Bound]:
        """Bound columns of the owner; keys that are not known are read first, from the parent's list or a twin's."""
        if way.entity is not way.owner:
            bound = {above: bound[mine] for mine, above in links(way.entity, way.owner, self.model) if mine in bound}
        missing = [column for name, column in way.ask if column not in bound and name not in way.anywhere]
        while missing:
            above, own = keeper(self.model, way.owner, missing[-1])
            alias = f"{above.name.lower()}_above"
            pairs = [(mine, theirs) for mine, theirs in links(way.owner, above, self.model)] or [(missing[-1], own)]
            self.named |= {f"{alias}.{theirs}" for _, theirs in pairs}
            passed = {f"{alias}.{theirs}": bound[mine] for mine, theirs in pairs if mine in bound}
            rows = self._scan(above, alias, Known(passed), "")
            bound = {**bound, **{mine: Bound(rows, f"{alias}.{theirs}") for mine, theirs in pairs}}
            missing = [column for name, column in way.ask if column not in bound and name not in way.anywhere]
        return bound

    def _loops(self, way: Route, bound: Mapping[str, Bound]) -> tuple[str, dict[str, str]]:
        """Loops over the distinct path parameters; the indent below them, and source of each column of the owner."""
        given: dict[str, str] = {}
        by_rows: dict[str, list[tuple[str, Bound]]] = {}
        for name, column in way.ask:
            if name in way.anywhere and column not in bound:
                continue
            if bound[column].code:
                given[column] = bound[column].code
            else:
                by_rows.setdefault(bound[column].rows, []).append((column, bound[column]))
        indent = ""
        for rows, pairs in by_rows.items():
            names = [self.loop_name(column) for column, _ in pairs]
            given.update({column: name for (column, _), name in zip(pairs, names, strict=True)})
            cells = [f"row[{spelled(b.column)}]" for _, b in pairs]
            values = f"({', '.join(cells)})" if len(pairs) > 1 else cells[0]
            known = [f"{cell} is not None" for cell, (_, b) in zip(cells, pairs, strict=True) if b.nullable]
            tail = f" if {' and '.join(known)}" if known else ""
            self.lines.append(f"{indent}for {', '.join(names)} in sorted({{{values} for row in {rows}{tail}}}):")
            indent += "    "
        return indent, given

    def _read(
        self, way: Route, document: str, indent: str, given: Mapping[str, str], only: Mapping[str, tuple[Any, ...]]
    ) -> None:
        arguments = [f"{name}={given[column]}" if column in given else f'{name}="-"' for name, column in way.ask]
        tool = f"tools.{way.op.tool}"
        if not way.lists:
            self.lines.append(f"{indent}{document} = {tool}({', '.join(arguments)})")
            return
        for shown in (
            way.op.filters if way.entity is way.owner else [f for f in way.op.filters if f.default is not None]
        ):
            arguments += self._filter(shown, way.owner, only if way.entity is way.owner else {})
        if way.op.paging:
            self.python.helper("every")
            self.pager = self.pager or (way.op.paging.token_param, way.op.paging.next_token)
            listed = f"every({', '.join([tool, spelled(way.op.items_key), *arguments])})"
        else:
            listed = f"{tool}({', '.join(arguments)}).get({spelled(way.op.items_key)}, [])"
        self.lines.append(f"{indent}for {document} in {listed}:")

    def _filter(self, shown: Filter, entity: Entity, only: Mapping[str, tuple[Any, ...]]) -> list[str]:
        """The argument that keeps a list from hiding rows, or narrows it as the Plan does anyway."""
        if "default_filter" in self.options or shown.via:
            return []
        if shown.op == "flag_shows":
            unneeded = shown.column in only and shown.hidden not in only[shown.column]
            return [] if unneeded else [f"{shown.param}=True"]
        if shown.op not in ("in", "eq"):
            return []
        known = [v for v in only.get(shown.column, ()) if v is not None]
        if not known and shown.default is not None:
            known = list(entity.attr(shown.column).enum)
        if shown.op == "eq":
            return [f"{shown.param}={spelled(known[0])}"] if len(known) == 1 else []
        return [f"{shown.param}={spelled(known)}"] if known else []

    def _value(
        self, attr: Attr, way: Route, part: str, document: str, upward: Mapping[str, str], given: Mapping[str, str]
    ) -> str:
        """Source of a column's value: from the document, else from the arguments that it was read with."""
        if attr.column in upward:
            return self._value(way.owner.attr(upward[attr.column]), way, document, document, {}, given)
        column = attr.column
        if attr.path == "" or (column in given and way.owner.key and column in way.owner.key and part == document):
            return given[column]
        return self._from_document(attr, part)

    def _from_document(self, attr: Attr, document: str) -> str:
        if attr.path == ".":
            return document
        if "+" in attr.path:
            day, time = attr.path.split("+")
            return f"{self.python.helper('due_text')}({nested(document, day)}, {nested(document, time)})"
        if "|" in attr.path:
            return " or ".join(nested(document, path) for path in attr.path.split("|"))
        if attr.kind == "boolean":
            return nested(document, attr.path, "False")
        if "." not in attr.path and (attr.required or attr.role == "key"):
            return f"{document}[{spelled(attr.path)}]"
        code = nested(document, attr.path, "")
        if attr.kind == "date":
            return f"{self.python.helper('day_text')}({code})"
        return code


def nested(document: str, path: str, otherwise: str = "") -> str:
    """`doc.get("a", {}).get("b")`."""
    parts = path.split(".")
    inner = "".join(f".get({spelled(p)}, {{}})" for p in parts[:-1])
    return f"{document}{inner}.get({spelled(parts[-1])}{', ' + otherwise if otherwise else ''})"


def file_value(header: str, kind: str) -> str:
    cell = f"line[{spelled(header)}]"
    match kind:
        case "integer":
            return f"int({cell}) if {cell} else None"
        case "real":
            return f"float({cell}) if {cell} else None"
        case "boolean":
            return f'{cell}.lower() in ("1", "true", "yes") if {cell} else None'
        case _:
            return f"{cell} or None"
