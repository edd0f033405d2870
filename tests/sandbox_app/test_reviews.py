"""What reviews come to, decided purely."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sandbox_app.reviews import Judgement, Standing, pin, seen_token, standing


def said(reviewer: int, decision: str, *, verifier: str = "v1", undone: bool = False) -> Judgement:
    return Judgement(reviewer, decision, verifier, undone)


def test_nobodys_word_is_waiting() -> None:
    assert standing([]) is Standing.WAITING
    assert standing([said(1, "skip"), said(2, "skip")]) is Standing.WAITING


def test_one_word_stands() -> None:
    assert standing([said(1, "approve")]) is Standing.APPROVED
    assert standing([said(1, "reject"), said(2, "skip")]) is Standing.REJECTED


def test_disagreement_is_open_and_never_final() -> None:
    assert standing([said(1, "approve"), said(2, "reject")]) is Standing.OPEN
    assert standing([said(1, "approve"), said(2, "approve"), said(3, "reject")]) is Standing.OPEN


def test_undone_reviews_do_not_count() -> None:
    assert standing([said(1, "approve"), said(2, "reject", undone=True)]) is Standing.APPROVED


def test_reviews_of_another_verifier_do_not_count() -> None:
    judgements = [said(1, "approve", verifier="v1"), said(2, "reject", verifier="v2")]
    assert standing(judgements, "v2") is Standing.REJECTED
    assert standing(judgements, "v3") is Standing.WAITING


@given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from(["approve", "reject", "skip"]), st.booleans())))
def test_standing_does_not_depend_on_order(rows: list[tuple[int, str, bool]]) -> None:
    judgements = [said(who, what, undone=undone) for who, what, undone in rows]
    assert standing(judgements) is standing(reversed(judgements))


def test_pins_and_tokens_name_sets() -> None:
    assert pin(["b", "a"]) == pin(["a", "b"])
    assert pin(["a"]) != pin(["a", "b"])
    assert seen_token([2, 1]) == seen_token([1, 2])
    assert seen_token([]) != seen_token([1])
