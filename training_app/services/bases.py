"""The base checkpoint: a fresh small model whose tokenizer was trained on the text of the train split alone."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from typing import Any

from django.db import transaction

from sandbox_app import interfaces
from tasks_app.models import Task
from tasks_app.models.content import TaskStatus
from tasks_app.tasks import cells, load_task
from training_app.errors import Refused
from training_app.model import PRESETS, make_base
from training_app.models import Checkpoint
from training_app.services.places import data_dir, relative, tool_specs

logger = logging.getLogger(__name__)
MOST_PROMPTS = 400  # distinct tool lists read for the tokenizer; more add nothing it has not seen


def base_texts() -> Iterator[str]:
    """System prompts, instructions and code of train-split tasks, in a fixed order. Nothing of the test split."""
    tasks = Task.objects.filter(split="train", status=TaskStatus.PROVEN).select_related("environment").order_by("key")
    specs: dict[int, dict[str, dict[str, Any]]] = {}
    prompts: set[tuple[str, ...]] = set()
    for row in tasks:
        task = load_task(data_dir() / row.folder)
        if row.environment_id not in specs:
            specs[row.environment_id] = tool_specs(row.environment)
        if task.tools not in prompts and len(prompts) < MOST_PROMPTS:
            prompts.add(task.tools)
            yield interfaces.system_prompt([specs[row.environment_id][name] for name in task.tools])
        yield task.instruction
        for code in cells(task.reference):
            yield interfaces.render_call(code)


def make_base_checkpoint(*, preset: str, seed: int = 0) -> Checkpoint:
    """The base of this preset for the content there is now; made once, found again after. Raises `Refused`."""
    if preset not in PRESETS:
        raise Refused(f"There is no model preset {preset!r}; choose one of {', '.join(PRESETS)}.")
    texts = list(base_texts())
    if not texts:
        raise Refused(
            "There are no proven train-split tasks whose text a tokenizer could be trained on. "
            "Load the content first (manage.py load_content)."
        )
    content = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
    folder = data_dir() / "checkpoints" / f"base-{preset}-{seed}-{content}"
    there = Checkpoint.objects.filter(run=None, folder=relative(folder)).first()
    if there is not None and folder.is_dir():
        return there
    digest = make_base(texts, PRESETS[preset], folder, seed=seed)
    logger.info("made base checkpoint %s of %d texts", folder.name, len(texts))
    with transaction.atomic():
        row, _ = Checkpoint.objects.get_or_create(
            run=None,
            folder=relative(folder),
            defaults={"label": f"base · {preset}", "digest": digest},
        )
    return row
