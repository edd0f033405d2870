"""The base model: what we write is what transformers loads, and the same seed gives the same bytes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from training_app import model

TEXTS = ["print(tools.courses_list())", "Grade the essays."] * 20


@pytest.mark.parametrize("preset", ["tiny", "nano"])
def test_transformers_finds_nothing_missing_and_nothing_left_over(tmp_path: Path, preset: str) -> None:
    from transformers import AutoModelForCausalLM

    model.make_base(TEXTS, model.PRESETS[preset], tmp_path / "base")
    loaded, info = AutoModelForCausalLM.from_pretrained(tmp_path / "base", output_loading_info=True)
    assert not any(info.values())
    size = model.PRESETS[preset]
    unused = (size.vocabulary - loaded.config.vocab_size) * size.hidden
    assert sum(p.numel() for p in loaded.parameters()) == size.parameters - unused


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    made = [
        model.make_base(TEXTS, model.PRESETS["tiny"], tmp_path / str(n), seed=seed) for n, seed in enumerate((0, 0, 1))
    ]
    assert made[0] == made[1] != made[2]
    assert made[0] == model.digest_of(tmp_path / "0")


@pytest.mark.parametrize("preset", ["tiny", "nano", "mini"])
def test_an_untrained_base_copies_what_it_has_seen_before(tmp_path: Path, preset: str) -> None:
    import torch

    from training_app import weights

    model.make_base([f"word{n} other{n * 7}" for n in range(3_000)], model.PRESETS[preset], tmp_path / "base")
    loaded = weights.load(tmp_path / "base")
    generator = torch.Generator().manual_seed(0)
    size = loaded.config.vocab_size
    seen = torch.randint(3, size, (4, 60), generator=generator)
    between = torch.randint(3, size, (4, 200), generator=generator)
    with torch.no_grad():
        logits = loaded(torch.cat([seen, between, seen], dim=1)).logits
    foretold = logits[:, 261:-1].argmax(-1)
    assert (foretold == seen[:, 2:]).float().mean() > 0.3


def test_a_base_asked_for_twice_at_once_is_made_once_and_leaves_nothing_beside(tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        made = pool.map(lambda _: model.make_base(TEXTS, model.PRESETS["tiny"], tmp_path / "base", seed=1), range(3))
        digests = set(made)
    assert len(digests) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["base"]
