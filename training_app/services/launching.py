"""Launching runs and evaluations: everything is checked first, then one row is made and its job is queued.

The launch key is a hash of what is asked for, so the same form sent twice, by one person or by two, is one run; a run
that was cancelled or failed is resumed by the same words.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from tasks_app.models import JobState, Task
from tasks_app.models.content import TaskStatus
from tasks_app.services import publish
from training_app import template
from training_app.configs import Attempt, Contender, EvaluateConfig, RlConfig, SftConfig
from training_app.errors import NoSpace, Refused
from training_app.evaluation import NO_OP, REFERENCE
from training_app.folders import MARGIN
from training_app.models import Checkpoint, Evaluation, Snapshot, TrainingRun
from training_app.services.forecasts import forecast
from training_app.services.places import attempt, data_dir, folder_of, relative, runs_dir
from training_app.tokens import Codec


def launch_sft(*, snapshot: Snapshot, start_from: Checkpoint, config: SftConfig, by: Any = None) -> TrainingRun:
    """Queue an SFT run, or give the one that was asked for already. Raises `Refused` with the reason."""
    if not snapshot.train_count:
        raise Refused("This snapshot holds no trajectory to train on; make one of approved episodes.")
    expected, found = forecast(snapshot, start_from, config)
    if not found.kept:
        reasons = "; ".join(f"{count} {reason}" for reason, count in found.left_out.items())
        raise Refused(f"No example is left to train on ({reasons}). Raise the length limit or choose other episodes.")
    _check_space(expected.disk)
    body = {**config.to_json(), "start_from": start_from.digest, "snapshot": snapshot.digest}
    return _launch(
        kind="sft",
        name=f"SFT · {start_from.label} · {expected.examples} episodes",
        key=_key("sft", body),
        by=by,
        config=config.to_json(),
        start_from=start_from,
        snapshot=snapshot,
    )


def launch_rl(*, start_from: Checkpoint, config: RlConfig, by: Any = None) -> TrainingRun:
    """Queue an RL run from a checkpoint. Raises `Refused`."""
    config.check()
    template.check(Codec.load(folder_of(start_from)).template)
    _check_space(6 * sum(path.stat().st_size for path in folder_of(start_from).glob("*.safetensors")))
    body = {**config.to_json(), "start_from": start_from.digest, "socket": "", "name": ""}
    return _launch(
        kind="rl",
        name=f"GRPO · {start_from.label}",
        key=_key("rl", body),
        by=by,
        config=config.to_json(),
        start_from=start_from,
        snapshot=start_from.run.snapshot if start_from.run else None,
    )


def _launch(*, key: str, by: Any, **fields: Any) -> TrainingRun:
    from training_app.jobs import train_job  # jobs import services, so this can't stand above

    with transaction.atomic():
        run, created = TrainingRun.objects.get_or_create(launch_key=key, defaults={**fields, "created_by": by})
        if created:
            run.folder = relative(runs_dir() / str(run.pk))
            run.save(update_fields=["folder"])
            publish(run.stream, "state", {"state": run.state})
            train_job.delay_on_commit(str(run.pk))
    return run


def _key(kind: str, body: Any) -> str:
    return hashlib.sha256(json.dumps([kind, body], sort_keys=True).encode()).hexdigest()


def _check_space(needed: int) -> None:
    runs_dir().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(runs_dir()).free
    if free < needed + MARGIN:
        raise NoSpace(
            f"The run needs about {needed // 1024**2 + 1} MB for its checkpoints, and {free // 1024**2} MB are free on "
            f"the disk that holds {data_dir().name}. Free some space or save less often. Nothing was started."
        )


def cancel(*, job: TrainingRun | Evaluation) -> None:
    """Ask it to end. A queued one ends at once; a running one saves a checkpoint first."""
    model = type(job)
    ended = model.objects.filter(pk=job.pk, state=JobState.QUEUED).update(
        state=JobState.CANCELLED,
        cancel_asked=True,
        fence=F("fence") + 1,
    )
    if not ended:
        model.objects.filter(pk=job.pk, state=JobState.RUNNING).update(cancel_asked=True)
    job.refresh_from_db()
    publish(job.stream, "state", {"state": job.state, "cancel_asked": True})


def resume(*, job: TrainingRun | Evaluation) -> None:
    """Queue an ended one again; it goes on from its newest checkpoint. Raises `Refused`."""
    from training_app.jobs import evaluate_job, train_job

    with transaction.atomic():
        resumed = (
            type(job)
            .objects.filter(pk=job.pk, state__in=[JobState.CANCELLED, JobState.FAILED])
            .update(
                state=JobState.QUEUED,
                cancel_asked=False,
                error="",
                ended_at=None,
                lease_until=None,
                attempts=0,
                fence=F("fence") + 1,
            )
        )
        if not resumed:
            raise Refused(f"{job.name} is {job.get_state_display()}; only a cancelled or failed one can be resumed.")
        job.refresh_from_db()
        publish(job.stream, "state", {"state": job.state})
        queue = train_job if isinstance(job, TrainingRun) else evaluate_job
        queue.delay_on_commit(str(job.pk))


def train_attempts(
    *, tier: str, domain: str = "", scale: str = "v0", most: int = 0, seed: int = 0
) -> tuple[Attempt, ...]:
    """Proven train-split tasks as attempts, in a shuffled order that the seed fixes; `most` 0 takes all."""
    return _attempts("train", tier, domain, scale, most, seed, episode_seeds=1)


def held_out_attempts(
    *, tier: str, domain: str = "", scale: str = "v0", n: int = 200, seed: int = 0
) -> tuple[Attempt, ...]:
    """`n` distinct pairs of held-out task and seed: first at the seeds they were proven at, then fresh ones."""
    return _attempts("test", tier, domain, scale, n, seed, episode_seeds=0)


def held_out_attempts_of_tiers(
    *, primers: int, tasks: int, domain: str = "", scale: str = "v0", seed: int = 0
) -> tuple[Attempt, ...]:
    """Primers first, then full tasks; they are never added up."""
    found: tuple[Attempt, ...] = ()
    for tier, n in (("primer", primers), ("task", tasks)):
        if n:
            found += held_out_attempts(tier=tier, domain=domain, scale=scale, n=n, seed=seed)
    return found


def rl_config(start_from: Checkpoint, *, attempts: tuple[Attempt, ...], **settings_of_run: Any) -> RlConfig:
    """A config whose rollouts use the kernel host of this studio."""
    return RlConfig(
        start_from=str(folder_of(start_from)),
        socket=str(settings.KERNEL_SOCKET),
        name=start_from.label,
        tasks=attempts,
        concurrency=int(settings.SANDBOX_SLOTS),
        **settings_of_run,
    )


def _attempts(
    split: str, tier: str, domain: str, scale: str, most: int, seed: int, *, episode_seeds: int
) -> tuple[Attempt, ...]:
    rows = Task.objects.filter(split=split, tier=tier, status=TaskStatus.PROVEN, scales__name=scale)
    if domain:
        rows = rows.filter(domain__slug=domain)
    tasks = list(rows.select_related("environment").order_by("key").distinct())
    random.Random(seed).shuffle(tasks)
    if not tasks:
        return ()
    wanted = most or len(tasks)
    rounds = episode_seeds or -(-wanted // len(tasks))
    pairs = [(task, offset) for offset in range(rounds) for task in tasks][:wanted]
    return tuple(attempt(task, scale, _seed(task) + offset * 7_919) for task, offset in pairs)


def _seed(task: Task) -> int:
    """The seed at which the task was made and proven."""
    return int(task.checks.get("seed", 0)) if isinstance(task.checks, dict) else 0


def launch_evaluation(
    *,
    checkpoints: list[Checkpoint],
    attempts: tuple[Attempt, ...],
    label: str,
    temperature: float = 0.0,
    by: Any = None,
) -> Evaluation:
    """Queue an evaluation of checkpoints with its two control rows. Raises `Refused`."""
    from training_app.jobs import evaluate_job

    if not checkpoints:
        raise Refused("An evaluation compares checkpoints; choose at least one.")
    contenders = (
        Contender(REFERENCE),
        Contender(NO_OP),
        *(Contender(str(checkpoint.pk), str(folder_of(checkpoint))) for checkpoint in checkpoints),
    )
    config = EvaluateConfig(
        contenders=contenders,
        attempts=attempts,
        socket=str(settings.KERNEL_SOCKET),
        temperature=temperature,
        concurrency=int(settings.SANDBOX_SLOTS),
    )
    config.check()
    body = {**config.to_json(), "socket": "", "contenders": [checkpoint.digest for checkpoint in checkpoints]}
    with transaction.atomic():
        row, created = Evaluation.objects.get_or_create(
            launch_key=_key("evaluation", body),
            defaults={
                "name": f"{label} · {len(attempts)} attempts",
                "config": config.to_json(),
                "created_by": by,
            },
        )
        if created:
            row.folder = relative(runs_dir() / str(row.pk))
            row.save(update_fields=["folder"])
            row.checkpoints.set(checkpoints)
            publish(row.stream, "state", {"state": row.state})
            evaluate_job.delay_on_commit(str(row.pk))
    return row
