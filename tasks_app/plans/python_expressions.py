"""Expressions of a Plan as Python source over rows that are dicts, nulls handled only where a value may be null.

`Rows` says how a column is spelled (`row["work.title"]`, or `a[…]`/`b[…]` in a join). Functions that need more than an
expression are small helpers, written into the program's first cell when used (HELPERS).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks_app.plans.algebra import Expr
from tasks_app.plans.columns import Column, Scope

HELPERS: Mapping[str, str] = {
    "every": '''def every(tool, key, **arguments):
    """All pages of a list."""
    rows, page = [], None
    while True:
        answer = tool(**arguments, {token}=page) if page else tool(**arguments)
        rows += answer.get(key, [])
        page = answer.get("{next}")
        if not page:
            return rows
''',
    "by": '''def by(rows, *names):
    """Rows by the values of some columns; a row without a value is left out."""
    found = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        if None not in key:
            found.setdefault(key, []).append(row)
    return found
''',
    "mean": """def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None
""",
    "day_text": """def day_text(day):
    return f"{day['year']:04}-{day['month']:02}-{day['day']:02}" if day else None
""",
    "due_text": '''def due_text(day, time):
    """A date and a time of day (UTC) as one text, the date alone where there is no time."""
    if not day:
        return None
    text = f"{day['year']:04}-{day['month']:02}-{day['day']:02}"
    if time is None:
        return text
    return f"{text}T{time.get('hours', 0):02}:{time.get('minutes', 0):02}:{time.get('seconds', 0):02}Z"
''',
    "parts_of_day": """def parts_of_day(text):
    year, month, day = (int(part) for part in text[:10].split("-"))
    return {"year": year, "month": month, "day": day}
""",
    "parts_of_time": """def parts_of_time(text):
    return {"hours": int(text[11:13]), "minutes": int(text[14:16])}
""",
    "moment": """def moment(text):
    found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)
""",
    "later": '''def later(text, **delta):
    """A time, or a date, moved on."""
    if len(text) == 10:
        return (date.fromisoformat(text) + timedelta(**delta)).isoformat()
    return (moment(text) + timedelta(**delta)).astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
''',
    "plain": """def plain(value):
    return "" if value is None else str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
""",
}
NEEDS: Mapping[str, tuple[str, ...]] = {"later": ("moment",)}
IMPORTS: Mapping[str, str] = {
    "moment": "from datetime import date, datetime, timedelta, timezone",
    "zone": "from zoneinfo import ZoneInfo",
}


@dataclass(frozen=True, slots=True)
class Rows:
    """How columns are spelled: variable → its columns. One variable for most nodes, two in a join."""

    variables: Mapping[str, Mapping[str, Column]]

    def spell(self, name: str) -> str:
        for variable, columns in self.variables.items():
            if name in columns:
                return f"{variable}[{name!r}]" if '"' in name else f'{variable}["{name}"]'
        raise KeyError(name)

    @property
    def columns(self) -> dict[str, Column]:
        return {name: c for columns in self.variables.values() for name, c in columns.items()}


class PythonExpressions:
    """Source of expressions; `used` collects the helpers that the program must define."""

    def __init__(self, scope: Scope, params: Mapping[str, Any]) -> None:
        self.scope, self.params, self.used = scope, params, set[str]()

    def helper(self, name: str) -> str:
        self.used.update((name, *NEEDS.get(name, ())))
        return name

    def nullable(self, expr: Expr, rows: Rows) -> bool:
        return self.scope.kind(expr, rows.columns).nullable

    def code(self, expr: Expr, rows: Rows) -> str:
        """Source of a value; None for null. Conditions give True or False."""
        match expr:
            case ("col", name):
                return rows.spell(name)
            case ("lit", value):
                return spelled(value)
            case ("param", name):
                return spelled(self.params[name])
            case ("op", op, a, b):
                return self._arithmetic(op, a, b, rows)
            case ("case", pairs, otherwise):
                branches = "".join(f"{self._nested(v, rows)} if {self.test(c, rows)} else " for c, v in pairs)
                return f"({branches}{self._nested(otherwise, rows)})"
            case ("fn", name, *arguments):
                return self._function(name, arguments, rows)
            case _:
                return self._condition(expr, rows)

    def _condition(self, expr: Expr, rows: Rows) -> str:
        match expr:
            case ("and" | "or" as word, *parts):
                return f" {word} ".join(self._nested(p, rows) for p in parts)
            case ("not", ("in", a, values)):
                return self._membership(a, values, rows, "!=", "not in")
            case ("not", a):
                return f"not {self._nested(a, rows)}"
            case ("null", a):
                return f"{self._nested(a, rows)} is None"
            case ("in", a, values):
                return self._membership(a, values, rows, "==", "in")
            case ("cmp", op, a, b):
                return self._comparison(op, a, b, rows)
            case _:
                raise ValueError(f"no expression: {expr!r:.100}")

    def _membership(self, a: Expr, values: tuple[Any, ...], rows: Rows, single: str, several: str) -> str:
        known = tuple(v for v in values if v is not None)
        value = self._nested(a, rows)
        return f"{value} {single} {spelled(known[0])}" if len(known) == 1 else f"{value} {several} {spelled(known)}"

    def test(self, expr: Expr, rows: Rows) -> str:
        """Source of a condition where None counts as false."""
        return self.code(expr, rows)

    def _nested(self, expr: Expr, rows: Rows) -> str:
        code = self.code(expr, rows)
        simple = expr[0] in ("col", "lit", "param", "case") or (
            expr[0] == "fn" and code.endswith(")") and " " not in code
        )
        return code if simple else f"({code})"

    def _known(self, expressions: list[Expr], rows: Rows) -> list[str]:
        """Conditions that say that the values are there, where they may not be."""
        return list(
            dict.fromkeys(f"{self._nested(e, rows)} is not None" for e in expressions if self.nullable(e, rows))
        )

    def _comparison(self, op: str, a: Expr, b: Expr, rows: Rows) -> str:
        left, right = self._nested(a, rows), self._nested(b, rows)
        known = self._known([a, b], rows)
        if ("lit", None) in (a, b):
            return "False"
        if op == "=" and not (self.nullable(a, rows) and self.nullable(b, rows)):
            known = []  # None equals no value
        plain = self._flag(op, a, b, left, rows)
        return " and ".join([*known, plain or f"{left} {'==' if op == '=' else op} {right}"])

    def _flag(self, op: str, a: Expr, b: Expr, left: str, rows: Rows) -> str | None:
        """`row["late"]` for `late = true`, as a person would write it."""
        if op != "=" or b not in (("lit", True), ("lit", False)) or self.nullable(a, rows):
            return None
        return left if b[1] else f"not {left}"

    def _arithmetic(self, op: str, a: Expr, b: Expr, rows: Rows) -> str:
        left, right = self._nested(a, rows), self._nested(b, rows)
        known = self._known([a] if op == "/" else [a, b], rows)
        known += [right] if op == "/" and not _nonzero(b) else []  # neither null nor 0
        code = f"{left} {op} {right}"
        return f"({code} if {' and '.join(known)} else None)" if known else code

    def _function(self, name: str, arguments: list[Expr], rows: Rows) -> str:
        codes = [self._nested(a, rows) for a in arguments]
        if name == "concat":
            self.helper("plain")
            return (
                " + ".join(
                    c if a[0] == "lit" and isinstance(a[1], str) else f"plain({c})"
                    for a, c in zip(arguments, codes, strict=True)
                )
                or '""'
            )
        if name == "coalesce":
            return f"({codes[1]} if {codes[0]} is None else {codes[0]})"
        known = self._known(arguments, rows)
        code = self._call(name, codes, arguments)
        if not known:
            return code
        if name in ("contains", "starts_with", "ends_with"):
            return f"({' and '.join(known)} and {code})"
        return f"({code} if {' and '.join(known)} else None)"

    def _call(self, name: str, codes: list[str], arguments: list[Expr]) -> str:
        first, second = codes[0], codes[1] if len(codes) > 1 else ""
        match name:
            case "lower":
                return f"{first}.lower()"
            case "length":
                return f"len({first})"
            case "contains":
                lowered = spelled(arguments[1][1].lower()) if arguments[1][0] == "lit" else f"{second}.lower()"
                return f"({lowered} in {first}.lower())"
            case "starts_with" | "ends_with":
                return f"{first}.{name.replace('_', '')}({second})"
            case "round":
                return f"round(float({first}), {second})"
            case _:
                return self._time(name, first, second)

    def _time(self, name: str, first: str, second: str) -> str:
        """Functions of times; all but `date` need helpers."""
        match name:
            case "date":
                return f"{first}[:10]"
            case "weekday":
                return f"{self.helper('moment')}({first}).weekday()"
            case "local_date" | "local_time":
                self.helper("zone")
                local = f"{self.helper('moment')}({first}).astimezone(ZoneInfo({second}))"
                return f"{local}.date().isoformat()" if name == "local_date" else f'{local}.strftime("%H:%M")'
            case "add_days" | "add_minutes":
                return f"{self.helper('later')}({first}, {name[4:]}={second})"
            case "minutes":
                self.helper("moment")
                return f"int((moment({second}) - moment({first})).total_seconds() // 60)"
            case _:
                raise ValueError(f"no function {name!r}")

    def aggregate(self, agg: str, expr: Expr | None, rows: Rows, of: str) -> str:
        """Source of an aggregate of `expr` over the list named `of`, its rows called as in `rows`."""
        if expr is None:
            return f"len({of})"
        variable = next(iter(rows.variables))
        code = self.code(expr, rows)
        tail = f" if {' and '.join(self._known([expr], rows))}" if self.nullable(expr, rows) else ""
        values = f"{code} for {variable} in {of}{tail}"
        match agg:
            case "count":
                return f"sum(1 for {variable} in {of}{tail})"
            case "sum":
                return f"sum({values})"
            case "count_distinct":
                return f"len({{{values}}})"
            case "avg":
                return f"{self.helper('mean')}({values})"
            case _:
                return f"{agg}(({values}), default=None)"


def _nonzero(expr: Expr) -> bool:
    return expr[0] == "lit" and bool(expr[1])


def spelled(value: Any) -> str:
    """A literal in double quotes, as in the rest of the program."""
    if isinstance(value, (tuple, list)):
        inner = ", ".join(spelled(v) for v in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, str):
        text = repr(value)
        return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text and "\\'" not in text else text
    return repr(value)
