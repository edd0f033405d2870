"""Snapshot folder: approved trajectories, frozen. `train.jsonl`, `validation.jsonl`, `manifest.json`, named by hash.

Split by lineage: all that grew from one base task (every scale and seed of it) goes to one side. Lineages of the test
split never enter, whoever asks. The folder is written beside its final name and renamed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training_app.errors import Refused
from training_app.examples import Record, record_from_json

VERSION = 1
VALIDATION_SHARE = 0.1
PARTS = ("train", "validation")


@dataclass(frozen=True, slots=True)
class Written:
    """What `write` made: the digest is over the manifest, which holds the hashes of the parts."""

    digest: str
    folder: Path
    train: int
    validation: int


def side(lineage: str, share: float = VALIDATION_SHARE) -> str:
    """Which part a lineage belongs to; stable for ever, whatever else is in the snapshot."""
    point = int.from_bytes(hashlib.sha256(f"snapshot:{lineage}".encode()).digest()[:8]) / 2**64
    return "validation" if point < share else "train"


def split(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records by part, in the order of their episodes. A snapshot too small for a validation part has none."""
    parts: dict[str, list[Record]] = {name: [] for name in PARTS}
    for record in sorted(records, key=lambda one: (one.task, one.scale, one.seed, one.episode)):
        parts[side(record.lineage)].append(record)
    if not parts["train"]:
        parts = {"train": parts["validation"], "validation": []}
    return parts


def write(records: Sequence[Record], root: Path, *, filters: dict[str, Any], left_out: dict[str, int]) -> Written:
    """Write the snapshot under `root`/<digest>. Raises `Refused` when there is nothing to write."""
    if not records:
        reasons = "; ".join(f"{count} {reason}" for reason, count in sorted(left_out.items())) or "no episode matched"
        raise Refused(
            f"There is nothing to train on: {reasons}. Approve passed episodes in Review, or widen the filter."
        )
    parts = split(records)
    bodies = {name: _lines(parts[name]) for name in PARTS}
    manifest = {
        "version": VERSION,
        "parts": {
            name: {"rows": len(parts[name]), "sha256": hashlib.sha256(bodies[name]).hexdigest()} for name in PARTS
        },
        "lineages": {name: sorted({record.lineage for record in parts[name]}) for name in PARTS},
        "filters": filters,
        "left_out": left_out,
    }
    text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False).encode()
    digest = hashlib.sha256(text).hexdigest()
    folder = root / digest
    if not folder.is_dir():
        _write_folder(folder, bodies, text)
    return Written(digest, folder, len(parts["train"]), len(parts["validation"]))


def _write_folder(folder: Path, bodies: dict[str, bytes], manifest: bytes) -> None:
    staging = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    for name, body in bodies.items():
        (staging / f"{name}.jsonl").write_bytes(body)
    (staging / "manifest.json").write_bytes(manifest)
    staging.rename(folder)


def _lines(records: Sequence[Record]) -> bytes:
    return b"".join(
        json.dumps(record.to_json(), ensure_ascii=False, sort_keys=True).encode() + b"\n" for record in records
    )


def read(folder: Path, part: str) -> list[Record]:
    """Records of one part, after its hash was compared with the manifest. Raises `Refused` when they differ."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if manifest["version"] != VERSION:
        raise Refused(f"Snapshot {folder.name[:8]} has version {manifest['version']}; this code reads {VERSION}.")
    body = (folder / f"{part}.jsonl").read_bytes()
    if hashlib.sha256(body).hexdigest() != manifest["parts"][part]["sha256"]:
        raise Refused(
            f"Snapshot {folder.name[:8]} was changed after it was frozen: {part}.jsonl does not match its manifest. "
            "Make a new snapshot."
        )
    return [record_from_json(json.loads(line)) for line in body.splitlines()]
