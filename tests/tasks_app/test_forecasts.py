"""Forecasts, outlines, measures and trust: pure readings, tested without a database."""

from __future__ import annotations

from tasks_app import outline
from tasks_app.forecasts import Point, forecast
from tasks_app.measures import read_measures, read_proof
from tasks_app.plans import algebra
from tasks_app.plans.algebra import Effect, FileReport, Plan, Trap, col, lit
from tasks_app.trust import trust
from tests.factory import task

POINTS = [Point(100, 10, 10_000, 1_000, 10, 0.5), Point(200, 12, 20_000, 3_000, 20, 0.8)]


def test_a_forecast_between_points_lies_on_their_line() -> None:
    found = forecast(POINTS, 150, 11)
    assert (found.database_bytes, found.tokens, found.beyond) == (15_000, 2_000, False)


def test_a_forecast_beyond_goes_on_and_says_so() -> None:
    found = forecast(POINTS, 300, 11)
    assert (found.tokens, found.beyond) == (5_000, True)


def test_what_was_never_measured_stays_unknown() -> None:
    found = forecast([Point(100, 10)], 300, 11)
    assert (found.tokens, found.database_bytes) == (None, None)
    assert read_measures({}).tokens is None


def test_kilobytes_and_bytes_are_both_read() -> None:
    assert read_measures({"db_kb": 99.5}).database_bytes == 99_500
    assert read_measures({"db_bytes": 7, "db_kb": 99}).database_bytes == 7


def test_a_proof_is_read_in_the_order_of_its_rules() -> None:
    lines = read_proof([[2, "b", False, "x"], {"rule": 1, "name": "a", "held": True}])
    assert [(line.rule, line.held) for line in lines] == [(1, True), (2, False)]


def test_trust_holds_only_what_was_checked() -> None:
    spec = task("e" * 64)
    found = trust(spec, spec.measures["checks"], [("v0", read_proof(spec.measures["v0"]["proof"]))])
    assert found.held is True
    assert trust(spec, {}, []).held is None


def test_a_probe_that_passes_breaks_trust() -> None:
    spec = task("e" * 64)
    checks = {"probes": {"no_op": {"criterion": "the answer is right", "scales": ["v0"], "rejected": False}}}
    assert trust(spec, checks, []).held is False
    other = {"probes": {"no_op": {"criterion": "another", "scales": ["v0"], "rejected": True}}}
    assert trust(spec, other, []).held is False


def test_an_outline_names_each_part_of_a_plan() -> None:
    rows = algebra.where(
        algebra.scan("Book", "book"), ("or", algebra.eq("book.state", lit("OUT")), ("null", col("book.due")))
    )
    plan = Plan(
        "library",
        lets={"late": algebra.top(rows, (("book.due", "asc"),), 3)},
        effects=(Effect("update", "Book", "books_patch", algebra.use("late"), set={"state": lit("LOST")}),),
        files=(FileReport("late.csv", algebra.use("late"), (("title", "book.title"),), (("book.title", "asc"),)),),
        traps=(Trap("first_page", "first_page", "reads one page only", option="first_page"),),
    )
    said = str(outline.outline(plan))
    for words in (
        "Looked up",
        "the first",
        "3 by book.due rising",
        "is empty",
        "update Book",
        "leave late.csv",
        "one page only",
    ):
        assert words in said
