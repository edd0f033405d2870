"""Evaluate: `python -m training_app.evaluate --config run/config.json --out run`. Policies × attempts, real episodes.

Django-free, like the trainers. Each episode's trajectory is written to the folder as it ends; started again, it runs
only what is not there yet. Checkpoints are loaded one after another; the control rows need no model.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox_app.kernels.session import Limits
from sandbox_app.policies import Policy
from sandbox_app.policies.no_op import NoOpPolicy
from sandbox_app.policies.reference import ReferencePolicy
from sandbox_app.trajectories import Trajectory, to_json
from training_app import entry
from training_app.configs import Contender, EvaluateConfig
from training_app.evaluation import NO_OP
from training_app.folders import RunFolder
from training_app.processes import StopFlag
from training_app.rollouts import BatchPolicy, Engine, run_all, session_host


def file_of(row: int, index: int) -> str:
    """Where the trajectory of attempt `index` by contender `row` lies in the run folder."""
    return f"episodes/{row:02d}-{index:04d}.json"


class Evaluating:
    def __init__(self, config: EvaluateConfig, folder: RunFolder, flag: StopFlag) -> None:
        self.config, self.folder, self.flag = config, folder, flag
        self.done = 0

    def run(self) -> dict[str, Any]:
        total = len(self.config.contenders) * len(self.config.attempts)
        self.done = sum(1 for _ in self.folder.episodes_path.glob("*.json"))
        for row in range(len(self.config.contenders)):
            if not self.flag.asked:
                asyncio.run(self._row(row, total))
        return {"episodes": self.done, "planned": total}

    async def _row(self, row: int, total: int) -> None:
        contender = self.config.contenders[row]
        missing = [
            index
            for index in range(len(self.config.attempts))
            if not (self.folder.path / file_of(row, index)).is_file()
        ]
        if not missing:
            return
        with self._policies(contender) as (engine, policy):
            if engine is None:
                await self._attempts(row, missing, policy, None, total)
                return
            async with engine:
                await self._attempts(row, missing, policy, engine, total)

    async def _attempts(
        self, row: int, missing: list[int], policy: Callable[[int], Policy], engine: Engine | None, total: int
    ) -> None:
        attempts = [self.config.attempts[index] for index in missing]
        async for place, trajectory in run_all(
            attempts,
            lambda at: policy(missing[at]),
            host=session_host(self.config.socket),
            limits=Limits(steps=self.config.max_turns),
            concurrency=self.config.concurrency,
            engine=engine,
            stop=lambda: self.flag.asked,
        ):
            self._keep(row, missing[place], trajectory, total)

    def _keep(self, row: int, index: int, trajectory: Trajectory, total: int) -> None:
        name = file_of(row, index)
        self.folder.write(name, to_json(trajectory))
        self.done += 1
        self.folder.metric(
            "episode",
            row=row,
            attempt=index,
            policy=self.config.contenders[row].name,
            file=name,
            outcome=trajectory.outcome.kind,
            cause=trajectory.outcome.cause,
            step=self.done,
            steps=total,
        )

    @contextmanager
    def _policies(self, contender: Contender) -> Iterator[tuple[Engine | None, Callable[[int], Policy]]]:
        config = self.config
        if not contender.folder:

            def control(index: int) -> Policy:
                return NoOpPolicy() if contender.name == NO_OP else ReferencePolicy(config.attempts[index].task())

            yield None, control
            return
        from training_app import weights
        from training_app.tokens import Codec

        weights.use_threads()
        folder = Path(contender.folder)
        engine = Engine(weights.placed(weights.load(folder)), Codec.load(folder))

        def policy(index: int) -> Policy:
            return BatchPolicy(
                engine,
                name=f"local:{contender.name}",
                temperature=config.temperature,
                seed=zlib.crc32(f"{config.seed}:{index}".encode()),
                max_new_tokens=config.max_new_tokens,
                max_prompt=config.max_prompt,
            )

        yield engine, policy


def main() -> int:
    return entry.run(__doc__, lambda path, folder, flag: Evaluating(EvaluateConfig.load(path), folder, flag).run())


if __name__ == "__main__":
    raise SystemExit(main())
