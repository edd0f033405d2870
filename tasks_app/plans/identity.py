"""What tells the rows of a relation apart: for total orders, and to know that each parent found is read once."""

from __future__ import annotations

from tasks_app.plans.algebra import Rel, conjuncts
from tasks_app.plans.columns import Scope, renamed


def identities(rel: Rel, scope: Scope) -> list[list[str]]:
    """For each independent source of rows the columns that tell them apart: own key or a natural key."""
    match rel[0]:
        case "scan":
            entity = scope.model.entity(rel[1])
            return [[f"{rel[2]}.{c}" for c in dict.fromkeys((entity.own_key or entity.key[-1], *entity.natural_keys))]]
        case "file":
            return [[f"{rel[2]}.{header}" for header, _ in rel[3]]]
        case "use":
            return [[renamed(n, rel[2]) for n in some] for some in identities(scope.plan.lets[rel[1]], scope)]
        case "group":
            below = [[n for n in some if n in rel[2]] for some in identities(rel[1], scope)]
            return [some for some in below if some] or ([list(rel[2])] if rel[2] else [])
        case "join" | "left":
            return _joined_identities(rel, scope)
        case _:
            return identities(rel[1], scope)


def _joined_identities(rel: Rel, scope: Scope) -> list[list[str]]:
    """A side whose key the join equates with a column of the other is told by that other: a parent by its child."""
    left, right = identities(rel[1], scope), identities(rel[2], scope)
    equated = {
        name for c in conjuncts(rel[3]) if c[:2] == ("cmp", "=") and c[2][0] == c[3][0] == "col" for _, name in c[2:]
    }
    kept = [some for some in left if not equated & set(some)] + [some for some in right if not equated & set(some)]
    return kept or left
