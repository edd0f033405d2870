"""Examples: over-long ones are left out whole, foreign ids are not used, the mask page shows every token."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.training_app.lab import Lab
from training_app.errors import Refused, TemplateRefused
from training_app.examples import build, pieces, record_from_json
from training_app.tokens import TEMPLATE_FILE, Codec


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def codec(lab: Lab) -> Codec:
    return Codec.load(lab.base)


def test_a_record_survives_its_json(lab: Lab) -> None:
    for record in lab.records():
        assert record_from_json(record.to_json()) == record


def test_an_over_long_example_is_left_out_and_counted_never_cut(lab: Lab, codec: Codec) -> None:
    whole = build(lab.records(), codec, max_length=4_096)
    longest = max(len(example.ids) for example in whole.kept)
    some = build(lab.records(), codec, max_length=longest - 1)
    cut = len(whole.kept) - len(some.kept)
    assert cut > 0
    assert some.left_out == {f"longer than {longest - 1} tokens": cut}
    assert {example.ids for example in some.kept} < {example.ids for example in whole.kept}


def test_recorded_ids_are_used_when_they_spell_the_text(lab: Lab, codec: Codec) -> None:
    record = lab.records()[0]
    last = len(record.messages) - 1
    odd = tuple(codec.encode(letter)[0] for letter in "Done.")
    kept = build([replace(record, sampled={last: (*odd, codec.end_of_turn)})], codec, max_length=4_096)
    assert kept.as_sampled == 1
    assert [token for token in kept.kept[0].labels if token != -100][-6:-1] == list(odd)


@pytest.mark.parametrize("ids", [(1, 2, 3), (10**6,)])
def test_ids_of_another_tokenizer_are_not_used(lab: Lab, codec: Codec, ids: tuple[int, ...]) -> None:
    record = lab.records()[0]
    kept = build([replace(record, sampled={len(record.messages) - 1: ids})], codec, max_length=4_096)
    assert kept.as_sampled == 0
    assert kept.kept[0].ids == build([record], codec, max_length=4_096).kept[0].ids


def test_the_mask_shows_every_token_once(lab: Lab, codec: Codec) -> None:
    record = lab.records()[0]
    messages = (*record.messages[:1], {"role": "user", "content": "Grüße 好🙂"}, *record.messages[2:])
    example = build([replace(record, messages=messages)], codec, max_length=4_096).kept[0]
    shown = pieces(example, codec)
    assert "".join(piece.text for piece in shown) == codec.decode(example.ids)
    assert "�" not in "".join(piece.text for piece in shown)
    assert "".join(piece.text for piece in shown if piece.trained).endswith("Done.<|im_end|>")


def test_a_template_from_which_no_mask_can_be_made_is_refused(lab: Lab, tmp_path: Path) -> None:
    for path in lab.base.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    plain = (
        (tmp_path / TEMPLATE_FILE).read_text().replace("{%- generation -%}", "").replace("{%- endgeneration -%}", "")
    )
    (tmp_path / TEMPLATE_FILE).write_text(plain)
    with pytest.raises(TemplateRefused, match="generation"):
        build(lab.records(), Codec.load(tmp_path), max_length=4_096)


def test_an_unknown_role_is_refused(lab: Lab) -> None:
    row = lab.records()[0].to_json()
    row["messages"][0]["role"] = "developer"
    with pytest.raises(Refused, match="developer"):
        record_from_json(row)
