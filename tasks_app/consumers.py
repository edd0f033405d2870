"""EventConsumer: sends what lies after the client's last number, then follows the stream.

`ws/events/?stream=<name>&after=<seq>` gives {"seq", "kind", "data", "at"} in order. The channel layer only wakes it;
every POLL seconds it looks by itself, so a lost wake-up or a restarted broker loses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from tasks_app.events import group_name
from tasks_app.models import Event

POLL = 3.0
BATCH = 200
NOT_SIGNED_IN, BAD_ADDRESS = 4401, 4400


class EventConsumer(AsyncJsonWebsocketConsumer):
    stream: str = ""
    after: int = 0
    poller: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        query = parse_qs(self.scope["query_string"].decode("utf-8", "replace"))
        self.stream = query.get("stream", [""])[0]
        after = query.get("after", ["0"])[0]
        await self.accept()  # accepted before it is refused, so that the browser sees the code
        if not self.scope["user"].is_authenticated:
            await self.close(NOT_SIGNED_IN)
            return
        if not 0 < len(self.stream) <= 80 or not after.isdecimal():
            await self.close(BAD_ADDRESS)
            return
        self.after = int(after)
        self.sending = asyncio.Lock()
        await self.channel_layer.group_add(group_name(self.stream), self.channel_name)
        self.poller = asyncio.create_task(self._poll())

    async def disconnect(self, code: int) -> None:
        if self.poller is not None:
            self.poller.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.poller
            await self.channel_layer.group_discard(group_name(self.stream), self.channel_name)

    async def event_wake(self, message: dict[str, Any]) -> None:
        await self._send_new()

    async def _poll(self) -> None:
        while True:
            await self._send_new()
            await asyncio.sleep(POLL)

    async def _send_new(self) -> None:
        async with self.sending:
            while rows := await self._rows():
                for row in rows:
                    await self.send_json(row)
                    self.after = row["seq"]

    @database_sync_to_async
    def _rows(self) -> list[dict[str, Any]]:
        events = Event.objects.filter(stream=self.stream, seq__gt=self.after).order_by("seq")[:BATCH]
        return [{"seq": e.seq, "kind": e.kind, "data": e.data, "at": e.created_at.isoformat()} for e in events]
