"""Content: proven packages and tasks as deterministic archives, one a domain, with a manifest of hashes.

    content/<domain>.zip     package/…  (the environment package)    tasks/<key>/…  (task folders, see tasks.py)
    content/manifest.json    archives with sha256, packages, counts, licences

An archive is unpacked once, to a folder named by its hash, by renaming a finished temporary folder: a killed start
leaves nothing half unpacked, and two starts at once end the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tasks_app.environments.package import FILES as PACKAGE_FILES
from tasks_app.tasks import TaskSpec, save_task

FORMAT = 1
_EPOCH = (1980, 1, 1, 0, 0, 0)


class ContentError(Exception):
    """Content that is missing or not what its manifest says: which file, and what to do."""


def write_archive(path: Path, package_folder: Path, tasks: Iterable[TaskSpec]) -> str:
    """Write one domain's archive; gives its sha256. The same package and tasks give the same bytes."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for task in tasks:
            save_task(task, root / "tasks" / task.key)
        (root / "package").mkdir()
        for file in PACKAGE_FILES:
            shutil.copyfile(package_folder / file, root / "package" / file)
        entries = sorted(entry.relative_to(root).as_posix() for entry in root.rglob("*") if entry.is_file())
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for entry in entries:
                info = zipfile.ZipInfo(entry, _EPOCH)
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(info, (root / entry).read_bytes(), compresslevel=9)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_manifest(content_dir: Path) -> dict[str, Any]:
    """Raises ContentError when there is none, or of another format."""
    path = content_dir / "manifest.json"
    if not path.exists():
        raise ContentError(f"{path} is not there; `python manage.py build_content` makes it")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        whole = isinstance(manifest["archives"], dict)
    except (ValueError, KeyError, TypeError) as error:
        raise ContentError(f"{path} is no manifest ({error}); check the repository out again") from error
    if not whole or manifest.get("format") != FORMAT:
        raise ContentError(f"{path} has format {manifest.get('format')}; this version reads {FORMAT}")
    return manifest


def unpack(content_dir: Path, data_dir: Path) -> list[tuple[Path, list[Path]]]:
    """Unpack every archive under `data_dir`/content; gives (package folder, its task folders). Idempotent.

    Raises ContentError when an archive is missing or its hash is not the manifest's.
    """
    found = []
    for name, expected in sorted(read_manifest(content_dir)["archives"].items()):
        archive = content_dir / name
        if not archive.exists():
            raise ContentError(f"{archive} is not there, though the manifest names it; check the repository out again")
        actual = hashlib.sha256(archive.read_bytes()).hexdigest()
        if actual != expected:
            raise ContentError(
                f"{archive} hashes to {actual[:12]}, the manifest says {expected[:12]}; check the repository "
                "out again, or run build_content"
            )
        folder = data_dir / "content" / f"{archive.stem}-{expected[:16]}"
        if not folder.exists():
            _extract(archive, folder)
        found.append((folder / "package", sorted(path for path in (folder / "tasks").iterdir() if path.is_dir())))
    return found


def _extract(archive: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as name:
        inner = Path(name) / "content"
        try:
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(inner)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise ContentError(f"{archive} is damaged ({error}); check the repository out again") from error
        (inner / "tasks").mkdir(exist_ok=True)
        try:
            os.rename(inner, folder)
        except OSError:
            if not folder.exists():  # else another start was faster, with the same bytes
                raise
