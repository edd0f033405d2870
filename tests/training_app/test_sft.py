"""SFT in its subprocess: it learns, resumes exactly, twice in a row, stops when asked, refuses with a sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.training_app.lab import ROOT, Lab, lines, result
from training_app import model
from training_app.configs import SftConfig
from training_app.folders import RunFolder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


def config(lab: Lab, **changes: object) -> dict[str, object]:
    values = {"epochs": 3, "batch": 8, "learning_rate": 5e-3, "save_every": 4, **changes}
    return SftConfig(str(lab.base), str(lab.snapshot(4)), **values).to_json()  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def whole(lab: Lab) -> Path:
    return lab.run("training_app.sft", "whole", config(lab))


def test_weights_change_and_the_loss_falls(lab: Lab, whole: Path) -> None:
    found = result(whole)
    assert found["status"] == "finished", found
    assert found["loss_last"] < 0.7 * found["loss_first"]
    last = RunFolder(whole).last_checkpoint()
    assert last is not None
    assert model.digest_of(last) != model.digest_of(lab.base)
    assert len(lines(whole, "step")) == found["steps"] == 12


def test_a_checkpoint_is_whole_and_holds_the_tokenizer_it_was_trained_with(lab: Lab, whole: Path) -> None:
    last = RunFolder(whole).last_checkpoint()
    assert last is not None
    assert (last / "tokenizer.json").read_bytes() == (lab.base / "tokenizer.json").read_bytes()
    assert (last / "chat_template.jinja").read_bytes() == (lab.base / "chat_template.jinja").read_bytes()
    assert not list((whole / "checkpoints").glob(".*"))


def interrupted(lab: Lab, name: str, settings: dict[str, object], after: int) -> Path:
    """Run until a step was logged, then SIGTERM."""
    folder = lab.path / "runs" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (folder / "log.txt").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "training_app.sft", "--config", str(folder / "config.json"), "--out", str(folder)],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=log,
        )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and child.poll() is None:
            if (folder / "metrics.jsonl").exists() and any(row["step"] >= after for row in lines(folder, "step")):
                break
            time.sleep(0.005)
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0
    return folder


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_a_run_resumes_exactly_twice_in_a_row(lab: Lab, whole: Path, lora_rank: int) -> None:
    settings = config(lab, lora_rank=lora_rank)
    if lora_rank:
        whole = lab.run("training_app.sft", f"whole-{lora_rank}", settings)
    folder = interrupted(lab, f"broken-{lora_rank}", settings, 3)
    assert result(folder)["status"] == "stopped"
    interrupted(lab, f"broken-{lora_rank}", settings, result(folder)["steps"] + 2)
    lab.run("training_app.sft", f"broken-{lora_rank}", settings)
    assert result(folder)["status"] == "finished"
    assert len(lines(folder, "resumed")) >= 1
    ends = [RunFolder(path).last_checkpoint() for path in (whole, folder)]
    assert ends[0] is not None
    assert ends[1] is not None
    assert model.digest_of(ends[0]) == model.digest_of(ends[1])
    assert result(folder)["tokens"] == result(whole)["tokens"]


def test_no_room_on_the_disk_is_refused_with_a_sentence(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import shutil
    from collections import namedtuple

    from training_app.errors import NoSpace

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 1_000))
    with pytest.raises(NoSpace, match="Free some space"):
        RunFolder(tmp_path).check_space(10)


def test_nothing_to_train_on_is_refused_with_a_sentence(lab: Lab) -> None:
    folder = lab.run("training_app.sft", "short", config(lab, max_length=8))
    assert result(folder)["status"] == "refused"
    assert "No example is left to train on" in result(folder)["error"]
    assert not list((folder / "checkpoints").iterdir())


def test_an_unknown_setting_is_refused(lab: Lab) -> None:
    folder = lab.run("training_app.sft", "typo", {**config(lab), "learning_rat": 1})
    assert "learning_rat" in result(folder)["error"]
