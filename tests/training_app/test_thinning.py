"""Thinning: fewer points, the extremes among them, in order."""

from __future__ import annotations

from training_app.thinning import thin


def test_extremes_and_ends_are_kept_in_order() -> None:
    points = [{"step": n, "loss": 1.0 + (n % 7) / 10} for n in range(5_000)]
    points[1234] = {"step": 1234, "loss": 99.0}
    points[2345] = {"step": 2345, "loss": -1.0}
    drawn = thin(points, 200, "loss")
    assert len(drawn) <= 202
    assert {1234, 2345, 0, 4_999} <= {point["step"] for point in drawn}
    assert [point["step"] for point in drawn] == sorted(point["step"] for point in drawn)


def test_a_short_curve_is_left_as_it_is_and_other_lines_stay() -> None:
    points = [{"step": 1, "loss": 1.0}, {"kind": "resumed", "step": 1}]
    assert thin(points, 2_000, "loss") == points
