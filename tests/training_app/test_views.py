"""Pages: each opens empty and full, says what would fill it, and leaves launching to engineers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tasks_app.models import JobState, Task
from tests.training_app.lab import Lab
from tests.training_app.rows import episode_of
from training_app.models import Checkpoint, Evaluation, Snapshot, TrainingRun

ClientOf = Callable[[User], Client]
Trained = tuple[Snapshot, Checkpoint]
LISTS = ("snapshots", "runs", "evaluations", "exports")


@pytest.fixture
def client(engineer: User, client_of: ClientOf) -> Client:
    return client_of(engineer)


@pytest.mark.parametrize("name", [*LISTS, "run_new", "evaluation_new"])
def test_an_empty_page_says_what_belongs_there(client: Client, name: str) -> None:
    answer = client.get(reverse(name))
    assert answer.status_code == 200
    assert "card" in answer.text


def launch(client: Client, trained_on: Trained, **changes: Any) -> TrainingRun:
    snapshot, base = trained_on
    answer = client.post(reverse("run_new"), {"kind": "sft", "snapshot": snapshot.pk, "start_from": base.pk, **changes})
    assert answer.status_code == 302, answer.text
    return TrainingRun.objects.get(pk=answer.url.strip("/").split("/")[-1])


def test_a_snapshot_is_made_from_the_filter_that_is_shown(client: Client, world: tuple[Lab, list[Task]]) -> None:
    lab, tasks = world
    for task in tasks:
        episode_of(lab, task)
    fragment = client.get(
        reverse("snapshots"), {"tier": "primer"}, headers={"HX-Request": "true", "HX-Target": "entering"}
    )
    assert "<b>6</b> approved episodes would be frozen" in fragment.text
    assert "2 of the test split" in fragment.text
    answer = client.post(reverse("snapshot_create"), {"tier": "primer"})
    made = Snapshot.objects.get()
    assert answer.url == reverse("snapshot", args=[made.digest])
    assert made.episodes_count == 6
    assert "Note apples" in client.get(answer.url).text
    assert Checkpoint.objects.filter(run=None).count() == 1


def test_the_mask_is_shown_token_by_token_before_the_launch(client: Client, trained_on: Trained) -> None:
    page = client.get(reverse("run_new"), {"kind": "sft"}).text
    assert "<mark>&lt;|im_end|&gt;</mark>" in page
    assert "<span>&lt;|im_start|&gt;</span>" in page
    assert "about" in page
    following = client.get(reverse("run_new"), {"kind": "sft", "example": "1"}, headers={"HX-Target": "forecast"}).text
    assert "example 2 of" in following
    assert "<html" not in following


def test_pressed_twice_by_two_people_it_is_one_run(
    client: Client,
    trained_on: Trained,
    client_of: ClientOf,
    django_user_model: type[User],
) -> None:
    other = client_of(django_user_model.objects.create_superuser("eve"))
    assert launch(client, trained_on).pk == launch(other, trained_on).pk
    assert TrainingRun.objects.count() == 1


def test_a_template_without_a_mask_gives_a_sentence_and_no_run(client: Client, unmarked: Trained) -> None:
    snapshot, base = unmarked
    assert "cannot be told which tokens to train on" in client.get(reverse("run_new")).text
    answer = client.post(reverse("run_new"), {"kind": "sft", "snapshot": snapshot.pk, "start_from": base.pk})
    assert answer.status_code == 409
    assert not TrainingRun.objects.exists()


def test_a_setting_out_of_bounds_is_said_beside_its_field(client: Client, trained_on: Trained) -> None:
    page = client.post(reverse("run_new"), {"kind": "sft", "epochs": "0"}).text
    assert "field-error" in page
    assert 'value="0"' in page


@pytest.mark.parametrize(
    "state", [JobState.QUEUED, JobState.RUNNING, JobState.CANCELLED, JobState.FAILED, JobState.SUCCEEDED]
)
def test_a_run_page_opens_in_every_state(client: Client, trained_on: Trained, state: JobState) -> None:
    run = launch(client, trained_on)
    TrainingRun.objects.filter(pk=run.pk).update(
        state=state, error="It <b>broke</b>." if state == JobState.FAILED else ""
    )
    page = client.get(reverse("run", args=[run.pk])).text
    assert ("Cancel</button>" in page) == (state in (JobState.QUEUED, JobState.RUNNING))
    assert ("Resume</button>" in page) == (state in (JobState.CANCELLED, JobState.FAILED))
    assert "<b>broke</b>" not in page
    for target in ("run-head", "checkpoints"):
        part = client.get(reverse("run", args=[run.pk]), headers={"HX-Request": "true", "HX-Target": target}).text
        assert f'id="{target}"' in part
        assert "<html" not in part


def test_rl_goes_on_from_a_checkpoint(client: Client, trained_on: Trained) -> None:
    _, base = trained_on
    assert "tasks to learn from" in client.get(reverse("run_new"), {"kind": "rl"}).text
    answer = client.post(reverse("run_new"), {"kind": "rl", "start_from": base.pk, "steps": 2})
    run = TrainingRun.objects.get()
    assert answer.url == reverse("run", args=[run.pk])
    assert (run.kind, run.config["steps"], len(run.config["tasks"])) == ("rl", 2, 6)
    assert "press a point" in client.get(answer.url).text.lower()


def test_an_evaluation_shows_its_forecast_and_is_launched_once(client: Client, trained_on: Trained) -> None:
    _, base = trained_on
    page = client.get(reverse("evaluation_new"), {"primers": 5, "tasks": 0}).text
    assert "15" in page
    for _ in range(2):
        answer = client.post(reverse("evaluation_new"), {"checkpoints": [base.pk], "primers": 5, "tasks": 0})
        assert answer.status_code == 302
    evaluation = Evaluation.objects.get()
    page = client.get(reverse("evaluation", args=[evaluation.pk])).text
    assert "Rates appear as episodes end" in page
    assert client.get(reverse("evaluations")).status_code == 200


def test_a_void_evaluation_says_so_and_why(client: Client, trained_on: Trained) -> None:
    _, base = trained_on
    client.post(reverse("evaluation_new"), {"checkpoints": [base.pk], "primers": 5, "tasks": 0})
    Evaluation.objects.update(
        state=JobState.SUCCEEDED,
        result={
            "rows": [
                {
                    "policy": "reference",
                    "tier": "primer",
                    "passed": 4,
                    "n": 5,
                    "infrastructure": 0,
                    "rate": 0.8,
                    "low": 0.38,
                    "high": 0.96,
                }
            ],
            "paired": [],
            "void": True,
            "why": ["1 reference solutions did not pass"],
        },
    )
    page = client.get(reverse("evaluation", args=[Evaluation.objects.get().pk])).text
    assert "does not count" in page
    assert "1 reference solutions did not pass" in page


@pytest.mark.parametrize("name", ["snapshot_create", "run_new", "evaluation_new", "export_create", "base_create"])
def test_launching_needs_an_engineer(annotator: User, client_of: ClientOf, name: str) -> None:
    assert client_of(annotator).post(reverse(name), {}).status_code == 403


@pytest.mark.parametrize("name", LISTS)
def test_everybody_signed_in_may_look(annotator: User, client_of: ClientOf, name: str, trained_on: Trained) -> None:
    assert client_of(annotator).get(reverse(name)).status_code == 200


@pytest.mark.parametrize("count", [10, 100])
def test_a_list_asks_the_database_as_often_for_ten_as_for_a_hundred(
    client: Client,
    trained_on: Trained,
    count: int,
    django_assert_max_num_queries: Any,
) -> None:
    snapshot, base = trained_on
    TrainingRun.objects.bulk_create(
        TrainingRun(kind="sft", name=f"run {n}", snapshot=snapshot, start_from=base, launch_key=str(n))
        for n in range(count)
    )
    client.get(reverse("runs"))
    with django_assert_max_num_queries(18):
        assert client.get(reverse("runs")).status_code == 200


def test_metrics_are_downloaded_as_they_were_written(client: Client, trained_on: Trained) -> None:
    from training_app.services.places import data_dir

    run = launch(client, trained_on)
    (data_dir() / run.folder).mkdir(parents=True)
    (data_dir() / run.folder / "metrics.jsonl").write_text('{"kind": "step"}\n')
    assert client.get(reverse("run_metrics", args=[run.pk])).content == b'{"kind": "step"}\n'


def test_a_web_process_never_loads_torch() -> None:
    import os
    import subprocess

    code = (
        "import django, sys; django.setup(); import studio.urls, studio.asgi, training_app.jobs, "
        "training_app.views.runs, "
        "training_app.api; sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'trl')))"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


@pytest.mark.parametrize("run", ["0", "-1", "\x00", "not-an-id", "9" * 40])
def test_a_new_evaluation_of_a_run_that_is_none_opens_all_the_same(client_of, engineer, run: str) -> None:
    assert client_of(engineer).get("/evaluations/new/", {"run": run}).status_code == 200
