"""Frames of the tool channel: four bytes of length, big-endian, then that many bytes of JSON.

The kernel's end (`bridge`) speaks the same without importing this. Kernel → host: {"call", "arguments", "id"},
{"variables", "peak"}, {"evidence"}. Host → kernel: {"id", "ok", "value"} or {"id", "ok": false, "error"}.
"""

from __future__ import annotations

import json
import socket
from typing import Any

MAX_FRAME = 16 * 1024**2


class ProtocolError(ValueError):
    """What came is no frame of this protocol."""


def send(channel: socket.socket, value: Any) -> int:
    """Send one frame; its size in bytes."""
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    channel.sendall(len(body).to_bytes(4, "big") + body)
    return len(body)


def receive(channel: socket.socket) -> dict[str, Any] | None:
    """The next frame, or None at the end of the stream. Raises `ProtocolError`."""
    head = _exactly(channel, 4)
    if head is None:
        return None
    size = int.from_bytes(head, "big")
    if size > MAX_FRAME:
        raise ProtocolError(f"a frame of {size} bytes; at most {MAX_FRAME} go through")
    body = _exactly(channel, size)
    if body is None:
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as fault:
        raise ProtocolError(f"a frame that is no JSON: {fault}") from None
    if not isinstance(value, dict):
        raise ProtocolError("a frame that is no object")
    return value


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = channel.recv(min(size - len(parts), 1 << 16))
        if not part:
            return None
        parts += part
    return bytes(parts)
