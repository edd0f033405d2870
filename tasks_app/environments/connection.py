"""The connection protocol of tools.py, and apsw behind it.

Tools call `execute(sql, parameters)` and `executemany`, and read rows as tuples; `sqlite3.Connection` fits as it is.
apsw (session changesets, limits, interrupts) hands out cursors from `cursor()`, so it gets this thin adapter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import apsw


class Cursor(Protocol):
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """What a tool may use of a database."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Cursor: ...


class ApswConnection:
    """An apsw connection as tools.py wants it; a fresh cursor for each statement, errors passed on as they are."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> apsw.Cursor:
        return self.connection.cursor().execute(sql, tuple(parameters))

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]]) -> apsw.Cursor:
        return self.connection.cursor().executemany(sql, (tuple(row) for row in parameters))
