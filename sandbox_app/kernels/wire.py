"""Wire: messages between a host and its clients: a JSON head and any number of byte strings, over a unix socket.

    four bytes: length of the head · the head, {"blobs": [sizes], …} · the blobs one after another
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tasks_app.environments.state import State

MAX_HEAD, MAX_BLOB = 256 * 1024**2, 1024**3
Message = tuple[dict[str, Any], list[bytes]]


class WireError(ValueError):
    """What came is no message of this protocol."""


async def send(writer: asyncio.StreamWriter, head: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> None:
    text = json.dumps({**head, "blobs": [len(blob) for blob in blobs]}, separators=(",", ":")).encode()
    writer.write(len(text).to_bytes(4, "big") + text)
    for blob in blobs:
        writer.write(blob)
    await writer.drain()


async def receive(reader: asyncio.StreamReader) -> Message | None:
    """The next message; None when the other end has closed. Raises `WireError`."""
    try:
        size = int.from_bytes(await reader.readexactly(4), "big")
        if size > MAX_HEAD:
            raise WireError(f"a head of {size} bytes")
        head = json.loads(await reader.readexactly(size))
        if not isinstance(head, dict) or sum(head.get("blobs", [])) > MAX_BLOB:
            raise WireError("no head of a message")
        return head, [await reader.readexactly(length) for length in head["blobs"]]
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None


def pack_state(state: State) -> Message:
    """Names for a head, and blobs: the image and the files in their order."""
    return {"files": list(state.files)}, [state.image, *state.files.values()]


def unpack_state(head: Mapping[str, Any], blobs: Sequence[bytes]) -> State:
    return State(blobs[0], dict(zip(head["files"], blobs[1:], strict=True)))
