"""Metrics: intervals, pass@k and the paired test against known values; controls decide whether it counts."""

from __future__ import annotations

import pytest

from training_app.evaluation import (
    NO_OP,
    REFERENCE,
    Entry,
    binomial_two_sided,
    paired,
    pass_at_k,
    pass_hat_k,
    rate,
    summarise,
    void_reasons,
    wilson,
)


def entries(policy: str, rewards: list[float | None], tier: str = "primer") -> list[Entry]:
    return [Entry(policy, f"t{n}/v0/1", tier, reward) for n, reward in enumerate(rewards)]


CONTROLS = entries(REFERENCE, [1.0] * 4) + entries(NO_OP, [0.0] * 4)


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (44, 200, 0.1682, 0.2822),
    ],
)
def test_wilson_gives_the_published_interval(passed: int, n: int, low: float, high: float) -> None:
    assert wilson(passed, n) == pytest.approx((low, high), abs=2e-4)


def test_infrastructure_leaves_n_and_is_counted() -> None:
    found = rate(entries("x", [1.0, 0.0, None, None]))
    assert (found.passed, found.n, found.infrastructure, found.rate) == (1, 2, 2, 0.5)


def test_a_rate_of_nothing_is_unknown_not_nought() -> None:
    assert rate(entries("x", [None])).rate is None


def test_pass_at_k_and_pass_hat_k() -> None:
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_at_k(10, 3, 5) == pytest.approx(1 - 21 / 252)
    assert pass_at_k(4, 4, 2) == 1.0
    assert pass_hat_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_hat_k(10, 3, 2) == pytest.approx(3 / 45)
    with pytest.raises(ValueError, match="k must be"):
        pass_at_k(3, 1, 4)


def test_the_paired_test_counts_only_what_both_were_scored_on() -> None:
    found = paired(entries("a", [1.0, 0.0, 0.0, None, 0.0]), entries("b", [0.0, 1.0, 1.0, 1.0, 1.0]))
    assert (found.only_first, found.only_second, found.both_scored) == (1, 3, 4)
    assert found.p == pytest.approx(0.625)
    assert binomial_two_sided(0, 10) == pytest.approx(2 / 1024)


def test_right_controls_leave_it_valid() -> None:
    assert void_reasons(CONTROLS) == []


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        (entries(REFERENCE, [1.0, 0.0]) + entries(NO_OP, [0.0]), "1 reference solutions did not pass"),
        (entries(REFERENCE, [1.0]) + entries(NO_OP, [1.0]), "1 tasks pass with nothing done"),
        (entries(REFERENCE, [1.0]), "control row no_op is missing"),
        (entries(REFERENCE, [None]) + entries(NO_OP, [0.0]), "ended as infrastructure"),
    ],
)
def test_wrong_controls_make_it_void_and_say_why(spoilt: list[Entry], reason: str) -> None:
    assert any(reason in why for why in void_reasons(spoilt))


def test_a_no_op_may_pass_where_nothing_was_to_do() -> None:
    idle = Entry(NO_OP, "idle/v0/1", "primer", 1.0, nothing_to_do=True)
    assert void_reasons([*CONTROLS, idle]) == []


def test_primers_and_tasks_are_never_added_up() -> None:
    found = summarise(
        [*CONTROLS, *entries("a", [1.0, 1.0]), *entries("a", [0.0], tier="task")], ["a", REFERENCE, NO_OP]
    )
    assert [(row["tier"], row["passed"], row["n"]) for row in found["rows"] if row["policy"] == "a"] == [
        ("primer", 2, 2),
        ("task", 0, 1),
    ]
