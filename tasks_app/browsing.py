"""Looking into a State: its tables a page at a time, its files as bounded previews. Pure.

Nothing here trusts what it shows: names of tables and columns are quoted, values are cut, binary files are only named.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks_app.environments.state import State

ROWS_A_PAGE = 50
CELL_AT_MOST = 300  # characters of a value in a list
PREVIEW_AT_MOST = 60_000  # characters of a file


@dataclass(frozen=True, slots=True)
class TableSize:
    name: str
    rows: int


@dataclass(frozen=True, slots=True)
class TablePage:
    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class FileEntry:
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Preview:
    path: str
    size: int
    text: str | None  # None: not text
    cut: bool
    language: str


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _names(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    return [name for (name,) in rows if not name.startswith(("_", "sqlite_"))]


def table_sizes(state: State) -> tuple[TableSize, ...]:
    """Every entity table with its number of rows, the fullest first. Meta tables ("_…") are left out."""
    connection = state.connect()
    try:
        sizes = [
            TableSize(name, connection.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()[0])
            for name in _names(connection)
        ]
    finally:
        connection.close()
    return tuple(sorted(sizes, key=lambda size: (-size.rows, size.name)))


def _cut(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, str) and len(value) > CELL_AT_MOST:
        return value[:CELL_AT_MOST] + "…"
    return value


def table_page(state: State, name: str, offset: int = 0, size: int = ROWS_A_PAGE) -> TablePage:
    """Rows `offset`… of a table in the order of its key. Raises KeyError when there is no such table."""
    connection = state.connect()
    try:
        if name not in _names(connection):
            raise KeyError(f"there is no table {name!r}")
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(name)})")]
        keys = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(name)})") if row[5]]
        order = ", ".join(quoted(key) for key in keys or columns[:1])
        query = f"SELECT * FROM {quoted(name)} ORDER BY {order} LIMIT ? OFFSET ?"
        rows = connection.execute(query, (size, max(offset, 0))).fetchall()
        total = connection.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()[0]
    finally:
        connection.close()
    return TablePage(name, tuple(columns), tuple(tuple(_cut(v) for v in row) for row in rows), total, max(offset, 0))


def files(state: State) -> tuple[FileEntry, ...]:
    return tuple(FileEntry(path, len(state.files[path])) for path in sorted(state.files))


LANGUAGES = {".json": "json", ".py": "python", ".sql": "sql", ".md": "markdown"}


def preview(path: str, body: bytes) -> Preview:
    """The beginning of a file as text, or only its size when it is none."""
    language = LANGUAGES.get(path[path.rfind(".") :] if "." in path else "", "text")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return Preview(path, len(body), None, False, language)
    return Preview(path, len(body), text[:PREVIEW_AT_MOST], len(text) > PREVIEW_AT_MOST, language)


def growth_by_table(states: Sequence[tuple[str, State]]) -> list[tuple[str, list[int]]]:
    """For each table its rows in each of the named states, tables that never change last."""
    sizes = [{size.name: size.rows for size in table_sizes(state)} for _, state in states]
    names = sorted({name for counts in sizes for name in counts})
    lines = [(name, [counts.get(name, 0) for counts in sizes]) for name in names]
    return sorted(lines, key=lambda item: (len(set(item[1])) == 1, -max(item[1]), item[0]))
