"""Building: which drafts are tried for the shipped content, in parallel, and what comes of each.

The list of drafts is fixed: every motif with so many instances, every primer with so many. A draft that a gate refuses
is followed by the next instance, up to a few, and stays in the funnel with its reason.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tasks_app.environments.package import EnvironmentPackage
from tasks_app.filters import Funnel, Rejected
from tasks_app.making import make
from tasks_app.plans import catalogue
from tasks_app.tasks import TaskSpec

TASKS_A_MOTIF = 2
PRIMERS_A_MOTIF = 11
SPARE = {"task": 3, "primer": 5}


@dataclass(frozen=True, slots=True)
class Order:
    """A motif, how many of its instances are wanted, and how many may be tried."""

    motif: str
    wanted: int
    tries: int


def orders(domain: str, tier: str) -> list[Order]:
    """What is to be made of a domain's motifs, in a fixed order."""
    names, wanted = (catalogue.motifs(), TASKS_A_MOTIF) if tier == "task" else (catalogue.primers(), PRIMERS_A_MOTIF)
    return [Order(name, wanted, wanted + SPARE[tier]) for name in sorted(names) if catalogue.domain_of(name) == domain]


Outcome = tuple[str, int, TaskSpec | Rejected]


def fulfil(package_folder: Path, order: Order) -> list[Outcome]:
    """Instances of one motif until enough are proven or the tries are used up. Same plan and words count once."""
    package = EnvironmentPackage.load(package_folder)
    outcomes: list[Outcome] = []
    seen: set[str] = set()
    for instance in range(order.tries):
        if sum(isinstance(outcome, TaskSpec) for _, _, outcome in outcomes) == order.wanted:
            break
        try:
            task = make(order.motif, instance, package)
            if task.lineage in seen:
                raise Rejected("distinct", "the same plan as an earlier instance")
            seen.add(task.lineage)
            outcomes.append((order.motif, instance, task))
        except Rejected as rejected:
            outcomes.append((order.motif, instance, rejected))
    return outcomes


def build(
    package_folder: Path, wanted: Iterable[Order], jobs: int, tell: Callable[[str], None]
) -> tuple[list[TaskSpec], Funnel]:
    """All proven tasks of the orders, sorted by key, and the funnel. The result does not depend on `jobs`."""
    tasks, funnel = [], Funnel()
    for outcomes in _spread(partial(fulfil, package_folder), list(wanted), jobs):
        for motif, instance, outcome in outcomes:
            rejected = outcome if isinstance(outcome, Rejected) else None
            funnel.take(motif, instance, rejected)
            if isinstance(outcome, TaskSpec):
                tasks.append(outcome)
            else:
                tell(f"  {motif}/{instance} refused by {outcome.gate}: {outcome.reason[:300]}")
    return sorted(tasks, key=lambda task: task.key), funnel


def _spread(work: Callable[[Order], list[Outcome]], wanted: list[Order], jobs: int) -> Iterator[list[Outcome]]:
    if jobs == 1:
        yield from map(work, wanted)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(work, wanted)
