"""A curator makes and freezes a task set in the admin; what is frozen answers with a clean error."""

from __future__ import annotations

from django.urls import reverse

from tasks_app.models import TaskSet

ADD = {"name": "held-out tasks", "description": "", "change": "add", "tier": "task", "status": "proven"}


def test_a_curator_makes_freezes_and_goes_on(client_of, curator, task) -> None:
    client = client_of(curator)
    assert client.get(reverse("admin:tasks_app_taskset_add")).status_code == 200
    client.post(reverse("admin:tasks_app_taskset_add"), ADD)
    made = TaskSet.objects.get()
    assert list(made.tasks.all()) == [task]
    page = client.get(reverse("admin:tasks_app_taskset_change", args=[made.pk]))
    assert b"Freeze for good" in page.content
    client.get(reverse("admin:tasks_app_taskset_freeze", args=[made.pk]))
    made.refresh_from_db()
    assert made.frozen
    answer = client.post(reverse("admin:tasks_app_taskset_change", args=[made.pk]), {**ADD, "name": "other"})
    assert b"is frozen and can" in answer.content
    client.get(reverse("admin:tasks_app_taskset_version", args=[made.pk]))
    assert TaskSet.objects.get(version=2).tasks.count() == 1


def test_a_filter_that_fits_nothing_is_said_on_the_form(client_of, curator, task) -> None:
    answer = client_of(curator).post(reverse("admin:tasks_app_taskset_add"), {**ADD, "q": "zebra"})
    assert b"No task fits" in answer.content
    assert not TaskSet.objects.exists()


def test_an_annotator_may_not_enter_the_admin(client_of, annotator) -> None:
    answer = client_of(annotator).get("/admin/", follow=True)
    assert answer.status_code == 403
    assert b"curator or engineer" in answer.content


def test_the_admin_has_a_policy_of_its_own(client_of, curator) -> None:
    client = client_of(curator)
    assert "unsafe-eval" in client.get("/admin/")["Content-Security-Policy"]
    assert "unsafe-eval" not in client.get("/")["Content-Security-Policy"]
