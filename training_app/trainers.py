"""What our SFT and RL trainers share over TRL's: checkpoints by atomic rename, metrics, stopping, the disk.

`Checkpointed` is mixed in before the TRL trainer; `Progress` is the callback that writes metrics.jsonl.
"""

from __future__ import annotations

import importlib
import json
import math
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torch.utils.data import Sampler
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from training_app import model, weights
from training_app.folders import RunFolder
from training_app.processes import StopFlag

STATE = "progress.json"


class Checkpointed:
    """Mixin: `save` goes to a staging folder, is completed, and renamed to checkpoints/step-N."""

    folder: RunFolder
    start_from: Path
    progress: Progress

    def _get_output_dir(self, trial: Any) -> str:
        return str(self.folder.path / ".staging")

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """TRL writes a README for a hub; a run folder has none."""

    def _save_checkpoint(self, trained: Any, trial: Any) -> None:
        step = self.state.global_step  # type: ignore[attr-defined]
        staging = self.folder.path / ".staging"
        shutil.rmtree(staging, ignore_errors=True)
        self.folder.check_space(4 * _bytes(trained))
        super()._save_checkpoint(trained, trial)  # type: ignore[misc]
        if not self.args.should_save:  # type: ignore[attr-defined]
            return
        made = staging / f"checkpoint-{step}"
        final = self.folder.checkpoints_path / f"step-{step:06d}"
        weights.complete(made, self.start_from, final=final)
        (made / STATE).write_text(json.dumps(self.progress.snapshot()), encoding="utf-8")
        final = self.folder.publish(made, step)
        self.folder.metric("checkpoint", step=step, folder=final.name, digest=model.digest_of(final))
        self._drop_old_optimizers()

    def _drop_old_optimizers(self) -> None:
        """Only the newest checkpoint is resumed from; older ones keep their weights alone."""
        for older in self.folder.checkpoints()[:-1]:
            for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"):
                (older / name).unlink(missing_ok=True)


def score_labelled_only() -> None:
    """Have TRL's fused head score, on a CPU as on a GPU, only the positions that have a label.

    Elsewhere than on a GPU it scores every position (equal shapes spare accelerators that compile); on a CPU that is
    nearly half of a step of a small model. There is no setting for it, hence the reach into a private name.
    """
    utils: Any = importlib.import_module("trl.trainer.utils")
    chosen = utils._use_triton
    utils._use_triton = lambda device: device.type == "cpu" or chosen(device)


class ByLength(Sampler[int]):
    """Batches of similar length in an order that (seed, epoch) alone decide.

    Trainer's own grouping draws from the global random state, which a checkpoint in the middle of an evaluation or at
    the end of an epoch does not restore to the same place; this one makes a resumed run the same run.
    """

    WINDOW = 16  # batches that are sorted among themselves

    def __init__(self, lengths: Sequence[int], batch: int, seed: int) -> None:
        self.lengths, self.batch, self.seed = lengths, batch, seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        draw = random.Random(f"{self.seed}:{self.epoch}")
        order = list(range(len(self.lengths)))
        draw.shuffle(order)
        window = self.WINDOW * self.batch
        batches: list[list[int]] = []
        for start in range(0, len(order), window):
            among = sorted(order[start : start + window], key=lambda index: self.lengths[index])
            batches += [among[at : at + self.batch] for at in range(0, len(among), self.batch)]
        short = [batch for batch in batches if len(batch) < self.batch]
        full = [batch for batch in batches if len(batch) == self.batch]
        draw.shuffle(full)
        return iter([index for batch in full + short for index in batch])


def _bytes(trained: Any) -> int:
    return sum(parameter.numel() * parameter.element_size() for parameter in trained.parameters())


class Progress(TrainerCallback):
    """Writes a line a step; carries tokens and seconds over a resume, where the trainer begins again from nought."""

    RENAMED = {
        "loss": "loss",
        "eval_loss": "validation_loss",
        "grad_norm": "grad_norm",
        "learning_rate": "learning_rate",
        "mean_token_accuracy": "accuracy",
        "reward": "reward",
        "reward_std": "reward_std",
        "entropy": "entropy",
        "completions/mean_length": "length",
    }

    def __init__(self, folder: RunFolder, flag: StopFlag, resumed: Path | None) -> None:
        self.folder, self.flag = folder, flag
        before = json.loads((resumed / STATE).read_text(encoding="utf-8")) if resumed else {}
        self.tokens_before = int(before.get("tokens", 0))
        self.seconds_before = float(before.get("seconds", 0.0))
        self.losses: list[float] = list(before.get("losses", ()))
        self.tokens = self.tokens_before
        self.began = time.monotonic()
        self.extra: dict[str, Any] = {}

    def snapshot(self) -> dict[str, Any]:
        return {"tokens": self.tokens, "seconds": self.seconds, "losses": self.losses}

    @property
    def seconds(self) -> float:
        return self.seconds_before + time.monotonic() - self.began

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        if not state.is_world_process_zero or not logs or "train_runtime" in logs:
            return
        if "num_tokens" in logs:
            self.tokens = self.tokens_before + int(logs["num_tokens"])
        values: dict[str, Any] = {
            name: round(float(logs[key]), 6)
            for key, name in self.RENAMED.items()
            if key in logs and math.isfinite(float(logs[key]))
        }
        if "loss" in values:
            self.losses.append(values["loss"])
        values |= self.extra
        self.extra = {}
        self.folder.metric(
            "validation" if "validation_loss" in values else "step",
            step=state.global_step,
            steps=state.max_steps,
            tokens=self.tokens,
            seconds=round(self.seconds, 2),
            **values,
        )

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> TrainerControl:
        if self.flag.asked:
            control.should_save = True
            control.should_training_stop = True
        return control
