"""What the viewer says of a step, worked out purely."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox_app import steps
from sandbox_app.interfaces import render_call
from sandbox_app.trajectories import FileChange, RowChange, Step
from tests.sandbox_app import records


def step(code: str | None, *, said: str = "", **fields: object) -> Step:
    result = records.result(**{"calls": (), "files": (), "stdout": ""} | fields) if code is not None else None
    return Step(1, render_call(code, said) if code is not None else said, code, result)


@pytest.mark.parametrize(("made", "title"), [
    (step("# look at the courses\nx = 1"), "Look at the courses"),
    (step("x = 1", calls=(records.call("events_list"), records.call("events_list"), records.call("events_patch"))),
     "events_list, events_patch"),
    (step("x = 1", files=(FileChange("moved.csv", "added", 3, "a"),)), "writes moved.csv"),
    (step("x = 1", stdout="clash: 4\nmore"), "→ clash: 4"),
    (step("x = 1", said="Now I count."), "Now I count."),
    (step("x = 1"), "x = 1"),
    (step(None, said="Done."), "Answer"),
])
def test_a_title_says_what_a_step_did(made: Step, title: str) -> None:
    assert steps.title(made) == title


def test_a_title_is_short_and_storable() -> None:
    found = steps.title(step("# " + "long \ud800\x00" * 60))
    assert len(found) <= steps.TITLE
    found.encode()


def test_kept_tokens_are_what_was_answered_and_not_printed() -> None:
    big = replace(records.call("events_list"), bytes=40_000)
    summary = steps.summarise(step("x", calls=(big,), returned="12345678"))
    assert summary.returned_tokens == 2
    assert summary.kept_tokens == 10_000 - 2


def test_changes_are_shown_by_table_with_the_columns_that_differ() -> None:
    added, changed, removed = steps.changed_tables((
        RowChange("event", {"id": "1"}, None, {"id": "1", "summary": "A", "room": None}),
        RowChange("course", {"id": "2"}, {"id": "2", "name": "x", "state": "ACTIVE"},
                  {"id": None, "name": "x", "state": "ARCHIVED"}),
        RowChange("note", {"id": "3"}, {"id": "3"}, None),
    ))
    assert [(cell.column, cell.after) for cell in added.rows[0].cells] == [("id", "1"), ("summary", "A")]
    [state] = changed.rows[0].cells
    assert (state.column, state.before, state.after) == ("state", "ACTIVE", "ARCHIVED")
    assert (removed.removed, removed.rows[0].word) == (1, "removed")


class Row:
    def __init__(self, index: int, kind: str = "code", touched: tuple[tuple[str, str], ...] = ()) -> None:
        self.index, self.kind, self.title, self.erred = index, kind, f"step {index}", index == 2
        self.touched = [[kind, name, 1, 0, 0] for kind, name in touched]
        self.returned_tokens, self.kept_tokens = 60, 80_000 if index == 1 else 0


@pytest.mark.parametrize(("name", "linked"), [
    ("events updated", (1,)), ("course work inserted", (2,)), ("report moved.csv", (2,)), ("answer total", (3,)),
    ("nothing else changed", ()), ("eventful", ()),
])
def test_a_criterion_is_linked_to_the_steps_that_touched_what_it_names(name: str, linked: tuple[int, ...]) -> None:
    rows = [Row(1, touched=(("table", "event"),)), Row(2, touched=(("table", "course_work"), ("file", "moved.csv"))),
            Row(3, kind="answer")]
    found = steps.evidence([{"name": name, "passed": False, "detail": ""}], rows)
    assert found[0].steps == linked


def test_every_bar_is_seen_and_none_leaves_its_drawing() -> None:
    for bar in steps.bars([Row(1), Row(2), Row(3)]):
        assert bar.entered >= 3
        assert bar.entered + bar.kept <= steps.HEIGHT + 0.2
        assert bar.kept_y >= -0.2
    assert steps.bars([]) == ()


def test_long_text_is_folded_at_a_line() -> None:
    text = "line\n" * 1_000
    folded = steps.fold(text, 100)
    assert len(folded.text) <= 100
    assert folded.text.endswith("line")
    assert len(folded.text) + folded.hidden == folded.characters == len(text)
    assert steps.fold(text, 100, whole=True).hidden == 0
