"""Does the loop teach? Reference episodes → SFT → RL, each judged on held-out primers and full tasks, with controls.

    python -m benchmarks learning                      the whole experiment (tens of minutes on two cores)
    python -m benchmarks.learning --small              a rehearsal of a few minutes; its rates say nothing
    python -m benchmarks.learning --report FILE.json   writes docs/learning.md from a result

Every episode, of demonstrations, rollouts and evaluation alike, runs in a real kernel of one host and is judged by the
task's verifier. Four checkpoints are compared: base, SFT, SFT continued for as many tokens as RL trained on (so that RL
is not credited with mere time), and RL. Two control rows decide whether the evaluation counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from safetensors import safe_open

from benchmarks._learning_report import as_figures, report
from benchmarks._learning_tasks import further, held_out
from sandbox_app import interfaces
from sandbox_app.kernels.host import spawn
from sandbox_app.kernels.session import Limits
from sandbox_app.policies.reference import ReferencePolicy
from sandbox_app.trajectories import Trajectory, from_json
from tasks_app.content import unpack
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.tasks import TaskSpec, cells, load_task, save_task
from training_app import snapshots
from training_app.configs import Attempt, Contender, EvaluateConfig, RlConfig, SftConfig
from training_app.evaluate import file_of
from training_app.evaluation import NO_OP, REFERENCE, Entry, summarise
from training_app.examples import Record, record_of
from training_app.folders import RunFolder
from training_app.model import PRESETS, WEIGHTS, make_base
from training_app.rollouts import run_all, session_host

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "docs" / "learning.md"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the experiment is. `train` 0 takes every shipped primer of the train split, `further` so many more.

    `held_out` is how many more primers of the test split are made; attempts beyond them all are second seeds.
    """

    train: int = 0
    further: int = 1_100
    held_out: int = 82
    preset: str = "nano"
    epochs: int = 6
    batch: int = 8
    learning_rate: float = 1.5e-3
    rl_steps: int = 12
    group: int = 8
    tasks_per_step: int = 4
    primers: int = 200
    tasks: int = 17
    slots: int = 12


FULL = Sizes()
SMALL = Sizes(train=40, further=20, held_out=2, epochs=2, rl_steps=2, group=4, tasks_per_step=2, primers=20, tasks=4)
MOST_NEW_TOKENS = 450


class Learning:
    """One experiment in a folder of its own."""

    def __init__(self, sizes: Sizes, root: Path, content: Path) -> None:
        self.sizes, self.root = sizes, root
        self.seconds: dict[str, float] = {}
        self.packages: dict[str, Path] = {}
        self.folders: dict[str, Path] = {}
        self.tasks: list[TaskSpec] = []
        for package, tasks in unpack(content, root / "content"):
            self.packages[EnvironmentPackage.load(package).digest] = package
            for folder in tasks:
                task = load_task(folder)
                self.folders[task.key] = folder
                self.tasks.append(task)
        self.tasks.sort(key=lambda task: task.key)
        self.socket = root / "k.sock"

    def stage(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` returned, kept as JSON in the folder: a run that was broken off goes on behind its last stage."""
        path = self.root / f"{name}.json"
        if not path.is_file():
            began = time.monotonic()
            made = make()
            path.write_text(json.dumps({"made": made, "seconds": round(time.monotonic() - began, 1)}), encoding="utf-8")
        kept = json.loads(path.read_text(encoding="utf-8"))
        self.seconds[name] = kept["seconds"]
        print(f"{name}: {kept['seconds']} s", file=sys.stderr, flush=True)
        return kept["made"]

    def more(self, name: str, n: int, make: Callable[[int, EnvironmentPackage, set[str]], Iterable[TaskSpec]]) -> None:
        """`n` primers beyond those that ship, shared out over the packages, written under `name` and taken in."""
        known = {task.lineage for task in self.tasks}

        def made() -> list[str]:
            keys = []
            for place, folder in enumerate(self.packages.values()):
                for task in make((n + place) // len(self.packages), EnvironmentPackage.load(folder), known):
                    save_task(task, self.root / name / task.key)
                    keys.append(task.key)
            return keys

        for key in self.stage(name, made):
            self.folders[key] = self.root / name / key
            self.tasks.append(load_task(self.folders[key]))

    def made(self, name: str) -> set[str]:
        return {key for key, folder in self.folders.items() if folder.parent == self.root / name}

    def of(self, split: str, tier: str) -> list[TaskSpec]:
        found = [task for task in self.tasks if task.split == split and task.tier == tier]
        random.Random(0).shuffle(found)
        return found

    def attempts(self, tasks: Sequence[TaskSpec], n: int) -> tuple[Attempt, ...]:
        """`n` distinct pairs of task and seed at v0, each task first at the seed it was proven at."""
        rounds = -(-n // max(1, len(tasks)))
        pairs = [(task, offset) for offset in range(rounds) for task in tasks][:n]
        return tuple(
            Attempt(
                str(self.folders[task.key]),
                str(self.packages[task.environment]),
                "v0",
                task.scales["v0"].rows,
                task.scales["v0"].files,
                task.seed + 7_919 * offset,
            )
            for task, offset in pairs
        )

    def base(self, train: Sequence[TaskSpec]) -> Path:
        """A fresh model whose tokenizer has read the train split alone."""
        texts: list[str] = []
        packages = {digest: EnvironmentPackage.load(folder) for digest, folder in self.packages.items()}
        for task in [*train, *self.of("train", "task")]:
            specs = packages[task.environment].tools
            texts.append(interfaces.system_prompt([specs[name] for name in task.tools]))
            texts.append(task.instruction)
            texts += [interfaces.render_call(code) for code in cells(task.reference)]
        folder = self.root / "base"
        make_base(texts, PRESETS[self.sizes.preset], folder)
        return folder

    def demonstrations(self, train: Sequence[TaskSpec]) -> tuple[str, dict[str, int]]:
        """Reference episodes in real kernels; those that passed become the snapshot."""
        attempts = self.attempts(train, len(train))
        lineages = {task.key: task.lineage for task in train}
        counts: dict[str, int] = {}
        records: list[Record] = []
        for index, trajectory in asyncio.run(self._reference(attempts)):
            kind = trajectory.outcome.kind
            counts[kind] = counts.get(kind, 0) + 1
            if kind == "passed":
                records.append(
                    record_of(
                        trajectory,
                        episode=f"demonstration-{index:05d}",
                        lineage=lineages[trajectory.task],
                        tier="primer",
                    )
                )
        written = snapshots.write(records, self.root / "snapshots", filters={"policy": "reference"}, left_out={})
        return str(written.folder), counts

    async def _reference(self, attempts: Sequence[Attempt]) -> list[tuple[int, Trajectory]]:
        return [
            pair
            async for pair in run_all(
                attempts,
                lambda index: ReferencePolicy(attempts[index].task()),
                host=session_host(str(self.socket)),
                limits=Limits(),
                concurrency=self.sizes.slots,
            )
        ]

    def run(self, module: str, name: str, config: dict[str, Any]) -> RunFolder:
        """Run a subprocess of the studio to its end. Raises RuntimeError with its own words when it did not finish."""
        folder = RunFolder(self.root / "runs" / name)
        self.stage(name, lambda: self._run(module, folder, config))
        return folder

    def _run(self, module: str, folder: RunFolder, config: dict[str, Any]) -> None:
        folder.create()
        folder.write("config.json", config)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TRL_EXPERIMENTAL_SILENCE": "1", "HF_HUB_OFFLINE": "1"}
        with (folder.path / "log.txt").open("wb") as log:
            subprocess.run(
                [sys.executable, "-m", module, "--config", str(folder.path / "config.json"), "--out", str(folder.path)],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
                check=False,
            )
        result = folder.result()
        if result is None or result["status"] != "finished":
            said = result["error"] if result else (folder.path / "log.txt").read_text(errors="replace")[-2_000:]
            raise RuntimeError(f"{folder.path.name} did not finish: {said}")

    def measure(self) -> dict[str, Any]:
        sizes = self.sizes
        shipped = {task.key for task in self.of("train", "primer")[: sizes.train or None]}
        self.more("further", sizes.further, further)
        train = [task for task in self.of("train", "primer") if task.key in shipped or task.key in self.made("further")]
        snapshot, demonstrated = self.stage("demonstrations", lambda: self.demonstrations(train))
        base = self.base(train)
        sft_config = SftConfig(
            str(base),
            snapshot,
            epochs=sizes.epochs,
            batch=sizes.batch,
            learning_rate=sizes.learning_rate,
            save_every=10_000,
        )
        sft = self.run("training_app.sft", "sft", sft_config.to_json())
        taught = last_of(sft)
        rl_config = RlConfig(
            str(taught),
            str(self.socket),
            "sft",
            self.attempts(train, len(train)),
            steps=sizes.rl_steps,
            group=sizes.group,
            tasks_per_step=sizes.tasks_per_step,
            max_new_tokens=MOST_NEW_TOKENS,
            concurrency=sizes.slots,
            save_every=10_000,
        )
        rl = self.run("training_app.rl", "rl", rl_config.to_json())
        longer = self.run(
            "training_app.sft",
            "sft longer",
            replace(
                sft_config,
                start_from=str(taught),
                learning_rate=sizes.learning_rate / 10,
                max_steps=self.as_many_steps(sft, rl),
            ).to_json(),
        )
        self.more("held-out", sizes.held_out, held_out)
        checkpoints = {"base": base, "sft": taught, "sft longer": last_of(longer), "rl": last_of(rl)}
        return {
            "sizes": asdict(sizes),
            "train_primers": len(train),
            "further_primers": sizes.further,
            "parameters": parameters(base),
            "demonstrations": demonstrated,
            "sft": sft.result(),
            "sft_longer": longer.result(),
            "rl": {**(rl.result() or {}), "curve": curve(rl)},
            "evaluation": self.evaluate(checkpoints),
            "seconds": self.seconds,
            "loss": [row["loss"] for row in metrics(sft, "step")],
        }

    def as_many_steps(self, sft: RunFolder, rl: RunFolder) -> int:
        """Steps of SFT that take as many tokens as RL's rollouts had."""
        done, rolled = sft.result() or {}, rl.result() or {}
        return max(1, round(int(rolled["tokens"]) / (int(done["tokens"]) / int(done["steps"]))))

    def evaluate(self, checkpoints: dict[str, Path]) -> dict[str, Any]:
        attempts = self.attempts(self.of("test", "primer"), self.sizes.primers)
        attempts += self.attempts(self.of("test", "task"), self.sizes.tasks)
        contenders = (
            Contender(REFERENCE),
            Contender(NO_OP),
            *(Contender(name, str(folder)) for name, folder in checkpoints.items()),
        )
        folder = self.run(
            "training_app.evaluate",
            "evaluation",
            EvaluateConfig(
                contenders,
                attempts,
                str(self.socket),
                max_new_tokens=MOST_NEW_TOKENS,
                concurrency=self.sizes.slots,
            ).to_json(),
        )
        entries = []
        kinds: dict[str, dict[str, list[int]]] = {}
        for row, contender in enumerate(contenders):
            for index, attempt in enumerate(attempts):
                trajectory = from_json(json.loads((folder.path / file_of(row, index)).read_text(encoding="utf-8")))
                task = attempt.task()
                if task.tier == "primer":
                    count = kinds.setdefault(task.motif, {}).setdefault(contender.name, [0, 0])
                    count[0] += trajectory.outcome.reward == 1.0
                    count[1] += 1
                entries.append(
                    Entry(
                        contender.name,
                        f"{task.key}/v0/{attempt.seed}",
                        task.tier,
                        trajectory.outcome.reward,
                        task.outcome_kind == "nothing_to_do",
                    )
                )
        return {
            **summarise(entries, [*checkpoints, REFERENCE, NO_OP]),
            "held_out_primers": len(self.of("test", "primer")),
            "held_out_made": len(self.made("held-out")),
            "kinds": kinds,
            "attempts": len(attempts),
            "distinct": len({entry.item for entry in entries}),
        }


def parameters(checkpoint: Path) -> int:
    with safe_open(str(checkpoint / WEIGHTS), "np") as weights:
        return sum(math.prod(weights.get_slice(name).get_shape()) for name in weights.keys())  # noqa: SIM118


def last_of(folder: RunFolder) -> Path:
    found = folder.last_checkpoint()
    if found is None:
        raise RuntimeError(f"{folder.path.name} left no checkpoint")
    return found


def metrics(folder: RunFolder, kind: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in folder.metrics_path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["kind"] == kind]


def curve(rl: RunFolder) -> list[dict[str, Any]]:
    names = ("step", "rollout_reward", "groups_with_signal", "groups_without", "infrastructure", "length_sampled")
    return [{name: row.get(name) for name in names} for row in metrics(rl, "step")]


def measure(sizes: Sizes = FULL, *, keep: Path | None = None, content: Path = ROOT / "content") -> dict[str, Any]:
    """The experiment's raw result. `keep` is a folder that stays; otherwise nothing is left behind."""
    root = keep or Path(tempfile.mkdtemp(prefix="learning-"))
    root.mkdir(parents=True, exist_ok=True)
    experiment = Learning(sizes, root, content)
    host = spawn(experiment.socket, sizes.slots)
    try:
        return experiment.measure()
    finally:
        host.terminate()
        host.wait()
        if keep is None:
            shutil.rmtree(root, ignore_errors=True)


def figures(raw: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    """In the shape of `python -m benchmarks`: held-out primer rates; the baseline is the untrained model."""
    return as_figures(raw or measure())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a rehearsal")
    parser.add_argument("--keep", type=Path, help="a folder that stays, with checkpoints and every episode")
    parser.add_argument("--content", type=Path, default=ROOT / "content")
    parser.add_argument("--out", type=Path, help="where the raw result goes; the standard output otherwise")
    parser.add_argument("--report", type=Path, help="write docs/learning.md from this raw result, and do nothing else")
    options = parser.parse_args()
    if options.report:
        REPORT.write_text(report(json.loads(options.report.read_text(encoding="utf-8"))), encoding="utf-8")
        return 0
    raw = measure(SMALL if options.small else FULL, keep=options.keep, content=options.content)
    text = json.dumps(raw, indent=1)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
