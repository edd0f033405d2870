"""Relations of a Plan as Python statements: lists of dicts, joined, grouped and sorted by hand.

What a join already knows of its left side is bound when its right side is read (`python_reading`), so write parents
left of children.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks_app.plans.algebra import Expr, Rel, conjuncts
from tasks_app.plans.columns import Column, renamed
from tasks_app.plans.identity import identities
from tasks_app.plans.python_expressions import Rows, spelled
from tasks_app.plans.python_reading import Bound, Known, Reader


class Relations(Reader):
    """Statements that make the rows of relations; `emit` gives the variable that holds them."""

    def sample(self, rel: Rel, variable: str) -> str:
        """A print of how many rows there are and what the first of them is."""
        shown = [n for n, c in self.scope.columns(rel).items() if self.needed(n) and self._telling(c)]
        columns = (shown or [n for n in self.scope.columns(rel) if self.needed(n)])[-3:]
        label = variable.replace("_", " ")
        if not columns:
            return f'print("{label}:", len({variable}))'
        values = ", ".join(f'row["{n}"]' for n in columns)
        shape = f"({values})" if len(columns) > 1 else values
        return f'print("{label}:", len({variable}), [{shape} for row in {variable}[:3]])'

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
                rows = self.emit(below, self._narrowed(known, condition, below))
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

    def _narrowed(self, known: Known, condition: Expr, below: Rel) -> Known:
        """What a condition adds: values that columns are bound to, or are among."""
        bound, only = dict(known.bound), dict(known.only)
        for part in conjuncts(condition):
            match part:
                case ("cmp", "=", ("col", name), ("lit" | "param", _) as value):
                    literal = self.plan.params[value[1]] if value[0] == "param" else value[1]
                    only[name] = (literal,)
                    bound.setdefault(name, Bound("", "", spelled(literal)))
                case ("in", ("col", name), values):
                    only[name] = values
                case ("cmp", "!=", ("col", name), ("lit", value)) if enum := self._enum(name, below):
                    only[name] = tuple(v for v in enum if v != value)
                case _:
                    pass
        return Known(bound, only)

    def _enum(self, name: str, below: Rel) -> tuple[str, ...]:
        column = self.scope.columns(below)[name]
        return self.model.entity(column.entity).attr(column.column).enum if column.entity else ()

    def _use(self, let: str, alias: str) -> str:
        variable = self.let_names[let]
        if not alias:
            return variable
        if (let, alias) not in self._uses:
            names = {renamed(n, alias): n for n in self.scope.columns(self.plan.lets[let])}  # the last of one name
            pairs = ", ".join(f"{spelled(new)}: row[{spelled(old)}]" for new, old in names.items() if self.needed(new))
            self._uses[let, alias] = self._assign(f"{let}_as_{alias}", f"[{{{pairs}}} for row in {variable}]")
        return self._uses[let, alias]

    def _pair(self, how: str, left: Rel, right: Rel, condition: Expr, known: Known, wish: str) -> str:
        a_columns, b_columns = self.scope.columns(left), self.scope.columns(right)
        a_rows = self.emit(left, known.of(a_columns))
        equal, rest = split_condition(condition, a_columns, b_columns)
        below = known.of(b_columns) if how == "join" else Known()
        below = Known({**below.bound, **{b: Bound(a_rows, a, "", a_columns[a].nullable) for a, b in equal}}, below.only)
        if how == "join" and (rows := self._read_along(left, right, equal, rest, below, wish)):
            return rows
        if how in ("semi", "anti") and len(equal) == 1 and not rest:
            return self._semi_by_value(how == "anti", a_rows, right, equal[0], below, wish)
        b_rows = self.emit(right, below)
        spell = Rows({"a": a_columns, "b": b_columns})
        test = " and ".join(
            f"({self.python.test(c, spell)})" if len(rest) > 1 else self.python.test(c, spell) for c in rest
        )
        if how in ("semi", "anti"):
            matches = self._matches(a_rows, b_rows, equal)
            some = f"any({test} for b in {matches})" if test else matches
            return self._assign(wish or "kept", f"[a for a in {a_rows} if {'not ' if how == 'anti' else ''}{some}]")
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
        index = self._assign(
            f"{b_rows}_by", f"{self.python.helper('by')}({b_rows}, {', '.join(spelled(b) for _, b in equal)})"
        )
        values = ", ".join(f"a[{spelled(a)}]" for a, _ in equal)
        return f"{index}.get(({values}{',' if len(equal) == 1 else ''}), [])"

    def _semi_by_value(
        self, negated: bool, a_rows: str, right: Rel, equal: tuple[str, str], below: Known, wish: str
    ) -> str:
        """Rows whose value is, or is not, among those of one column of the other side."""
        mine, theirs = equal
        nullable = self.scope.columns(right)[theirs].nullable
        if right[0] == "use":  # no need to rename all for the sake of one column
            names = {renamed(n, right[2]): n for n in self.scope.columns(self.plan.lets[right[1]])}
            b_rows, theirs = self.let_names[right[1]], names[theirs]
        else:
            b_rows = self.emit(right, below)
        tail = " - {None}" if nullable else ""
        values = self._assign(f"{b_rows}_values", f"{{row[{spelled(theirs)}] for row in {b_rows}}}{tail}")
        word = "not in" if negated else "in"
        return self._assign(wish or "kept", f"[row for row in {a_rows} if row[{spelled(mine)}] {word} {values}]")

    def _read_along(
        self, left: Rel, right: Rel, equal: list[tuple[str, str]], rest: list[Expr], known: Known, wish: str
    ) -> str | None:
        """Children read right beside their parents, where the path parameters are what the join asks for."""
        conditions: list[Expr] = []
        while right[0] == "where":
            conditions.append(right[2])
            known, right = self._narrowed(known, right[2], right[1]), right[1]
        asked = {a for a, _ in equal}
        alone = all(asked & set(some) for some in identities(left, self.scope))
        if right[0] != "scan" or not alone or any(self.scope.columns(left)[a].nullable for a in asked):
            return None
        tests = [*rest, *reversed(conditions)]
        rows = self.scan_along(
            self.model.entity(right[1]), right[2], known, {b for _, b in equal}, "" if tests else wish
        )
        if rows is None or not tests:
            return rows
        spell = Rows({"row": {**self.scope.columns(left), **self.scope.columns(right)}})
        test = self.python.test(("and", *tests) if len(tests) > 1 else tests[0], spell)
        return self._assign(wish or "chosen", f"[row for row in {rows} if {test}]")

    def _group(
        self,
        below: Rel,
        by: tuple[str, ...],
        aggregates: tuple[tuple[str, str, Expr | None], ...],
        known: Known,
        wish: str,
    ) -> str:
        rows = self.emit(below, known.of(dict.fromkeys(by)))
        spell = self._rows(below, "row")
        values = {n: self.python.aggregate(agg, e, spell, "group" if by else rows) for n, agg, e in aggregates}
        if not by:
            pairs = ", ".join(f"{spelled(n)}: {code}" for n, code in values.items())
            return self._assign(wish or "total", f"[{{{pairs}}}]")
        groups = self._assign("groups", "{}")
        key = ", ".join(f"row[{spelled(n)}]" for n in by) + ("," if len(by) == 1 else "")
        self.lines += [f"for row in {rows}:", f"    {groups}.setdefault(({key}), []).append(row)"]
        pairs = ", ".join(
            [f"{spelled(n)}: key[{i}]" for i, n in enumerate(by)] + [f"{spelled(n)}: {c}" for n, c in values.items()]
        )
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
            self.lines.append(
                f"{variable}.sort(key=lambda row: {self._sort_key(name, columns[name], direction)}{turned})"
            )
        return variable

    def _sort_key(self, name: str, column: Column, direction: str) -> str:
        code = f"row[{spelled(name)}]"
        if not column.nullable:
            return code
        return f"({code} is {'not ' if direction == 'desc' else ''}None, {code})"


def split_condition(
    condition: Expr, left: Mapping[str, Any], right: Mapping[str, Any]
) -> tuple[list[tuple[str, str]], list[Expr]]:
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
