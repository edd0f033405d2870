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
        """sha256 over table contents and files. Two images with equal rows have equal digests."""
        digest = hashlib.sha256()
        for line in sorted(self._dump()):
            digest.update(line.encode())
        for path in sorted(self.files):
            digest.update(path.encode() + b"\0" + hashlib.sha256(self.files[path]).digest())
        return digest.hexdigest()

    def connect(self) -> sqlite3.Connection:
        """A private in-memory copy; the caller closes it."""
        connection = sqlite3.connect(":memory:")
        connection.deserialize(self.image)
        return connection

    def _dump(self) -> list[str]:
        connection = self.connect()
        try:
            return [line for line in connection.iterdump()]
        finally:
            connection.close()
