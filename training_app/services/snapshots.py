"""Snapshots: approved, passed episodes of train-split tasks, frozen into a folder with a hash."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from sandbox_app.models import Episode
from tasks_app.blobs import BlobMissing
from training_app.examples import Record, record_of
from training_app.models import Snapshot
from training_app.services.places import relative, snapshots_dir, trajectory_of
from training_app.snapshots import write


@dataclass(frozen=True, slots=True)
class Choice:
    """Which episodes a snapshot takes; "" takes all. What a page shows, its action uses."""

    tier: str = ""
    domain: str = ""
    scale: str = ""
    policy: str = ""
    source: str = ""

    def matching(self) -> QuerySet[Episode]:
        """Ended episodes that fit the choice, whatever their outcome or review."""
        wanted = {
            "task__tier": self.tier,
            "task__domain__slug": self.domain,
            "scale": self.scale,
            "policy": self.policy,
        }
        found = Episode.objects.ended().filter(**{name: value for name, value in wanted.items() if value})
        return found.filter(source__startswith=self.source) if self.source else found


def preview(choice: Choice) -> tuple[QuerySet[Episode], dict[str, int]]:
    """The episodes that would enter, and how many are left out by reason; counted without reading a trajectory."""
    matching = choice.matching()
    passed = matching.filter(outcome=Episode.Outcome.PASSED)
    trainable = matching.trainable()
    entering = trainable.filter(task__split="train").exclude(trajectory="")
    reasons = {
        "did not pass": matching.exclude(outcome=Episode.Outcome.PASSED).count(),
        "passed, not approved by a person": passed.count() - trainable.count(),
        "of the test split": trainable.filter(task__split="test").count(),
        "without a trajectory": trainable.filter(task__split="train", trajectory="").count(),
    }
    return entering, {reason: count for reason, count in reasons.items() if count}


def records(episodes: QuerySet[Episode], left_out: Counter[str]) -> tuple[list[Record], list[Episode]]:
    """Records of these episodes; those whose body is gone, or who said the same as another, are counted."""
    kept: list[Record] = []
    rows: list[Episode] = []
    seen: set[tuple[str, ...]] = set()
    for episode in episodes.select_related("task").order_by("created_at", "pk").iterator(chunk_size=200):
        try:
            record = record_of(
                trajectory_of(episode),
                episode=str(episode.pk),
                lineage=episode.task.lineage,
                tier=episode.task.tier,
            )
        except BlobMissing:
            left_out["without a trajectory"] += 1
            continue
        said = tuple(message["content"] for message in record.messages)
        if said in seen:
            left_out["word for word the same as another"] += 1
            continue
        seen.add(said)
        kept.append(record)
        rows.append(episode)
    return kept, rows


def create_snapshot(*, choice: Choice, by: Any = None) -> Snapshot:
    """Freeze the approved episodes of this choice. The same episodes give the same snapshot. Raises `Refused`."""
    entering, reasons = preview(choice)
    left_out = Counter(reasons)
    kept, rows = records(entering, left_out)
    written = write(kept, snapshots_dir(), filters=asdict(choice), left_out=dict(left_out))
    with transaction.atomic():
        snapshot, created = Snapshot.objects.get_or_create(
            digest=written.digest,
            defaults={
                "folder": relative(written.folder),
                "filters": asdict(choice),
                "episodes_count": len(kept),
                "train_count": written.train,
                "validation_count": written.validation,
                "left_out": dict(left_out),
                "created_by": by,
            },
        )
        if created:
            snapshot.episodes.set(rows)
    return snapshot
