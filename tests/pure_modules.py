"""Which modules are pure: all of the three apps but the edge-named ones. `python -m tests.pure_modules` lists them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APPS = ("tasks_app", "sandbox_app", "training_app")
EDGES = {
    "admin",
    "api",
    "apps",
    "checks",
    "consumers",
    "forms",
    "jobs",
    "management",
    "migrations",
    "models",
    "services",
    "templatetags",
    "urls",
    "views",
    "leases",
    "pages",
    "permissions",  # edges by nature: rows, query sets and requests are what they are about
}


def edge(path: Path) -> bool:
    """Is this file (relative to the root) an edge: it, or a folder it lies in, has an edge's name?"""
    return any(part.removesuffix(".py") in EDGES for part in path.parts[1:])


def pure_modules() -> list[Path]:
    files = (path.relative_to(ROOT) for app in APPS for path in sorted((ROOT / app).rglob("*.py")))
    return [path for path in files if not edge(path)]


if __name__ == "__main__":
    print("\n".join(str(path) for path in pure_modules()))
