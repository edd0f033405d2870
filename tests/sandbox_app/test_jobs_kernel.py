"""The job with nothing made up: a real host, a real kernel, a real package; rows, events and verdict as they come."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from sandbox_app import services
from sandbox_app.hostkeeper import HostKeeper
from sandbox_app.kernels.host import spawn
from sandbox_app.models import Episode
from tasks_app.models import Domain, Environment, Event, JobState, Task, TaskScale
from tasks_app.models.content import TaskStatus
from tasks_app.tasks import keyed, save_task
from tests.sandbox_app.notes import make_package, make_task

pytestmark = [pytest.mark.django_db, pytest.mark.kernel]


@pytest.fixture(scope="module")
def host() -> Iterator[HostKeeper]:
    keeper = HostKeeper(lambda: spawn(Path(settings.KERNEL_SOCKET), 2))
    keeper.start()
    yield keeper
    keeper.stop()


@pytest.fixture
def task(db: None, tmp_path: Path) -> Task:
    """The hand-made notes as rows, their files under DATA_DIR."""
    package = make_package(tmp_path / "notes")
    spec = keyed(make_task(package))
    data = Path(settings.DATA_DIR)
    shutil.copytree(package, data / "content/notes", dirs_exist_ok=True)
    save_task(spec, data / "content/notes-tasks" / spec.key)
    domain = Domain.objects.create(slug="notes", title="Notes", source="", source_sha256="", licence="MIT", model={})
    environment = Environment.objects.create(digest=spec.environment, domain=domain, folder="content/notes")
    found = Task.objects.create(
        key=spec.key, title=spec.title, tier="task", domain=domain, environment=environment, lineage="l", plan_tree="t",
        split="train", status=TaskStatus.PROVEN, depth=1, outcome_kind="done", folder=f"content/notes-tasks/{spec.key}",
    )
    TaskScale.objects.create(task=found, name="v0", rows=spec.scales["v0"].rows, files=spec.scales["v0"].files)
    return found


def run(task: Task, policy: str, **config: object) -> Episode:
    episode = services.create_episode(task=task, scale="v0", policy=policy, config=config, source="person")
    assert services.run(episode=episode)
    return Episode.objects.get(pk=episode.pk)


def test_the_reference_passes_and_leaves_its_whole_record(task: Task, host: HostKeeper) -> None:
    episode = run(task, "reference")
    assert (episode.state, episode.outcome, episode.reward) == (JobState.SUCCEEDED, "passed", 1.0), episode.detail
    assert episode.steps.count() == episode.steps_count > 1
    kinds = list(Event.objects.filter(stream=episode.stream).order_by("seq").values_list("kind", flat=True))
    assert kinds[:3] == ["state", "state", "step_started"]
    assert "output" in kinds
    assert kinds[-1] == "ended"


def test_ending_ones_own_kernel_is_stopped_with_reward_0(task: Task, host: HostKeeper) -> None:
    episode = run(task, "scripted", fault="kernel_exit", seed=1)
    assert (episode.outcome, episode.reward) == ("stopped", 0.0)
    assert episode.cause == "kernel_killed_by_policy"


def test_without_a_host_the_outcome_is_infrastructure_and_has_no_reward(
    task: Task, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    monkeypatch.setattr(settings, "KERNEL_SOCKET", str(tmp_path / "nobody.sock"))
    episode = run(task, "reference")
    assert episode.cause == "session_lost"
    assert (episode.outcome, episode.reward) == ("infrastructure", None)
