"""RL: `python -m training_app.rl --config run/config.json --out run`. GRPO by TRL; every rollout is a real Episode.

A step takes some train-split tasks, runs a group of episodes on each in real kernels (asked for at the host's socket),
and has the real verifier judge them. The reward is that of the whole task, 1 or 0. What teaches nothing leaves the
batch before the loss: infrastructure outcomes (ours, never scored), episodes too long, and groups in which all passed
or all failed; each is counted. Every trajectory is written to the run folder before the step is logged.

TRL's `rollout_func` gets the prompts repeated for their group and gives ids, log-probabilities and a mask of what the
policy itself said. Seeds follow from (run seed, step, place), so a resumed run asks for the same episodes.
A step without any signal updates nothing: gradients are dropped before the optimizer, momentum included.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import TrainerCallback
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from sandbox_app import interfaces
from sandbox_app.kernels.session import Limits
from sandbox_app.trajectories import Trajectory, to_json
from training_app import entry, trainers, weights
from training_app.configs import RlConfig
from training_app.folders import RunFolder, step_of
from training_app.processes import StopFlag
from training_app.rollouts import BatchPolicy, Engine, recorded, run_all, session_host
from training_app.tokens import Codec

SIGNAL_MARGIN = 1e-6


@dataclass(frozen=True, slots=True)
class Row:
    """A rollout as the trainer takes it. `mask` and `logprobs` lie along `completion`."""

    prompt: list[int]
    completion: list[int]
    mask: list[int]
    logprobs: list[float]
    reward: float | None  # None: leaves the batch
    why: str  # "" when it stays


def row_of(trajectory: Trajectory, codec: Codec, max_length: int) -> Row:
    """Ids exactly as sampled; trained on are the tokens the policy itself sampled, nothing else."""
    messages = interfaces.chat(trajectory.system, trajectory.instruction, trajectory.steps)
    sampled = recorded(messages, trajectory.steps)
    prompt = codec.prompt(messages[:2])
    if trajectory.outcome.kind == "infrastructure":
        return _empty(prompt, codec, "infrastructure")
    whole = codec.rollout(messages, sampled)
    if not any(whole.mask):
        return _empty(prompt, codec, "nothing sampled")
    last = max(index for index, kept in enumerate(whole.mask) if kept) + 1
    if last > max_length:
        return _empty(prompt, codec, "too long")
    said = iter([value for step in trajectory.steps for value in step.logprobs])
    mask = [int(kept) for kept in whole.mask[len(prompt) : last]]
    return Row(
        prompt,
        list(whole.ids[len(prompt) : last]),
        mask,
        [next(said) if kept else 0.0 for kept in mask],
        trajectory.outcome.reward,
        "",
    )


def _empty(prompt: list[int], codec: Codec, why: str) -> Row:
    return Row(prompt, [codec.end_of_turn], [0], [0.0], None, why)


def groups(rewards: Sequence[float | None], size: int) -> list[list[float]]:
    """Scored rewards of each group of `size` neighbours."""
    return [
        [reward for reward in rewards[start : start + size] if reward is not None]
        for start in range(0, len(rewards), size)
    ]


def teaches(group: Sequence[float]) -> bool:
    """Whether a group's rewards differ: only then is there an advantage."""
    return len(group) > 1 and max(group) - min(group) > SIGNAL_MARGIN


class RolloutTrainer(trainers.Checkpointed, GRPOTrainer):
    """GRPOTrainer whose batch loses the rows without signal before the loss."""

    rewards: list[float | None]
    silent: bool = False

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        size = int(self.num_generations or 1)
        signal = [teaches(group) for group in groups(self.rewards, size)]
        keep = [index for index, reward in enumerate(self.rewards) if reward is not None and signal[index // size]]
        self.silent = not keep
        chosen = torch.tensor(keep or [0], device=output["prompt_ids"].device)
        for name, value in output.items():
            if isinstance(value, torch.Tensor) and value.dim() and value.shape[0] == len(self.rewards):
                output[name] = value[chosen]
        if self.silent:
            output["tool_mask"] = torch.zeros_like(output["tool_mask"])
        trained = (output["completion_mask"] * output["tool_mask"]).sum()
        output["num_items_in_batch"] = self.accelerator.gather(trained).sum()
        return _trimmed(output)


def _trimmed(output: dict[str, Any]) -> dict[str, Any]:
    """Without the columns in which every remaining row is padding."""
    prompt = int(output["prompt_mask"].sum(-1).max())
    completion = int(output["completion_mask"].sum(-1).max())
    for name in ("prompt_ids", "prompt_mask"):
        output[name] = output[name][:, -prompt:]
    for name in ("completion_ids", "completion_mask", "tool_mask", "sampling_per_token_logps"):
        if name in output:
            output[name] = output[name][:, :completion]
    return output


class Silence(TrainerCallback):
    """A step without signal leaves the weights as they are."""

    def __init__(self, trainer: RolloutTrainer) -> None:
        self.trainer = trainer

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        model: Any = self.trainer.model
        if self.trainer.silent:
            for parameter in model.parameters():
                parameter.grad = None


class Rollouts:
    """TRL's `rollout_func`: prompts are indexes into the config's tasks, as text."""

    def __init__(self, config: RlConfig, folder: RunFolder, codec: Codec, flag: StopFlag) -> None:
        self.config, self.folder, self.codec, self.flag = config, folder, codec, flag
        self.progress: trainers.Progress | None = None

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, Any]:
        step = trainer.state.global_step + 1
        trajectories = asyncio.run(self._run([int(prompt) for prompt in prompts], step, trainer))
        rows = [
            row_of(trajectory, self.codec, self.config.max_length)
            if trajectory
            else _empty(self.codec.prompt([{"role": "user", "content": ""}]), self.codec, "not begun")
            for trajectory in trajectories
        ]
        trainer.rewards = [row.reward for row in rows]
        self._log(step, rows, trajectories)
        return {
            "prompt_ids": [row.prompt for row in rows],
            "completion_ids": [row.completion for row in rows],
            "logprobs": [row.logprobs for row in rows],
            "env_mask": [row.mask for row in rows],
            "episode_reward": trainer.rewards,
        }

    async def _run(self, chosen: list[int], step: int, trainer: RolloutTrainer) -> list[Trajectory | None]:
        config = self.config
        attempts = [config.tasks[index] for index in chosen]
        found: list[Trajectory | None] = [None] * len(attempts)
        model = trainer.accelerator.unwrap_model(trainer.model)
        async with Engine(model, self.codec) as engine:

            def policy(index: int) -> BatchPolicy:
                return BatchPolicy(
                    engine,
                    name=f"local:{config.name}",
                    temperature=config.temperature,
                    seed=zlib.crc32(f"{config.seed}:{step}:{index}".encode()),
                    max_new_tokens=config.max_new_tokens,
                    max_prompt=config.max_prompt,
                )

            async for index, trajectory in run_all(
                attempts,
                policy,
                host=session_host(config.socket),
                limits=Limits(steps=config.max_turns),
                concurrency=config.concurrency,
                engine=engine,
                stop=lambda: self.flag.asked,
            ):
                found[index] = trajectory
                self.folder.write(f"episodes/step-{step:06d}-{index:03d}.json", to_json(trajectory))
        return found

    def _log(self, step: int, rows: Sequence[Row], trajectories: Sequence[Trajectory | None]) -> None:
        assert self.progress is not None
        scored = [row.reward for row in rows if row.reward is not None]
        signal = [teaches(group) for group in groups([row.reward for row in rows], self.config.group)]
        left_out: dict[str, int] = {}
        for row in rows:
            if row.why:
                left_out[row.why] = left_out.get(row.why, 0) + 1
        self.progress.extra = {
            "groups_with_signal": sum(signal),
            "groups_without": len(signal) - sum(signal),
            "rollouts": len(rows),
            "scored": len(scored),
            "left_out": left_out,
            "infrastructure": left_out.get("infrastructure", 0),
            "rollout_reward": round(sum(scored) / len(scored), 6) if scored else None,
            "turns": _mean([len(t.steps) for t in trajectories if t]),
            "length_sampled": _mean([sum(row.mask) for row in rows if not row.why]),
        }


def _mean(values: Sequence[int]) -> float | None:
    return round(sum(values) / len(values), 3) if values else None


def episode_reward(completions: Sequence[str], episode_reward: Sequence[float | None], **kwargs: Any) -> list[Any]:
    """TRL's reward function: what the verifier said; None where there was no verdict."""
    return list(episode_reward)


def train(config: RlConfig, folder: RunFolder, flag: StopFlag) -> dict[str, Any]:
    """Run or resume. Returns what result.json says about it."""
    weights.use_threads()
    trainers.score_labelled_only()
    start = Path(config.start_from)
    codec = Codec.load(start)
    folder.check_space(0)
    rollouts = Rollouts(config, folder, codec, flag)
    batch = config.group * config.tasks_per_step
    arguments = GRPOConfig(
        output_dir=str(folder.path / ".staging"),
        max_steps=config.steps,
        per_device_train_batch_size=batch,
        num_generations=config.group,
        learning_rate=config.learning_rate,
        lr_scheduler_type="constant",
        beta=0.0,
        loss_type=config.loss,
        temperature=config.temperature,
        max_completion_length=config.max_length,
        num_iterations=1,
        steps_per_generation=1,
        gradient_accumulation_steps=1,
        scale_rewards="group",
        max_grad_norm=1.0,
        weight_decay=0.0,
        seed=config.seed,
        data_seed=config.seed,
        bf16=False,
        gradient_checkpointing=False,
        logging_steps=1,
        save_strategy="steps",
        save_steps=config.save_every,
        report_to="none",
        disable_tqdm=True,
    )
    trainer = RolloutTrainer(
        model=weights.load(start),
        reward_funcs=[episode_reward],
        args=arguments,
        train_dataset=Dataset.from_dict({"prompt": [str(index) for index in range(len(config.tasks))]}),
        processing_class=weights.tokenizer(start),
        rollout_func=rollouts,
    )
    resumed = folder.last_checkpoint()
    trainer.folder, trainer.start_from = folder, start
    trainer.progress = rollouts.progress = trainers.Progress(folder, flag, resumed)
    trainer.add_callback(trainer.progress)
    trainer.add_callback(Silence(trainer))
    if resumed is not None:
        folder.metric("resumed", step=step_of(resumed))
    trainer.train(resume_from_checkpoint=str(resumed) if resumed else None)
    last = folder.last_checkpoint()
    if not flag.asked and (last is None or step_of(last) != trainer.state.global_step):
        trainer._save_checkpoint(trainer.model, None)
    return {
        "steps": trainer.state.global_step,
        "planned": config.steps,
        "tokens": trainer.progress.tokens,
        "seconds": round(trainer.progress.seconds, 2),
    }


def main() -> int:
    return entry.run(__doc__, lambda path, folder, flag: train(RlConfig.load(path), folder, flag))


if __name__ == "__main__":
    raise SystemExit(main())
