"""Pages of tasks: everything a person needs to see, nothing that a text could run."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tasks_app.models import JobState, Regeneration, Task
from tasks_app.services.content import load_folders
from tests.factory import library

TABS = ("task", "tools", "data", "programs", "checks", "scales")


@pytest.mark.parametrize("tab", TABS)
def test_each_tab_opens_and_runs_no_script(client_of, annotator, task, tab) -> None:
    answer = client_of(annotator).get(f"/tasks/{task.key}/?tab={tab}")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "<script>alert" not in text
    assert "style=" not in text
    assert "\u202e" not in text


def test_file_preview_marks_hidden_characters(client_of, annotator, task) -> None:
    text = client_of(annotator).get(f"/tasks/{task.key}/?tab=data&scale=v1&file=note000.md").content.decode()
    assert "&lt;script&gt;" in text.replace("</span>", "").replace('<span class="c-p">', "") or "script" in text
    assert "\x1b" not in text
    assert "hidden-mark" in text


def test_table_page_is_bounded_and_paged(client_of, annotator, task) -> None:
    client = client_of(annotator)
    first = client.get(f"/tasks/{task.key}/?tab=data&scale=v3&table=book").content.decode()
    assert "1 – 50 of 78 rows" in first
    rest = client.get(f"/tasks/{task.key}/?tab=data&scale=v3&table=book&from=50").content.decode()
    assert "51 – 78 of 78 rows" in rest


@pytest.mark.parametrize("query", ["tab=nothing", "tab=data&scale=v9", "tab=data&table=_session", "tab=data&file=../x"])
def test_unknown_parts_are_not_found(client_of, annotator, task, query) -> None:
    assert client_of(annotator).get(f"/tasks/{task.key}/?{query}").status_code == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("domain=library", 1),
        ("domain=other", 0),
        ("tier=task", 1),
        ("tier=primer", 0),
        ("scale=v2", 1),
        ("scale=larger", 0),
        ("status=proven", 1),
        ("operator=filter", 1),
        ("operator=filt", 0),
        ("split=test", 0),
        ("q=books are out", 1),
        ("q=zebra", 0),
    ],
)
def test_filters_in_the_address_choose(client_of, annotator, task, query, found) -> None:
    text = client_of(annotator).get(f"/tasks/?{query}").content.decode()
    assert (f"/tasks/{task.key}/" in text) is bool(found)


def test_empty_list_teaches(client_of, annotator) -> None:
    assert b"load_content" in client_of(annotator).get("/tasks/").content


def queries_of(client, path: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


@pytest.mark.parametrize("path", ["/tasks/", "/tools/", "/domains/", "/environments/", "/task-sets/", "/"])
def test_lists_ask_as_often_for_100_rows_as_for_10(client_of, annotator, path) -> None:
    client = client_of(annotator)
    load_folders([library(Path(settings.DATA_DIR), tasks=10)])
    few = queries_of(client, path)
    load_folders([library(Path(settings.DATA_DIR), tasks=100)])
    from django.core.cache import cache

    cache.clear()
    assert queries_of(client, path) == few


def test_pages_by_key_show_every_task_once(client_of, annotator) -> None:
    load_folders([library(Path(settings.DATA_DIR), tasks=120)])
    client, seen, url = client_of(annotator), [], "/tasks/?sort=-title"
    while url:
        page = client.get(url).context["page"]
        seen += [row.key for row in page.rows]
        url = f"/tasks/{page.next_url}" if page.next_url else ""
    assert len(seen) == len(set(seen)) == Task.objects.count() == 120


def test_forecast_says_what_a_size_will_come_to(client_of, annotator, task) -> None:
    text = client_of(annotator).get(f"/tasks/{task.key}/forecast/?rows=160&files=6").content.decode()
    assert "160 rows" in text
    assert "13k tokens" in text
    assert "Beyond" in text


def test_forecast_of_an_impossible_size_says_the_bounds(client_of, annotator, task) -> None:
    text = client_of(annotator).get(f"/tasks/{task.key}/forecast/?rows=3&files=6").content.decode()
    assert "Choose 10 to 100,000" in text


def test_annotator_may_not_regenerate_and_is_told_who_may(client_of, annotator, task) -> None:
    answer = client_of(annotator).post(f"/tasks/{task.key}/regenerate/", {"rows": 100, "files": 6})
    assert answer.status_code == 403
    assert b"curator or engineer" in answer.content


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    from tasks_app import jobs

    ids: list[str] = []
    monkeypatch.setattr(jobs.regenerate, "delay", ids.append)
    return ids


def test_the_same_size_pressed_twice_by_two_people_is_one_job(
    client_of,
    curator,
    engineer,
    task,
    sent,
    django_capture_on_commit_callbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = client_of(curator).post(f"/tasks/{task.key}/regenerate/", {"rows": 100, "files": 6})
        second = client_of(engineer).post(f"/tasks/{task.key}/regenerate/", {"rows": 100, "files": 6})
    assert first["Location"] == second["Location"]
    assert Regeneration.objects.count() == 1
    assert len(sent) == 1


def test_a_waiting_job_is_cancelled_at_once(client_of, curator, task, sent) -> None:
    client = client_of(curator)
    job = client.post(f"/tasks/{task.key}/regenerate/", {"rows": 100, "files": 6})["Location"]
    assert b"waiting for a free worker" in client.get(job).content
    client.post(f"{job}cancel/")
    assert Regeneration.objects.get().state == JobState.CANCELLED
