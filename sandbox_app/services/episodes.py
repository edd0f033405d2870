"""Making, ending and retrying Episodes. Every episode ends in a named way: the reaper ends those whose worker is gone.

Cancelling is a person's doing: the episode is `cancelled`, without outcome or reward (`stopped` is kept for what the
policy caused). An episode whose worker was lost is `infrastructure`, and a new attempt is queued, at most
ATTEMPTS in a row.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from sandbox_app.models import Episode
from sandbox_app.policies import NAMES
from sandbox_app.policies.scripted import FAULTS
from tasks_app.errors import Refused
from tasks_app.models import JobState, Task
from tasks_app.models.content import TaskStatus
from tasks_app.services import publish
from tasks_app.services.files import in_data_dir
from tasks_app.tasks import TaskError, load_task

logger = logging.getLogger(__name__)
ATTEMPTS = 3
DISPATCH_AGAIN = timedelta(minutes=1)


def create_episode(
    *,
    task: Task,
    scale: str,
    policy: str,
    config: dict[str, Any] | None = None,
    seed: int | None = None,
    source: str,
    by: Any = None,
    request_key: str = "",
    retry_of: Episode | None = None,
) -> Episode:
    """Queue one attempt. Raises Refused. The same `request_key` (one press of one form) gives the same episode."""
    chosen = dict(config or {})
    _check_policy(policy, chosen)
    if task.status != TaskStatus.PROVEN:
        raise Refused("This task is not proven, so nothing may run on it.", where=task.title,
                      how="Open its checks to see which one failed.")
    size = task.scales.filter(name=scale).first()
    if size is None:
        known = ", ".join(task.scales.values_list("name", flat=True)) or "none yet"
        raise Refused(f"The task has no scale “{scale}”.", where=task.title, how=f"It has: {known}.", status=400)
    try:
        with transaction.atomic():
            episode = Episode.objects.create(
                task=task, scale=size.name, rows=size.rows, files=size.files, policy=policy, policy_config=chosen,
                seed=_seed(task) if seed is None else seed, source=source, created_by=by, request_key=request_key,
                retry_of=retry_of, dispatched_at=timezone.now(),
            )
            publish(episode.stream, "state", {"state": JobState.QUEUED.value})
            _dispatch(episode)
    except IntegrityError:
        pressed_before = Q(request_key=request_key) & ~Q(request_key="")
        if retry_of is not None:
            pressed_before |= Q(retry_of=retry_of)
        already = Episode.objects.filter(pressed_before).first()
        if already is None:
            raise
        return already
    return episode


def _check_policy(policy: str, config: dict[str, Any]) -> None:
    if policy not in NAMES:
        raise Refused(f"There is no policy “{policy}”.", how=f"Choose one of {', '.join(NAMES)}.", status=400)
    fault = config.get("fault")
    if policy == "scripted" and fault not in FAULTS:
        raise Refused(f"There is no fault “{fault}” for a scripted policy.", how=f"Choose one of {', '.join(FAULTS)}.",
                      status=400)
    if policy == "local" and not Path(str(config.get("folder", ""))).is_dir():
        raise Refused("The checkpoint's folder is not there.", where=str(config.get("folder", "no folder given")),
                      how="Choose another checkpoint.", status=400)


def _seed(task: Task) -> int:
    """The seed at which the task was made and proven. Its files are the truth; without them nothing can run."""
    try:
        return load_task(in_data_dir(task.folder)).seed
    except (OSError, TaskError) as error:
        raise Refused("The task's files can't be read, so nothing can run on it.", where=f"{task.folder}: {error}",
                      how="`python manage.py load_content` puts back what ships with the code.") from error


def _dispatch(episode: Episode) -> None:
    from sandbox_app.jobs import run_episode_job  # jobs import services, so this can't stand above

    run_episode_job.delay_on_commit(str(episode.pk))


@transaction.atomic
def cancel_episode(*, episode: Episode, by: Any) -> None:
    """End it for a person. A queued one ends at once; a running one when its worker looks, in about a second."""
    says = f"cancelled by {by}"
    ended = Episode.objects.filter(pk=episode.pk, state=JobState.QUEUED).update(
        state=JobState.CANCELLED, cancel_asked=True, ended_at=timezone.now(), fence=F("fence") + 1, cause="cancelled",
        detail=says,
    )
    if not ended:
        Episode.objects.filter(pk=episode.pk, state=JobState.RUNNING).update(cancel_asked=True, detail=says)
    episode.refresh_from_db()
    if ended:
        publish(episode.stream, "ended", {"state": episode.state, "outcome": ""})


def interrupt_episode(*, episode: Episode) -> None:
    """Ask the running cell to stop (KeyboardInterrupt); the episode goes on with the next step."""
    if episode.state != JobState.RUNNING:
        raise Refused("No cell is running, so there is nothing to interrupt.", where=str(episode),
                      how="Reload the page.")
    episode.ask_interrupt()


def retry_episode(*, episode: Episode, by: Any = None) -> Episode:
    """A new attempt at the same task, scale, seed and policy, of what broke on our side or was cancelled."""
    ours = episode.outcome == Episode.Outcome.INFRASTRUCTURE or episode.state == JobState.CANCELLED
    if not ours:
        raise Refused("Only an attempt that broke on our side or was cancelled can be tried again.",
                      where=f"this one {episode.status}", how="Run the task again instead.")
    return create_episode(
        task=episode.task, scale=episode.scale, policy=episode.policy, config=episode.policy_config, seed=episode.seed,
        source=episode.source, by=by or episode.created_by, retry_of=episode,
    )


def attempts_so_far(episode: Episode) -> int:
    count, at = 1, episode
    while at.retry_of is not None and count <= ATTEMPTS:
        count, at = count + 1, at.retry_of
    return count


def reap() -> int:
    """End running episodes whose lease ran out, and ask the broker again for queued ones it may have forgotten."""
    lost = list(Episode.objects.expired().select_related("task", "retry_of"))
    reaped = sum(_reap(episode) for episode in lost)
    forgotten = Episode.objects.filter(state=JobState.QUEUED, dispatched_at__lt=timezone.now() - DISPATCH_AGAIN)
    for episode in forgotten[:500]:
        _dispatch(episode)
        Episode.objects.filter(pk=episode.pk).update(dispatched_at=timezone.now())
    return reaped


def _reap(episode: Episode) -> bool:
    """End one; False when its worker came back, or another reaper was first."""
    with transaction.atomic():
        values: dict[str, Any] = {"fence": F("fence") + 1, "lease_until": None, "ended_at": timezone.now()}
        if episode.cancel_asked:
            values |= {"state": JobState.CANCELLED, "cause": "cancelled"}
        else:
            values |= {
                "state": JobState.FAILED, "outcome": Episode.Outcome.INFRASTRUCTURE, "cause": "worker_lost",
                "detail": f"The worker {episode.worker} stopped renewing its lease; the attempt was not scored.",
                "error": "The worker was lost in the middle of the episode.",
            }
        ended = Episode.objects.expired().filter(pk=episode.pk, fence=episode.fence).update(**values)
        if not ended:
            return False
        episode.refresh_from_db()
        publish(episode.stream, "ended", {"state": episode.state, "outcome": episode.outcome})
    if episode.outcome and attempts_so_far(episode) < ATTEMPTS:
        try:
            retry_episode(episode=episode)
        except Refused as refused:
            logger.warning("episode %s is not tried again: %s", episode.pk, refused)
    return True
