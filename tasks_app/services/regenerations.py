"""Regenerations: a task's environment at a size asked for, grown and proven by a job, never twice at once."""

from __future__ import annotations

import time
import traceback
from dataclasses import asdict, is_dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from tasks_app import scales
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.errors import Refused
from tasks_app.leases import Cancelled, Held, lease
from tasks_app.measures import read_measures
from tasks_app.models import JobState, Regeneration, Task, TaskScale
from tasks_app.models.jobs import LeaseLost
from tasks_app.services.content import scale_row
from tasks_app.services.events import publish

MOST_ROWS, MOST_FILES = 100_000, 400
MOST_ATTEMPTS = 3
BUSY = (JobState.QUEUED, JobState.RUNNING)


def stream(job: Regeneration) -> str:
    return f"regeneration:{job.pk}"


def scale_name(rows: int, files: int) -> str:
    return f"r{rows}-f{files}"


def bounds(task: Task) -> tuple[int, int]:
    """The least rows and files a size may have: those of v0."""
    least = task.scales.order_by("rows").first()
    if least is None:
        raise Refused(f"“{task}” stands at no scale.", where=f"task {task.key}", how="Load its content again.")
    return least.rows, least.files


def check_size(task: Task, rows: int, files: int) -> None:
    least_rows, least_files = bounds(task)
    if not least_rows <= rows <= MOST_ROWS:
        raise Refused(
            f"{rows:,} rows can't be made.", where="rows", how=f"Choose {least_rows:,} to {MOST_ROWS:,}.", status=400
        )
    if not least_files <= files <= MOST_FILES:
        raise Refused(
            f"{files:,} files can't be made.",
            where="files",
            how=f"Choose {least_files:,} to {MOST_FILES:,}.",
            status=400,
        )


def ask(*, task: Task, rows: int, files: int, by: User | None) -> tuple[Regeneration, bool]:
    """The regeneration of this task to this size, and whether it is new.

    One that waits, runs or has succeeded is given again, whoever asks; a failed one may be asked for anew.
    """
    check_size(task, rows, files)
    same = Regeneration.objects.filter(task=task, rows=rows, files=files)
    known = same.filter(state__in=(*BUSY, JobState.SUCCEEDED)).first()
    if known is not None:
        return known, False
    try:
        with transaction.atomic():
            job = Regeneration.objects.create(task=task, rows=rows, files=files, created_by=by)
            publish(stream(job), "queued", {"rows": rows, "files": files})
    except IntegrityError:  # somebody else pressed at the same moment
        return same.filter(state__in=BUSY).latest("created_at"), False
    enqueue(job)
    return job, True


def enqueue(job: Regeneration) -> None:
    from tasks_app.jobs import regenerate

    transaction.on_commit(lambda: regenerate.delay(str(job.pk)))


def run(job: Regeneration) -> None:
    """Do the work of a claimed-by-nobody job. A second worker with the same message does nothing."""
    with lease(job) as held:
        if held is None:
            return
        try:
            _grow(job, held)
        except LeaseLost:
            return  # whoever holds it now writes the end
        except Cancelled:
            end(job, JobState.CANCELLED, "cancelled by a person")
        except Exception as error:  # noqa: BLE001  (the job's boundary: the fault is named, kept and shown)
            traceback.print_exc()
            end(job, JobState.FAILED, f"{type(error).__name__}: {error}. The worker's log has the whole of it.")


def _tell(job: Regeneration, held: Held, share: float, doing: str) -> None:
    held.check()
    held.progress(share)
    publish(stream(job), "progress", {"share": share, "doing": doing})


def _grow(job: Regeneration, held: Held) -> None:
    started = time.monotonic()
    _tell(job, held, 0.05, "reading the task and its environment")
    task = job.task
    package = EnvironmentPackage.load(task.package_folder())
    spec = task.spec()
    _tell(job, held, 0.15, f"growing to {job.rows:,} rows and {job.files:,} files, then proving each rule")
    growth = scales.grow(spec, package, job.rows, job.files)
    proof = [asdict(line) if is_dataclass(line) else line for line in growth.proof]
    measures = {"seconds": time.monotonic() - started, "state": growth.state.digest, **growth.measures}
    _tell(job, held, 0.9, "writing what was found")
    broken = [line for line in proof if not line["held"]]
    if broken:
        names = "; ".join(f"rule {line['rule']}, {line['name']}: {line['detail']}" for line in broken)
        end(
            job,
            JobState.FAILED,
            f"The larger environment was made but is not offered: {names}. Try another size.",
            proof=proof,
        )
        return
    with transaction.atomic():
        TaskScale.objects.filter(task=task, name=scale_name(job.rows, job.files)).delete()
        row = scale_row(task, scale_name(job.rows, job.files), job.rows, job.files, read_measures(measures), proof)
        row.save()
        end(job, JobState.SUCCEEDED, scale=row, proof=proof)


def end(job: Regeneration, state: JobState, error: str = "", **fields: Any) -> None:
    job.finish(state, error=error, **fields)
    publish(stream(job), "ended", {"state": str(state), "error": error})


def reap() -> int:
    """Regenerations whose worker is gone: put on again, or ended after MOST_ATTEMPTS. Returns how many."""
    rows = 0
    for job in Regeneration.objects.expired():
        rows += 1
        if job.attempts < MOST_ATTEMPTS:
            publish(stream(job), "progress", {"share": 0.0, "doing": "its worker was lost; it starts again"})
            enqueue(job)
        elif job.claim("reaper"):
            end(
                job,
                JobState.FAILED,
                f"Its worker was lost {MOST_ATTEMPTS} times. The log says why; then regenerate again.",
            )
    return rows
