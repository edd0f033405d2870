"""References of rows that nobody planted: chosen among what is there, within the scope that a directive sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tasks_app.environments.runtime.picking import Pool, PopulateError, in_group
from tasks_app.environments.runtime.tables import Batch, Table


def link_rows(tables: Mapping[str, Table], batch: Batch) -> None:
    """Decide every reference of the batch, in the order of its links."""
    for link in batch.table.spec["links"]:
        target = tables[link["table"]]
        known = tuple(column for column in link["columns"] if column in batch.values)
        if len(known) == len(link["columns"]):
            index = target.index(tuple(link["target"]))
            keys = zip(*(batch.values[column] for column in link["columns"]), strict=True)
            batch.parents[link["table"]] = [index.get(key, -1) for key in keys]
            continue
        rows = _choose(tables, batch, link, target, known)
        if link is batch.table.spec["links"][0]:
            theirs = tuple(link["target"][link["columns"].index(column)] for column in known)
            groups = target.groups(theirs) if known else {}
            pool = target.background()
            batch.hung = (
                [groups.get(key) for key in zip(*(batch.values[c] for c in known), strict=True)]
                if known
                else [pool] * batch.count
            )
            batch.hung_on = rows
        _set_link(batch, link, target, rows)
    if not batch.pools:
        batch.pools, batch.chosen = [None] * batch.count, [-1] * batch.count


def _choose(
    tables: Mapping[str, Table], batch: Batch, link: Mapping[str, Any], target: Table, known: tuple[str, ...]
) -> list[int]:
    own = link["columns"][-1]
    shares = batch.draw.uniform(f"link/{own}")
    members = tables.get(link["members"])
    pool = target.background()
    if known:
        theirs = tuple(link["target"][link["columns"].index(column)] for column in known)
        keys = list(zip(*(batch.values[column] for column in known), strict=True))
        return in_group(target.groups(theirs), keys, shares, batch.positions)
    if members is not None and members.spec["key"][0] in batch.values:
        column, person = members.spec["key"]
        keys = [(value,) for value in batch.values[column]]
        groups = members.groups((column,))
        found = in_group(groups, keys, shares, batch.positions)
        index = target.index((link["target"][-1],))
        rows = [index[(members.columns[person][row],)] if row >= 0 else -1 for row in found]
        others = pool.choose(shares, batch.positions, 1.0).tolist()
        if own in batch.table.spec["unique"]:
            pools = {key: _pool_of(groups[key], members, index, person) for key in set(keys) if key in groups}
            batch.pools = [pool if row < 0 else pools[key] for row, key in zip(rows, keys, strict=True)]
        batch.chosen = [other if row < 0 else row for row, other in zip(rows, others, strict=True)]
        return batch.chosen
    chosen: list[int] = pool.choose(shares, batch.positions, 1.0 if link.get("soft") else 1.35).tolist()
    if own in batch.table.spec["unique"]:
        batch.pools, batch.chosen = [pool] * batch.count, chosen
    return chosen


def _set_link(batch: Batch, link: Mapping[str, Any], target: Table, rows: list[int]) -> None:
    if link["null"]:
        gone = (batch.draw.uniform(f"link/{link['columns'][-1]}/null") < link["null"]).tolist()
        rows = [-1 if out else row for row, out in zip(rows, gone, strict=True)]
    if link["owns"] and any(row < 0 for row in rows):
        raise PopulateError(
            f"{batch.table.spec['table']} ({batch.stream}): no {target.spec['table']} is there to hang on"
        )
    batch.parents[link["table"]] = rows
    for ours, theirs in zip(link["columns"], link["target"], strict=True):
        if ours not in batch.values:
            values = target.columns[theirs]
            batch.values[ours] = [values[row] if row >= 0 else None for row in rows]


def relink(tables: Mapping[str, Table], link: Mapping[str, Any], batches: Sequence[Batch]) -> None:
    """The rows that the settled keys point at now."""
    index = tables[link["table"]].index(tuple(link["target"]))
    for batch in batches:
        keys = zip(*(batch.values[column] for column in link["columns"]), strict=True)
        batch.parents[link["table"]] = [index.get(key, -1) for key in keys]


def hang(tables: Mapping[str, Table], batch: Batch, row: int, parent: int) -> bool:
    """Hang one row on another parent, and let its person be chosen among the members there."""
    first, last = (
        batch.table.spec["links"][0],
        next(link for link in batch.table.spec["links"] if link["columns"][-1] == batch.table.spec["unique"][-1]),
    )
    if first is last:
        return False
    target, people = tables[first["table"]], tables[last["table"]]
    for ours, theirs in zip(first["columns"], first["target"], strict=True):
        batch.values[ours][row] = target.columns[theirs][parent]
    members = tables.get(last["members"])
    if members is not None:
        column, person = members.spec["key"]
        group = members.groups((column,)).get((batch.values[column][row],))
        if group is None or not group.reach(int(batch.positions[row])):
            return True
        pool = _pool_of(group, members, people.index((last["target"][-1],)), person)
        batch.pools[row], batch.chosen[row] = pool, pool.rows[0]
    return True


def _pool_of(group: Pool, members: Table, index: Mapping[tuple[Any, ...], int], person: str) -> Pool:
    rows = [index[(members.columns[person][row],)] for row in group.rows]
    made = Pool([], [])
    made.rows, made.positions = rows, group.positions
    return made
