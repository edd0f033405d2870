"""Verification in a process of its own: a verifier that raises, hangs, eats memory or floods harms nothing else.

The process is confined like a kernel (no network, no files of the host), gets everything over a socket, and gives back
its criteria. Whatever keeps it from that is a `VerifierProcessFault`: an episode records infrastructure, never 0.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_app.errors import VerifierProcessFault, VerifierTimeout
from sandbox_app.judge_program import MAX_ANSWER
from sandbox_app.kernels.isolation import Confined, Program
from tasks_app.environments.state import State
from tasks_app.verification import Verdict, VerifierFault, criteria_of

_SOURCE = (Path(__file__).resolve().parent / "judge_program.py").read_text()


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    seconds: float = 60.0
    memory: int = 2 * 1024**3


DEFAULTS = JudgeLimits()


async def judge(
    source: str, before: State, after: State, answer: str, *, limits: JudgeLimits = DEFAULTS, tier: str | None = None,
) -> Verdict:
    """The verdict of the verifier program `source`. Raises `VerifierProcessFault`, `NoIsolation`, `StartFailed`."""
    program = Program(
        argv=(sys.executable, "-I", "-S", "{run}/judge_program.py"),
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"},
        memory=limits.memory, processes=8, workspace=1024**2, run_files={"judge_program.py": _SOURCE},
    )
    confined = await Confined.start(program, tier=tier)
    try:
        async with asyncio.timeout(limits.seconds):
            reply = await _ask(confined, source, before, after, answer)
    except TimeoutError:
        raise VerifierTimeout(f"the verifier did not end within {limits.seconds:g} s") from None
    finally:
        await confined.close()
    if "raised" in reply:
        raise VerifierProcessFault(f"the verifier raised: {reply['raised']}")
    try:
        criteria = criteria_of(reply.get("criteria"))
    except VerifierFault as fault:
        raise VerifierProcessFault(str(fault)) from fault
    return Verdict(criteria, hashlib.sha256(source.encode()).hexdigest())


async def _ask(confined: Confined, source: str, before: State, after: State, answer: str) -> dict[str, Any]:
    body = source.encode()
    head = json.dumps({
        "answer": answer, "sizes": {"source": len(body), "before": len(before.image), "after": len(after.image)},
        "files_before": _sizes(before.files), "files_after": _sizes(after.files),
    }).encode()
    parts = [len(head).to_bytes(8, "big"), head, body, before.image, after.image]
    parts += [*before.files.values(), *after.files.values()]
    try:
        return await _exchange(confined.channel, b"".join(parts))
    except (ConnectionError, EOFError, ValueError) as fault:
        ended = await confined.ended
        why = f"out of memory at {ended.oom} bytes" if ended.oom else str(ended)
        raise VerifierProcessFault(f"the verifier gave no verdict ({why}; {fault}): {confined.log()}") from None


def _sizes(files: Mapping[str, bytes]) -> dict[str, int]:
    return {path: len(body) for path, body in files.items()}


async def _exchange(channel: socket.socket, request: bytes) -> dict[str, Any]:
    channel.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(channel, request)
    size = int.from_bytes(await _exactly(loop, channel, 8), "big")
    if size > MAX_ANSWER + 8_192:
        raise ValueError(f"an answer of {size} bytes")
    reply = json.loads(await _exactly(loop, channel, size))
    if not isinstance(reply, dict):
        raise ValueError("an answer that is no object")
    return reply


async def _exactly(loop: asyncio.AbstractEventLoop, channel: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = await loop.sock_recv(channel, min(size - len(parts), 1 << 16))
        if not part:
            raise EOFError("it ended in the middle")
        parts += part
    return bytes(parts)
