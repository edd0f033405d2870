"""Growth is proved: each of rules 1 to 9 holds where it should and catches a case broken on purpose."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tasks_app.domains.model import Attr, DomainModel, Entity, Parent, Reference
from tasks_app.environments.state import State
from tasks_app.growth_proofs import (
    Called,
    Ran,
    aggregates_agree,
    base_kept,
    effects_equal,
    foreign_keys_clean,
    ids_visible,
    interleaved,
    named_texts,
    names_unique,
    texts_equal,
    token_count,
    wrong_attempts_fail,
)
from tasks_app.rows import Tables, read_tables
from tasks_app.scales import AIMS_FILES, PRESETS, presets

COURSE = Entity(
    name="Course",
    table="course",
    kind="table",
    key=("id",),
    own_key="id",
    key_assigned_by="server",
    attrs=(
        Attr("id", "id", "text", "key"),
        Attr("name", "name", "text", "title"),
        Attr("state", "state", "text", "status"),
        Attr("size", "size", "integer", "quantity", derived="count(Student)"),
        Attr("updateTime", "update_time", "timestamp", "system"),
    ),
    natural_keys=("name",),
)
STUDENT = Entity(
    name="Student",
    table="student",
    kind="table",
    key=("course_id", "user_id"),
    own_key="user_id",
    key_assigned_by="caller",
    attrs=(
        Attr("courseId", "course_id", "text", "foreign_key", references=Reference("Course", "id")),
        Attr("userId", "user_id", "text", "key"),
    ),
    parents=(Parent("courses", "courseId", "Course", "course_id"),),
)
MODEL = DomainModel("school", "School", "", "", "", (COURSE, STUDENT), ())


def state(courses: list[tuple[Any, ...]], students: list[tuple[str, str]]) -> State:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE course (id TEXT PRIMARY KEY, name TEXT, state TEXT, size INTEGER, update_time TEXT);"
        "CREATE TABLE student (course_id TEXT REFERENCES course, user_id TEXT, PRIMARY KEY (course_id, user_id));"
    )
    connection.executemany("INSERT INTO course VALUES (?, ?, ?, ?, 't')", courses)
    connection.executemany("INSERT INTO student VALUES (?, ?)", students)
    connection.commit()
    found = State(connection.serialize(), {"notes.txt": b"x"})
    connection.close()
    return found


BASE = state([(f"c{n}0", f"Class {n}", "ACTIVE", 1 if n == 1 else 0) for n in range(1, 7)], [("c10", "u1")])
GROWN = state(
    [(f"c{n}0", f"Class {n}", "ACTIVE", 2 if n == 1 else 0) for n in range(1, 7)]
    + [(f"c{n}5", f"Other {n}", "ACTIVE", 0) for n in range(1, 12)],
    [("c10", "u1"), ("c10", "u2")],
)


def tables(of: State) -> Tables:
    return read_tables(MODEL, of)


def changed(of: Tables, entity: str, key: tuple[str, ...], **values: Any) -> dict[str, Any]:
    """The tables with one row changed."""
    rows = {**of[entity], key: {**of[entity][key], **values}}
    return {**of, entity: rows}


def ran(
    before: Tables,
    after: Tables | None = None,
    answer: str = "",
    files: Mapping[str, bytes] | None = None,
    calls: tuple[Called, ...] = (),
) -> Ran:
    return Ran(before, after or before, {}, files or {}, answer, calls)


def test_rule_1_holds_where_base_rows_are_kept_and_derived_columns_are_recomputed() -> None:
    assert base_kept(MODEL, tables(BASE), tables(GROWN), BASE.files, GROWN.files).held


@pytest.mark.parametrize(
    "broken", [changed(tables(GROWN), "Course", ("c20",), name="Changed"), {**tables(GROWN), "Student": {}}]
)
def test_rule_1_catches_a_base_row_that_changed_or_went(broken: Tables) -> None:
    proof = base_kept(MODEL, tables(BASE), broken, {}, {})
    assert not proof.held
    assert proof.rule == 1
    assert "Course" in proof.detail or "Student" in proof.detail


def test_rule_1_catches_a_base_file_that_changed() -> None:
    proof = base_kept(MODEL, tables(BASE), tables(GROWN), {"notes.txt": b"x"}, {"notes.txt": b"y"})
    assert not proof.held
    assert "notes.txt" in proof.detail


def test_rule_2_catches_a_text_that_is_another() -> None:
    assert texts_equal({"verifier": ("a", "a")}).held
    assert not texts_equal({"verifier": ("a", "a"), "instruction": ("a", "b")}).held


def test_rule_3_catches_an_added_row_that_bears_a_name_of_the_instruction() -> None:
    names = named_texts('Archive "Class 2".', ["PUBLISHED"])
    assert names == {"Class 2"}
    assert names_unique(MODEL, names, tables(BASE), tables(GROWN)).held
    broken = changed(tables(GROWN), "Course", ("c35",), name="Class 2")
    proof = names_unique(MODEL, names, tables(BASE), broken)
    assert not proof.held
    assert "'Class 2'" in proof.detail


def test_rule_4_catches_a_reference_that_meets_no_row() -> None:
    assert foreign_keys_clean(MODEL, GROWN, tables(GROWN)).held
    orphan = state([("c10", "Class 1", "ACTIVE", 0)], [("c99", "u1")])
    assert not foreign_keys_clean(MODEL, orphan, tables(orphan)).held


def archive(before: Tables, *keys: str) -> Tables:
    for key in keys:
        before = changed(before, "Course", (key,), state="ARCHIVED", update_time="later")
    return before


def test_rule_5_holds_where_the_same_base_rows_change() -> None:
    base, grown = tables(BASE), tables(GROWN)
    assert effects_equal(MODEL, ran(base, archive(base, "c20")), ran(grown, archive(grown, "c20")), growing=False).held


def test_rule_5_catches_an_added_row_that_qualifies_unless_declared_growing() -> None:
    base, grown = tables(BASE), tables(GROWN)
    runs = ran(base, archive(base, "c20")), ran(grown, archive(grown, "c20", "c35"))
    assert not effects_equal(MODEL, *runs, growing=False).held
    proof = effects_equal(MODEL, *runs, growing=True)
    assert proof.held
    assert "1 added rows qualify" in proof.detail


def test_rule_5_catches_a_lost_effect_even_when_growing() -> None:
    base, grown = tables(BASE), tables(GROWN)
    runs = ran(base, archive(base, "c20", "c30")), ran(grown, archive(grown, "c20"))
    assert not effects_equal(MODEL, *runs, growing=True).held


def test_rule_5_catches_another_answer_or_report() -> None:
    base = tables(BASE)
    assert not effects_equal(MODEL, ran(base, answer="3"), ran(base, answer="4"), growing=False).held
    assert not effects_equal(
        MODEL, ran(base, files={"a.csv": b"1"}), ran(base, files={"a.csv": b"2"}), growing=False
    ).held


def test_rule_5_takes_ids_that_a_server_assigned_for_the_same() -> None:
    base = tables(BASE)
    row = {"id": "c77", "name": "New", "state": "ACTIVE", "size": 0, "update_time": "t"}
    first = {**base, "Course": {**base["Course"], ("c77",): row}}
    second = {**base, "Course": {**base["Course"], ("c88",): {**row, "id": "c88"}}}
    assert effects_equal(MODEL, ran(base, first), ran(base, second), growing=False).held


def test_rule_6_catches_an_id_that_nothing_showed() -> None:
    before = tables(BASE)
    read = Called("courses_list", {}, {"courses": [{"id": "c20"}]})
    write = Called("courses_patch", {"id": "c20"}, {}, writes=True)
    assert ids_visible(MODEL, "", ran(before, calls=(read, write))).held
    proof = ids_visible(MODEL, "", ran(before, calls=(read, replace(write, arguments={"id": "c30"}))))
    assert not proof.held
    assert "'c30'" in proof.detail


def test_rule_7_catches_rows_that_are_appended() -> None:
    assert interleaved(MODEL, tables(BASE), tables(GROWN)).held
    appended = {**tables(BASE), "Course": {**tables(BASE)["Course"], **{(f"d{n}",): {} for n in range(20)}}}
    proof = interleaved(MODEL, tables(BASE), appended)
    assert not proof.held
    assert "Course" in proof.detail


def test_rule_8_catches_a_count_that_contradicts_its_rows() -> None:
    assert aggregates_agree(MODEL, tables(GROWN)).held
    proof = aggregates_agree(MODEL, changed(tables(GROWN), "Course", ("c10",), size=7))
    assert not proof.held
    assert "size is 7" in proof.detail


def test_rule_9_catches_a_wrong_attempt_that_is_let_through() -> None:
    assert wrong_attempts_fail({"nothing": 0.0, "next_door": 0.0}, nothing_to_do=False).held
    assert not wrong_attempts_fail({"nothing": 0.0, "next_door": 1.0}, nothing_to_do=False).held
    assert not wrong_attempts_fail({"nothing": 1.0}, nothing_to_do=False).held


def test_rule_9_lets_doing_nothing_pass_only_where_nothing_is_to_do() -> None:
    assert wrong_attempts_fail({"nothing": 1.0, "next_door": 0.0}, nothing_to_do=True).held


def test_tokens_count_what_reads_return_and_not_what_writes_do() -> None:
    read, write = Called("a", {}, {"x": "y" * 100}), Called("b", {}, "z" * 1000, writes=True)
    assert token_count([read, write]) == token_count([read]) == len('{"x":"' + "y" * 100 + '"}') // 4


def test_presets_differ_by_task_and_mean_files_lie_near_the_published_ones() -> None:
    drawn = [presets("classroom", f"{n:016x}") for n in range(300)]
    for name in PRESETS:
        mean = sum(one[name].files for one in drawn) / len(drawn)
        assert abs(mean - AIMS_FILES[name]) < 0.6
    assert len({one["v0"].rows for one in drawn}) > 20
    assert presets("calendar", "ab" * 8) == presets("calendar", "ab" * 8)
