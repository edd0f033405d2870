"""Frames of the tool channel: four bytes of length, big-endian, then that many bytes of JSON.

The kernel's end (`bridge`) speaks the same without importing this. Kernel → host: {"call", "arguments", "id"},
{"variables", "peak"}, {"evidence"}. Host → kernel: {"id", "ok", "value"} or {"id", "ok": false, "error"}.
"""

from __future__ import annotations

import json
import math
import socket
from typing import Any

MAX_FRAME = 2 * 1024**2      # from the kernel; the bridge refuses arguments of more than half of it with a word
MAX_INTEGER = 2**63
MAX_DEPTH = 64


class ProtocolError(ValueError):
    """What came is no frame of this protocol."""


def pack(value: Any) -> bytes:
    """One frame. Raises TypeError, ValueError for what is no JSON; half characters go through as escapes."""
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "backslashreplace")
    return len(body).to_bytes(4, "big") + body


def unfit(value: Any) -> str:
    """Why a JSON value from a kernel can be no argument of a tool ("" when it can): tables hold no such thing."""
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return f"it is nested more than {MAX_DEPTH} deep"
        if isinstance(item, str):
            if not item.isascii() and any("\ud800" <= character <= "\udfff" for character in item):
                return "it holds half a character (a lone surrogate)"
        elif isinstance(item, int) and not -MAX_INTEGER <= item < MAX_INTEGER:
            return "it holds an integer beyond 64 bits"
        elif isinstance(item, float) and not math.isfinite(item):
            return f"it holds {item}, which is no JSON number"
        elif isinstance(item, dict):
            waiting += [(part, depth + 1) for pair in item.items() for part in pair]
        elif isinstance(item, list):
            waiting += [(part, depth + 1) for part in item]
    return ""


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
