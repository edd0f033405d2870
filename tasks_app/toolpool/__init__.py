"""ToolPool: readers that turn published descriptions of tools into ToolDocuments, chosen by content, never by name.

A reader says whether a parsed document is of its format (`sniffs`) and reads it (`read`). Sources are files, or
documents that an installed package carries (`classroom:v1`); nothing is fetched from a network.
"""

from __future__ import annotations

from typing import Any, Protocol

from tasks_app.toolpool.discovery import DiscoveryReader
from tasks_app.toolpool.sources import Source, load
from tasks_app.tools import ToolDocument, ToolSourceError


class ToolPool(Protocol):
    """What a reader of one format offers."""

    format: str

    def sniffs(self, document: Any) -> bool:
        """Whether this parsed JSON is of the reader's format."""
        ...

    def read(self, document: Any, source: Source) -> ToolDocument:
        """The whole document, or ToolSourceError."""
        ...


READERS: tuple[ToolPool, ...] = (DiscoveryReader(),)


def read_source(spec: str) -> ToolDocument:
    """Read one source: a path, or a package document such as "classroom:v1". Raises ToolSourceError."""
    source, document = load(spec)
    for reader in READERS:
        if reader.sniffs(document):
            return reader.read(document, source)
    raise ToolSourceError(
        f"No reader knows this kind of document; its top level holds {_top_level(document)}",
        where=source.label,
        remedy=f"Give a document of a known format: {', '.join(reader.format for reader in READERS)}.",
    )


def _top_level(document: Any) -> str:
    if isinstance(document, dict):
        return ", ".join(repr(str(key)[:40]) for key in list(document)[:8]) or "nothing"
    return f"a {type(document).__name__}"
