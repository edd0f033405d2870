"""What a launch will cost and train on, before it is launched: examples, tokens, seconds, disk, and the mask itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from training_app.configs import SftConfig
from training_app.examples import Example, Examples, Piece, build, pieces
from training_app.model import size_of
from training_app.models import Checkpoint, Snapshot, TrainingRun
from training_app.services.places import data_dir, folder_of
from training_app.snapshots import read
from training_app.tokens import Codec

PER_SECOND = 5_000  # tokens a second and core of the nano preset, until a run of this machine says better
SHOWN = 12  # examples offered on the mask page
PARAMETERS = 1_574_272  # of that preset


@dataclass(frozen=True, slots=True)
class Forecast:
    """`seconds` from the tokens and the speed of the last run of a model of this size; disk in bytes."""

    examples: int
    validation: int
    tokens: int
    trained_tokens: int
    steps: int
    seconds: float
    disk: int
    left_out: Mapping[str, int]
    measured: bool


def examples_of(snapshot: Snapshot, checkpoint: Checkpoint, max_length: int, part: str = "train") -> Examples:
    """Raises `TemplateRefused` when the checkpoint's template gives no mask, `Refused` when a file was changed."""
    return build(read(data_dir() / snapshot.folder, part), Codec.load(folder_of(checkpoint)), max_length=max_length)


def forecast(snapshot: Snapshot, checkpoint: Checkpoint, config: SftConfig) -> tuple[Forecast, Examples]:
    found = examples_of(snapshot, checkpoint, config.max_length)
    validation = examples_of(snapshot, checkpoint, config.max_length, "validation")
    steps = -(-len(found.kept) // config.batch) * config.epochs
    steps = min(steps, config.max_steps) if config.max_steps else steps
    tokens = found.tokens * config.epochs
    speed = _measured_speed(TrainingRun.objects.filter(kind="sft"), checkpoint)
    size = size_of(folder_of(checkpoint))
    rate = speed or PER_SECOND * min(4.0, PARAMETERS * 4 / max(1, size))
    saved = -(-steps // config.save_every)
    return Forecast(
        examples=len(found.kept),
        validation=len(validation.kept),
        tokens=tokens,
        trained_tokens=found.trained_tokens,
        steps=steps,
        seconds=8 + tokens / rate,
        disk=size * (saved + 3),
        left_out=found.left_out,
        measured=speed is not None,
    ), found


def _measured_speed(runs: QuerySet[TrainingRun], checkpoint: Checkpoint) -> float | None:
    """Tokens a second of the newest finished run that began from weights of this size."""
    size = size_of(folder_of(checkpoint))
    for run in runs.filter(state="succeeded").exclude(start_from=None).select_related("start_from")[:5]:
        summary = run.summary
        if summary.get("seconds") and size_of(folder_of(run.start_from)) == size:
            return float(summary["tokens"]) / float(summary["seconds"])
    return None


def mask_of(examples: Examples, place: int, codec: Codec) -> tuple[Example | None, tuple[Piece, ...]]:
    """One example, token by token."""
    if not examples.kept:
        return None, ()
    example = examples.kept[place % len(examples.kept)]
    return example, pieces(example, codec)
