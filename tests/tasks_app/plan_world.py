"""A small school by hand: a DomainModel, its tables and its tools, for tests of plans without a compiled domain.

It has what makes plans go wrong: nulls, flags, nested paths, a list that hides rows by default, pages of two rows, a
child read per parent or with "-", a part (guests of an event), a transition, a delete that takes children along.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from tasks_app.domains.model import (
    Attr,
    DomainModel,
    Effect,
    Entity,
    Filter,
    Op,
    Paging,
    Param,
    Parent,
    Reference,
)
from tasks_app.domains.model import (
    State as Arrow,
)
from tasks_app.environments.state import State

STATES = ("DRAFT", "PUBLISHED", "ARCHIVED")
PAGING = Paging("pageSize", "pageToken", "nextPageToken", 2, 50)

CLUB = Entity(
    "Club",
    "club",
    "table",
    ("id",),
    "id",
    "server",
    (
        Attr("id", "id", "text", "key"),
        Attr("name", "name", "text", "title", required=True),
        Attr("details.room", "room", "text", "place"),
        Attr("open", "open", "boolean", "flag", default=False),
        Attr("size", "size", "integer", "quantity"),
        Attr("updated", "updated", "timestamp", "system", readonly=True),
    ),
    natural_keys=("name",),
    noun="club",
    plural="clubs",
)
TASK = Entity(
    "Chore",
    "chore",
    "table",
    ("club_id", "id"),
    "id",
    "server",
    (
        Attr("clubId", "club_id", "text", "foreign_key", references=Reference("Club", "id")),
        Attr("id", "id", "text", "key"),
        Attr("title", "title", "text", "title", required=True),
        Attr("state", "state", "text", "status", enum=STATES, default="PUBLISHED", required=True),
        Attr("points", "points", "real", "quantity"),
        Attr("due", "due", "timestamp", "time"),
        Attr("note", "note", "text", "text"),
        Attr("urgent", "urgent", "boolean", "flag", default=False),
    ),
    parents=(Parent("clubs", "clubId", "Club", "club_id"),),
    natural_keys=("title",),
    noun="chore",
    plural="chores",
    states=(Arrow("state", "PUBLISHED", "ARCHIVED", "chores_archive"),),
)
ENTRY = Entity(
    "Entry",
    "entry",
    "table",
    ("club_id", "chore_id", "id"),
    "id",
    "server",
    (
        Attr("clubId", "club_id", "text", "foreign_key", references=Reference("Club", "id")),
        Attr("choreId", "chore_id", "text", "foreign_key", references=Reference("Chore", "id")),
        Attr("id", "id", "text", "key"),
        Attr("who", "who", "text", "email"),
        Attr("minutes", "minutes", "integer", "quantity"),
    ),
    parents=(Parent("clubs", "clubId", "Club", "club_id"), Parent("chores", "choreId", "Chore", "chore_id")),
    noun="entry",
    plural="entries",
)
GUEST = Entity(
    "Guest",
    "guest",
    "part",
    ("club_id", "chore_id", "email"),
    "email",
    "caller",
    (
        Attr("", "club_id", "text", "foreign_key", references=Reference("Chore", "club_id")),
        Attr("", "chore_id", "text", "foreign_key", references=Reference("Chore", "id")),
        Attr("email", "email", "text", "email"),
        Attr("answer", "answer", "text", "enum", enum=("yes", "no")),
    ),
    part_of="Chore",
    part_path="guests",
    natural_keys=("email",),
    noun="guest",
    plural="guests",
)


def path(name: str, column: str) -> Param:
    return Param(name, {"type": "string"}, True, "path", column)


def body(name: str, column: str = "") -> Param:
    return Param(name, {}, False, "body", column)


CHORE_KEY = (path("clubId", "club_id"), path("id", "id"))
OPS = (
    Op("clubs_list", "clubs.list", Effect("list"), "Club", False, (), "", "clubs", PAGING),
    Op(
        "chores_list",
        "chores.list",
        Effect("list"),
        "Chore",
        False,
        (path("clubId", "club_id"), Param("states", {}, column="state")),
        "",
        "chores",
        PAGING,
        (Filter("states", "state", "in", ["PUBLISHED"]),),
    ),
    Op("chores_get", "chores.get", Effect("read_one"), "Chore", False, CHORE_KEY, ""),
    Op(
        "entries_list",
        "entries.list",
        Effect("list"),
        "Entry",
        False,
        (path("clubId", "club_id"), path("choreId", "chore_id")),
        "",
        "entries",
        PAGING,
        wildcard="choreId",
    ),
    Op(
        "chores_create",
        "chores.create",
        Effect("insert"),
        "Chore",
        True,
        (path("clubId", "club_id"), *(body(n) for n in ("title", "state", "points", "due", "note", "urgent"))),
        "",
    ),
    Op(
        "chores_patch",
        "chores.patch",
        Effect("update", {"mode": "patch"}),
        "Chore",
        True,
        (
            *CHORE_KEY,
            *(body(n) for n in ("title", "state", "points", "due", "note", "urgent", "guests")),
            Param("updateMask", {}),
        ),
        "",
        mask_param="updateMask",
    ),
    Op(
        "chores_archive",
        "chores.archive",
        Effect("transition", {"column": "state", "to": "ARCHIVED"}),
        "Chore",
        True,
        CHORE_KEY,
        "",
    ),
    Op("chores_delete", "chores.delete", Effect("delete", {"mode": "cascade"}), "Chore", True, CHORE_KEY, ""),
)
MODEL = DomainModel("school", "School", "by hand", "", "Apache-2.0", (CLUB, TASK, ENTRY, GUEST), OPS)

SCHEMA = """
CREATE TABLE club (id TEXT PRIMARY KEY, name TEXT NOT NULL, room TEXT, open INTEGER NOT NULL DEFAULT 0,
    size INTEGER, updated TEXT);
CREATE TABLE chore (club_id TEXT, id TEXT, title TEXT NOT NULL, state TEXT NOT NULL, points REAL, due TEXT, note TEXT,
    urgent INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (club_id, id)) WITHOUT ROWID;
CREATE TABLE entry (club_id TEXT, chore_id TEXT, id TEXT, who TEXT, minutes INTEGER,
    PRIMARY KEY (club_id, chore_id, id)) WITHOUT ROWID;
CREATE TABLE guest (club_id TEXT, chore_id TEXT, email TEXT, answer TEXT,
    PRIMARY KEY (club_id, chore_id, email)) WITHOUT ROWID;
CREATE TABLE _sequence (name TEXT PRIMARY KEY, value INTEGER);
INSERT INTO _sequence VALUES ('chore', 1000);
"""


class ToolError(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


def _paged(rows: list[Any], key: str, token: str | None) -> dict[str, Any]:
    start = int(token or 0)
    more = {"nextPageToken": str(start + 2)} if start + 2 < len(rows) else {}
    return {key: rows[start : start + 2], **more}


def _lean(document: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in document.items() if v is not None and v is not False}


def clubs_list(db: Any, pageToken: str | None = None) -> Any:
    rows = db.execute("SELECT id, name, room, open, size FROM club ORDER BY name, id").fetchall()
    return _paged(
        [
            _lean({"id": i, "name": n, "details": {"room": r} if r else None, "open": bool(o), "size": s})
            for i, n, r, o, s in rows
        ],
        "clubs",
        pageToken,
    )


def _chore(db: Any, row: Any) -> dict[str, Any]:
    club, own, title, state, points, due, note, urgent = row
    guests = [
        _lean({"email": e, "answer": a})
        for e, a in db.execute(
            "SELECT email, answer FROM guest WHERE club_id = ? AND chore_id = ? ORDER BY email", (club, own)
        )
    ]
    return _lean(
        {
            "clubId": club,
            "id": own,
            "title": title,
            "state": state,
            "points": points,
            "due": due,
            "note": note,
            "urgent": bool(urgent),
            "guests": guests or None,
        }
    )


def chores_list(db: Any, clubId: str, states: Any = ("PUBLISHED",), pageToken: str | None = None) -> Any:
    rows = db.execute("SELECT * FROM chore WHERE club_id = ? ORDER BY title, id", (clubId,)).fetchall()
    return _paged([_chore(db, r) for r in rows if r[3] in states], "chores", pageToken)


def chores_get(db: Any, clubId: str, id: str) -> Any:
    row = db.execute("SELECT * FROM chore WHERE club_id = ? AND id = ?", (clubId, id)).fetchone()
    if row is None:
        raise ToolError("NOT_FOUND", f"no chore {id}")
    return _chore(db, row)


def entries_list(db: Any, clubId: str, choreId: str, pageToken: str | None = None) -> Any:
    rows = db.execute(
        "SELECT * FROM entry WHERE club_id = ? AND (chore_id = ? OR ? = '-') ORDER BY id", (clubId, choreId, choreId)
    )
    return _paged(
        [_lean({"clubId": c, "choreId": t, "id": i, "who": w, "minutes": m}) for c, t, i, w, m in rows.fetchall()],
        "entries",
        pageToken,
    )


def chores_create(
    db: Any,
    clubId: str,
    title: str,
    state: str = "PUBLISHED",
    points: float | None = None,
    due: str | None = None,
    note: str | None = None,
    urgent: bool = False,
) -> Any:
    db.execute("UPDATE _sequence SET value = value + 1 WHERE name = 'chore'")
    own = f"t{db.execute('SELECT value FROM _sequence').fetchone()[0]}"
    db.execute(
        "INSERT INTO chore VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (clubId, own, title, state, points, due, note, int(urgent))
    )
    return chores_get(db, clubId, own)


def chores_patch(db: Any, clubId: str, id: str, updateMask: str, guests: Any = None, **fields: Any) -> Any:
    chores_get(db, clubId, id)
    for name in updateMask.split(","):
        if name == "guests":
            db.execute("DELETE FROM guest WHERE club_id = ? AND chore_id = ?", (clubId, id))
            db.executemany(
                "INSERT INTO guest VALUES (?, ?, ?, ?)",
                [(clubId, id, g["email"], g.get("answer")) for g in guests or []],
            )
        else:
            db.execute(f"UPDATE chore SET {name} = ? WHERE club_id = ? AND id = ?", (fields.get(name), clubId, id))
    return chores_get(db, clubId, id)


def chores_archive(db: Any, clubId: str, id: str) -> Any:
    if chores_get(db, clubId, id)["state"] != "PUBLISHED":
        raise ToolError("FAILED_PRECONDITION", "only published chores can be archived")
    db.execute("UPDATE chore SET state = 'ARCHIVED' WHERE club_id = ? AND id = ?", (clubId, id))
    return {}


def chores_delete(db: Any, clubId: str, id: str) -> Any:
    chores_get(db, clubId, id)
    for table, column in (("chore", "id"), ("entry", "chore_id"), ("guest", "chore_id")):
        db.execute(f"DELETE FROM {table} WHERE club_id = ? AND {column} = ?", (clubId, id))
    return {}


TOOLS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        clubs_list,
        chores_list,
        chores_get,
        entries_list,
        chores_create,
        chores_patch,
        chores_archive,
        chores_delete,
    )
}

CLUBS = [
    ("c1", "Biology 10B", "Lab 1", 1, 12, "x"),
    ("c2", "Biology 10A", None, 0, None, "x"),
    ("c3", "Chess", "Hall", 1, 7, "x"),
]
CHORES = [
    ("c1", "t1", "Essay", "PUBLISHED", 10.0, "2026-11-02T08:00:00Z", None, 0),
    ("c1", "t2", "Poster", "DRAFT", None, None, "later", 1),
    ("c1", "t3", "Lab report", "PUBLISHED", 7.5, "2026-11-05T23:30:00Z", "bring 3 pens", 1),
    ("c1", "t4", "Quiz", "ARCHIVED", 0.0, None, None, 0),
    ("c2", "t1", "Essay", "PUBLISHED", 10.0, None, None, 0),
    ("c3", "t9", "Opening", "PUBLISHED", 3.0, "2026-11-03T10:00:00Z", None, 0),
]
ENTRIES = [
    ("c1", "t1", "e1", "ann@x.org", 30),
    ("c1", "t1", "e2", "bob@x.org", None),
    ("c1", "t3", "e3", "ann@x.org", 45),
    ("c1", "t3", "e4", None, 20),
    ("c2", "t1", "e5", "cem@x.org", 10),
    ("c3", "t9", "e6", "ann@x.org", 5),
    ("c1", "t1", "e7", "dee@x.org", 30),
]
GUESTS = [("c1", "t1", "ann@x.org", "yes"), ("c1", "t1", "bob@x.org", None), ("c3", "t9", "ann@x.org", "no")]


def state(
    clubs: Any = CLUBS, chores: Any = CHORES, entries: Any = ENTRIES, guests: Any = GUESTS, files: Any = None
) -> State:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(SCHEMA)
    for table, rows in (("club", clubs), ("chore", chores), ("entry", entries), ("guest", guests)):
        if rows:
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    out = State(
        db.serialize(),
        dict(files or {"notes.txt": b"buy chalk\n", "inbox/hours.csv": b"who,minutes\nann@x.org,30\nzoe@x.org,\n"}),
    )
    db.close()
    return out
