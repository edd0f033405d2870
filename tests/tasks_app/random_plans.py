"""Random plans over the hand-made school, and random states of it: nulls, empty tables, ties, equal names."""

from __future__ import annotations

from random import Random
from typing import Any

from tasks_app.environments.state import State
from tasks_app.plans.algebra import Answer, Effect, Expr, FileReport, Plan, Rel, col, lit
from tasks_app.plans.columns import FAMILY, Column, Scope
from tests.tasks_app import plan_world

TEXTS = ("Essay", "Quiz", "essay", "Poster 2", "", "Äpfel", "ann@x.org")
TIMES = ("2026-11-02T08:00:00Z", "2026-11-05T23:30:00Z", "2026-03-29T00:30:00Z", "2026-11-03T10:00:00Z")
NUMBERS = (0, 1, 2, 7, 10, 30)


def maybe(rng: Random, value: Any, chance: float = 0.3) -> Any:
    return None if rng.random() < chance else value


def random_state(rng: Random) -> State:
    clubs = [
        (
            f"c{i}",
            rng.choice(TEXTS[:4]),
            maybe(rng, rng.choice(TEXTS)) or None,
            rng.randint(0, 1),
            maybe(rng, rng.choice(NUMBERS)),
            None,
        )
        for i in range(rng.randint(0, 4))
    ]
    chores = [
        (
            c[0],
            f"t{i}",
            rng.choice(TEXTS[:4]),
            rng.choice(plan_world.STATES),
            maybe(rng, rng.choice(NUMBERS) / 2),
            maybe(rng, rng.choice(TIMES)),
            maybe(rng, rng.choice(TEXTS)) or None,
            rng.randint(0, 1),
        )
        for c in clubs
        for i in range(rng.randint(0, 4))
    ]
    entries = [
        (c[0], c[1], f"e{i}", maybe(rng, rng.choice(TEXTS[5:])), maybe(rng, rng.choice(NUMBERS)))
        for c in chores
        for i in range(rng.randint(0, 3))
    ]
    guests = [
        (c[0], c[1], who, maybe(rng, rng.choice(("yes", "no"))))
        for c in chores
        for who in ("ann@x.org", "bob@x.org")
        if rng.random() < 0.4
    ]
    lines = "".join(
        f"{maybe(rng, rng.choice(TEXTS[5:])) or ''},{maybe(rng, rng.choice(NUMBERS)) or ''}\n"
        for _ in range(rng.randint(0, 4))
    )
    return plan_world.state(
        clubs, chores, entries, guests, {"notes.txt": b"x", "inbox/hours.csv": f"who,minutes\n{lines}".encode()}
    )


class RandomPlan:
    """Draws a well-typed plan, node by node."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.plan = Plan("school")
        self.aliases = 0

    @property
    def scope(self) -> Scope:
        return Scope(self.plan, plan_world.MODEL)

    def alias(self) -> str:
        self.aliases += 1
        return f"x{self.aliases}"

    def made(self) -> Plan:
        lets: dict[str, Rel] = {}
        for i in range(self.rng.randint(1, 3)):
            lets[f"part{i}"] = self.rel(self.rng.randint(0, 3))
            self.plan = Plan("school", lets)
        last = ("use", f"part{len(lets) - 1}", "")
        columns = self.scope.columns(last)
        shown = tuple((f"h{i}", name) for i, (name, c) in enumerate(columns.items()) if c.kind != "json")
        order = self.order(last, 2) if self.rng.random() < 0.5 else ()
        numbers = [n for n, c in columns.items() if FAMILY[c.kind] == "number"]
        answers = [Answer("rows", last, "count")]
        if numbers:
            answers.append(
                Answer(
                    "figure",
                    last,
                    self.rng.choice(("sum", "min", "max", "avg", "count_distinct")),
                    col(self.rng.choice(numbers)),
                )
            )
        form = self.rng.choice(("csv", "json"))
        return Plan(
            "school",
            lets,
            self.effects(last, columns),
            (FileReport(f"out.{form}", last, shown, order, form),),
            tuple(answers),
        )

    def effects(self, rel: Rel, columns: dict[str, Column]) -> tuple[Effect, ...]:
        keys = [
            (n, n.replace(".id", ".club_id"))
            for n, c in columns.items()
            if (c.entity, c.column) == ("Chore", "id") and not c.nullable
        ]
        keys = [(own, club) for own, club in keys if club in columns]
        if not keys or self.rng.random() < 0.3:
            return ()
        own, club = self.rng.choice(keys)
        unique = ("group", rel, (club, own), (("n", "count", None),))
        key = {"clubId": col(club), "id": col(own)}
        match self.rng.randint(0, 3):
            case 0:
                return (
                    Effect(
                        "create",
                        "Chore",
                        "chores_create",
                        unique,
                        {"clubId": col(club)},
                        {"title": ("fn", "concat", lit("Again "), col(own))},
                        {"note": ("n", own)},
                    ),
                )
            case 1:
                return (
                    Effect(
                        "update",
                        "Chore",
                        "chores_patch",
                        unique,
                        key,
                        {"urgent": ("cmp", ">", col("n"), lit(1)), "points": col("n")},
                    ),
                )
            case 2:
                return (Effect("delete", "Chore", "chores_delete", unique, key),)
            case _:
                return (
                    Effect("update", "Chore", "chores_patch", unique, key, {"due": lit(TIMES[0])}, {"note": (own,)}),
                )

    def rel(self, depth: int) -> Rel:
        rng = self.rng
        if depth == 0:
            return self.source()
        kind = rng.choice(("where", "where", "join", "left", "semi", "anti", "extend", "group", "top"))
        if kind in ("join", "left", "semi", "anti"):
            left, right = self.rel(depth - 1), self.rel(rng.randint(0, depth - 1))
            return (kind, left, right, self.link(left, right))
        below = self.rel(depth - 1)
        columns = self.scope.columns(below)
        if kind == "where":
            return ("where", below, self.condition(columns, 2))
        if kind == "extend":
            return (
                "extend",
                below,
                ((self.alias(), self.value(columns, 2)), (self.alias(), self.condition(columns, 1))),
            )
        if kind == "group":
            by = tuple(rng.sample(list(columns), rng.randint(0, min(2, len(columns)))))
            return (
                "group",
                below,
                by,
                tuple((self.alias(), *self.aggregate(columns)) for _ in range(rng.randint(1, 2))),
            )
        return ("top", below, self.order(below, 99), rng.randint(1, 4))

    def source(self) -> Rel:
        choice = self.rng.randint(0, 6)
        if choice == 0 and self.plan.lets:
            return (
                ("use", self.rng.choice(list(self.plan.lets)), self.alias())
                if self.renamable()
                else ("scan", "Club", self.alias())
            )
        if choice == 1:
            return ("file", "inbox/hours.csv", self.alias(), (("who", "text"), ("minutes", "integer")))
        return ("scan", self.rng.choice(("Club", "Chore", "Chore", "Entry", "Guest")), self.alias())

    def renamable(self) -> bool:
        for rel in self.plan.lets.values():
            names = [n.partition(".")[2] or n for n in self.scope.columns(rel)]
            if len(set(names)) < len(names):
                return False
        return True

    def link(self, left: Rel, right: Rel) -> Expr:
        a, b = self.scope.columns(left), self.scope.columns(right)
        named = [(x, y) for x, c in a.items() for y, d in b.items() if self.related(c, d)]
        parts: list[Expr] = [
            ("cmp", "=", col(x), col(y)) for x, y in self.rng.sample(named, min(len(named), self.rng.randint(1, 2)))
        ]
        if not parts or self.rng.random() < 0.3:
            parts.append(self.condition({**a, **b}, 1))
        return ("and", *parts) if len(parts) > 1 else parts[0]

    def related(self, a: Column, b: Column) -> bool:
        same = {("Chore", "club_id"), ("Club", "id"), ("Entry", "club_id"), ("Guest", "club_id")}
        own = {("Chore", "id"), ("Entry", "chore_id"), ("Guest", "chore_id")}
        who = {("Entry", "who"), ("Guest", "email"), ("", "")}
        return any(
            (a.entity, a.column) in group and (b.entity, b.column) in group and a.kind == b.kind
            for group in (same, own, who)
        )

    def order(self, rel: Rel, n: int) -> tuple[tuple[str, str], ...]:
        names = [n for n, c in self.scope.columns(rel).items() if c.kind != "json"]
        self.rng.shuffle(names)
        return tuple((name, self.rng.choice(("asc", "desc"))) for name in names[:n])

    def of(self, columns: dict[str, Column], family: str) -> list[str]:
        return [n for n, c in columns.items() if FAMILY[c.kind] == family]

    def aggregate(self, columns: dict[str, Column]) -> tuple[str, Expr | None]:
        numbers = self.of(columns, "number")
        if numbers and self.rng.random() < 0.6:
            return self.rng.choice(("sum", "min", "max", "avg")), col(self.rng.choice(numbers))
        if self.rng.random() < 0.5:
            return "count", None
        return self.rng.choice(("count", "count_distinct")), col(self.rng.choice(list(columns)))

    def value(self, columns: dict[str, Column], depth: int) -> Expr:
        rng, numbers, texts = self.rng, self.of(columns, "number"), self.of(columns, "text")
        times = [n for n, c in columns.items() if c.kind == "timestamp"]
        options: list[Expr] = [lit(rng.choice(NUMBERS)), lit(rng.choice(TEXTS))]
        if numbers:
            n = col(rng.choice(numbers))
            options += [
                ("op", rng.choice("+-*/"), n, rng.choice((lit(rng.choice(NUMBERS)), col(rng.choice(numbers))))),
                ("fn", "round", n, lit(0)),
            ]
            if depth:
                options.append(("case", ((self.condition(columns, depth - 1), n),), rng.choice((lit(3), lit(None)))))
        if texts:
            t = col(rng.choice(texts))
            options += [
                ("fn", "lower", t),
                ("fn", "length", t),
                ("fn", "concat", t, lit(" & "), col(rng.choice(texts))),
                ("fn", "coalesce", t, lit("?")),
            ]
        if times:
            t = col(rng.choice(times))
            options += [
                ("fn", "date", t),
                ("fn", "local_date", t, lit("Europe/Berlin")),
                ("fn", "local_time", t, lit("America/New_York")),
                ("fn", "weekday", t),
                ("fn", "add_days", t, lit(3)),
                ("fn", "add_minutes", t, lit(-90)),
                ("fn", "minutes", t, lit(TIMES[1])),
            ]
        return rng.choice(options)

    def condition(self, columns: dict[str, Column], depth: int) -> Expr:
        rng = self.rng
        if depth and rng.random() < 0.5:
            word = rng.choice(("and", "or", "not"))
            return (word, *(self.condition(columns, depth - 1) for _ in range(1 if word == "not" else 2)))
        numbers, texts, flags = (self.of(columns, f) for f in ("number", "text", "boolean"))
        op = rng.choice(("=", "!=", "<", "<=", ">", ">="))
        options: list[Expr] = [("null", col(rng.choice(list(columns))))]
        if numbers:
            n = col(rng.choice(numbers))
            options += [
                ("cmp", op, n, lit(rng.choice(NUMBERS))),
                ("cmp", op, n, col(rng.choice(numbers))),
                ("in", n, (1, 2, 7)),
            ]
        if texts:
            t = col(rng.choice(texts))
            options += [
                ("cmp", op, t, lit(rng.choice(TEXTS))),
                ("cmp", op, t, col(rng.choice(texts))),
                ("in", t, ("Essay", "PUBLISHED", "c1")),
                ("fn", "contains", t, lit("ESS")),
                ("fn", "starts_with", t, lit("c1")),
                ("cmp", "=", t, lit(rng.choice(("c0", "c1", "PUBLISHED")))),
            ]
        if flags:
            options += [col(rng.choice(flags)), ("cmp", "=", col(rng.choice(flags)), lit(rng.choice((True, False))))]
        return rng.choice(options)
