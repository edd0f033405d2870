"""Running an episode's job: live events, cancelling, interrupting, and faults of ours that end in a named outcome."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from sandbox_app import hostkeeper, services
from sandbox_app.conductor import Conductor, Feed, Watched
from sandbox_app.errors import StartFailed
from sandbox_app.live import in_flight
from sandbox_app.models import Episode
from sandbox_app.services import running
from sandbox_app.trajectories import Trajectory
from tasks_app.models import Event, JobState
from tests.sandbox_app import records


class FakeSession:
    def __init__(self) -> None:
        self.interrupted = 0
        self.closed = False

    async def interrupt(self) -> None:
        self.interrupted += 1

    async def close(self) -> None:
        self.closed = True


class FakeHost:
    def __init__(self) -> None:
        self.session = FakeSession()

    async def open(self, spec: Any) -> FakeSession:
        return self.session


Body = Callable[[Watched, Feed], Coroutine[Any, Any, Trajectory]]


def conducting(body: Body, host: FakeHost | None = None) -> running.Conducting:
    return lambda episode: Conductor(body, host or FakeHost())  # type: ignore[arg-type]


def queued() -> Episode:
    return services.create_episode(task=records.make_task(), scale="v0", policy="reference", source="person")


async def well(host: Watched, feed: Feed) -> Trajectory:
    for step in records.steps(3):
        feed.on_step_started(step.index, step.message, step.code)
        if step.result is not None:
            feed.on_output(step.index, "first ")
            feed.on_output(step.index, "second")
            for call in step.result.calls:
                feed.on_call(step.index, call)
        feed.on_step(step)
    return records.trajectory("passed")


@pytest.mark.django_db
def test_steps_arrive_as_rows_and_events_in_order() -> None:
    episode = queued()
    assert services.run(episode=episode, conducting=conducting(well))
    episode.refresh_from_db()
    assert (episode.state, episode.outcome, episode.steps.count()) == (JobState.SUCCEEDED, "passed", 3)
    events = Event.objects.filter(stream=episode.stream).order_by("seq")
    kinds = [event.kind for event in events]
    assert kinds[:6] == ["state", "state", "step_started", "output", "calls", "step"]
    assert kinds[-1] == "ended"
    assert next(event.data["text"] for event in events if event.kind == "output") == "first second"


@pytest.mark.django_db
def test_a_second_delivery_of_the_same_job_does_nothing() -> None:
    episode = queued()
    services.run(episode=episode, conducting=conducting(well))
    assert not services.run(episode=Episode.objects.get(pk=episode.pk), conducting=conducting(well))
    assert Episode.objects.get(pk=episode.pk).attempts == 1


@pytest.mark.django_db
def test_a_fault_of_ours_is_infrastructure_and_says_what_to_search_for() -> None:
    async def breaks(host: Watched, feed: Feed) -> Trajectory:
        raise KeyError("a bug of ours")

    episode = queued()
    services.run(episode=episode, conducting=conducting(breaks))
    episode.refresh_from_db()
    assert (episode.state, episode.outcome, episode.reward) == (JobState.FAILED, "infrastructure", None)
    assert "a bug of ours" in episode.detail
    assert "Search the log for" in episode.error


@pytest.mark.django_db
def test_cancelling_closes_the_session_and_scores_nothing(annotator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LOOK_EVERY", 0.0)
    host, episode = FakeHost(), queued()

    async def endless(watched: Watched, feed: Feed) -> Trajectory:
        session = await watched.open(None)  # type: ignore[arg-type]
        try:
            await asyncio.sleep(60)
        finally:
            await session.close()
        raise AssertionError("unreachable")

    def start(row: Episode) -> Conductor:
        services.cancel_episode(episode=Episode.objects.get(pk=row.pk), by=annotator)
        return Conductor(endless, host)  # type: ignore[arg-type]

    services.run(episode=episode, conducting=start)
    episode.refresh_from_db()
    assert (episode.state, episode.outcome, episode.reward) == (JobState.CANCELLED, "", None)
    assert host.session.closed


@pytest.mark.django_db
def test_an_interrupt_reaches_the_running_cell_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LOOK_EVERY", 0.0)
    host, episode = FakeHost(), queued()

    async def waits(watched: Watched, feed: Feed) -> Trajectory:
        session = await watched.open(None)  # type: ignore[arg-type]
        while not session.interrupted:      # type: ignore[attr-defined]
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        return records.trajectory("passed")

    def start(row: Episode) -> Conductor:
        Episode.objects.get(pk=row.pk).ask_interrupt()
        return Conductor(waits, host)  # type: ignore[arg-type]

    services.run(episode=episode, conducting=start)
    assert host.session.interrupted == 1


@pytest.mark.django_db
def test_a_takeover_in_the_middle_stops_all_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = queued()

    async def slow(host: Watched, feed: Feed) -> Trajectory:
        await asyncio.sleep(0.2)
        feed.on_step(records.steps()[0])
        return records.trajectory("passed")

    def start(row: Episode) -> Conductor:
        Episode.objects.filter(pk=row.pk).update(fence=row.fence + 1)
        return Conductor(slow, FakeHost())  # type: ignore[arg-type]

    services.run(episode=episode, conducting=start)
    episode.refresh_from_db()
    assert (episode.state, episode.outcome, episode.steps.count()) == (JobState.RUNNING, "", 0)


def test_endless_printing_is_cut_in_the_live_feed() -> None:
    async def prints(host: Watched, feed: Feed) -> Trajectory:
        feed.on_step_started(1, "", "while True: print('x')")
        for _ in range(1_000):
            feed.on_output(1, "x" * 1_000)
        return records.trajectory("stopped")

    conductor = Conductor(prints, FakeHost())  # type: ignore[arg-type]
    conductor.start()
    conductor.result()
    _, printed = conductor.take(0)
    assert len(printed.text) < 65_000  # type: ignore[union-attr]
    assert "the whole is shown when the cell has ended" in printed.text  # type: ignore[union-attr]


def test_the_running_step_is_told_from_its_events() -> None:
    started = ("step_started", {"index": 2, "code": "print(1)"})
    printed = ("output", {"index": 2, "text": "1\n"})
    assert in_flight([]) is None
    found = in_flight([started, printed, printed, ("calls", {"index": 2, "calls": [{"tool": "a", "ok": True}]})])
    assert found is not None
    assert (found.index, found.code, found.output, len(found.calls)) == (2, "print(1)", "1\n1\n", 1)
    assert in_flight([started, printed, ("step", {"index": 2})]) is None


def test_a_kernel_host_that_died_is_started_again_and_ends_with_its_keeper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostkeeper, "PAUSES", (0.05,))

    def spawn() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])

    keeper = hostkeeper.HostKeeper(spawn)
    keeper.start()
    first = keeper.process
    assert first is not None
    first.kill()
    deadline = time.monotonic() + 5
    while keeper.process is first and time.monotonic() < deadline:
        time.sleep(0.02)
    second = keeper.process
    assert second is not None
    assert second is not first
    assert second.poll() is None
    keeper.stop()
    assert second.wait(5) != 0


def test_a_host_that_can_not_be_started_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostkeeper, "PAUSES", (0.02,))
    tries: list[int] = []

    def spawn() -> subprocess.Popen[bytes]:
        tries.append(1)
        if len(tries) < 3:
            raise StartFailed("no memory")
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])

    keeper = hostkeeper.HostKeeper(spawn)
    keeper.start()
    deadline = time.monotonic() + 5
    while keeper.process is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert keeper.process is not None
    keeper.stop()
