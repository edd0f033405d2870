"""Primers beyond those that ship: of the train split to demonstrate on, of the test split to be judged on.

Test-split ones (`held_out`) come through every gate, like those that ship: the more there are, the fewer attempts of an
evaluation are one task at several seeds, whose outcomes hang together.

A model of this size needs more demonstrations than the shipped primers give. Those of `further` come from the same
motifs and pools of names by other instance numbers; lineages of the test split are passed over, and no lineage comes
twice. Wording and types are checked as for what ships; growth and probes are not proved (that is nine tenths of the
time), since nothing is ever judged on these tasks but their own reference's episode, and one that does not pass is not
trained on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from random import Random

from tasks_app.environments.package import EnvironmentPackage
from tasks_app.filters import Rejected
from tasks_app.making import choose_tools, drafted, sample_primers, specify
from tasks_app.plans import catalogue
from tasks_app.solutions import run_in_process
from tasks_app.tasks import TaskSpec, keyed

FIRST, LAST = 100_000, 10_000_000  # instance numbers; what ships is counted from nought


def further(n: int, package: EnvironmentPackage, known: Collection[str]) -> Iterator[TaskSpec]:
    """`n` primers of the train split, each motif as often as the others. `known` are lineages to pass over."""
    motifs = sorted(name for name in catalogue.primers() if catalogue.domain_of(name) == package.model.name)
    rng, seen, given = Random(f"further/{package.model.name}"), set(known), 0
    while given < n:
        motif, instance = motifs[given % len(motifs)], rng.randrange(FIRST, LAST)
        draft = drafted(motif, instance)
        try:
            task = specify(draft, instance, package)
            if task.split != "train" or task.lineage in seen:
                continue
            state = package.build(task.seed, task.scales["v0"], task.directives)
        except (Rejected, ValueError):  # refused by a gate, or its data can't be made at this size
            continue
        seen.add(task.lineage)
        given += 1
        called = {call.tool for call in run_in_process(task.reference, package, state).calls}
        tools = choose_tools(called, draft.plan, package, draft.tier, Random(f"tools/{motif}/{instance}"))
        yield keyed(replace(task, tools=tools))


def held_out(n: int, package: EnvironmentPackage, known: Collection[str]) -> Iterator[TaskSpec]:
    """`n` proven primers of the test split, none of a lineage in `known`, no lineage twice."""
    seen, seed = set(known), 0
    while n:
        seed += 1
        for task in sample_primers(seed, n, package, "test"):
            if task.lineage not in seen:
                seen.add(task.lineage)
                n -= 1
                yield task
