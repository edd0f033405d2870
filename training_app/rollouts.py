"""Rollouts: many episodes at once, their policies fed from one batch of the model, their kernels from the host.

`Engine` collects what the running episodes ask for and answers them together: it waits until every living episode
asks, or a moment has passed in which none joined. `BatchPolicy` is a Policy over it. Kernels are asked for at the
host's socket and never started here; infrastructure faults end an episode as such and are never the policy's.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sandbox_app import interfaces
from sandbox_app.episodes import run_episode
from sandbox_app.kernels.session import Limits
from sandbox_app.policies import Message, Policy
from sandbox_app.trajectories import Step, Trajectory
from tasks_app.tasks import cells
from training_app import generation, template
from training_app.configs import Attempt
from training_app.tokens import Codec

PATIENCE = 0.03  # seconds without a new request after which a batch goes as it is
SPARE_TURNS = 3  # beyond the cells of the reference: one for the answer, two to mend what went wrong


class Engine:
    """Answers sampling requests in batches. `living` is how many episodes may still ask."""

    def __init__(self, model: Any, codec: Codec, *, batch: int = 32, positions: int | None = None) -> None:
        self.model, self.codec, self.batch = model, codec, batch
        self.positions = positions or int(model.config.max_position_embeddings)
        self.pad = int(codec.structural.token_to_id(template.PADDING) or 0)
        self.living = 0
        self.tokens = 0
        self._waiting: list[tuple[generation.Request, asyncio.Future[generation.Sampled]]] = []
        self._arrived = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Engine:
        self._worker = asyncio.create_task(self._serve())
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    async def sample(self, request: generation.Request) -> generation.Sampled:
        future: asyncio.Future[generation.Sampled] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        self._arrived.set()
        return await future

    async def _serve(self) -> None:
        while True:
            await self._arrived.wait()
            await self._gather()
            taken, self._waiting = self._waiting[: self.batch], self._waiting[self.batch :]
            if not self._waiting:
                self._arrived.clear()
            try:
                results = await asyncio.to_thread(
                    generation.generate,
                    self.model,
                    [request for request, _ in taken],
                    end=self.codec.end_of_turn,
                    pad=self.pad,
                    batch=self.batch,
                )
            except Exception as error:  # noqa: BLE001 - the boundary of the model: whoever waits must hear of it
                for _, future in taken:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), sampled in zip(taken, results, strict=True):
                self.tokens += len(sampled.ids)
                if not future.done():
                    future.set_result(sampled)

    async def _gather(self) -> None:
        """Wait while requests keep coming and not every living episode has asked."""
        seen = -1
        while len(self._waiting) != seen and len(self._waiting) < min(self.batch, self.living):
            seen = len(self._waiting)
            await asyncio.sleep(PATIENCE)


class BatchPolicy:
    """A Policy whose messages come from an Engine. Its recorded ids are fed back as they were sampled."""

    def __init__(
        self, engine: Engine, *, name: str, seed: int, temperature: float, max_new_tokens: int, max_prompt: int
    ) -> None:
        self.engine, self.name, self.seed = engine, name, seed
        self.temperature, self.max_new_tokens, self.max_prompt = temperature, max_new_tokens, max_prompt

    async def act(self, system: str, instruction: str, steps: Sequence[Step]) -> Message:
        codec = self.engine.codec
        messages = interfaces.chat(system, instruction, steps)
        prompt = codec.prompt(messages, recorded(messages, steps))
        room = min(self.max_prompt, self.engine.positions - self.max_new_tokens)
        if len(prompt) > room:
            return Message(text="", prompt_tokens=len(prompt))  # no room to say anything: an empty answer is judged
        sampled = await self.engine.sample(
            generation.Request(
                tuple(prompt),
                zlib.crc32(f"{self.seed}:{len(steps)}".encode()),
                self.temperature,
                self.max_new_tokens,
            )
        )
        ended = sampled.ids[-1] == codec.end_of_turn
        text = codec.decode(sampled.ids[:-1] if ended else sampled.ids)
        return Message(text, token_ids=sampled.ids, logprobs=sampled.logprobs, prompt_tokens=len(prompt))


def recorded(messages: Sequence[dict[str, str]], steps: Sequence[Step]) -> dict[int, tuple[int, ...]]:
    """Recorded ids by message index, for the codec."""
    spoken = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    return {index: step.token_ids for index, step in zip(spoken, steps, strict=True) if step.token_ids}


async def run_all(
    attempts: Sequence[Attempt],
    policy: Callable[[int], Policy],
    *,
    host: Any,
    limits: Limits,
    concurrency: int,
    engine: Engine | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> AsyncIterator[tuple[int, Trajectory]]:
    """Run the attempts, at most `concurrency` at once, and yield (index, trajectory) as they end.

    `policy(index)` makes the policy of one attempt. When `stop()` turns true, no further attempt is begun.
    """
    todo = iter(range(len(attempts)))
    running: set[asyncio.Task[tuple[int, Trajectory]]] = set()

    def begin() -> None:
        while len(running) < concurrency and not stop():
            index = next(todo, None)
            if index is None:
                return
            running.add(asyncio.create_task(_one(index, attempts[index], policy(index), host, limits)))

    begin()
    try:
        while running:
            if engine is not None:
                engine.living = len(running)
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            begin()
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _one(index: int, attempt: Attempt, policy: Policy, host: Any, limits: Limits) -> tuple[int, Trajectory]:
    task = await asyncio.to_thread(attempt.task)
    turns = max(limits.steps, len(cells(task.reference)) + SPARE_TURNS)  # no limit below what the reference needs
    trajectory = await run_episode(
        task,
        Path(attempt.package_folder),
        attempt.size,
        attempt.seed,
        policy,
        host=host,
        limits=replace(limits, steps=turns),
    )
    return index, trajectory


def session_host(socket: str) -> Any:
    """The kernels to use: the host's socket, or this process ("local": benchmarks and tests only)."""
    if socket == "local":
        from sandbox_app.kernels.local import LocalHost

        return LocalHost()
    from sandbox_app.kernels.client import HostClient

    return HostClient(Path(socket))
