"""Plans on the hand-made school: types, visibility, programs, effects of each kind, tolerant reports and answers."""

from __future__ import annotations

import dataclasses
import json
from typing import Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks_app.environments.state import State
from tasks_app.plans.algebra import (
    Answer,
    Effect,
    FileReport,
    Plan,
    PlanError,
    cmp,
    col,
    eq,
    extend,
    file,
    fn,
    from_json,
    group,
    join,
    lit,
    scan,
    to_json,
    top,
    use,
    where,
)
from tasks_app.plans.to_python import compile_reference
from tasks_app.plans.to_sql import compile_verifier, evaluate
from tasks_app.plans.tree import depth, operators, plan_tree, tools_of
from tasks_app.plans.validate import check
from tasks_app.solutions import Run, run
from tasks_app.tasks import cells
from tasks_app.verification import Verdict, judge
from tests.tasks_app import plan_world

KEY = {"clubId": col("chore.club_id"), "id": col("chore.id")}


def biology(*conditions: tuple[object, ...]) -> Plan:
    """The chores of Biology 10B, in any state but the archive."""
    club = where(scan("Club", "club"), eq("club.name", lit("Biology 10B")))
    chores = where(
        join(use("club"), scan("Chore", "chore"), eq("chore.club_id", "club.id")),
        ("in", col("chore.state"), ("PUBLISHED", "DRAFT")),
        *conditions,
    )
    return Plan("school", {"club": club, "chores": chores})


def done(plan: Plan, state: State | None = None, options: tuple[str, ...] = ()) -> tuple[Run, Verdict]:
    state = state or plan_world.state()
    check(plan, plan_world.MODEL)
    program = compile_reference(plan, plan_world.MODEL, options=options)
    found = run(program, plan_world.TOOLS, plan_world.ToolError, state)
    assert not found.error, f"{found.error}\n{program}"
    return found, judge(compile_verifier(plan, plan_world.MODEL), state, found.after, found.answer)


def edited(state: State, *statements: str) -> State:
    """The state after somebody changed tables behind the tools' back."""
    db = state.connect()
    for statement in statements:
        db.execute(statement)
    db.commit()
    out = State(db.serialize(), state.files)
    db.close()
    return out


def failed(verdict: Verdict) -> dict[str, str]:
    return {c.name: c.detail for c in verdict.criteria if not c.passed}


def with_effect(effect: Effect) -> Plan:
    return dataclasses.replace(biology(), effects=(effect,))


EFFECTS = {
    "create": Effect(
        "create",
        "Chore",
        "chores_create",
        use("chores"),
        {"clubId": col("chore.club_id")},
        {"title": fn("concat", lit("Check "), col("chore.title"))},
        {"note": ("chore.title",)},
    ),
    "update": Effect(
        "update",
        "Chore",
        "chores_patch",
        use("chores"),
        KEY,
        {"urgent": lit(True), "due": fn("add_days", col("chore.due"), lit(7))},
    ),
    "transition": Effect(
        "transition", "Chore", "chores_archive", where(use("chores"), eq("chore.state", lit("PUBLISHED"))), KEY
    ),
    "delete": Effect("delete", "Chore", "chores_delete", use("chores"), KEY),
    "part created": Effect(
        "create", "Guest", "chores_patch", use("chores"), KEY, {"email": lit("zoe@x.org"), "answer": lit("yes")}
    ),
    "part updated": Effect(
        "update",
        "Guest",
        "chores_patch",
        where(use("chores"), eq("chore.id", lit("t1"))),
        {**KEY, "email": lit("bob@x.org")},
        {"answer": lit("no")},
    ),
    "part deleted": Effect(
        "delete",
        "Guest",
        "chores_patch",
        where(use("chores"), eq("chore.id", lit("t1"))),
        {**KEY, "email": lit("ann@x.org")},
    ),
}


@pytest.mark.parametrize("kind", EFFECTS)
def test_an_effect_of_each_kind_passes_by_its_reference_and_fails_when_nothing_is_done(kind: str) -> None:
    plan = with_effect(EFFECTS[kind])
    assert failed(done(plan)[1]) == {}
    wrong = failed(done(plan, options=("no_effects",))[1])
    assert len(wrong) == 1
    assert "nothing else changed" not in wrong


def test_a_row_too_many_is_named_by_its_title_and_charged_to_the_effect_that_went_too_far() -> None:
    asked = with_effect(
        Effect(
            "update",
            "Chore",
            "chores_patch",
            where(use("chores"), eq("chore.urgent", lit(False))),
            KEY,
            {"points": lit(9)},
        )
    )
    wider = with_effect(Effect("update", "Chore", "chores_patch", use("chores"), KEY, {"points": lit(9)}))
    state = plan_world.state()
    after = done(wider, state)[0].after
    verdict = judge(compile_verifier(asked, plan_world.MODEL), state, after, "Done.")
    assert list(failed(verdict)) == ["chores updated"]
    assert "“Poster”" in failed(verdict)["chores updated"]
    assert "points is 9, not empty" in failed(verdict)["chores updated"]


def test_what_nobody_asked_for_fails_nothing_else_changed_with_row_and_column() -> None:
    plan = with_effect(EFFECTS["transition"])
    state = plan_world.state()
    found = done(plan, state)[0].after
    found = edited(found, "UPDATE chore SET note = 'changed' WHERE title = 'Opening'")
    after = State(found.image, {**found.files, "scratch.txt": b""})
    wrong = failed(judge(compile_verifier(plan, plan_world.MODEL), state, after, "Done."))
    assert list(wrong) == ["nothing else changed"]
    assert "“Opening”: note is “changed”, not empty" in wrong["nothing else changed"]
    assert "scratch.txt" in wrong["nothing else changed"]


def test_columns_that_tools_keep_and_meta_tables_are_no_change() -> None:
    plan = with_effect(EFFECTS["transition"])
    state = plan_world.state()
    found = done(plan, state)[0].after
    after = edited(found, "UPDATE club SET updated = '2026-12-01T00:00:00Z'", "UPDATE _sequence SET value = 7")
    assert failed(judge(compile_verifier(plan, plan_world.MODEL), state, after, "Done.")) == {}


def test_a_number_in_a_free_text_must_stand_as_a_word_of_its_own() -> None:
    effect = Effect(
        "create",
        "Chore",
        "chores_create",
        group(use("chores"), ("chore.club_id",), n=("count", None)),
        {"clubId": col("chore.club_id")},
        {"title": lit("Sum")},
        {"note": ("n",)},
    )
    plan, state = with_effect(effect), plan_world.state()
    found = done(plan, state)[0].after
    for note, right in (("3 chores are open", True), ("there are 13", False), ("(3)", True), ("3rd", False)):
        after = edited(found, f"UPDATE chore SET note = '{note}' WHERE title = 'Sum'")
        verdict = judge(compile_verifier(plan, plan_world.MODEL), state, after, "Done.")
        assert (failed(verdict) == {}) is right, note


REPORT = dataclasses.replace(
    biology(),
    files=(
        FileReport(
            "out/list.csv",
            use("chores"),
            (("chore", "chore.title"), ("points", "chore.points"), ("due", "chore.due")),
            order=(("chore.title", "asc"),),
        ),
    ),
)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("chore,points,due\nEssay,10,2026-11-02T08:00:00Z\nLab report,7.5,2026-11-05T23:30:00Z\nPoster,,\n", ""),
        (
            "\ufeffDue;Chore;Points\r\n2026-11-02 08:00:00+00:00;Essay;10.0\r\n"
            "2026-11-06T00:30:00+01:00;Lab report;7.50\r\n;Poster;\r\n",
            "",
        ),
        (
            "chore,points,due\nLab report,7.5,2026-11-05T23:30:00Z\nEssay,10,2026-11-02T08:00:00Z\nPoster,,\n",
            "not in order",
        ),
        ("chore,points,due\nEssay,10,2026-11-02T08:00:00Z\nPoster,,\n", "missing: Lab report"),
        (
            "chore,points,due\nEssay,11,2026-11-02T08:00:00Z\nLab report,7.5,2026-11-05T23:30:00Z\nPoster,,\n",
            "not asked for: Essay · 11",
        ),
        ("chore,points\nEssay,10\n", "its columns are"),
        ("", "it is empty"),
    ],
)
def test_a_report_is_read_tolerantly_and_compared_strictly(text: str, complaint: str) -> None:
    state = plan_world.state()
    after = State(state.image, {**state.files, "out/list.csv": text.encode()})
    wrong = failed(judge(compile_verifier(REPORT, plan_world.MODEL), state, after, ""))
    assert (complaint in wrong.get("report out/list.csv", "")) if complaint else wrong == {}


@pytest.mark.parametrize("data", [b"\x00\x01\xff", b"\xff\xfe\x00", b'chore,points,due\n"' + b"x" * 200_000, b"\x00"])
def test_a_report_of_garbage_fails_and_never_stops_the_verifier(data: bytes) -> None:
    state = plan_world.state()
    after = State(state.image, {**state.files, "out/list.csv": data})
    assert list(failed(judge(compile_verifier(REPORT, plan_world.MODEL), state, after, ""))) == ["report out/list.csv"]


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(st.binary(), st.text().map(lambda t: f"chore,points,due\n{t},{t},{t}\n".encode("utf-8", "replace"))),
    st.text(),
    st.sampled_from(("csv", "json", "md")),
)
@example(b"chore,points,due\nEssay,nan,2026\nQuiz,inf,0001-01-01T00:00:00+23:00\nx,1e999,\n", "points: inf", "csv")
@example(b"[" * 100_000, "chores: " + "9" * 5000, "json")
@example(b'[{"chore": "\\ud800", "points": [1], "due": {}}]', "\ud800", "json")
def test_whatever_a_policy_writes_or_says_there_is_a_verdict(
    data: bytes, said: str, form: Literal["csv", "json", "md"]
) -> None:
    plan = dataclasses.replace(
        REPORT,
        files=(dataclasses.replace(REPORT.files[0], format=form),),
        answers=(
            Answer("points", use("chores"), "sum", col("chore.points")),
            Answer("room", use("club"), "only", col("club.room")),
        ),
    )
    state = plan_world.state()
    after = State(state.image, {**state.files, "out/list.csv": data})
    verdict = judge(compile_verifier(plan, plan_world.MODEL), state, after, said)
    assert verdict.criteria[0].name == "report out/list.csv"
    assert all(c.detail.encode() for c in verdict.criteria)


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("chores: 3, points: 17.5", True),
        ("**Chores:** 3\n**Points:** 17.50", True),
        ("points = 17.5; chores = 3.0", True),
        ("chores: 4, points: 17.5", False),
        ("3", False),
        ("", False),
        ("chores: 3, points: none", False),
    ],
)
def test_several_answers_are_found_by_name(said: str, right: bool) -> None:
    plan = dataclasses.replace(
        biology(),
        answers=(Answer("chores", use("chores"), "count"), Answer("points", use("chores"), "sum", col("chore.points"))),
    )
    state = plan_world.state()
    assert (failed(judge(compile_verifier(plan, plan_world.MODEL), state, state, said)) == {}) is right


@pytest.mark.parametrize(
    ("said", "right"),
    [("Lab 1", True), ("room: Lab 1", True), ("“Lab 1”.", True), ("lab 1", True), ("Lab 2", False), ("Lab", False)],
)
def test_a_single_answer_may_be_said_alone(said: str, right: bool) -> None:
    plan = dataclasses.replace(biology(), answers=(Answer("room", use("club"), "only", col("club.room")),))
    state = plan_world.state()
    assert (failed(judge(compile_verifier(plan, plan_world.MODEL), state, state, said)) == {}) is right


def test_a_single_number_is_understood_in_a_sentence_but_not_among_others() -> None:
    plan = dataclasses.replace(biology(), answers=(Answer("chores", use("chores"), "count"),))
    state, source = plan_world.state(), compile_verifier(biology_count := plan, plan_world.MODEL)
    assert biology_count.answers
    assert failed(judge(source, state, state, "There are 3 chores left in Biology 10B.")) == {}
    assert failed(judge(source, state, state, "There are 3 or 4 chores left."))


def test_a_reference_reads_children_only_of_parents_found_so_far_and_prints_in_three_cells() -> None:
    plan = dataclasses.replace(
        biology(),
        lets={
            **biology().lets,
            "hours": join(
                use("chores"),
                scan("Entry", "entry"),
                eq("entry.club_id", "chore.club_id"),
                eq("entry.chore_id", "chore.id"),
            ),
        },
        answers=(Answer("minutes", use("hours"), "sum", col("entry.minutes")),),
    )
    found, verdict = done(plan)
    assert failed(verdict) == {}
    reads = [c.arguments["clubId"] for c in found.calls if "clubId" in c.arguments]
    assert set(reads) == {"c1"}
    assert sum(1 for text in found.printed if text) >= 3
    assert found.answer == "125"


def test_a_list_that_hides_rows_is_asked_for_them_unless_the_plan_restricts_it() -> None:
    assert 'states=["PUBLISHED", "DRAFT"]' in compile_reference(
        dataclasses.replace(biology(), answers=(Answer("n", use("chores"), "count"),)), plan_world.MODEL
    )
    everything = Plan("school", {"chores": scan("Chore", "chore")}, answers=(Answer("n", use("chores"), "count"),))
    assert 'states=["DRAFT", "PUBLISHED", "ARCHIVED"]' in compile_reference(everything, plan_world.MODEL)


def test_a_file_is_reconciled_with_rows_by_both_compilers() -> None:
    plan = Plan(
        "school",
        {
            "hours": file("inbox/hours.csv", "hours", (("who", "text"), ("minutes", "integer"))),
            "known": join(use("hours"), scan("Entry", "entry"), eq("entry.who", "hours.who"), how="semi"),
            "unknown": join(use("hours"), scan("Entry", "entry"), eq("entry.who", "hours.who"), how="anti"),
        },
        files=(FileReport("unknown.csv", use("unknown"), (("who", "hours.who"),)),),
        answers=(Answer("known", use("known"), "count"), Answer("unknown", use("unknown"), "count")),
    )
    found, verdict = done(plan)
    assert failed(verdict) == {}
    assert found.answer == "known: 1, unknown: 1"
    assert operators(plan) == ("difference", "reconcile", "report", "answer")


def test_one_cell_is_enough_for_a_primer() -> None:
    plan = dataclasses.replace(biology(), answers=(Answer("n", use("chores"), "count"),))
    assert len(cells(compile_reference(plan, plan_world.MODEL, cells="one"))) == 1


def test_a_plan_survives_json() -> None:
    plan = dataclasses.replace(with_effect(EFFECTS["update"]), files=REPORT.files)
    assert from_json(json.loads(json.dumps(to_json(plan)))) == plan
    with pytest.raises(PlanError, match="malformed"):
        from_json({"domain": "school"})


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (Plan("school"), "asks for nothing"),
        (Plan("school", answers=(Answer("n", scan("Nobody", "x"), "count"),)), "no entity 'Nobody'"),
        (
            Plan("school", answers=(Answer("n", where(scan("Club", "c"), eq("c.nme", lit("x"))), "count"),)),
            "no column 'c.nme'; there are",
        ),
        (
            Plan("school", answers=(Answer("n", where(scan("Club", "c"), eq("c.size", lit("x"))), "count"),)),
            "compares number with text",
        ),
        (
            Plan("school", answers=(Answer("n", top(scan("Chore", "c"), (("c.points", "desc"),), 3), "count"),)),
            "may be tied",
        ),
        (Plan("school", answers=(Answer("n", use("later"), "count"),)), "no let 'later'"),
        (
            Plan("school", answers=(Answer("n", extend(scan("Club", "c"), x=fn("nope")), "sum", col("x")),)),
            "no function 'nope'",
        ),
        (
            Plan("school", {"a": scan("Club", "c")}, files=(FileReport("../x.csv", use("a"), (("n", "c.name"),)),)),
            "outside the workspace",
        ),
        (
            Plan(
                "school",
                {"a": scan("Club", "c")},
                files=(FileReport("x.csv", use("a"), (("n", "c.name"),), (("c.id", "asc"),)),),
            ),
            "sorted by",
        ),
        (
            with_effect(Effect("update", "Chore", "chores_get", use("chores"), KEY, {"points": lit(1)})),
            "writes nothing",
        ),
        (
            with_effect(
                Effect("update", "Chore", "chores_patch", use("chores"), {"id": col("chore.id")}, {"points": lit(1)})
            ),
            "club_id",
        ),
        (
            with_effect(Effect("update", "Chore", "chores_patch", use("chores"), KEY, {"points": lit("many")})),
            "points is real, not text",
        ),
        (Plan("other", answers=(Answer("n", scan("Club", "c"), "count"),)), "the plan is for other"),
    ],
)
def test_a_plan_that_cannot_be_asked_is_refused_with_the_reason(plan: Plan, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        check(plan, plan_world.MODEL)


def test_the_tree_forgets_anchors_and_literals_and_keeps_entities_and_columns() -> None:
    one = dataclasses.replace(
        biology(cmp(">", col("chore.points"), lit(3))), answers=(Answer("n", use("chores"), "count"),)
    )
    other = json.loads(json.dumps(to_json(one)).replace("Biology 10B", "Chess").replace('["lit", 3]', '["lit", 4]'))
    assert plan_tree(one) == plan_tree(from_json(other))
    column = json.loads(
        json.dumps(to_json(one)).replace("chore.points", "chore.due").replace('["lit", 3]', '["lit", "2026"]')
    )
    assert plan_tree(one) != plan_tree(from_json(column))
    assert depth(one) == 3
    assert tools_of(one, plan_world.MODEL) == ("chores_list", "clubs_list")


def test_an_update_to_what_already_is_expects_nothing() -> None:
    plan = with_effect(Effect("update", "Chore", "chores_patch", use("chores"), KEY, {"urgent": lit(True)}))
    assert evaluate(plan, plan_world.MODEL, plan_world.state())["chores updated"] == ["('c1', 't1', 1)"]


def test_the_verifier_is_one_text_at_every_size_and_holds_no_row() -> None:
    source = compile_verifier(with_effect(EFFECTS["update"]), plan_world.MODEL)
    assert "tasks_app" not in source
    assert "Poster" not in source
    assert source == compile_verifier(with_effect(EFFECTS["update"]), plan_world.MODEL)
