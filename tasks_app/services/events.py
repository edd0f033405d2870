"""Events of live streams: written as rows, then those who follow are woken."""

from __future__ import annotations

import logging
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import IntegrityError, transaction
from django.db.models import Max
from redis.exceptions import RedisError

from tasks_app.events import group_name
from tasks_app.models import Event

logger = logging.getLogger(__name__)
INSERT_TRIES = 20


def publish(stream: str, kind: str, data: dict[str, Any]) -> Event:
    """Write the next event of `stream` and wake those who follow it once the row is committed.

    The row is what counts: followers that miss the wake-up find it by its number. Works from jobs and from the web.
    """
    event = _insert(stream, kind, data)
    transaction.on_commit(lambda: wake(stream))
    return event


def last_seq(stream: str) -> int:
    """The number of the stream's last event, 0 before the first: where a page just rendered begins to follow."""
    return Event.objects.filter(stream=stream).aggregate(last=Max("seq"))["last"] or 0


def _insert(stream: str, kind: str, data: dict[str, Any]) -> Event:
    for left in reversed(range(INSERT_TRIES)):
        try:
            with transaction.atomic():
                return Event.objects.create(stream=stream, seq=last_seq(stream) + 1, kind=kind, data=data)
        except IntegrityError:
            if not left:  # another writer took the number, twenty times over
                raise
    raise AssertionError("unreachable")


def wake(stream: str) -> None:
    """Tell followers that there is something new. A broker that is away costs them seconds, not events."""
    layer = get_channel_layer()
    try:
        async_to_sync(layer.group_send)(group_name(stream), {"type": "event.wake"})
    except (OSError, RedisError) as error:
        logger.warning("followers of %s are not woken, they will look by themselves: %s", stream, error)
