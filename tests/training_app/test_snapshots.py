"""Snapshots: split by lineage, named by content, refused when empty or changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.training_app.lab import Lab
from training_app import snapshots
from training_app.errors import Refused
from training_app.examples import Record


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    base = Lab(tmp_path_factory.mktemp("lab")).records()[0]
    return [
        replace(
            base, episode=f"{lineage}-{scale}-{seed}", lineage=f"l{lineage}", task=f"t{lineage}", scale=scale, seed=seed
        )
        for lineage in range(40)
        for scale in ("v0", "v3")
        for seed in (1, 2)
    ]


def test_siblings_stay_together(records: list[Record]) -> None:
    parts = snapshots.split(records)
    sides = [{record.lineage for record in parts[name]} for name in snapshots.PARTS]
    assert sides[0]
    assert sides[1]
    assert not sides[0] & sides[1]
    assert sum(len(part) for part in parts.values()) == len(records)


def test_a_lineage_never_changes_sides(records: list[Record]) -> None:
    alone = {record.lineage: snapshots.side(record.lineage) for record in records}
    for name, part in snapshots.split(records[: len(records) // 2]).items():
        assert all(alone[record.lineage] == name for record in part)


def test_the_same_records_give_the_same_snapshot_in_any_order(records: list[Record], tmp_path: Path) -> None:
    first = snapshots.write(records, tmp_path, filters={}, left_out={})
    second = snapshots.write(records[::-1], tmp_path, filters={}, left_out={})
    assert first == second
    assert snapshots.write(records[:-1], tmp_path, filters={}, left_out={}).digest != first.digest


def test_what_is_read_is_what_was_written(records: list[Record], tmp_path: Path) -> None:
    written = snapshots.write(records, tmp_path, filters={}, left_out={})
    read = snapshots.read(written.folder, "train") + snapshots.read(written.folder, "validation")
    assert sorted(record.episode for record in read) == sorted(record.episode for record in records)


def test_a_changed_snapshot_is_refused(records: list[Record], tmp_path: Path) -> None:
    written = snapshots.write(records, tmp_path, filters={}, left_out={})
    path = written.folder / "train.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Leave", b"Leaves"))
    with pytest.raises(Refused, match="changed after it was frozen"):
        snapshots.read(written.folder, "train")


def test_an_empty_snapshot_is_refused_with_what_was_left_out(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="3 passed, not approved by a person"):
        snapshots.write([], tmp_path, filters={}, left_out={"passed, not approved by a person": 3})
    assert not list(tmp_path.iterdir())
