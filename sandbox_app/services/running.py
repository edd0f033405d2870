"""Running one claimed Episode: rows and events as steps come, and its end in one write that the fence guards.

The kernel side runs in the Conductor's thread; everything here runs in the job's thread. A LeaseLost stops the work
without another write: whoever holds the row now decides.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sandbox_app import steps as describing
from sandbox_app.conductor import Called, Conductor, Feed, Observation, Printed, StepEnded, StepStarted, Watched
from sandbox_app.episodes import run_episode
from sandbox_app.kernels.client import HostClient
from sandbox_app.kernels.session import Limits
from sandbox_app.models import Episode, StepRow
from sandbox_app.policies import make
from sandbox_app.storing import storable
from sandbox_app.trajectories import Step, Trajectory, to_json
from tasks_app.leases import worker_name
from tasks_app.models import JobState, Task
from tasks_app.models.jobs import HEARTBEAT, LeaseLost
from tasks_app.scales import Scale
from tasks_app.services import blobs, publish
from tasks_app.services.files import in_data_dir
from tasks_app.tasks import load_task

logger = logging.getLogger(__name__)
TAKE_EVERY = 0.1                     # seconds between two looks at what the cell printed: about ten events a second
LOOK_EVERY = 0.7                     # seconds between two looks at what people asked for
Conducting = Callable[[Episode], Conductor]


def run(*, episode: Episode, conducting: Conducting | None = None) -> bool:
    """Claim and run to an end. False when it is not free: a redelivered message, or a person cancelled it."""
    if episode.state != JobState.QUEUED or not episode.claim(worker_name()):
        return False
    publish(episode.stream, "state", {"state": JobState.RUNNING.value})
    try:
        conductor = (conducting or conduct)(episode)
        conductor.start()
        trajectory = _follow(episode, conductor)
    except LeaseLost:
        logger.warning("episode %s was taken over; nothing more is written", episode.pk)
        return True
    except asyncio.CancelledError:
        _end(episode, JobState.CANCELLED, cause="cancelled")
        return True
    except Exception as error:       # the boundary: a fault of ours must end in a named outcome, never in a spinner
        reference = uuid.uuid4().hex[:8]
        logger.exception("episode %s broke, reference %s", episode.pk, reference)
        _end(episode, JobState.FAILED, outcome=Episode.Outcome.INFRASTRUCTURE, cause="job_error",
             detail=storable(f"{type(error).__name__}: {error}")[:2_000],
             error=f"The episode's job broke. Search the log for {reference}.")
        return True
    finish(episode=episode, trajectory=trajectory)
    return True


def conduct(episode: Episode) -> Conductor:
    """The conductor of a real episode: its task and package from their folders, a kernel from the host's socket."""
    task = load_task(in_data_dir(episode.task.folder))
    package = in_data_dir(episode.task.environment.folder)
    scale = Scale(episode.scale, episode.rows, episode.files)
    policy = make(episode.policy, task, episode.policy_config)

    async def start(host: Watched, feed: Feed) -> Trajectory:
        return await run_episode(task, package, scale, episode.seed, policy, host=host, limits=Limits(), observer=feed)

    return Conductor(start, HostClient(Path(settings.KERNEL_SOCKET)))


def _follow(episode: Episode, conductor: Conductor) -> Trajectory:
    """Record what is seen, renew the lease, pass on what people ask for. Raises LeaseLost, or what broke."""
    beat = looked = time.monotonic()
    interrupts = episode.interrupts_asked
    try:
        while True:
            ended = conductor.done       # read before the queue is emptied, so that nothing is left behind
            for seen in conductor.take(0 if ended else TAKE_EVERY):
                record(episode=episode, seen=seen)
            if ended:
                return conductor.result()
            now = time.monotonic()
            if now - beat >= HEARTBEAT.total_seconds():
                episode.heartbeat()
                beat = now
            if now - looked >= LOOK_EVERY:
                interrupts = _pass_on(episode, conductor, interrupts)
                looked = now
    except BaseException:
        conductor.cancel()
        raise


def _pass_on(episode: Episode, conductor: Conductor, interrupts: int) -> int:
    row = Episode.objects.filter(pk=episode.pk).values("cancel_asked", "interrupts_asked").first()
    if row is None:
        raise LeaseLost(f"episode {episode.pk} is gone")
    if row["cancel_asked"]:
        conductor.cancel()
    elif row["interrupts_asked"] > interrupts:
        conductor.interrupt()
    return int(row["interrupts_asked"])


def record(*, episode: Episode, seen: Observation) -> None:
    """One observation as an event (and a row, when a step has ended). Raises LeaseLost."""
    if isinstance(seen, StepStarted):
        publish(episode.stream, "step_started", {"index": seen.index, "code": storable(seen.code or "")})
    elif isinstance(seen, Printed):
        publish(episode.stream, "output", {"index": seen.index, "text": storable(seen.text)})
    elif isinstance(seen, Called):
        publish(episode.stream, "calls", {"index": seen.index, "calls": [
            {"tool": call.tool, "ok": call.ok, "milliseconds": round(call.milliseconds, 1)} for call in seen.calls
        ]})
    elif isinstance(seen, StepEnded):
        record_step(episode=episode, step=seen.step)


def record_step(*, episode: Episode, step: Step) -> StepRow:
    """The step's body as a blob, its row, the episode's counts and the event, or nothing of it. Raises LeaseLost."""
    fields = _step_fields(step)
    with transaction.atomic():
        row, _ = StepRow.objects.update_or_create(episode=episode, index=step.index, defaults=fields)
        episode.steps_count = max(episode.steps_count, step.index)
        episode.calls_count += row.calls
        held = Episode.objects.filter(pk=episode.pk, fence=episode.fence, state=JobState.RUNNING).update(
            steps_count=episode.steps_count, calls_count=episode.calls_count,
        )
        if not held:
            raise LeaseLost(f"episode {episode.pk} is no longer held with fence {episode.fence}")
        publish(episode.stream, "step", {"index": step.index, "outcome": row.outcome, "title": row.title})
    return row


def _step_fields(step: Step) -> dict[str, Any]:
    summary = describing.summarise(step)
    return {
        "title": summary.title, "kind": summary.kind, "outcome": summary.outcome, "calls": summary.calls,
        "failed_calls": summary.failed_calls, "changed_rows": summary.changed_rows,
        "changed_files": summary.changed_files, "returned_tokens": summary.returned_tokens,
        "kept_tokens": summary.kept_tokens, "touched": describing.touched_to_json(summary.touched),
        "seconds": step.seconds, "body": blobs().put(as_bytes(step)),
    }


def finish(*, episode: Episode, trajectory: Trajectory) -> None:
    """Outcome, criteria and trajectory in one write, if the lease is still ours."""
    _end(episode, JobState.SUCCEEDED, **_ended_fields(trajectory))


def _ended_fields(trajectory: Trajectory) -> dict[str, Any]:
    outcome = trajectory.outcome
    return {
        "outcome": outcome.kind, "cause": outcome.cause, "detail": storable(outcome.detail), "reward": outcome.reward,
        "answer": storable(trajectory.answer), "criteria": _criteria(trajectory), "verifier": trajectory.verifier,
        "steps_count": len(trajectory.steps), "trajectory": blobs().put(as_bytes(trajectory)),
        "seconds": trajectory.seconds,
        "calls_count": sum(len(step.result.calls) for step in trajectory.steps if step.result is not None),
    }


def _criteria(trajectory: Trajectory) -> list[dict[str, Any]]:
    return [
        {"name": storable(str(criterion["name"])), "passed": bool(criterion["passed"]),
         "detail": storable(str(criterion.get("detail", "")))}
        for criterion in trajectory.criteria
    ]


@transaction.atomic
def record_trajectory(
    *, trajectory: Trajectory, task: Task, source: str, policy: str, policy_config: dict[str, Any], record_key: str,
    rows: int, files: int, by: Any = None,
) -> Episode:
    """An Episode that ran elsewhere (a training subprocess on this host's kernels), with its steps.

    `record_key` (at most 64 characters) names the record: recorded twice it is the same episode. No events.
    """
    already = Episode.objects.filter(request_key=record_key).first() if record_key else None
    if already is not None:
        return already
    now = timezone.now()
    episode = Episode.objects.create(
        task=task, scale=trajectory.scale, rows=rows, files=files, seed=trajectory.seed, policy=policy,
        policy_config=policy_config, source=source, created_by=by, request_key=record_key, state=JobState.SUCCEEDED,
        progress=1.0, ended_at=now, started_at=now - timedelta(seconds=trajectory.seconds), **_ended_fields(trajectory),
    )
    StepRow.objects.bulk_create(
        StepRow(episode=episode, index=step.index, **_step_fields(step)) for step in trajectory.steps
    )
    return episode


def _end(episode: Episode, state: JobState, **fields: Any) -> None:
    try:
        with transaction.atomic():
            episode.finish(state, **fields)
            publish(episode.stream, "ended", {"state": state.value, "outcome": episode.outcome})
    except LeaseLost:
        logger.warning("episode %s was taken over before its end was written", episode.pk)


def as_bytes(value: Any) -> bytes:
    """A Step or Trajectory as JSON in ASCII: integers of any size and lone surrogates survive."""
    return json.dumps(to_json(value), ensure_ascii=True, separators=(",", ":")).encode("ascii")
