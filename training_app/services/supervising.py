"""Watching a subprocess from its job: start or find it again, ingest what it writes, end it when a person asks.

The subprocess lives on when the worker dies; whoever claims the row next finds it by its pid file and goes on, or
starts it again from its newest checkpoint. When the worker is asked to end, the subprocess is left alone: `up` stops
it, or the next worker takes it over.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from django.conf import settings
from django.db import transaction

from tasks_app.leases import Cancelled, Held, lease
from tasks_app.models import JobState
from tasks_app.models.jobs import LeaseLost
from tasks_app.services import publish
from training_app import processes
from training_app.evaluation import NO_OP, REFERENCE, Entry, summarise
from training_app.folders import RunFolder
from training_app.models import Evaluation, TrainingRun
from training_app.services.ingesting import ingest
from training_app.services.places import data_dir

logger = logging.getLogger(__name__)
LOOK_EVERY = 0.2  # seconds between two looks at metrics.jsonl
CHECK_EVERY = 1.0  # seconds between two looks at what people asked for
ATTEMPTS = 3  # a subprocess that dies without a word is started again so often
WORKER_ENDS = threading.Event()  # set by jobs.py when the worker shuts down
MODULES = {"sft": "training_app.sft", "rl": "training_app.rl"}


def supervise(job: TrainingRun | Evaluation) -> bool:
    """Claim and see through. False when it is not free: a redelivered message, or it has ended."""
    with lease(job) as held:
        if held is None:
            return False
        publish(job.stream, "state", {"state": JobState.RUNNING.value})
        try:
            _see_through(job, held)
        except LeaseLost:
            logger.warning("%s was taken over; nothing more is written", job)
    return True


def _see_through(job: TrainingRun | Evaluation, held: Held) -> None:
    folder = RunFolder(data_dir() / job.folder)
    process = _start(job, folder)
    try:
        while process.alive:
            if WORKER_ENDS.is_set():
                return  # the row stays running; its lease ends and the reaper queues it again
            _look(job, held)
        ingest(job)
    except Cancelled:
        clean = processes.stop(process)
        ingest(job)
        note = "" if clean else "It did not end within the grace and was killed; the newest checkpoint is from before."
        _end(job, JobState.CANCELLED, error=note)
        return
    _conclude(job, folder)


def _look(job: TrainingRun | Evaluation, held: Held) -> None:
    """Ingest for about CHECK_EVERY, then see whether the lease holds and nobody asked to end it."""
    until = time.monotonic() + CHECK_EVERY
    while time.monotonic() < until:
        if not ingest(job):
            time.sleep(LOOK_EVERY)
    held.check()


def _start(job: TrainingRun | Evaluation, folder: RunFolder) -> processes.Process:
    folder.create()
    living = processes.find(folder.path)
    if living is not None:
        return living
    folder.write("config.json", job.config)
    folder.result_path.unlink(missing_ok=True)
    module = MODULES[job.kind] if isinstance(job, TrainingRun) else "training_app.evaluate"
    return processes.launch(module, folder.path, root=settings.BASE_DIR)


def _conclude(job: TrainingRun | Evaluation, folder: RunFolder) -> None:
    result = folder.result()
    if result is None:
        _died(job, folder)
    elif result["status"] == "finished":
        _end(job, JobState.SUCCEEDED, **_fields(job, result))
    elif result["status"] == "stopped":
        if not WORKER_ENDS.wait(5.0):  # the studio is going down with it, or somebody stopped it by hand
            _end(
                job, JobState.FAILED, error="The process was stopped from outside after saving. Press Resume to go on."
            )
    else:
        _end(job, JobState.FAILED, error=result["error"])


def _died(job: TrainingRun | Evaluation, folder: RunFolder) -> None:
    tail = (folder.path / "log.txt").read_text(encoding="utf-8", errors="replace")[-600:]
    if job.attempts < ATTEMPTS:
        logger.warning("%s died without a result; it is started again", job)
        publish(job.stream, "died", {"attempt": job.attempts})
        held = (
            type(job)
            .objects.filter(pk=job.pk, fence=job.fence, state=JobState.RUNNING)
            .update(
                state=JobState.QUEUED,
                lease_until=None,
            )
        )
        if held:
            enqueue(job)
        return
    _end(
        job,
        JobState.FAILED,
        error=(
            f"The process died {job.attempts} times without a word (killed for memory, perhaps). Its checkpoints stay. "
            f"The end of log.txt: {tail}"
        ),
    )


def _fields(job: TrainingRun | Evaluation, result: dict[str, Any]) -> dict[str, Any]:
    if isinstance(job, TrainingRun):
        values = {name: value for name, value in result.items() if name not in ("status", "error", "at")}
        return {"summary": {**job.summary, **values}}
    return {"result": result_of(job)}


def result_of(evaluation: Evaluation) -> dict[str, Any]:
    """The metrics of what has been ingested, controls first."""
    order = [contender["name"] for contender in evaluation.config["contenders"]]
    entries = [
        Entry(
            policy=entry.policy,
            tier=entry.episode.task.tier,
            reward=entry.episode.reward,
            item=f"{entry.episode.task.key}/{entry.episode.scale}/{entry.episode.seed}",
            nothing_to_do=entry.nothing_to_do,
        )
        for entry in evaluation.entries.select_related("episode__task")
    ]
    judged = [name for name in order if name not in (REFERENCE, NO_OP)]
    return summarise(entries, [*judged, REFERENCE, NO_OP])


@transaction.atomic
def _end(job: TrainingRun | Evaluation, state: JobState, **fields: Any) -> None:
    job.finish(state, **fields)
    publish(job.stream, "ended", {"state": state.value, "error": job.error})


def enqueue(job: TrainingRun | Evaluation) -> None:
    from training_app.jobs import evaluate_job, train_job

    queue = train_job if isinstance(job, TrainingRun) else evaluate_job
    queue.delay_on_commit(str(job.pk))


def reap() -> int:
    """Queue again what lost its worker; the fence keeps a revenant from writing. Returns how many."""
    count = 0
    for model in (TrainingRun, Evaluation):
        for job in model.objects.expired():
            with transaction.atomic():
                lost = model.objects.filter(pk=job.pk, fence=job.fence, state=JobState.RUNNING).update(
                    state=JobState.QUEUED,
                    lease_until=None,
                    attempts=0,
                )
                if lost:
                    publish(job.stream, "state", {"state": JobState.QUEUED.value})
                    enqueue(job)
            count += lost
    return count
