"""Episodes: one Policy at one Task, Scale and seed, from the first state to the verdict.

The loop: the policy says something; code in it runs as a cell; what was printed is what the policy reads next; a
message without code is the answer, and the verifier judges. Every way to end has a name:

    passed, failed     "verdict"
    stopped (0)        max_steps, calls_limit, malformed_call, cell_timeout, out_of_memory, output_limit,
                       kernel_killed_by_policy, protocol_error, workspace_limit; criteria met so far are kept
    infrastructure     the `cause` of a `SandboxFault`, environment_failed, policy_fault: no reward

Never raises but for cancellation, which closes the session first.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sandbox_app import interfaces, verification_process
from sandbox_app.errors import SandboxFault
from sandbox_app.kernels.session import Limits, Session, SessionFactory, SessionSpec
from sandbox_app.kernels.workspace import WorkspaceOverflow
from sandbox_app.policies import Message, Policy
from sandbox_app.toolserver import toolbox
from sandbox_app.trajectories import (
    VERSION,
    Call,
    CellError,
    CellResult,
    Outcome,
    Step,
    Trajectory,
    to_json,
)
from tasks_app.environments.state import State
from tasks_app.scales import Scale
from tasks_app.tasks import TaskSpec
from tasks_app.verification import Verdict

logger = logging.getLogger(__name__)
MALFORMED_IN_A_ROW = 3
JUDGED_BYTES = 8 * 1024**2        # more takes a verifier longer than its limits, which would be no score at all
DEFAULTS = Limits()
_LOST = {
    "timeout": "cell_timeout", "oom": "out_of_memory", "kernel_dead": "kernel_killed_by_policy",
    "output_limit": "output_limit", "protocol_error": "protocol_error",
}


class Observer(Protocol):
    """Told what happens while it happens, in the event loop of the episode; must not block."""

    def on_step_started(self, index: int, message: str, code: str | None) -> None: ...

    def on_output(self, index: int, text: str) -> None: ...

    def on_call(self, index: int, call: Call) -> None: ...

    def on_step(self, step: Step) -> None: ...


class Silent:
    """The observer of an episode that nobody watches."""

    def on_step_started(self, index: int, message: str, code: str | None) -> None:
        return

    def on_output(self, index: int, text: str) -> None:
        return

    def on_call(self, index: int, call: Call) -> None:
        return

    def on_step(self, step: Step) -> None:
        return


@dataclass(slots=True)
class _Run:
    """What has happened so far."""

    task: TaskSpec
    policy: Policy
    limits: Limits
    observer: Observer
    system: str = ""
    steps: list[Step] = field(default_factory=list)
    answer: str = ""
    before: State | None = None
    after: State | None = None
    criteria: tuple[dict[str, object], ...] = ()


async def run_episode(
    task: TaskSpec, package_folder: Path, scale: Scale, seed: int, policy: Policy, *,
    host: SessionFactory, limits: Limits = DEFAULTS, observer: Observer | None = None,
) -> Trajectory:
    """The whole record of one attempt. `seed` makes the environment's rows, the kernel's hashes and random numbers."""
    begun = time.monotonic()
    run = _Run(task, policy, limits, observer or Silent())
    try:
        outcome = await _attempt(run, package_folder, scale, seed, host)
    except SandboxFault as fault:
        outcome = Outcome("infrastructure", fault.cause, str(fault))
    except Exception as fault:  # the promise not to raise: whatever else it is, it is ours, and named and logged
        logger.exception("an episode of %s broke", task.key)
        outcome = Outcome("infrastructure", SandboxFault.cause, f"{type(fault).__name__}: {fault}")
    digests = await asyncio.to_thread(lambda: [s.digest if s is not None else "" for s in (run.before, run.after)])
    return Trajectory(
        version=VERSION, task=task.key, environment=task.environment, scale=scale.name, seed=seed, policy=policy.name,
        mode="programmatic", system=run.system, instruction=task.instruction, steps=tuple(run.steps),
        answer=run.answer, outcome=outcome, criteria=run.criteria,
        verifier=hashlib.sha256(task.verifier.encode()).hexdigest(), state_before=digests[0], state_after=digests[1],
        seconds=time.monotonic() - begun,
    )


async def _attempt(run: _Run, package_folder: Path, scale: Scale, seed: int, host: SessionFactory) -> Outcome:
    task = run.task
    tools = toolbox.load(package_folder, task.tools)
    run.system = interfaces.system_prompt([tools.specs[name] for name in task.tools])
    run.before = await _build(task, package_folder, scale, seed)
    session = await host.open(SessionSpec(package_folder, task.tools, run.before, seed, run.limits))
    try:
        stopped = await _loop(run, session)
        try:
            run.after = await session.state()
        except WorkspaceOverflow as overflow:
            return Outcome("stopped", "workspace_limit", str(overflow))
    finally:
        await session.close()
    return await _judge(run, stopped)


async def _build(task: TaskSpec, package_folder: Path, scale: Scale, seed: int) -> State:
    package = toolbox.package(package_folder)
    try:
        return await asyncio.to_thread(package.build, seed, scale, dict(task.directives))
    except Exception as fault:  # the boundary to a package's generated code: its faults are ours, and named
        raise EnvironmentFailed(f"{type(fault).__name__}: {fault}") from fault


class EnvironmentFailed(SandboxFault):
    """The first state of an episode could not be made."""

    cause = "environment_failed"


class PolicyRaised(SandboxFault):
    """A policy raised; what a policy does wrong is no exception, so this is ours."""

    cause = "policy_fault"


async def _loop(run: _Run, session: Session) -> Outcome | None:
    """Steps until the answer (None) or a reason to stop."""
    malformed = 0
    for index in range(1, run.limits.steps + 1):
        begun = time.monotonic()
        message = await _act(run)
        try:
            code = interfaces.parse(message.text)
        except interfaces.MalformedCall as wrong:
            malformed += 1
            run.observer.on_step_started(index, message.text, None)
            _add(run, index, message, None, _malformed(wrong), begun)
            if malformed == MALFORMED_IN_A_ROW:
                return Outcome("stopped", "malformed_call", str(wrong))
            continue
        malformed = 0
        run.observer.on_step_started(index, message.text, code)
        if code is None:
            run.answer = message.text
            _add(run, index, message, None, None, begun)
            return None
        result = await session.execute(
            code, on_output=lambda text, at=index: run.observer.on_output(at, text),  # type: ignore[misc]
            on_call=lambda call, at=index: run.observer.on_call(at, call),  # type: ignore[misc]
        )
        _add(run, index, message, code, result, begun)
        stopped = _reason_to_stop(run, result)
        if stopped is not None:
            return stopped
    return Outcome("stopped", "max_steps", f"{run.limits.steps} steps without an answer")


async def _act(run: _Run) -> Message:
    try:
        return await run.policy.act(run.system, run.task.instruction, tuple(run.steps))
    except SandboxFault:
        raise
    except Exception as fault:  # the boundary to a policy
        raise PolicyRaised(f"{run.policy.name}: {type(fault).__name__}: {fault}") from fault


def _add(
    run: _Run, index: int, message: Message, code: str | None, result: CellResult | None, begun: float,
) -> None:
    step = Step(
        index=index, message=message.text, code=code, result=result, token_ids=message.token_ids,
        logprobs=message.logprobs, prompt_tokens=message.prompt_tokens, seconds=time.monotonic() - begun,
    )
    run.steps.append(step)
    run.observer.on_step(step)


def _malformed(wrong: interfaces.MalformedCall) -> CellResult:
    error = CellError("MalformedCall", str(wrong), f"MalformedCall: {wrong}")
    return CellResult("protocol_error", "", "", error, (), (), (), (), 0.0, detail="nothing was run")


def _reason_to_stop(run: _Run, result: CellResult) -> Outcome | None:
    if not result.state_survived:
        return Outcome("stopped", _LOST[result.outcome], result.detail)
    if result.outcome == "protocol_error":
        return Outcome("stopped", "protocol_error", result.detail)
    calls = sum(len(step.result.calls) for step in run.steps if step.result is not None)
    if calls > run.limits.calls:
        return Outcome("stopped", "calls_limit", f"more than {run.limits.calls} tool calls")
    return None


async def _judge(run: _Run, stopped: Outcome | None) -> Outcome:
    """The verdict; of a stopped episode too, for what it had reached, without a say in its outcome."""
    if run.before is None or run.after is None:
        raise SandboxFault("there is no state to judge")
    changed = _changed_bytes(run.before, run.after)
    if changed > JUDGED_BYTES:
        text = f"the files made or changed hold {changed:,} bytes; at most {JUDGED_BYTES:,} are judged"
        return stopped or Outcome("stopped", "workspace_limit", text)
    try:
        verdict = await verification_process.judge(run.task.verifier, run.before, run.after, run.answer)
    except SandboxFault:
        if stopped is not None:
            return stopped
        raise
    run.criteria = tuple(to_json(criterion) for criterion in verdict.criteria)
    return stopped or _scored(verdict)


def _changed_bytes(before: State, after: State) -> int:
    return sum(len(body) for path, body in after.files.items() if before.files.get(path) != body)


def _scored(verdict: Verdict) -> Outcome:
    failed = [criterion.name for criterion in verdict.criteria if not criterion.passed]
    return Outcome("failed", "verdict", "; ".join(failed)) if failed else Outcome("passed", "verdict")
