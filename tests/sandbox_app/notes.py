"""A package of one table and four tools, and tasks over it, made by hand: what the sandbox is tested with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tasks_app.domains.model import DomainModel, to_json
from tasks_app.environments.package import digest_of
from tasks_app.scales import Scale
from tasks_app.tasks import ProbeSpec, TaskSpec

TOOLS = '''
class ToolError(Exception):
    def __init__(self, code, message, retryable=False):
        super().__init__(message)
        self.code, self.message, self.retryable = code, message, retryable


def notes_list(db):
    return {"notes": [{"id": r[0], "text": r[1]} for r in db.execute("SELECT id, text FROM note ORDER BY id")]}


def notes_create(db, text):
    if not isinstance(text, str) or not text:
        raise ToolError("INVALID_ARGUMENT", "text must not be empty")
    number = db.execute("SELECT coalesce(max(id), 0) + 1 FROM note").fetchone()[0]
    db.execute("INSERT INTO note VALUES (?, ?)", (number, text))
    return {"id": number, "text": text}


def notes_half(db):
    db.execute("DELETE FROM note")
    raise ToolError("FAILED_PRECONDITION", "refused in the middle")


def notes_break(db):
    db.execute("DELETE FROM note")
    return {}["missing"]


TOOLS = {"notes_list": notes_list, "notes_create": notes_create, "notes_half": notes_half, "notes_break": notes_break}
'''
POPULATE = '''
def populate(connection, workspace, *, seed, rows, files, directives):
    connection.executemany("INSERT INTO note VALUES (?, ?)", [(n + 1, f"note {seed}-{n + 1}") for n in range(rows)])
    for number in range(files):
        (workspace / f"file{number}.txt").write_text(f"file {number}")
'''
VERIFIER = '''
def verify(before, after, files_before, files_after, answer):
    old = before.execute("SELECT * FROM note ORDER BY id").fetchall()
    new = after.execute("SELECT * FROM note ORDER BY id").fetchall()
    count, made = str(len(old)), new[len(old):]
    return [
        {"name": "note created", "passed": made == [(len(old) + 1, "count " + count)], "detail": str(made)},
        {"name": "nothing else changed", "passed": new[:len(old)] == old, "detail": ""},
        {"name": "answer", "passed": answer.strip() == count, "detail": answer},
    ]
'''
REFERENCE = '''
# %%
notes = tools.notes_list()["notes"]
print(len(notes), notes[0])
# %%
tools.notes_create(text=f"count {len(notes)}")
print(len(notes))
'''
ALL = ("notes_list", "notes_create", "notes_half", "notes_break")
SCALE = Scale("v0", 3, 1)


def _spec(name: str, description: str, writes: bool, **properties: Any) -> dict[str, Any]:
    return {
        "name": name, "description": description, "writes": writes, "returns": {"type": "object", "properties": {}},
        "parameters": {"type": "object", "properties": properties, "required": list(properties)},
    }


def make_package(folder: Path) -> Path:
    """The package, written into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    specs = [
        _spec("notes_list", "Lists all notes.", False),
        _spec("notes_create", "Creates a note.", True, text={"type": "string"}),
        _spec("notes_half", "Is refused after it has written.", True),
        _spec("notes_break", "Raises what it does not declare.", True),
    ]
    model = DomainModel("notes", "Notes", "made by hand", "", "MIT", (), ())
    files = {
        "tools.py": TOOLS, "populate.py": POPULATE, "LICENSE": "MIT", "SOURCE.json": "{}",
        "schema.sql": "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);",
        "model.json": json.dumps(to_json(model)),
        "environment.json": json.dumps({"format": 1, "tools": specs, "licence": "MIT", "provenance": {}}),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def make_task(package: Path, **changes: Any) -> TaskSpec:
    """A task over the package: count the notes, leave a note of the count, say the count."""
    probe = ProbeSpec("forged", "forged_answer", "says a number and does nothing", "# %%\nprint(3)", "note created")
    values: dict[str, Any] = {
        "key": "notes-count", "title": "Count the notes", "tier": "task", "domain": "notes",
        "environment": digest_of(package), "instruction": "Count my notes and leave a note that says so.",
        "tools": ALL, "seed": 7, "directives": {}, "scales": {"v0": SCALE, "v1": Scale("v1", 6, 2)},
        "verifier": VERIFIER, "reference": REFERENCE, "plan": {}, "plan_tree": "t", "lineage": "l", "operators": (),
        "depth": 1, "outcome_kind": "done", "split": "train", "probes": (probe,),
    }
    return TaskSpec(**{**values, **changes})
