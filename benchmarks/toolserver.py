"""Tool calls from a cell through the tool server, against the same tool behind HTTP on this machine."""

from __future__ import annotations

import asyncio
import http.client
import json
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.kernels import specification
from sandbox_app.kernels.local import LocalHost
from sandbox_app.toolserver import toolbox
from sandbox_app.toolserver.database import Database

CALLS = 1_000
_CELL = f"""
import time
begun = time.perf_counter()
for _ in range({CALLS}):
    tools.notes_list()
print(time.perf_counter() - begun)
"""


async def _through_the_kernel(folder: Path) -> float:
    """Calls a second, the best of some rounds."""
    session = await LocalHost().open(specification(folder))
    try:
        seconds = [float((await session.execute(_CELL)).returned) for _ in range(2)]
    finally:
        await session.close()
    return CALLS / min(seconds)


def _through_http(folder: Path) -> float:
    spec = specification(folder)
    tools, database = toolbox.load(spec.package, spec.tools), Database(spec.state.image)
    turn = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize, disable_nagle_algorithm = -1, True

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            with turn:
                body = json.dumps(tools.functions["notes_list"](database.tools)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
        begun = time.perf_counter()
        for _ in range(CALLS):
            connection.request("POST", "/", b"{}")
            json.loads(connection.getresponse().read())
        seconds = time.perf_counter() - begun
        connection.close()
        server.shutdown()
    database.close()
    return CALLS / seconds


def measure() -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        ours = asyncio.run(_through_the_kernel(Path(name) / "package"))
        http_calls = _through_http(Path(name) / "http")
    return {
        "calls_per_s": {
            "value": round(ours), "unit": "1/s", "aim": 8_000, "baseline": round(http_calls),
            "baseline_what": "the same tool behind http.server, one kept connection",
            "ratio": round(ours / http_calls, 2),
        },
    }
