"""Exports: episodes by filter → parts of JSON lines, paged by key so that size does not matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from sandbox_app.models import Episode
from tasks_app.blobs import BlobMissing
from tasks_app.leases import Cancelled, Held, lease
from tasks_app.models import JobState
from tasks_app.models.jobs import LeaseLost
from tasks_app.services import publish
from tasks_app.tasks import load_task
from training_app.errors import Refused
from training_app.exporting import row_of, write_manifest, write_parts
from training_app.models import Export
from training_app.services.places import data_dir, relative, tool_specs, trajectory_of

PAGE = 200
FILTERS = ("tier", "domain", "scale", "policy", "outcome", "standing", "source", "split")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which episodes an export holds; "" takes all."""

    tier: str = ""
    domain: str = ""
    scale: str = ""
    policy: str = ""
    outcome: str = ""
    standing: str = ""
    source: str = ""
    split: str = ""

    def episodes(self) -> QuerySet[Episode]:
        wanted = {
            "task__tier": self.tier,
            "task__domain__slug": self.domain,
            "scale": self.scale,
            "policy": self.policy,
            "outcome": self.outcome,
            "standing": self.standing,
            "task__split": self.split,
        }
        found = Episode.objects.filter(
            state=JobState.SUCCEEDED, **{key: value for key, value in wanted.items() if value}
        )
        found = found.exclude(trajectory="")
        return found.filter(source__startswith=self.source) if self.source else found


def create_export(*, wanted: Wanted, key: str, by: Any = None) -> Export:
    """Queue an export, or give the one that this key asked for before. Raises `Refused` when nothing matches."""
    from training_app.jobs import export_job

    there = Export.objects.filter(launch_key=key).first()
    if there is not None:
        return there
    count = wanted.episodes().count()
    if not count:
        raise Refused(
            "No ended episode with a trajectory matches these filters, so there is nothing to export. "
            "Widen the filter, or run some tasks first."
        )
    with transaction.atomic():
        export, created = Export.objects.get_or_create(
            launch_key=key,
            defaults={
                "filters": asdict(wanted),
                "rows_count": count,
                "created_by": by,
            },
        )
        if created:
            export.folder = relative(data_dir() / "exports" / str(export.pk))
            export.save(update_fields=["folder"])
            publish(export.stream, "state", {"state": export.state})
            export_job.delay_on_commit(str(export.pk))
    return export


def write_export(export: Export) -> bool:
    """Write the parts. False when the job is not free."""
    with lease(export) as held:
        if held is None:
            return False
        try:
            _write(export, held)
        except (LeaseLost, Cancelled):
            publish(export.stream, "ended", {"state": "cancelled"})
    return True


def _write(export: Export, held: Held) -> None:
    wanted = Wanted(**export.filters)
    folder = data_dir() / export.folder
    parts = []
    done = 0
    for part in write_parts(rows_of(wanted), folder):
        held.check()
        parts.append(part)
        done += part.rows
        held.progress(min(1.0, done / max(1, export.rows_count)))
        publish(export.stream, "part", {**asdict(part), "done": done, "of": export.rows_count})
    digest = write_manifest(folder, parts, export.filters)
    export.finish(JobState.SUCCEEDED, parts=[asdict(part) for part in parts], digest=digest, rows_count=done)
    publish(export.stream, "ended", {"state": JobState.SUCCEEDED.value})


def rows_of(wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Rows in the order of their making, a page of keys at a time. An episode whose body is gone is left out."""
    after: tuple[datetime, Any] | None = None
    specs: dict[int, dict[str, dict[str, Any]]] = {}
    tools: dict[int, tuple[str, ...]] = {}
    while True:
        page = wanted.episodes().select_related("task__environment", "task__domain").order_by("created_at", "pk")
        if after is not None:
            page = page.filter(Q(created_at__gt=after[0]) | Q(created_at=after[0], pk__gt=after[1]))
        episodes = list(page[:PAGE])
        if not episodes:
            return
        for episode in episodes:
            task = episode.task
            if task.environment_id not in specs:
                specs[task.environment_id] = tool_specs(task.environment)
            if task.pk not in tools:
                tools[task.pk] = load_task(data_dir() / task.folder).tools
            try:
                trajectory = trajectory_of(episode)
            except BlobMissing:
                continue
            known = specs[task.environment_id]
            yield row_of(trajectory, facts_of(episode), [known[name] for name in tools[task.pk] if name in known])
        after = (episodes[-1].created_at, episodes[-1].pk)


def facts_of(episode: Episode) -> dict[str, Any]:
    task = episode.task
    return {
        "id": str(episode.pk),
        "created_at": episode.created_at.isoformat(),
        "task": task.key,
        "title": task.title,
        "tier": task.tier,
        "domain": task.domain.slug,
        "lineage": task.lineage,
        "split": task.split,
        "environment": task.environment.digest,
        "scale": episode.scale,
        "seed": episode.seed,
        "policy": episode.policy,
        "source": episode.source,
        "outcome": episode.outcome,
        "cause": episode.cause,
        "reward": episode.reward,
        "standing": episode.standing,
        "verifier": episode.verifier,
        "seconds": episode.seconds,
    }
