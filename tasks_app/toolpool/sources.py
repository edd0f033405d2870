"""Where documents come from: files, and what the installed googleapiclient package carries (Apache-2.0).

Size is checked before a byte is parsed: the largest of the 610 Google documents is under 7 MB, so what is over the
bound is no description of tools. Limits: JSON only, UTF-8 only, nothing over the network.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks_app.tools import ToolSourceError

MAX_BYTES = 32 * 1024 * 1024
GOOGLE_DOCUMENTS = "googleapiclient/discovery_cache/documents"
GOOGLE_LICENCE = "Apache-2.0"
PACKAGE_DOCUMENT = re.compile(r"[a-z][a-z0-9]*:[A-Za-z0-9_.]+")


@dataclass(frozen=True, slots=True)
class Source:
    """A document's bytes named: `label` for people, `sha256` of the content, licence where it is known."""

    label: str
    sha256: str
    licence: str


def load(spec: str) -> tuple[Source, Any]:
    """The source named by a path or "name:version", and its parsed JSON. Raises ToolSourceError."""
    path, label, licence = _locate(spec)
    content = _content(path, label)
    source = Source(label, hashlib.sha256(content).hexdigest(), licence)
    return source, _parsed(content, label)


def _locate(spec: str) -> tuple[Path, str, str]:
    path = Path(spec)
    if not path.exists() and PACKAGE_DOCUMENT.fullmatch(spec):
        name = spec.replace(":", ".") + ".json"
        path = google_documents() / name
        if not path.is_file():
            raise ToolSourceError(
                f"The installed google-api-python-client carries no document {spec!r}",
                where=f"{GOOGLE_DOCUMENTS}/{name}",
                remedy=f"Known versions: {', '.join(_versions(spec.split(':')[0])) or 'none of this name'}.",
            )
    elif not path.is_file():
        raise ToolSourceError(
            f"There is no file {spec!r}",
            where=str(path.absolute().parent),
            remedy="Give the path of a JSON document, or a package document such as classroom:v1.",
        )
    if path.resolve().parent == google_documents().resolve():
        return path, f"{GOOGLE_DOCUMENTS}/{path.name}", GOOGLE_LICENCE
    return path, str(path), ""


def google_documents() -> Path:
    """The folder of documents of the installed google-api-python-client. Raises ToolSourceError without it."""
    package = importlib.util.find_spec("googleapiclient")
    if package is None or package.origin is None:
        raise ToolSourceError(
            "google-api-python-client is not installed",
            where="this environment",
            remedy="Install requirements.txt, or give the path of a document.",
        )
    return Path(package.origin).parent / "discovery_cache" / "documents"


def _versions(name: str) -> list[str]:
    return sorted(path.stem.replace(".", ":", 1) for path in google_documents().glob(f"{name}.*.json"))


def _content(path: Path, label: str) -> bytes:
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ToolSourceError(
            f"The document is {size / 1e6:.0f} MB, more than the {MAX_BYTES / 1e6:.0f} MB that are read",
            where=label,
            remedy="Split it, or give the description of one service only.",
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise ToolSourceError(
            f"The document can't be read: {error.strerror}",
            where=label,
            remedy="Check that the file exists and may be read.",
        ) from error


def _parsed(content: bytes, label: str) -> Any:
    try:
        return json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ToolSourceError(
            f"The document is not UTF-8 text: byte {error.start} can't be decoded",
            where=label,
            remedy="Give a JSON document in UTF-8.",
        ) from error
    except RecursionError as error:
        raise ToolSourceError(
            "The document is nested too deeply to be read",
            where=label,
            remedy="Give a description of tools; none is nested a thousand levels deep.",
        ) from error
    except json.JSONDecodeError as error:
        cut = error.pos >= len(content.decode("utf-8").rstrip()) - 1 or "Unterminated" in error.msg
        what = "The document ends in the middle: it is truncated" if cut else f"The document is not JSON: {error.msg}"
        raise ToolSourceError(
            what,
            where=f"{label}, line {error.lineno}, column {error.colno}",
            remedy="Fetch it anew and import it again; nothing was imported.",
        ) from error
