"""Services: what may enter a snapshot, launching once, seeing a run through, reaping."""

from __future__ import annotations

import json
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from sandbox_app.models import Episode
from sandbox_app.trajectories import Outcome, to_json
from tasks_app.models import Event, JobState, Task
from tests.training_app.lab import Lab
from tests.training_app.rows import episode_of
from training_app import services
from training_app.configs import RlConfig, SftConfig
from training_app.errors import Refused
from training_app.folders import RunFolder
from training_app.models import Checkpoint, Evaluation, Snapshot, TrainingRun
from training_app.services.places import data_dir, folder_of

Trained = tuple[Snapshot, Checkpoint]
Sent = list[tuple[str, tuple[Any, ...]]]


def sft(trained_on: Trained, **changes: Any) -> TrainingRun:
    snapshot, base = trained_on
    config = SftConfig(str(folder_of(base)), str(data_dir() / snapshot.folder), **{"epochs": 2, **changes})
    return services.launch_sft(snapshot=snapshot, start_from=base, config=config)


def test_only_approved_passed_train_split_episodes_enter(world: tuple[Lab, list[Task]]) -> None:
    lab, tasks = world
    entering = episode_of(lab, tasks[0])
    episode_of(lab, tasks[1], standing="waiting")
    episode_of(lab, tasks[2], standing="rejected")
    episode_of(lab, tasks[3], outcome=Outcome("failed", "verdict"))
    held_out = episode_of(lab, tasks[-1])
    made = services.create_snapshot(choice=services.Choice())
    assert [episode.pk for episode in made.episodes.all()] == [entering.pk]
    assert made.left_out == {
        "did not pass": 1,
        "passed, not approved by a person": 2,
        "of the test split": 1,
    }
    assert held_out.task.lineage not in (data_dir() / made.folder / "manifest.json").read_text()


def test_the_same_words_are_trained_on_once(world: tuple[Lab, list[Task]]) -> None:
    lab, tasks = world
    for copy in range(3):
        episode_of(lab, tasks[0], copy=copy)
    made = services.create_snapshot(choice=services.Choice())
    assert (made.episodes_count, made.left_out) == (1, {"word for word the same as another": 2})


def test_a_snapshot_of_nothing_is_refused_with_what_to_do(world: tuple[Lab, list[Task]]) -> None:
    lab, tasks = world
    episode_of(lab, tasks[0], standing="waiting")
    with pytest.raises(Refused, match="Approve passed episodes in Review"):
        services.create_snapshot(choice=services.Choice())
    assert not Snapshot.objects.exists()


def test_the_base_has_read_nothing_of_the_test_split(world: tuple[Lab, list[Task]]) -> None:
    from training_app.services.bases import base_texts

    _, tasks = world
    text = "\n".join(base_texts())
    for task in tasks:
        assert (task.instruction in text) == (task.split == "train")


def test_the_same_form_sent_twice_is_one_run(trained_on: Trained, sent: Sent) -> None:
    first, second = sft(trained_on), sft(trained_on)
    assert first.pk == second.pk
    assert sent == [("train_job", (str(first.pk),))]
    assert sft(trained_on, epochs=3).pk != first.pk


def test_a_launch_without_disk_is_refused_and_leaves_nothing(
    trained_on: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 1_000))
    with pytest.raises(Refused, match="Nothing was started"):
        sft(trained_on)
    assert not TrainingRun.objects.exists()


def test_a_launch_on_a_template_without_a_mask_is_refused(unmarked: Trained) -> None:
    with pytest.raises(Refused, match="cannot be told which tokens to train on"):
        sft(unmarked)
    assert not TrainingRun.objects.exists()


def test_a_launch_on_nothing_short_enough_is_refused(trained_on: Trained) -> None:
    with pytest.raises(Refused, match="longer than 10 tokens"):
        sft(trained_on, max_length=10)


def test_held_out_attempts_are_distinct_pairs_of_task_and_seed(world: tuple[Lab, list[Task]]) -> None:
    found = services.held_out_attempts(tier="primer", n=7)
    assert len({(one.task_folder, one.seed) for one in found}) == 7
    assert {Path(one.task_folder).name for one in found} == set(
        Task.objects.filter(split="test").values_list("key", flat=True)
    )
    assert services.held_out_attempts(tier="task", n=5) == ()


def test_rl_learns_from_train_split_tasks_only(world: tuple[Lab, list[Task]]) -> None:
    found = services.train_attempts(tier="primer")
    assert {Path(one.task_folder).name for one in found} == set(
        Task.objects.filter(split="train").values_list("key", flat=True)
    )


def test_rl_without_tasks_is_refused(trained_on: Trained) -> None:
    _, base = trained_on
    with pytest.raises(Refused, match="no train-split task"):
        services.launch_rl(start_from=base, config=RlConfig(str(folder_of(base)), "", "x"))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_run_is_seen_through_with_events_and_checkpoints(trained_on: Trained) -> None:
    run = sft(trained_on, save_every=1)
    assert services.supervise(run)
    run.refresh_from_db()
    assert run.state == JobState.SUCCEEDED, run.error
    assert run.progress == 1.0
    assert run.summary["steps"] == run.checkpoints.count() == 2
    kinds = [event.kind for event in Event.objects.filter(stream=run.stream).order_by("seq")]
    assert kinds.count("step") == 2
    assert kinds[-1] == "ended"
    assert all(folder_of(checkpoint).is_dir() for checkpoint in run.checkpoints.all())
    assert services.forecast(run.snapshot, run.start_from, SftConfig(**run.config))[0].measured
    assert not services.supervise(run)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_cancelling_saves_a_checkpoint_and_resuming_goes_on(trained_on: Trained, sent: Sent) -> None:
    run = sft(trained_on, epochs=60, save_every=1_000)

    def cancel_later() -> None:
        from django.db import connection

        folder = RunFolder(data_dir() / run.folder)
        while not folder.metrics_path.exists() or '"step": 3,' not in folder.metrics_path.read_text():
            time.sleep(0.01)
        services.cancel(job=TrainingRun.objects.get(pk=run.pk))
        connection.close()

    canceller = threading.Thread(target=cancel_later)
    canceller.start()
    services.supervise(run)
    canceller.join()
    run.refresh_from_db()
    assert run.state == JobState.CANCELLED
    saved = run.checkpoints.order_by("step").last()
    assert saved is not None
    assert saved.step >= 3
    services.resume(job=run)
    assert sent[-1] == ("train_job", (str(run.pk),))
    assert services.supervise(run)
    run.refresh_from_db()
    assert run.state == JobState.SUCCEEDED, run.error
    assert run.checkpoints.order_by("step").last().step == run.summary["planned"]


def test_a_queued_run_is_cancelled_at_once_and_a_finished_one_not_resumed(trained_on: Trained) -> None:
    run = sft(trained_on)
    services.cancel(job=run)
    assert run.state == JobState.CANCELLED
    assert not services.supervise(TrainingRun.objects.get(pk=run.pk))
    TrainingRun.objects.filter(pk=run.pk).update(state=JobState.SUCCEEDED)
    with pytest.raises(Refused, match="only a cancelled or failed one"):
        services.resume(job=run)


def test_a_run_that_lost_its_worker_is_queued_again(trained_on: Trained, sent: Sent) -> None:
    run = sft(trained_on)
    assert run.claim("gone")
    assert services.reap() == 0
    TrainingRun.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert services.reap() == 1
    run.refresh_from_db()
    assert run.state == JobState.QUEUED
    assert sent[-1] == ("train_job", (str(run.pk),))


def test_metrics_are_ingested_once_whatever_is_read_twice(trained_on: Trained) -> None:
    run = sft(trained_on)
    assert run.claim("worker")
    folder = RunFolder(data_dir() / run.folder)
    folder.create()
    folder.metric("step", step=1, steps=4, loss=2.0)
    assert services.ingest(run) == 1
    with folder.metrics_path.open("a") as out:
        out.write('{"kind": "step", "at": 1, "step": 2, "ste')
    assert services.ingest(run) == 0
    with folder.metrics_path.open("a") as out:
        out.write('ps": 4, "loss": 1.0}\n')
    assert services.ingest(run) == 1
    assert [event.data["step"] for event in Event.objects.filter(stream=run.stream, kind="step")] == [1, 2]
    run.refresh_from_db()
    assert (run.progress, run.summary["loss"]) == (0.5, 1.0)


def test_every_rollout_of_a_step_becomes_an_episode(world: tuple[Lab, list[Task]], trained_on: Trained) -> None:
    lab, tasks = world
    _, base = trained_on
    attempts = services.train_attempts(tier="primer")
    run = services.launch_rl(start_from=base, config=RlConfig(str(folder_of(base)), "", "x", attempts))
    assert run.claim("worker")
    folder = RunFolder(data_dir() / run.folder)
    folder.create()
    for place in range(3):
        folder.write(f"episodes/step-000001-{place:03d}.json", to_json(lab.trajectories[0]))
    for _ in range(2):
        folder.metric("step", step=1, steps=4, rollouts=3, rollout_reward=1.0)
    services.ingest(run)
    found = services.episodes_of(run, 1)
    assert [episode.policy_config["place"] for episode in found] == [0, 1, 2]
    assert {episode.task_id for episode in found} == {tasks[0].pk}
    assert Episode.objects.filter(source=f"run:{run.pk}").count() == 3


def test_an_evaluation_is_summed_up_from_its_episodes(world: tuple[Lab, list[Task]], trained_on: Trained) -> None:
    lab, _ = world
    _, base = trained_on
    attempts = services.held_out_attempts(tier="primer", n=2)
    evaluation = services.launch_evaluation(checkpoints=[base], attempts=attempts, label="test")
    again = services.launch_evaluation(checkpoints=[base], attempts=attempts, label="test")
    assert evaluation.pk == again.pk
    assert Evaluation.objects.get().claim("worker")
    evaluation.refresh_from_db()
    folder = RunFolder(data_dir() / evaluation.folder)
    folder.create()
    by_key = {spec.key: trajectory for spec, trajectory in zip(lab.tasks, lab.trajectories, strict=True)}
    for row, (policy, kind) in enumerate((("reference", "passed"), ("no_op", "failed"), (str(base.pk), "failed"))):
        for index, attempt in enumerate(attempts):
            trajectory = to_json(by_key[Path(attempt.task_folder).name])
            trajectory["outcome"] = {"kind": kind, "cause": "verdict", "detail": ""}
            folder.write(f"episodes/{row:02d}-{index:04d}.json", trajectory)
            folder.metric(
                "episode",
                row=row,
                attempt=index,
                policy=policy,
                file=f"episodes/{row:02d}-{index:04d}.json",
                outcome=kind,
                cause="verdict",
                step=row * 2 + index + 1,
                steps=6,
            )
    services.ingest(evaluation)
    found = services.result_of(evaluation)
    assert found["void"] is False, found["why"]
    assert [(row["policy"], row["passed"], row["n"]) for row in found["rows"]] == [
        (str(base.pk), 0, 2),
        ("reference", 2, 2),
        ("no_op", 0, 2),
    ]


def test_a_config_is_json_that_the_subprocess_reads_back(trained_on: Trained, tmp_path: Path) -> None:
    run = sft(trained_on)
    (tmp_path / "config.json").write_text(json.dumps(run.config))
    assert SftConfig.load(tmp_path / "config.json").to_json() == run.config
    assert str(settings.DATA_DIR) in run.config["snapshot"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_restarted_worker_takes_over_the_living_subprocess(trained_on: Trained) -> None:
    from training_app import processes

    run = sft(trained_on, epochs=3)
    folder = RunFolder(data_dir() / run.folder)
    folder.create()
    folder.write("config.json", run.config)
    first = processes.launch("training_app.sft", folder.path, root=settings.BASE_DIR)
    assert services.supervise(run)
    run.refresh_from_db()
    assert run.state == JobState.SUCCEEDED, run.error
    assert json.loads((folder.path / processes.FILE).read_text())["pid"] == first.pid
    assert [event.data["step"] for event in Event.objects.filter(stream=run.stream, kind="step")] == [1, 2, 3]
