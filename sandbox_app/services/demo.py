"""The first episodes of a fresh studio: references and scripted faults, so that there is something to look at.

Primers come first (one cell, about a second each), full tasks between them; failures and mended errors are among
them on purpose: a reviewer needs both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice, zip_longest
from typing import Any

from django.db import transaction

from sandbox_app.models import Episode
from sandbox_app.policies.scripted import FAULTS
from sandbox_app.services.episodes import create_episode
from tasks_app.models import Task
from tasks_app.models.content import TaskStatus

SOURCE = "demo"
TASKS, PRIMERS = 12, 16
SCALE = "v0"


@transaction.atomic
def queue_demo_episodes() -> int:
    """Queue 28 of them, once; how many. 0 when they were queued before, or no task is proven."""
    if Episode.objects.filter(source=SOURCE).exists():
        return 0
    attempts = list(_attempts())
    for number, (task, policy, config) in enumerate(attempts):
        create_episode(task=task, scale=SCALE, policy=policy, config=config, source=SOURCE,
                       request_key=f"demo-{number}")
    return len(attempts)


def _attempts() -> Iterator[tuple[Task, str, dict[str, Any]]]:
    """Every other one a reference, the others each with the next fault."""
    rows = zip_longest(_spread("primer", PRIMERS), _spread("task", TASKS))
    pool = [task for pair in rows for task in pair if task is not None]
    known = list(FAULTS)
    for number, task in enumerate(islice(cycle(pool), PRIMERS + TASKS)):
        pair_number, scripted = divmod(number, 4)
        if scripted in (0, 3):
            yield task, "reference", {}
        else:
            yield task, "scripted", {"fault": known[(2 * pair_number + scripted - 1) % len(known)], "seed": number}


def _spread(tier: str, count: int) -> list[Task]:
    """`count` proven tasks of a tier, evenly over the list (and so over domains), of the training split."""
    keys = list(
        Task.objects.filter(tier=tier, status=TaskStatus.PROVEN, scales__name=SCALE, split="train")
        .order_by("domain", "plan_tree", "key").values_list("pk", flat=True).distinct()
    )
    step = max(1, len(keys) // count) if count else 1
    chosen = keys[::step][:count]
    found = Task.objects.in_bulk(chosen)
    return [found[key] for key in chosen]
