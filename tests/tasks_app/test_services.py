"""Services of the tasks app: events, blobs, content, regenerations, task sets."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from tasks_app.blobs import BlobMissing, Blobs
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.errors import Refused
from tasks_app.leases import Cancelled, lease
from tasks_app.models import Event, JobState, Regeneration, Task, TaskSet, TaskSetMember, Tool
from tasks_app.models.jobs import LeaseLost
from tasks_app.services import last_seq, publish, regenerations, tasksets
from tasks_app.services.content import load_content, load_folders
from tests.factory import library

# events


def test_events_of_a_stream_are_numbered_without_a_gap(db) -> None:
    assert [publish("a", "x", {}).seq for _ in range(3)] == [1, 2, 3]
    assert publish("b", "x", {}).seq == 1


def test_a_page_follows_from_the_last_event_and_from_zero_before_the_first(db) -> None:
    assert last_seq("a") == 0
    publish("a", "x", {})
    publish("b", "x", {})
    assert (publish("a", "x", {}).seq, last_seq("a"), last_seq("b")) == (2, 2, 1)


@pytest.mark.django_db(transaction=True)
def test_events_written_at_once_get_a_number_each() -> None:
    def write() -> None:
        for _ in range(10):
            publish("crowd", "x", {})
        connection.close()

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert list(Event.objects.filter(stream="crowd").values_list("seq", flat=True)) == list(range(1, 31))


def test_a_broker_that_is_away_costs_no_event(db, monkeypatch, django_capture_on_commit_callbacks) -> None:
    class Away:
        async def group_send(self, *_: Any) -> None:
            raise ConnectionRefusedError("no broker")

    monkeypatch.setattr("tasks_app.services.events.get_channel_layer", Away)
    with django_capture_on_commit_callbacks(execute=True):
        publish("a", "x", {"n": 1})
    assert Event.objects.get().data == {"n": 1}


# blobs


def test_a_blob_comes_back_and_is_kept_once(tmp_path) -> None:
    blobs = Blobs(tmp_path)
    name = blobs.put(b"hello" * 1000)
    assert blobs.put(b"hello" * 1000) == name
    assert blobs.get(name) == b"hello" * 1000
    assert len([p for p in tmp_path.rglob("*") if p.is_file()]) == 1


@pytest.mark.parametrize("name", ["0" * 64, "../../etc/passwd", ""])
def test_a_blob_that_is_not_there_is_missing(tmp_path, name) -> None:
    with pytest.raises(BlobMissing):
        Blobs(tmp_path).get(name)


def test_a_damaged_blob_is_never_given_out(tmp_path) -> None:
    blobs = Blobs(tmp_path)
    one, two = blobs.put(b"one"), blobs.put(b"two")
    blobs.path(one).write_bytes(blobs.path(two).read_bytes())
    with pytest.raises(BlobMissing, match="does not hold"):
        blobs.get(one)


# content


def test_content_loaded_twice_is_loaded_once(db) -> None:
    folders = library(Path(settings.DATA_DIR), tasks=3)
    assert load_folders([folders]) == 3
    assert load_folders([folders]) == 0
    task = Task.objects.first()
    assert [scale.name for scale in task.scales.all()] == ["v0", "v1", "v2", "v3"]
    assert Tool.objects.get(runs=False).reason == "needs a camera"


def test_content_that_is_not_there_is_said(db, tmp_path) -> None:
    assert "build_content" in load_content(tmp_path)


# regenerations


@dataclass
class FakeGrowth:
    state: Any
    proof: list[dict[str, Any]]
    measures: dict[str, Any]


def growing(held: bool = True):
    def grow(spec: Any, package: EnvironmentPackage, rows: int, files: int) -> FakeGrowth:
        from tasks_app.scales import Scale

        state = package.build(spec.seed, Scale("r", rows, files), spec.directives)
        return FakeGrowth(
            state, [{"rule": 1, "name": "base rows identical", "held": held, "detail": "10 rows"}], {"tokens": 9}
        )

    return grow


@pytest.fixture
def job(task, curator, monkeypatch) -> Regeneration:
    monkeypatch.setattr(regenerations.scales, "grow", growing(), raising=False)
    return regenerations.ask(task=task, rows=123, files=7, by=curator)[0]


def kinds(job: Regeneration) -> list[str]:
    return list(Event.objects.filter(stream=regenerations.stream(job)).values_list("kind", flat=True))


def test_a_regeneration_makes_a_scale_with_its_proof(job) -> None:
    regenerations.run(job)
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    assert (job.scale.name, job.scale.rows, job.scale.files, job.scale.tokens) == ("r123-f7", 123, 7, 9)
    assert job.scale.proof[0]["held"]
    assert kinds(job)[0] == "queued"
    assert kinds(job)[-1] == "ended"


def test_a_size_whose_proof_breaks_is_not_offered_and_says_which_rule(job, monkeypatch) -> None:
    monkeypatch.setattr(regenerations.scales, "grow", growing(held=False))
    regenerations.run(job)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert "rule 1, base rows identical" in job.error
    assert not job.task.scales.filter(name="r123-f7").exists()


def test_a_fault_ends_the_job_with_its_name(job, monkeypatch, capsys) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr(regenerations.scales, "grow", broken)
    regenerations.run(job)
    job.refresh_from_db()
    assert (job.state, job.error.split(".")[0]) == (JobState.FAILED, "RuntimeError: disk full")


def test_a_message_delivered_twice_is_worked_on_once(job) -> None:
    regenerations.run(job)
    before = kinds(job)
    regenerations.run(Regeneration.objects.get(pk=job.pk))
    assert kinds(job) == before


def test_a_finished_size_is_given_again(job, engineer) -> None:
    regenerations.run(job)
    again, new = regenerations.ask(task=job.task, rows=123, files=7, by=engineer)
    assert (again.pk, new) == (job.pk, False)


@pytest.mark.parametrize(("rows", "files"), [(9, 7), (100_001, 7), (123, 1), (123, 401)])
def test_a_size_out_of_bounds_is_refused_with_the_bounds(task, curator, rows, files) -> None:
    with pytest.raises(Refused, match="Choose"):
        regenerations.ask(task=task, rows=rows, files=files, by=curator)


def test_the_reaper_puts_a_job_without_a_worker_on_again_then_gives_up(job, monkeypatch) -> None:
    sent: list[Regeneration] = []
    monkeypatch.setattr(regenerations, "enqueue", sent.append)
    lost = Regeneration.objects.filter(pk=job.pk)
    lost.update(state=JobState.RUNNING, attempts=1, lease_until="2020-01-01T00:00:00Z")
    assert regenerations.reap() == 1
    assert sent == [job]
    lost.update(attempts=regenerations.MOST_ATTEMPTS)
    regenerations.reap()
    assert lost.get().state == JobState.FAILED
    assert "lost 3 times" in lost.get().error


# leases


def test_a_lease_taken_over_is_noticed_and_nothing_is_written(job) -> None:
    with lease(job, "first") as held:
        Regeneration.objects.filter(pk=job.pk).update(fence=99)
        with pytest.raises(LeaseLost):
            held.progress(0.5)
        with pytest.raises(LeaseLost):
            job.finish(JobState.SUCCEEDED)


def test_a_cancel_is_seen_at_the_next_check(job) -> None:
    with lease(job, "first") as held:
        Regeneration.objects.filter(pk=job.pk).update(cancel_asked=True)
        with pytest.raises(Cancelled):
            held.check()


def test_a_job_held_by_somebody_is_not_claimed(job) -> None:
    with lease(job, "first"), lease(Regeneration.objects.get(pk=job.pk), "second") as held:
        assert held is None


# task sets


@pytest.fixture
def task_set(task, curator) -> TaskSet:
    made = TaskSet.objects.create(name="first", created_by=curator)
    tasksets.add_tasks(task_set=made, tasks=[task])
    return made


def test_the_hash_of_a_set_hangs_on_its_tasks_alone() -> None:
    assert tasksets.digest_of(["b", "a"]) == tasksets.digest_of(["a", "b"]) != tasksets.digest_of(["a"])


@pytest.mark.parametrize("change", ["rename", "delete", "unfreeze", "add", "take_out"])
def test_the_database_itself_keeps_a_frozen_set(task_set, change) -> None:
    tasksets.freeze(task_set=task_set)
    rows, members = TaskSet.objects.filter(pk=task_set.pk), TaskSetMember.objects.filter(task_set=task_set)
    acts = {
        "rename": lambda: rows.update(name="other"),
        "delete": lambda: rows._raw_delete("default"),
        "unfreeze": lambda: rows.update(frozen_at=None),
        "add": lambda: TaskSetMember.objects.create(task_set=task_set, task=task_set.tasks.get()),
        "take_out": lambda: members.delete(),
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        acts[change]()


def test_a_frozen_set_is_refused_with_the_way_out(task_set, task) -> None:
    tasksets.freeze(task_set=task_set)
    with pytest.raises(Refused, match="Make a new version"):
        tasksets.add_tasks(task_set=task_set, tasks=[task])
    with pytest.raises(Refused, match="is frozen"):
        tasksets.freeze(task_set=task_set)


def test_the_maker_of_a_frozen_set_may_leave(task_set, curator) -> None:
    tasksets.freeze(task_set=task_set)
    curator.delete()
    task_set.refresh_from_db()
    assert task_set.created_by is None


def test_a_new_version_holds_the_same_tasks_and_is_open(task_set, curator) -> None:
    tasksets.freeze(task_set=task_set)
    fresh = tasksets.new_version(task_set=task_set, by=curator)
    assert (fresh.version, fresh.frozen) == (2, False)
    assert list(fresh.tasks.all()) == list(task_set.tasks.all())


def test_an_empty_set_is_not_frozen(db) -> None:
    with pytest.raises(Refused, match="has no tasks"):
        tasksets.freeze(task_set=TaskSet.objects.create(name="none"))


def test_content_that_is_damaged_ends_with_a_sentence(db, tmp_path) -> None:
    (tmp_path / "manifest.json").write_text('{"format": 1, "archives": {"library.zip": "00"}}')
    with pytest.raises(CommandError, match=r"library\.zip is not there"):
        call_command("load_content", tmp_path)


def test_a_new_version_asked_for_twice_is_one(task_set, curator) -> None:
    tasksets.freeze(task_set=task_set)
    fresh = tasksets.new_version(task_set=task_set, by=curator)
    assert tasksets.new_version(task_set=task_set, by=curator) == fresh
