"""SFT: `python -m training_app.sft --config run/config.json --out run`. Django-free; TRL's SFTTrainer does the work.

Reads a snapshot folder and a checkpoint, tokenises with our own mask, trains full weights or a LoRA adapter, and
leaves metrics, checkpoints and a result in the run folder. SIGTERM makes a checkpoint and ends; started again it
goes on from the newest checkpoint, bit for bit (the same order, optimizer and random state). `accelerate launch` or
torchrun start it as they would any TRL script.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from training_app import entry
from training_app.configs import SftConfig
from training_app.errors import Refused
from training_app.examples import Examples, build
from training_app.folders import RunFolder, step_of
from training_app.processes import StopFlag
from training_app.snapshots import read
from training_app.tokens import Codec


def prepare(config: SftConfig, folder: RunFolder) -> tuple[Examples, Examples]:
    """Examples of the training and validation parts. Raises `Refused` when nothing is left to train on."""
    codec = Codec.load(Path(config.start_from))
    train, validation = (
        build(read(Path(config.snapshot), part), codec, max_length=config.max_length)
        for part in ("train", "validation")
    )
    folder.metric(
        "prepared",
        examples=len(train.kept),
        validation=len(validation.kept),
        tokens=train.tokens,
        trained_tokens=train.trained_tokens,
        left_out=dict(train.left_out),
        as_sampled=train.as_sampled,
    )
    if not train.kept:
        reasons = "; ".join(f"{count} {reason}" for reason, count in train.left_out.items())
        raise Refused(f"No example is left to train on ({reasons}). Raise the length limit or choose other episodes.")
    return train, validation


def train(config: SftConfig, folder: RunFolder, flag: StopFlag) -> dict[str, Any]:
    """Run or resume the training. Returns what result.json says about it."""
    examples, validation = prepare(config, folder)
    folder.check_space(0)
    from training_app import trainers, weights

    weights.use_threads()
    trainers.score_labelled_only()
    trainer = _trainer(config, folder, flag, examples, validation)
    resumed = folder.last_checkpoint()
    if resumed is not None:
        folder.metric("resumed", step=step_of(resumed))
    trainer.train(resume_from_checkpoint=str(resumed) if resumed else None)
    last = folder.last_checkpoint()
    if not flag.asked and (last is None or step_of(last) != trainer.state.global_step):
        trainer._save_checkpoint(trainer.model, None)
    losses = trainer.progress.losses
    return {
        "steps": trainer.state.global_step,
        "planned": trainer.state.max_steps,
        "tokens": trainer.progress.tokens,
        "seconds": round(trainer.progress.seconds, 2),
        "examples": len(examples.kept),
        "left_out": dict(examples.left_out),
        "loss_first": losses[0] if losses else None,
        "loss_last": losses[-1] if losses else None,
    }


def _trainer(config: SftConfig, folder: RunFolder, flag: StopFlag, examples: Examples, validation: Examples) -> Any:
    from datasets import Dataset
    from trl.trainer.sft_config import SFTConfig as Arguments
    from trl.trainer.sft_trainer import SFTTrainer

    from training_app import trainers, weights

    def dataset(part: Examples) -> Dataset:
        return Dataset.from_dict(
            {
                "input_ids": [list(example.ids) for example in part.kept],
                "labels": [example.labels for example in part.kept],
            }
        )

    class Trainer(trainers.Checkpointed, SFTTrainer):
        def _get_train_sampler(self, train_dataset: Any = None) -> Any:
            return trainers.ByLength([len(example.ids) for example in examples.kept], config.batch, config.seed)

    arguments = Arguments(
        output_dir=str(folder.path / ".staging"),
        num_train_epochs=config.epochs,
        max_steps=config.max_steps or -1,
        per_device_train_batch_size=config.batch,
        per_device_eval_batch_size=config.batch,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=min(20, max(1, len(examples.kept) // config.batch)),
        weight_decay=0.01,
        adam_beta2=0.95,
        max_grad_norm=1.0,
        seed=config.seed,
        data_seed=config.seed,
        max_length=None,
        packing=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        gradient_checkpointing=False,
        bf16=False,
        logging_steps=1,
        save_strategy="steps",
        save_steps=config.save_every,
        eval_strategy="steps" if validation.kept else "no",
        eval_steps=config.save_every if validation.kept else None,
        report_to="none",
        disable_tqdm=True,
    )
    start = Path(config.start_from)
    trainer = Trainer(
        model=weights.load(start),
        args=arguments,
        train_dataset=dataset(examples),
        eval_dataset=dataset(validation) if validation.kept else None,
        processing_class=weights.tokenizer(start),
        peft_config=_lora(config),
    )
    trainer.folder, trainer.start_from = folder, start
    trainer.progress = trainers.Progress(folder, flag, folder.last_checkpoint())
    trainer.add_callback(trainer.progress)
    return trainer


def _lora(config: SftConfig) -> Any:
    if not config.lora_rank:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=config.lora_rank,
        lora_alpha=2 * config.lora_rank,
        lora_dropout=0.0,
        task_type="CAUSAL_LM",
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    )


def main() -> int:
    return entry.run(__doc__, lambda path, folder, flag: train(SftConfig.load(path), folder, flag))


if __name__ == "__main__":
    raise SystemExit(main())
