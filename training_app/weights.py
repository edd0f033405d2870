"""Checkpoint folder → torch model. Imported in training and evaluation subprocesses only; a web process never does.

A checkpoint is full weights, or a LoRA adapter beside `lineage.json`, which names the folder it adapts (relative to
it, so that a moved data folder still resolves). An adapter is merged on loading.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from training_app import model, tokens
from training_app.errors import Refused

LINEAGE = "lineage.json"
CARRIED = (tokens.FILE, tokens.TEMPLATE_FILE, "tokenizer_config.json")


def use_threads() -> None:
    """One thread unless OMP_NUM_THREADS says otherwise: two were 10–20 times slower on a loaded machine."""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))


def load(folder: Path) -> PreTrainedModel:
    """The model of a checkpoint, adapters merged, on the CPU in float32. Raises `Refused`."""
    if (folder / model.WEIGHTS).is_file():
        loaded: PreTrainedModel = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32)
        return loaded
    if not (folder / model.ADAPTER).is_file() or not (folder / LINEAGE).is_file():
        raise Refused(f"{folder.name} holds neither weights nor an adapter; it is not a checkpoint of this studio.")
    from peft import PeftModel

    base = (folder / json.loads((folder / LINEAGE).read_text(encoding="utf-8"))["base"]).resolve()
    merged: Any = PeftModel.from_pretrained(load(base), str(folder)).merge_and_unload()
    return merged  # type: ignore[no-any-return]


def tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    loaded: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(str(folder))
    return loaded


def complete(checkpoint: Path, start: Path, *, final: Path) -> None:
    """Make a folder that a trainer saved usable by itself: the very tokenizer it was trained with, and its lineage."""
    for name in CARRIED:
        shutil.copyfile(start / name, checkpoint / name)
    lineage = {"base": os.path.relpath(start, final)}
    (checkpoint / LINEAGE).write_text(json.dumps(lineage), encoding="utf-8")


def placed(loaded: PreTrainedModel) -> PreTrainedModel:
    """The model on the device that accelerate would pick."""
    from accelerate import PartialState

    moved: Any = loaded
    return moved.to(PartialState().device)  # type: ignore[no-any-return]
