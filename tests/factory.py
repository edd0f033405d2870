"""A small real environment package and tasks over it, written to a folder: for tests that need no shipped content.

The domain is a library: shelves and books. Sizes nest, rows and files are met exactly, as contracts ask.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks_app.domains.model import (
    Attr,
    DomainModel,
    Effect,
    Entity,
    LeftOut,
    Op,
    Param,
    Parent,
    Reference,
    State,
    to_json,
)
from tasks_app.plans import algebra
from tasks_app.plans.algebra import Answer, Plan, col, lit
from tasks_app.scales import Scale
from tasks_app.tasks import ProbeSpec, TaskSpec, keyed, save_task

SCHEMA = """
CREATE TABLE shelf (id TEXT PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE book (
  id TEXT PRIMARY KEY, shelf_id TEXT NOT NULL REFERENCES shelf(id), title TEXT NOT NULL, state TEXT NOT NULL
);
CREATE TABLE _session (user_id TEXT, email TEXT, name TEXT, time_zone TEXT, now TEXT);
"""
POPULATE = """
def populate(connection, workspace, *, seed, rows, files, directives):
    for n in range(2):
        connection.execute("INSERT INTO shelf VALUES (?, ?)", (f"s{n}", f"Shelf {n} <b>bold</b>"))
    for n in range(rows - 2):
        book = (f"b{n:06d}", f"s{n % 2}", f"Book {n} \\u202e", "OUT")
        connection.execute("INSERT INTO book VALUES (?, ?, ?, ?)", book)
    for n in range(files):
        path = workspace / f"note{n:03d}.md"
        path.write_text(f"# Note {n}\\n<script>alert(1)</script> \\x1b[31mred\\x1b[0m")
"""
TOOLS = """
class ToolError(Exception):
    def __init__(self, code, message, retryable=False):
        super().__init__(message); self.code = code; self.message = message; self.retryable = retryable
def books_list(db, shelfId):
    rows = db.execute("SELECT id, title, state FROM book WHERE shelf_id = ? ORDER BY id", (shelfId,)).fetchall()
    return {"books": [{"id": i, "title": t, "state": s} for i, t, s in rows]}
TOOLS = {"books_list": books_list}
"""
SPEC = {
    "name": "books_list",
    "description": "Books of a shelf. <img src=x>",
    "writes": False,
    "method": "library.books.list",
    "parameters": {"type": "object", "properties": {"shelfId": {"type": "string"}}, "required": ["shelfId"]},
    "returns": {"type": "object"},
}


def model() -> DomainModel:
    shelf = Entity(
        "Shelf",
        "shelf",
        "table",
        ("id",),
        "id",
        "server",
        (Attr("id", "id", "text", "key"), Attr("title", "title", "text", "natural_key")),
        natural_keys=("title",),
    )
    book = Entity(
        "Book",
        "book",
        "table",
        ("id",),
        "id",
        "server",
        (
            Attr("id", "id", "text", "key"),
            Attr(
                "shelfId",
                "shelf_id",
                "text",
                "foreign_key",
                references=Reference("Shelf", "id", "shelfId is the shelf"),
            ),
            Attr("title", "title", "text", "title"),
            Attr("state", "state", "text", "status", enum=("IN", "OUT")),
        ),
        parents=(Parent("shelves", "shelfId", "Shelf", "shelf_id"),),
        states=(State("state", "OUT", "IN", "books_return"),),
    )
    listing = Op(
        "books_list",
        "library.books.list",
        Effect("list"),
        "Book",
        False,
        (Param("shelfId", {"type": "string"}, True, "path", "shelf_id"),),
        "Books of a shelf.",
    )
    return DomainModel(
        "library",
        "Library",
        "made-for-tests",
        "0" * 64,
        "CC0",
        (shelf, book),
        (listing,),
        (LeftOut("library.books.scan", "needs a camera"),),
        "Shelves and books.",
    )


def write_package(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "LICENSE").write_text("CC0\n")
    (folder / "SOURCE.json").write_text("{}\n")
    (folder / "environment.json").write_text(
        json.dumps({"format": 1, "domain": "library", "tools": [SPEC], "licence": "CC0", "provenance": {}})
    )
    (folder / "model.json").write_text(json.dumps(to_json(model())))
    (folder / "populate.py").write_text(POPULATE)
    (folder / "schema.sql").write_text(SCHEMA)
    (folder / "tools.py").write_text(TOOLS)
    return folder


def plan() -> Plan:
    books = algebra.where(algebra.scan("Book", "book"), algebra.cmp("=", col("book.state"), lit("OUT")))
    return Plan("library", lets={"out": books}, answers=(Answer("count", algebra.use("out"), "count"),))


CHECKS = {
    "reference": {"v0": True, "v1": True},
    "fresh_seed": {"seed": 99, "passed": True},
    "probes": {"no_op": {"criterion": "the answer is right", "scales": ["v0"], "rejected": True}},
}


def measured(n: int) -> dict[str, Any]:
    proof = [{"rule": 1, "name": "base rows identical", "held": True, "detail": "10 rows"}]
    return {"db_bytes": 9000 * 2**n, "tokens": 800 * 2**n, "calls": 5 * 2**n, "seconds": 0.1, "proof": proof}


def task(environment: str, number: int = 0, **changes: Any) -> TaskSpec:
    """A task that counts the books that are out; `changes` replace its fields."""
    spec = TaskSpec(
        key="",
        title=f"Count what is out {number:03d}",
        tier="task",
        domain="library",
        environment=environment,
        instruction=f"How many books are out? <script>alert({number})</script> \u202e",
        tools=("books_list",),
        seed=7,
        directives={"base": {"rows": 10, "files": 2}},
        verifier="def verify(*_):\n    return []\n",
        scales={"v0": Scale("v0", 10, 2), "v1": Scale("v1", 20, 3), "v2": Scale("v2", 40, 4), "v3": Scale("v3", 80, 5)},
        reference="# %%\nprint(len(tools.books_list(shelfId='s0')['books']))\n",
        plan=algebra.to_json(plan()),
        plan_tree="t" * 16,
        lineage=f"{number:016x}",
        operators=("filter", "answer"),
        depth=2,
        outcome_kind="done",
        split="train",
        probes=(ProbeSpec("no_op", "no_op", "does nothing", "pass", "the answer is right"),),
        measures={f"v{n}": measured(n) for n in range(4)} | {"checks": CHECKS},
    )
    return keyed(replace(spec, **changes))


def library(data_dir: Path, tasks: int = 1, **changes: Any) -> tuple[Path, list[Path]]:
    """A package and its tasks under DATA_DIR, as `tasks_app.services.content.load_folders` takes them."""
    from tasks_app.environments.package import EnvironmentPackage

    package = write_package(data_dir / "content" / "packages" / "library")
    digest = EnvironmentPackage.load(package).digest
    folders = []
    for number in range(tasks):
        spec = task(digest, number, **changes)
        folder = data_dir / "content" / "tasks" / spec.key
        save_task(spec, folder)
        folders.append(folder)
    return package, folders
