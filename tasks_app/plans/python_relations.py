"""Relations of a Plan as Python statements: lists of dicts, read through tools page by page, joined and grouped by hand.

Reading path: what a join already knows of its left side is bound when its right side is read, so children are read per
parent found so far, once for each set of path parameters. A filter of a list is given explicitly where it would hide
rows, restricted only as far as the Plan itself restricts the column (option default_filter forgets it).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks_app.domains.model import Attr, DomainModel, Entity, Filter
from tasks_app.plans.algebra import Expr, Plan, Rel, conjuncts, expressions, relations, roots, walk
from tasks_app.plans.columns import Column, Scope, renamed
from tasks_app.plans.effects import links
from tasks_app.plans.python_expressions import PythonExpressions, Rows, spelled
from tasks_app.plans.reading import Route, keeper, route

RESERVED = frozenset(
    "a b row rows key by every mean later moment plain group found file writer line lines tools csv json os "
    "date datetime timedelta timezone answer and or not in is if else for while def class return None True False "
    "import from as with lambda print len sum min max sorted set dict list tuple str int float open any all range "
    "type id next page due_text day_text parts_of_day parts_of_time ToolError pass del try except global".split())


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
        return Known({n: b for n, b in self.bound.items() if n in names}, {n: v for n, v in self.only.items() if n in names})


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


class Relations:
    """Statements that make the rows of relations; `lines` grows, `emit` gives the variable that holds the rows."""

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

    def sample(self, rel: Rel, variable: str) -> str:
        """A print of how many rows there are and what the first of them is."""
        shown = [n for n, c in self.scope.columns(rel).items() if self.needed(n) and self._telling(c)]
        columns = (shown or [n for n in self.scope.columns(rel) if self.needed(n)])[:3]
        label = variable.replace("_", " ")
        if not columns:
            return f'print("{label}:", len({variable}))'
        values = ", ".join(f'row["{n}"]' for n in columns)
        return f'print("{label}:", len({variable}), [{f"({values})" if len(columns) > 1 else values} for row in {variable}[:3]])'

    def _telling(self, column: Column) -> bool:
        if not column.entity:
            return True
        return column.column in self.model.entity(column.entity).natural_keys

    # -- nodes

    def emit(self, rel: Rel, known: Known | None = None, wish: str = "") -> str:
        """Writes the statements that make the rows of `rel`; the variable that holds them."""
        known = known or Known()
        match rel:
            case ("scan", entity, alias):
                return self._scan(self.model.entity(entity), alias, known, wish)
            case ("file", path, alias, columns):
                return self._file(path, alias, columns, wish)
            case ("use", let, alias):
                return self._use(let, alias)
            case ("where", below, condition):
                rows = self.emit(below, self._narrowed(known, condition))
                test = self.python.test(condition, self._rows(below, "row"))
                return self._assign(wish or "chosen", f"[row for row in {rows} if {test}]")
            case ("join" | "left" | "semi" | "anti" as how, left, right, condition):
                return self._pair(how, left, right, condition, known, wish)
            case ("extend", below, new):
                rows = self.emit(below, known.of(self.scope.columns(below)))
                spell = self._rows(below, "row")
                pairs = ", ".join(f"{spelled(n)}: {self.python.code(e, spell)}" for n, e in new)
                return self._assign(wish or "rows", f"[{{**row, {pairs}}} for row in {rows}]")
            case ("group", below, by, aggregates):
                return self._group(below, by, aggregates, known, wish)
            case ("top", below, order, n):
                rows = self.ordered(self.emit(below), below, order, "ranked")
                return self._assign(wish or "first", f"{rows}[:{n}]")
            case _:
                raise ValueError(f"no relation: {rel!r:.100}")

    def _rows(self, rel: Rel, variable: str) -> Rows:
        return Rows({variable: self.scope.columns(rel)})

    def _assign(self, wish: str, code: str) -> str:
        variable = self.name(wish)
        self.lines.append(f"{variable} = {code}")
        return variable

    def _narrowed(self, known: Known, condition: Expr) -> Known:
        bound, only = dict(known.bound), dict(known.only)
        for part in conjuncts(condition):
            match part:
                case ("cmp", "=", ("col", name), ("lit" | "param", _) as value):
                    literal = self.plan.params[value[1]] if value[0] == "param" else value[1]
                    only[name] = (literal,)
                    bound.setdefault(name, Bound("", "", spelled(literal)))
                case ("in", ("col", name), values):
                    only[name] = values
                case _:
                    pass
        return Known(bound, only)

    def _use(self, let: str, alias: str) -> str:
        variable = self.let_names[let]
        if not alias:
            return variable
        if (let, alias) not in self._uses:
            names = [n for n in self.scope.columns(self.plan.lets[let]) if self.needed(renamed(n, alias))]
            pairs = ", ".join(f"{spelled(renamed(n, alias))}: row[{spelled(n)}]" for n in names)
            self._uses[let, alias] = self._assign(f"{let}_as_{alias}", f"[{{{pairs}}} for row in {variable}]")
        return self._uses[let, alias]

    def _pair(self, how: str, left: Rel, right: Rel, condition: Expr, known: Known, wish: str) -> str:
        a_columns, b_columns = self.scope.columns(left), self.scope.columns(right)
        a_rows = self.emit(left, known.of(a_columns))
        equal, rest = split_condition(condition, a_columns, b_columns)
        below = known.of(b_columns) if how == "join" else Known()
        below = Known({**below.bound, **{b: Bound(a_rows, a, "", a_columns[a].nullable) for a, b in equal}}, below.only)
        b_rows = self.emit(right, below)
        spell = Rows({"a": a_columns, "b": b_columns})
        test = " and ".join(f"({self.python.test(c, spell)})" if len(rest) > 1 else self.python.test(c, spell) for c in rest)
        if how in ("semi", "anti"):
            return self._semi(how == "anti", a_rows, b_rows, equal, test, Rows({"a": a_columns}), Rows({"b": b_columns}), wish)
        matches = self._matches(a_rows, b_rows, equal)
        if how == "join":
            tail = f" if {test}" if test else ""
            return self._assign(wish or "joined", f"[{{**a, **b}} for a in {a_rows} for b in {matches}{tail}]")
        kept = ", ".join(f"{spelled(n)}: None" for n in b_columns if self.needed(n))
        nothing = self._assign("nothing", f"{{{kept}}}")
        some = f"([b for b in {matches} if {test}] or [{nothing}])" if test else f"({matches} or [{nothing}])"
        return self._assign(wish or "joined", f"[{{**a, **b}} for a in {a_rows} for b in {some}]")

    def _matches(self, a_rows: str, b_rows: str, equal: list[tuple[str, str]]) -> str:
        """The rows of b that fit the row called `a`, by equal columns where there are any."""
        if not equal:
            return b_rows
        index = self._assign(f"{b_rows}_by", f"{self.python.helper('by')}({b_rows}, {', '.join(spelled(b) for _, b in equal)})")
        values = ", ".join(f"a[{spelled(a)}]" for a, _ in equal)
        return f"{index}.get(({values}{',' if len(equal) == 1 else ''}), [])"

    def _semi(self, negated: bool, a_rows: str, b_rows: str, equal: list[tuple[str, str]], test: str,
              a_spell: Rows, b_spell: Rows, wish: str) -> str:
        word = "not " if negated else ""
        if len(equal) == 1 and not test:
            (a, b), = equal
            tail = " - {None}" if b_spell.columns[b].nullable else ""
            values = self._assign(f"{b_rows}_values", f"{{b[{spelled(b)}] for b in {b_rows}}}{tail}")
            return self._assign(wish or "kept", f"[a for a in {a_rows} if a[{spelled(a)}] {word}in {values}]")
        matches = self._matches(a_rows, b_rows, equal)
        some = f"any({test} for b in {matches})" if test else matches
        return self._assign(wish or "kept", f"[a for a in {a_rows} if {word}{some}]")

    def _group(self, below: Rel, by: tuple[str, ...], aggregates: tuple[tuple[str, str, Expr | None], ...], known: Known, wish: str) -> str:
        rows = self.emit(below, known.of(dict.fromkeys(by)))
        spell = self._rows(below, "row")
        values = {n: self.python.aggregate(agg, e, spell, "group" if by else rows) for n, agg, e in aggregates}
        if not by:
            pairs = ", ".join(f"{spelled(n)}: {code}" for n, code in values.items())
            return self._assign(wish or "total", f"[{{{pairs}}}]")
        groups = self._assign("groups", "{}")
        key = ", ".join(f"row[{spelled(n)}]" for n in by) + ("," if len(by) == 1 else "")
        self.lines += [f"for row in {rows}:", f"    {groups}.setdefault(({key}), []).append(row)"]
        pairs = ", ".join([f"{spelled(n)}: key[{i}]" for i, n in enumerate(by)] + [f"{spelled(n)}: {c}" for n, c in values.items()])
        return self._assign(wish or "counted", f"[{{{pairs}}} for key, group in {groups}.items()]")

    def ordered(self, rows: str, rel: Rel, order: tuple[tuple[str, str], ...], wish: str) -> str:
        """A sorted copy of the rows, nulls last; the last key is sorted by first."""
        columns = self.scope.columns(rel)
        if all(d == "asc" for _, d in order) or len(order) == 1:
            parts = [self._sort_key(n, columns[n], order[0][1]) for n, _ in order]
            key = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
            turned = ", reverse=True" if order[0][1] == "desc" else ""
            return self._assign(wish, f"sorted({rows}, key=lambda row: {key}{turned})")
        variable = self._assign(wish, f"list({rows})")
        for name, direction in reversed(order):
            turned = ", reverse=True" if direction == "desc" else ""
            self.lines.append(f"{variable}.sort(key=lambda row: {self._sort_key(name, columns[name], direction)}{turned})")
        return variable

    def _sort_key(self, name: str, column: Column, direction: str) -> str:
        code = f"row[{spelled(name)}]"
        if not column.nullable:
            return code
        return f"({code} is {'not ' if direction == 'desc' else ''}None, {code})"

    # -- sources

    def _file(self, path: str, alias: str, columns: tuple[tuple[str, str], ...], wish: str) -> str:
        self.python.used.add("csv")
        lines = self.name("lines_of_" + re.sub(r"\.\w+$", "", path.rsplit("/", 1)[-1]))
        self.lines += [f'with open({spelled(path)}, newline="", encoding="utf-8-sig") as file:',
                       f"    {lines} = list(csv.DictReader(file))"]
        pairs = ", ".join(f"{spelled(f'{alias}.{h}')}: {file_value(h, k)}" for h, k in columns)
        return self._assign(wish or alias, f"[{{{pairs}}} for line in {lines}]")

    def _scan(self, entity: Entity, alias: str, known: Known, wish: str) -> str:
        bound = {n.partition(".")[2]: b for n, b in known.bound.items() if n.startswith(f"{alias}.")}
        only = {n.partition(".")[2]: v for n, v in known.only.items() if n.startswith(f"{alias}.")}
        way = route(self.model, entity, bound)
        bound = self._completed(way, bound)
        columns = [a for a in entity.attrs if self.needed(f"{alias}.{a.column}")] or [entity.attr(c) for c in entity.key]
        rows = self.name(wish or entity.plural or f"{entity.name}s")
        self.lines.append(f"{rows} = []")
        indent, given = self._loops(way, bound)
        document = self.loop_name(way.owner.noun or way.owner.name)
        self._read(way, document, indent, given, only)
        indent += "    " if way.lists else ""
        if way.entity is not way.owner:
            part = self.loop_name(entity.noun or entity.name)
            self.lines.append(f"{indent}for {part} in {nested(document, entity.part_path, '[]')}:")
            indent += "    "
        else:
            part = document
        upward = dict(links(entity, way.owner, self.model)) if part != document else {}
        pairs = ", ".join(f"{spelled(f'{alias}.{a.column}')}: {self._value(a, way, part, document, upward, given)}" for a in columns)
        self.lines.append(f"{indent}{rows}.append({{{pairs}}})")
        return rows

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

    def _read(self, way: Route, document: str, indent: str, given: Mapping[str, str], only: Mapping[str, tuple[Any, ...]]) -> None:
        arguments = [f"{name}={given[column]}" if column in given else f'{name}="-"' for name, column in way.ask]
        tool = f"tools.{way.op.tool}"
        if not way.lists:
            self.lines.append(f"{indent}{document} = {tool}({', '.join(arguments)})")
            return
        for shown in way.op.filters if way.entity is way.owner else [f for f in way.op.filters if f.default is not None]:
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

    def _value(self, attr: Attr, way: Route, part: str, document: str, upward: Mapping[str, str], given: Mapping[str, str]) -> str:
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
        if attr.kind == "date" and attr.role != "system" and attr.description.startswith("{"):
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


def split_condition(condition: Expr, left: Mapping[str, Any], right: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[Expr]]:
    """Pairs of columns that must be equal (left, right), and the other conditions."""
    equal, rest = [], []
    for part in conjuncts(condition):
        match part:
            case ("cmp", "=", ("col", a), ("col", b)) if a in left and b in right:
                equal.append((a, b))
            case ("cmp", "=", ("col", b), ("col", a)) if a in left and b in right:
                equal.append((a, b))
            case ("lit", True):
                pass
            case _:
                rest.append(part)
    return equal, rest
