"""Live streams: what lies after the client's number comes first, in order; then what happens. Nothing twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import AnonymousUser, User

from tasks_app import consumers
from tasks_app.consumers import EventConsumer
from tasks_app.services import publish

pytestmark = pytest.mark.django_db(transaction=True)


class Socket(ApplicationCommunicator):
    """A client of the consumer, without a server (channels' own one needs Daphne)."""

    def __init__(self, query: str, user: object) -> None:
        scope = {
            "type": "websocket",
            "path": "/ws/events/",
            "query_string": query.encode(),
            "headers": [],
            "user": user,
        }
        super().__init__(EventConsumer.as_asgi(), scope)

    async def connect(self) -> None:
        await self.send_input({"type": "websocket.connect"})
        assert (await self.receive_output())["type"] == "websocket.accept"

    async def event(self) -> dict[str, Any]:
        return json.loads((await self.receive_output())["text"])

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait()


async def test_a_follower_gets_the_past_then_the_present_in_order() -> None:
    for n in range(3):
        await sync_to_async(publish)("s", "x", {"n": n})
    socket = Socket("stream=s&after=1", User(username="ann"))
    await socket.connect()
    assert [(await socket.event())["seq"] for _ in range(2)] == [2, 3]
    await sync_to_async(publish)("s", "x", {"n": 3})
    event = await socket.event()
    assert (event["seq"], event["data"]) == (4, {"n": 3})
    await sync_to_async(publish)("other", "x", {})
    assert await socket.receive_nothing(timeout=0.1)
    await socket.disconnect()


async def test_a_lost_wake_up_costs_time_and_no_event(monkeypatch) -> None:
    monkeypatch.setattr(consumers, "POLL", 0.05)
    monkeypatch.setattr("tasks_app.services.events.wake", lambda stream: None)
    socket = Socket("stream=s&after=0", User(username="ann"))
    await socket.connect()
    await sync_to_async(publish)("s", "x", {})
    assert (await socket.event())["seq"] == 1
    await socket.disconnect()


@pytest.mark.parametrize(
    ("query", "user", "code"),
    [
        ("stream=s&after=0", AnonymousUser(), consumers.NOT_SIGNED_IN),
        ("after=0", User(username="ann"), consumers.BAD_ADDRESS),
        ("stream=s&after=-1", User(username="ann"), consumers.BAD_ADDRESS),
    ],
)
async def test_who_may_not_follow_is_told_by_a_code(query, user, code) -> None:
    socket = Socket(query, user)
    await socket.connect()
    assert await socket.receive_output() == {"type": "websocket.close", "code": code}
