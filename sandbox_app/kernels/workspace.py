"""Workspace: the files of an episode, read and written by the host through a descriptor of their folder.

The code in the kernel owns these files and may change them while we read: every step down is an openat that follows no
link, only regular files are read, and what is read is bounded. So neither a link out of the workspace nor a pipe in it
reaches anything.

Limits: links, pipes, sockets and empty folders are no part of a State; names that are no UTF-8 are left out. Of a step
that changes thousands of files the first 2,000 are recorded as its changes; the State holds them all.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sandbox_app.trajectories import FileChange

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DEPTH, _PREVIEW = 32, 4_000
_RECORDED, _PREVIEWED = 2_000, 4 * 1024**2     # of the changes of one step: files, characters of all previews


class WorkspaceOverflow(Exception):
    """The files say they are larger than the quota (sparse files): they are not read."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells that a file has changed; ctime can't be set by the file's owner."""

    inode: int
    size: int
    changed: int


def write(folder: int, files: Mapping[str, bytes], uid: int | None) -> None:
    """Put `files` into the empty folder, owned by `uid`. Raises ValueError for a path that leaves it."""
    for path, body in files.items():
        parts = path.split("/")
        if not all(parts) or any(part in (".", "..") for part in parts):
            raise ValueError(f"{path!r} is no path inside a workspace")
        _write(folder, parts, body, uid)


def _write(folder: int, parts: list[str], body: bytes, uid: int | None) -> None:
    here = os.dup(folder)
    try:
        for part in parts[:-1]:
            try:
                os.mkdir(part, 0o755, dir_fd=here)
                if uid is not None:
                    os.chown(part, uid, uid, dir_fd=here, follow_symlinks=False)
            except FileExistsError:
                pass  # made for a file before
            below = os.open(part, _DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        target = os.open(parts[-1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644, dir_fd=here)
        with open(target, "wb") as file:
            file.write(body)
            if uid is not None:
                os.fchown(target, uid, uid)
    finally:
        os.close(here)


def scan(folder: int) -> dict[str, Stamp]:
    """The regular files and their stamps."""
    return {path: stamp for path, stamp, _, _ in _walk(folder, "", 0)}


def read(folder: int, bound: int) -> dict[str, bytes]:
    """All regular files. Raises `WorkspaceOverflow` when they hold more than `bound` bytes."""
    files: dict[str, bytes] = {}
    total = 0
    for path, stamp, here, name in _walk(folder, "", 0):
        total += stamp.size
        if total > bound:
            raise WorkspaceOverflow(f"the files of the workspace hold more than {bound} bytes")
        body = _body(here, name, stamp.size)
        if body is not None:
            files[path] = body
    return files


def changes(folder: int, before: Mapping[str, Stamp], after: Mapping[str, Stamp]) -> tuple[FileChange, ...]:
    """What differs between two scans, with the beginning of what is there now; of a flood, as much as can be shown."""
    found = [FileChange(path, "removed", 0, "") for path in before if path not in after][:_RECORDED]
    left = _PREVIEWED
    for path, stamp, here, name in _walk(folder, "", 0):
        if path not in after or before.get(path) == after[path]:
            continue
        if len(found) >= 2 * _RECORDED:
            break
        text = preview(_body(here, name, _PREVIEW * 4) or b"") if left > 0 else ""
        left -= len(text)
        found.append(FileChange(path, "changed" if path in before else "added", stamp.size, text))
    return tuple(sorted(found, key=lambda change: change.path))


def preview(body: bytes) -> str:
    """The first characters of a text; "" for what is no text."""
    if b"\0" in body:
        return ""
    return body.decode("utf-8", errors="replace")[:_PREVIEW]


def _walk(folder: int, prefix: str, depth: int) -> Iterator[tuple[str, Stamp, int, str]]:
    """(path, stamp, descriptor of its folder, name) of each regular file; the descriptor holds while it is yielded."""
    if depth > _DEPTH:
        return
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        try:
            name.encode()
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (OSError, UnicodeEncodeError):
            continue  # gone meanwhile, or no name we can keep
        if stat.S_ISREG(found.st_mode):
            yield prefix + name, Stamp(found.st_ino, found.st_size, found.st_ctime_ns), folder, name
        elif stat.S_ISDIR(found.st_mode):
            try:
                below = os.open(name, _DIRECTORY, dir_fd=folder)
            except OSError:
                continue  # gone, a link by now, or shut to us
            try:
                yield from _walk(below, f"{prefix}{name}/", depth + 1)
            finally:
                os.close(below)


def _body(folder: int, name: str, size: int) -> bytes | None:
    """At most `size` bytes of a regular file; None when it is none any more."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(size)
