"""Blobs: bulky bodies, zstd-compressed files named by the sha256 of what they hold, under <root>/ab/cd…

Written to a temporary name and renamed, so that a reader sees all of a blob or none of it. Pure: the root is passed
in; `tasks_app.services.blobs()` gives the studio's own. Limits: nothing is collected here.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import zstandard

NAME = re.compile(r"^[0-9a-f]{64}$")


class BlobMissing(LookupError):
    """No blob of that name is stored, or what is stored is not what its name says."""


@dataclass(frozen=True, slots=True)
class Blobs:
    root: Path

    def path(self, name: str) -> Path:
        if not NAME.match(name):
            raise BlobMissing(f"{name!r} is not the name of a blob (64 hex digits)")
        return self.root / name[:2] / name[2:4] / name

    def put(self, body: bytes) -> str:
        """Store `body` and return its sha256; storing it twice stores it once."""
        name = hashlib.sha256(body).hexdigest()
        path = self.path(name)
        if path.exists():
            return name
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(zstandard.ZstdCompressor(level=3).compress(body))
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return name

    def get(self, name: str) -> bytes:
        """The bytes stored under `name`. Raises BlobMissing when absent or damaged."""
        try:
            packed = self.path(name).read_bytes()
        except FileNotFoundError as error:
            raise BlobMissing(f"blob {name} is not stored under {self.root}") from error
        try:
            body = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        except zstandard.ZstdError as error:
            raise BlobMissing(f"blob {name} under {self.root} is damaged: {error}") from error
        if hashlib.sha256(body).hexdigest() != name:
            raise BlobMissing(f"blob {name} under {self.root} does not hold what its name says")
        return body
