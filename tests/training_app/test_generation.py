"""Batched sampling: the same tokens alone and in company, and probabilities that are the model's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training_app.lab import Lab
from training_app.tokens import Codec


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


def test_a_request_samples_the_same_alone_and_in_company(lab: Lab) -> None:
    from training_app import generation, weights

    model, codec = weights.load(Path(lab.base)), Codec.load(lab.base)
    requests = [
        generation.Request(tuple(codec.encode("note " * (1 + index % 5))), index, 1.0 if index % 3 else 0.0, 12)
        for index in range(9)
    ]
    together = generation.generate(model, requests, end=codec.end_of_turn, pad=0)
    alone = [generation.generate(model, [one], end=codec.end_of_turn, pad=0)[0] for one in requests]
    assert [one.ids for one in together] == [one.ids for one in alone]


def test_log_probabilities_are_the_models_own(lab: Lab) -> None:
    import torch

    from training_app import generation, weights

    model, codec = weights.load(Path(lab.base)), Codec.load(lab.base)
    prompt = tuple(codec.encode("Leave a note"))
    sampled = generation.generate(
        model,
        [generation.Request(prompt, 5, 0.7, 10), generation.Request(prompt[:2], 6, 1.0, 10)],
        end=codec.end_of_turn,
        pad=0,
    )[0]
    with torch.no_grad():
        logits = model(torch.tensor([[*prompt, *sampled.ids]])).logits[0] / 0.7
    chances = torch.log_softmax(logits, -1)
    expected = [chances[len(prompt) - 1 + place, token].item() for place, token in enumerate(sampled.ids)]
    assert list(sampled.logprobs) == pytest.approx(expected, abs=1e-4)
