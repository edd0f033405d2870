"""Slots: how many sessions a host has at once, given out fairly.

Who waits is served in turns by client: one that asks for hundreds does not hold up one that asks for a single session.
Within a client it is first come, first served. Nobody's time to start counts while they wait.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class FairSlots:
    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def slot(self, client: Hashable) -> AsyncIterator[None]:
        """Hold a slot for the length of the block."""
        await self._acquire(client)
        try:
            yield
        finally:
            self._free += 1
            self._serve()

    async def _acquire(self, client: Hashable) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        self._serve()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._free += 1  # it was given in the moment of leaving
                self._serve()
            raise

    def _serve(self) -> None:
        """Give free slots out, one a client and round."""
        while self._free and self._waiting:
            client, turns = self._waiting.popitem(last=False)
            while turns and turns[0].done():
                turns.popleft()  # left the queue
            if not turns:
                continue
            turns.popleft().set_result(None)
            self._free -= 1
            if turns:
                self._waiting[client] = turns
