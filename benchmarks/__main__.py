"""`python -m benchmarks NAME [NAME…] [--full]`: measure, and print one JSON object a name.

A benchmark is a module here with `figures()` or `measure()`, which returns KEY → {value, unit, aim, baseline,
baseline_what, ratio}. It needs nothing running beforehand and leaves nothing behind. A figure never makes it fail.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KEYS = ("value", "unit", "aim", "baseline", "baseline_what", "ratio")


def names() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    return {"cpus": os.cpu_count(), "memory_gb": round(memory, 1), "load": round(os.getloadavg()[0], 2)}


def runner(name: str) -> Callable[..., dict[str, Any]]:
    module = importlib.import_module(f"benchmarks.{name}")
    found: Callable[..., dict[str, Any]] | None = getattr(module, "figures", None) or getattr(module, "measure", None)
    if found is None:
        sys.exit(f"benchmarks/{name}.py has neither figures() nor measure()")
    return found


def run(name: str, full: bool) -> dict[str, Any]:
    """The object of one benchmark; the load is that of before it ran."""
    before, started = machine(), time.perf_counter()
    function = runner(name)
    measured = function(full=full) if "full" in inspect.signature(function).parameters else function()
    figures = {key: {field: figure.get(field) for field in KEYS} for key, figure in measured.items()}
    seconds = round(time.perf_counter() - started, 2)
    return {"name": name, "commit": commit(), "machine": before, "seconds": seconds, "figures": figures}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure; print JSON.")
    parser.add_argument("names", nargs="+", choices=names(), metavar="NAME", help=", ".join(names()))
    parser.add_argument("--full", action="store_true", help="the long form, where there is one")
    given = parser.parse_args()
    for name in given.names:
        print(json.dumps(run(name, given.full), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
