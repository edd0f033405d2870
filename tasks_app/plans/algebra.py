"""Plan: what is wanted, as plain data. Relations and expressions are nested tuples, so that changing one is a tree walk.

    Rel   ("scan", entity, alias)                        all rows; columns are "alias.column"
          ("file", path, alias, ((column, kind), …))     a CSV of the workspace, kinds as in DomainModel
          ("where", rel, expr)
          ("join" | "left" | "semi" | "anti", left, right, expr)
          ("extend", rel, ((name, expr), …))             new columns, unqualified names
          ("group", rel, (column, …), ((name, agg, expr | None), …))   agg: count sum min max avg count_distinct
          ("top", rel, ((column, "asc" | "desc"), …), n)               the keys must order totally
          ("use", let, alias)                            a named Rel again; its columns keep their names, alias "" keeps all
    Expr  ("col", name) ("lit", value) ("param", name) ("cmp", op, a, b) with op in = != < <= > >=
          ("and", e, …) ("or", e, …) ("not", e) ("in", e, (value, …)) ("null", e)
          ("op", "+" | "-" | "*" | "/", a, b) ("case", ((condition, value), …), otherwise) ("fn", name, arg, …)

The algebra is two-valued: a comparison with null is false, `not` of it is true. Sorting puts nulls last.
Its two compilers, `to_sql` and `to_python`, share these types and no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Rel = tuple[Any, ...]
Expr = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """One kind of change, done for every row of `rel`.

    kind: create · update · transition · delete · move. `tool` carries it out. `key` maps the tool's path parameters
    to columns of `rel`; `set` maps columns of the entity to expressions over `rel`; `text` names free-worded columns
    with the facts (columns of `rel`) each must mention; `free` are columns the verifier leaves to the solver.
    """

    kind: Literal["create", "update", "transition", "delete", "move"]
    entity: str
    tool: str
    rel: Rel
    key: Mapping[str, Expr] = field(default_factory=dict)
    set: Mapping[str, Expr] = field(default_factory=dict)
    text: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    free: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileReport:
    """A file to leave in the workspace: header → column of `rel`; `order` as in top, () where any order is right."""

    path: str
    rel: Rel
    columns: tuple[tuple[str, str], ...]
    order: tuple[tuple[str, str], ...] = ()
    format: Literal["csv", "json", "md"] = "csv"


@dataclass(frozen=True, slots=True)
class Answer:
    """A value to be said at the end: `agg` of `expr` over `rel`. Said as "name: value" lines, or alone if it is one."""

    name: str
    rel: Rel
    agg: Literal["count", "sum", "min", "max", "avg", "count_distinct", "only"]
    expr: Expr | None = None


@dataclass(frozen=True, slots=True)
class Trap:
    """One honest mistake: the whole Plan as someone would carry it out who falls for it (or an option of the program)."""

    name: str
    kind: str                   # dropped_condition · boundary · neighbour · first_page · default_filter · over_reach · …
    says: str                   # one sentence for people
    plan: Plan | None = None
    option: str = ""            # "first_page", "no_op", "twice", …: where the Plan is the same and the program differs


@dataclass(frozen=True, slots=True)
class Plan:
    domain: str
    lets: Mapping[str, Rel] = field(default_factory=dict)
    effects: tuple[Effect, ...] = ()
    files: tuple[FileReport, ...] = ()
    answers: tuple[Answer, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    traps: tuple[Trap, ...] = ()
