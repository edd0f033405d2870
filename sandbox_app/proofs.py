"""Proofs: what shipped content says of itself, done again: references pass, probes fail as predicted.

A task's reference runs as an Episode in a real kernel at every scale, a primer's at v0; a primer's other scales and all
probes run in process, with the same verifier. Pure: folders in, counts and problems out, so that it can run in a
process of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox_app.episodes import run_episode
from sandbox_app.kernels.local import LocalHost
from sandbox_app.policies.reference import ReferencePolicy
from sandbox_app.trajectories import Trajectory
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.environments.state import State
from tasks_app.solutions import run_in_process
from tasks_app.tasks import ProbeSpec, TaskSpec, load_task
from tasks_app.verification import Verdict, VerifierFault, judge

PROBES = {"task": 6, "primer": 3}
CELLS = {"task": 3, "primer": 1}
_FIRST = "v0"


@dataclass(frozen=True, slots=True)
class Proof:
    """What was tried for one task and what came of it; `problems` are sentences."""

    tier: str
    plan_tree: str
    scales: tuple[str, ...]
    references_passed: int = 0
    references_total: int = 0
    probes_rejected: int = 0
    probes_total: int = 0
    problems: tuple[str, ...] = ()


def prove(package_folder: Path, task_folder: Path) -> Proof:
    """All scales of one task. Raises only what is wrong with the content's form (TaskError, PackageError)."""
    task, package = load_task(task_folder), EnvironmentPackage.load(package_folder)
    problems: list[str] = []
    passed = rejected = 0
    for name, scale in task.scales.items():
        where = f"{task.title} ({task.key[:12]}) at {name}"
        state = package.build(task.seed, scale, task.directives)
        faults = list(_reference(task, package, state, name))
        passed += not faults
        problems += [f"{where}: {fault}" for fault in faults]
        for probe in task.probes:
            fault = _probe(task, package, state, probe)
            rejected += not fault
            problems += [f"{where}: probe {probe.name}: {fault}"] if fault else []
    if len(task.probes) < PROBES[task.tier]:
        problems.append(f"{task.title} ({task.key[:12]}): {len(task.probes)} probes, {PROBES[task.tier]} are asked for")
    scales = len(task.scales)
    return Proof(
        task.tier, task.plan_tree, tuple(task.scales), passed, scales, rejected, scales * len(task.probes),
        tuple(problems),
    )


def _reference(task: TaskSpec, package: EnvironmentPackage, state: State, scale: str) -> Iterator[str]:
    """What is wrong with the reference at this scale."""
    if task.tier == "task" or scale == _FIRST:
        trajectory = asyncio.run(run_episode(
            task, package.folder, task.scales[scale], task.seed, ReferencePolicy(task), host=LocalHost(),
        ))
        yield from _as_episode(task, trajectory)
        return
    run = run_in_process(task.reference, package, state, task.tools)
    if run.error:
        yield f"the reference ended with {run.error}"
        return
    yield from _failures(_verdict(task, state, run.after, run.answer))


def _as_episode(task: TaskSpec, trajectory: Trajectory) -> Iterator[str]:
    outcome = trajectory.outcome
    if outcome.kind != "passed":
        yield f"the reference's episode is {outcome.kind}: {outcome.cause}: {outcome.detail}"
    printing = [step for step in trajectory.steps if step.result is not None and step.result.returned.strip()]
    if len(printing) < CELLS[task.tier]:
        yield f"the reference prints in {len(printing)} cells, {CELLS[task.tier]} are asked for"


def _probe(task: TaskSpec, package: EnvironmentPackage, state: State, probe: ProbeSpec) -> str:
    """Why the probe is not rejected as predicted, "" when it is."""
    run = run_in_process(probe.source, package, state, task.tools)
    verdict = _verdict(task, state, run.after, run.answer if probe.answer is None else probe.answer)
    if isinstance(verdict, str):
        return verdict
    failed = [criterion.name for criterion in verdict.criteria if not criterion.passed]
    if not failed:
        return "passes"
    return "" if probe.criterion in failed else f"fails by {', '.join(failed)}, not by {probe.criterion}"


def _verdict(task: TaskSpec, before: State, after: State, answer: str) -> Verdict | str:
    try:
        return judge(task.verifier, before, after, answer)
    except VerifierFault as fault:
        return str(fault)


def _failures(verdict: Verdict | str) -> Iterator[str]:
    if isinstance(verdict, str):
        yield verdict
        return
    for criterion in verdict.criteria:
        if not criterion.passed:
            yield f"the reference fails by {criterion.name}: {criterion.detail}"
