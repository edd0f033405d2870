"""Database: the tables of one episode, in memory, with the rows that each step changed.

The image of a State is restored by `deserialize`; an SQLite session records changes while a step runs. Tables whose
name begins with "_" are the environment's own book-keeping and are left out of what is shown.
"""

from __future__ import annotations

from typing import Any

import apsw

from sandbox_app.trajectories import RowChange
from tasks_app.environments.connection import ApswConnection

_ROOM = 64 * 1024**2         # bytes that the tables may grow by in an episode
_ROWS, _TEXT, _SHOWN = 5_000, 2_000, 8 * 1024**2  # of the changes of one step: rows, characters a value, all together


class Database:
    """One connection, used by one thread at a time. The tables grow by at most `_ROOM`: then apsw.FullError."""

    def __init__(self, image: bytes) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.deserialize("main", image)
        self.connection.execute("PRAGMA foreign_keys = ON")
        pages, size = (int(self.connection.pragma(name)) for name in ("page_count", "page_size"))
        self.connection.pragma("max_page_count", pages + _ROOM // size)
        self.tools = ApswConnection(self.connection)   # what tool functions get
        self._columns: dict[str, list[str]] = {}
        self._session: apsw.Session | None = None

    def begin(self) -> None:
        """Start to record changes."""
        session = apsw.Session(self.connection, "main")
        session.config(apsw.SQLITE_SESSION_OBJCONFIG_ROWID, True)
        session.attach()
        self._session = session

    def end(self) -> tuple[RowChange, ...]:
        """The rows that differ since `begin`, by table and key; of a flood, as many as a person could look at."""
        if self._session is None:
            return ()
        changeset = self._session.changeset()
        self._session.close()
        self._session = None
        changes: list[RowChange] = []
        left = _SHOWN
        for change in apsw.Changeset.iter(changeset):
            if change.name.startswith("_"):
                continue
            changes.append(self._change(change))
            left -= sum(len(v) for row in (changes[-1].before, changes[-1].after) if row
                        for v in row.values() if isinstance(v, str | bytes))
            if left < 0 or len(changes) == _ROWS:
                break
        return tuple(sorted(changes, key=lambda change: (change.table, [str(v) for v in change.key.values()])))

    def image(self) -> bytes:
        return self.connection.serialize("main")

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
        self.connection.close()

    def _change(self, change: apsw.TableChange) -> RowChange:
        columns = self._names(change.name, change.column_count)
        before = _row(columns, change.old) if change.old is not None else None
        after = _row(columns, change.new) if change.new is not None else None
        whole = before if before is not None else after or {}
        key = {columns[index]: whole[columns[index]] for index in sorted(change.pk_columns) if columns[index] in whole}
        return RowChange(change.name, key, before, after)

    def _names(self, table: str, count: int) -> list[str]:
        if table not in self._columns:
            rows = self.connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
            self._columns[table] = [str(row[0]) for row in rows]
        names = self._columns[table]
        return names if len(names) == count else ["_rowid_", *names]  # a table without a primary key


def _row(columns: list[str], values: tuple[Any, ...]) -> dict[str, Any]:
    """The columns a change speaks of; of an update that is the key and what has changed. Long texts are cut."""
    return {name: _cut(value) for name, value in zip(columns, values, strict=True) if value is not apsw.no_change}


def _cut(value: Any) -> Any:
    long = isinstance(value, str) and len(value) > _TEXT
    return f"{value[:_TEXT]}… ({len(value):,} characters)" if long else value
