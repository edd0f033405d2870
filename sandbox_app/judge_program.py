"""Judge program: what runs inside the verifier's own confined process. Standard library only, imports nothing of ours.

Reads from descriptor 3: eight bytes of length and a JSON head {"answer", "sizes": {"source", "before", "after"},
"files_before": {path: size}, "files_after": {path: size}}, then those bytes in that order. Writes eight bytes of length
and JSON: {"criteria": what the verifier gave back} or {"raised": text}.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import traceback
from typing import Any

CHANNEL = 3
MAX_ANSWER = 1024**2
_DETAIL = 4_000     # characters of evidence a criterion: a report of 60 MB quoted as it is would be no verdict at all


def main() -> None:
    channel = socket.socket(fileno=CHANNEL)
    stream = channel.makefile("rb")
    head = json.loads(stream.read(int.from_bytes(stream.read(8), "big")))
    source, before, after = (stream.read(head["sizes"][name]) for name in ("source", "before", "after"))
    files = [{path: stream.read(size) for path, size in head[name].items()} for name in ("files_before", "files_after")]
    try:
        answer = {"criteria": _short(_verify(source.decode(), before, after, files, head["answer"]))}
        body = json.dumps(answer).encode()
        if len(body) > MAX_ANSWER:
            raise ValueError(f"the verifier gave back {len(body)} bytes; at most {MAX_ANSWER} are taken")
    except BaseException:  # noqa: BLE001 - the boundary to the verifier: whatever it raises is told to the host
        body = json.dumps({"raised": traceback.format_exc(limit=-6)[-4_000:]}).encode()
    channel.sendall(len(body).to_bytes(8, "big") + body)


def _verify(source: str, before: bytes, after: bytes, files: list[dict[str, bytes]], answer: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "verifier"}
    exec(compile(source, "verifier.py", "exec"), namespace)
    return namespace["verify"](_open(before), _open(after), files[0], files[1], answer)


def _short(found: Any) -> Any:
    """The criteria with long details cut; what is none is left for the host to refuse."""
    for criterion in found if isinstance(found, list) else ():
        detail = criterion.get("detail") if isinstance(criterion, dict) else None
        if isinstance(detail, str) and len(detail) > _DETAIL:
            criterion["detail"] = f"{detail[:_DETAIL]}… ({len(detail):,} characters)"
    return found


def _open(image: bytes) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(image)
    connection.execute("PRAGMA query_only = ON")
    return connection


if __name__ == "__main__":
    main()
