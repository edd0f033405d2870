"""Exports: hashed parts over the API with a token, resumed by range, opened by `datasets` unharmed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.urls import reverse

from sandbox_app.trajectories import Call, Trajectory
from studio.models import ApiToken
from tasks_app.models import JobState, Task
from tests.training_app.lab import Lab
from tests.training_app.rows import episode_of
from training_app import exporting, services
from training_app.errors import Refused
from training_app.models import Export

MIXED: list[dict[str, Any]] = [
    {"pageSize": 3, "q": "x"},
    {"pageSize": "many", "none": None, "list": [1, "a", None]},
    {"deep": {"a": [{"k": 1}]}},
]


def with_calls(trajectory: Trajectory, place: int) -> tuple[Any, ...]:
    """The steps, the first with tool calls whose arguments have mixed types."""
    first = trajectory.steps[0]
    assert first.result is not None
    calls = tuple(
        Call(
            "notes_list",
            arguments,
            index != 1,
            "[]",
            2,
            {"code": "NOT_FOUND", "message": "مرحبا 好", "retryable": False} if index == 1 else None,
            1.0,
            False,
        )
        for index, arguments in enumerate(MIXED[place % 3 :] + MIXED)
    )
    return (replace(first, result=replace(first.result, calls=calls)), *trajectory.steps[1:])


@pytest.fixture
def episodes(world: tuple[Lab, list[Task]]) -> int:
    lab, tasks = world
    for place, task in enumerate(tasks):
        episode_of(lab, task, steps=with_calls(lab.trajectories[place], place))
    return len(tasks)


@pytest.fixture
def made(episodes: int, monkeypatch: pytest.MonkeyPatch) -> Export:
    monkeypatch.setattr(exporting.write_parts, "__kwdefaults__", {"part_rows": 3})
    export = services.create_export(wanted=services.Wanted(outcome="passed"), key="k")
    assert services.write_export(export)
    export.refresh_from_db()
    assert export.state == JobState.SUCCEEDED
    return export


@pytest.fixture
def token(engineer: User) -> str:
    return ApiToken.objects.issue(user=engineer, name="t", scopes=["export"])[1]


def bearer(token: str, **headers: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {token}", **headers}}


async def body(answer: Any) -> bytes:
    return b"".join([chunk async for chunk in answer.streaming_content])


def test_parts_match_their_manifest(made: Export, episodes: int) -> None:
    from training_app.services.places import data_dir

    folder = data_dir() / made.folder
    manifest = (folder / "manifest.json").read_bytes()
    assert hashlib.sha256(manifest).hexdigest() == made.digest
    parts = json.loads(manifest)["parts"]
    assert [part["rows"] for part in parts] == [3, 3, 2]
    assert sum(part["rows"] for part in parts) == episodes == made.rows_count
    for part in parts:
        assert hashlib.sha256((folder / part["name"]).read_bytes()).hexdigest() == part["sha256"]


def test_datasets_opens_it_and_mixed_arguments_pass_unharmed(made: Export, tmp_path: Path) -> None:
    import datasets

    from training_app.services.places import data_dir

    files = sorted(str(path) for path in (data_dir() / made.folder).glob("part-*.jsonl"))
    opened = datasets.load_dataset("json", data_files=files, split="train", cache_dir=str(tmp_path))
    written = [json.loads(line) for name in files for line in Path(name).read_text().splitlines()]
    assert len(opened) == len(written) == made.rows_count
    for row, line in zip(opened, written, strict=True):
        assert row["calls"] == line["calls"]
        assert row["tools"] == line["tools"]
        assert [m["text"] for m in row["messages"]] == [m["text"] for m in line["messages"]]
        assert (
            row["messages"][2]["tool_calls"][0]["function"]["arguments"]
            == line["messages"][2]["tool_calls"][0]["function"]["arguments"]
        )
    assert any(call["arguments"] == MIXED[1] for call in opened[0]["calls"])


@pytest.mark.django_db(transaction=True)
async def test_a_broken_download_goes_on_where_it_broke(made: Export, token: str) -> None:
    part = exporting.parts_of(made.parts)[0]
    url = f"/api/v1/exports/{made.pk}/parts/{part.name}"
    whole = await body(await AsyncClient().get(url, **bearer(token)))
    assert hashlib.sha256(whole).hexdigest() == part.sha256
    answer = await AsyncClient().get(url, **bearer(token, Range="bytes=100-"))
    assert answer.status_code == 206
    assert answer["Content-Range"] == f"bytes 100-{part.bytes - 1}/{part.bytes}"
    assert whole[:100] + await body(answer) == whole
    beyond = await AsyncClient().get(url, **bearer(token, Range=f"bytes={part.bytes}-"))
    assert beyond.status_code == 416


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", None),
        ("bytes=0-9", (0, 9)),
        ("bytes=90-", (90, 99)),
        ("bytes=-5", (95, 99)),
        ("bytes=5-500", (5, 99)),
        ("bytes=0-1,4-5", None),
        ("lines=1-2", None),
    ],
)
def test_byte_ranges(header: str, expected: tuple[int, int] | None) -> None:
    found = exporting.byte_range(header, 100)
    assert (found and (found.start, found.end)) == expected


def test_the_same_key_gives_the_same_export(client_of: Callable[[User], Client], episodes: int, token: str) -> None:
    answers = [
        Client().post("/api/v1/exports", {"key": "once"}, content_type="application/json", **bearer(token))
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json()["id"] == answers[1].json()["id"]
    assert answers[0].json()["rows"] == episodes


def test_an_unfinished_export_says_to_ask_again(episodes: int, token: str) -> None:
    export = services.create_export(wanted=services.Wanted(), key="k")
    answer = Client().get(f"/api/v1/exports/{export.pk}/manifest", **bearer(token))
    assert answer.status_code == 409
    assert "Ask again" in answer.json()["how"]


def test_a_revoked_token_or_one_of_another_scope_opens_nothing(made: Export, engineer: User, token: str) -> None:
    reading = ApiToken.objects.issue(user=engineer, name="r", scopes=["read"])[1]
    assert Client().get("/api/v1/exports", **bearer(reading)).status_code == 403
    assert Client().get("/api/v1/exports", **bearer(token)).status_code == 200
    ApiToken.objects.get(name="t").revoke()
    assert Client().get("/api/v1/exports", **bearer(token)).status_code == 401


def test_an_export_of_nothing_is_refused(db: None) -> None:
    with pytest.raises(Refused, match="nothing to export"):
        services.create_export(wanted=services.Wanted(outcome="failed"), key="k")


def test_rows_are_paged_by_key_and_none_is_lost(world: tuple[Lab, list[Task]], monkeypatch: pytest.MonkeyPatch) -> None:
    from training_app.services import exporting as paging

    lab, tasks = world
    ids = [str(episode_of(lab, tasks[0], copy=copy).pk) for copy in range(7)]
    monkeypatch.setattr(paging, "PAGE", 2)
    assert [row["id"] for row in paging.rows_of(services.Wanted())] == ids


def test_the_page_shows_how_it_is_fetched(engineer: User, client_of: Callable[[User], Client], made: Export) -> None:
    client = client_of(engineer)
    page = client.get(reverse("export", args=[made.pk])).text
    assert f"/api/v1/exports/{made.pk}/parts/" in page
    assert exporting.parts_of(made.parts)[0].sha256 in page
    matching = client.get(reverse("exports"), {"outcome": "failed"}, headers={"HX-Target": "matching"}).text
    assert "<b>0</b>" in matching


def test_runs_snapshots_and_evaluations_are_read_over_the_api(engineer: User, trained_on: Any) -> None:
    reading = ApiToken.objects.issue(user=engineer, name="r", scopes=["read"])[1]
    for name in ("snapshots", "runs", "checkpoints", "evaluations"):
        assert Client().get(f"/api/v1/{name}", **bearer(reading)).status_code == 200
    assert Client().get("/api/v1/snapshots", **bearer(reading)).json()[0]["digest"] == trained_on[0].digest


def test_the_whole_of_training_is_launched_over_the_api(engineer: User, trained_on: Any) -> None:
    writing = ApiToken.objects.issue(user=engineer, name="w", scopes=["read", "write"])[1]
    snapshot, base = trained_on

    def post(path: str, **body: Any) -> Any:
        answer = Client().post(f"/api/v1/{path}", body, content_type="application/json", **bearer(writing))
        assert answer.status_code == 200, answer.content
        return answer.json()

    assert post("snapshots", tier="primer")["episodes"] == snapshot.episodes_count
    first = post("runs/sft", snapshot=snapshot.digest, start_from=str(base.pk))
    assert first == post("runs/sft", snapshot=snapshot.digest, start_from=str(base.pk))
    assert post("runs/rl", start_from=str(base.pk), steps=2)["kind"] == "rl"
    assert post("evaluations", checkpoints=[str(base.pk)], primers=3, tasks=0)["state"] == "queued"
    assert post(f"runs/{first['id']}/cancel")["state"] == "cancelled"
    assert post(f"runs/{first['id']}/resume")["state"] == "queued"


def test_an_annotators_token_launches_nothing(annotator: User, trained_on: Any) -> None:
    writing = ApiToken.objects.issue(user=annotator, name="w", scopes=["write"])[1]
    answer = Client().post(
        "/api/v1/evaluations", {"checkpoints": []}, content_type="application/json", **bearer(writing)
    )
    assert answer.status_code == 403
