"""State: everything an environment holds at one moment: an SQLite image and the files of the workspace."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class State:
    """`image` is what `sqlite3.Connection.serialize()` gives; `files` maps POSIX paths in the workspace to bytes."""

    image: bytes
    files: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """sha256 over schema, rows (in the order of their values, so not of their insertion) and files."""
        digest = hashlib.sha256()
        connection = self.connect()
        try:
            objects = connection.execute(
                "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
            ).fetchall()
            for kind, name, sql in objects:
                digest.update(f"{kind} {name} {sql}\n".encode())
                if kind == "table":
                    _hash_rows(connection, name, digest)
        finally:
            connection.close()
        for path in sorted(self.files):
            digest.update(path.encode() + b"\0" + hashlib.sha256(self.files[path]).digest())
        return digest.hexdigest()

    def connect(self) -> sqlite3.Connection:
        """A private in-memory copy; the caller closes it."""
        connection = sqlite3.connect(":memory:")
        connection.deserialize(self.image)
        return connection


def _hash_rows(connection: sqlite3.Connection, table: str, digest: hashlib._Hash) -> None:
    columns = len(connection.execute(f'SELECT * FROM "{table}" LIMIT 0').description)
    order = ", ".join(str(number) for number in range(1, columns + 1))
    cursor = connection.execute(f'SELECT * FROM "{table}" ORDER BY {order}')
    while rows := cursor.fetchmany(2_000):
        digest.update(repr(rows).encode())
        digest.update(b"\n")
