"""What populate promises: exact sizes, nesting, plants and growth as said, nothing that contradicts itself."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tasks_app.environments.state import State
from tasks_app.scales import Scale
from tests.tasks_app.environment_packages import package_of

DOMAINS = ("classroom", "calendar")
SIZES = ((260, 12), (700, 22), (1500, 31), (4000, 40))
DIRECTIVES: dict[str, dict[str, Any]] = {
    "classroom": {
        "base": {"rows": 260, "files": 12},
        "plants": [
            {
                "entity": "UserProfile",
                "as": "pupil",
                "count": 3,
                "set": {
                    "name_full_name": {"cycle": ["Lea Brandt", "Omar Haddad", "王 伟"]},
                    "email_address": {"serial": "pupil{n}@northfield.example"},
                },
            },
            {
                "entity": "Course",
                "as": "bio",
                "set": {"name": "Biology 10B"},
                "children": [
                    {
                        "entity": "Student",
                        "count": 3,
                        "set": {"user_id": {"cycle": [{"ref": f"pupil#{n}"} for n in range(3)]}},
                    },
                    {
                        "entity": "CourseWork",
                        "as": "lab",
                        "set": {"title": "Osmosis lab", "max_points": 20.0},
                        "children": [
                            {
                                "entity": "StudentSubmission",
                                "count": 3,
                                "set": {
                                    "user_id": {"cycle": [{"ref": f"pupil#{n}"} for n in range(3)]},
                                    "state": {"cycle": ["TURNED_IN", "RETURNED", "NEW"]},
                                },
                            }
                        ],
                    },
                ],
            },
        ],
        "growth": [
            {"entity": "UserProfile", "share": 0.15},
            {"entity": "CourseWork", "share": 0.05, "set": {"course_id": {"ref": "bio"}}},
            {"entity": "Student", "share": 0.15, "set": {"course_id": {"ref": "bio"}}},
            {
                "entity": "StudentSubmission",
                "share": 0.3,
                "set": {"course_id": {"ref": "bio"}, "state": {"choice": ["TURNED_IN", "RETURNED"]}},
            },
        ],
        "files": [
            {
                "path": "inbox/grades.csv",
                "columns": ["E-mail", "Grade"],
                "rows": [[{"ref": "pupil#1", "column": "email_address"}, {"int": [5, 5]}]],
            },
            {"path": "policies/late.txt", "text": "Two points a day.\n"},
        ],
    },
    "calendar": {
        "base": {"rows": 260, "files": 12},
        "plants": [
            {
                "entity": "Person",
                "as": "boss",
                "set": {"display_name": "Ada Okafor", "email": "ada@northfield.example"},
            },
            {
                "entity": "Calendar",
                "as": "team",
                "set": {"summary": "Team Okafor"},
                "children": [
                    {"entity": "CalendarListEntry"},
                    {
                        "entity": "Event",
                        "count": 2,
                        "set": {
                            "summary": {"serial": "Design review {n}"},
                            "organizer_email": {"ref": "boss"},
                            "start_time": {"time": {"after": "2026-11-03", "before": "2026-11-04"}},
                            "end_time": "2026-11-04T10:00:00Z",
                        },
                        "children": [
                            {"entity": "EventAttendee", "set": {"email": {"ref": "me"}, "response_status": "accepted"}}
                        ],
                    },
                ],
            },
        ],
        "growth": [{"entity": "Event", "share": 0.4, "set": {"calendar_id": {"ref": "team"}, "recurrence": None}}],
        "files": [],
    },
}


def build(domain: str, rows: int, files: int = 12, seed: int = 3, directives: dict[str, Any] | None = None) -> State:
    said = DIRECTIVES[domain] if directives is None else directives
    return package_of(domain).build(seed, Scale("test", rows, files), said)


def rows_of(state: State) -> dict[str, set[tuple[Any, ...]]]:
    db = state.connect()
    tables = [
        row[0]
        for row in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'"
        )
    ]
    found = {table: set(db.execute(f'SELECT * FROM "{table}"').fetchall()) for table in tables}
    db.close()
    return found


@pytest.mark.parametrize("domain", DOMAINS)
def test_sizes_are_exact_and_each_holds_the_smaller_ones(domain: str) -> None:
    smaller: dict[str, set[tuple[Any, ...]]] = {}
    files: dict[str, bytes] = {}
    for rows, count in SIZES:
        state = build(domain, rows, count)
        tables = rows_of(state)
        assert sum(map(len, tables.values())) == rows
        assert len(state.files) == count
        assert all(smaller.get(table, set()) <= found for table, found in tables.items())
        assert files.items() <= dict(state.files).items()
        assert not state.connect().execute("PRAGMA foreign_key_check").fetchall()
        smaller, files = tables, dict(state.files)


@pytest.mark.parametrize("domain", DOMAINS)
def test_equal_seeds_give_equal_states_and_other_seeds_do_not(domain: str) -> None:
    package = package_of(domain)
    scale = Scale("test", 400, 15)
    first, second = (package._populated(3, scale, copy.deepcopy(DIRECTIVES[domain])) for _ in range(2))
    assert first.digest == second.digest
    assert package.build(4, scale, DIRECTIVES[domain]).digest != first.digest


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_published_means_of_size_can_be_met(domain: str) -> None:
    rows = {"classroom": 270, "calendar": 180}[domain]
    directives = {"base": {"rows": rows, "files": 12}}
    assert 80 < len(build(domain, rows, directives=directives).image) / 1024 < 118
    assert len(build(domain, 3200, directives=directives).image) / 1024 > 700


@pytest.mark.parametrize("domain", DOMAINS)
def test_fifty_thousand_rows_are_made_exactly(domain: str) -> None:
    state = build(domain, 50_000, 40, directives={"base": {"rows": 300, "files": 12}})
    assert sum(map(len, rows_of(state).values())) == 50_000
    assert not state.connect().execute("PRAGMA foreign_key_check").fetchall()


def test_growth_stays_in_its_scope_and_the_background_out_of_it() -> None:
    db = build("classroom", 1500).connect()
    (course,) = db.execute("SELECT id FROM course WHERE name = 'Biology 10B'").fetchone()
    students = db.execute("SELECT count(*) FROM student WHERE course_id = ?", (course,)).fetchone()[0]
    assert abs(students - 3 - 0.15 * (1500 - 260)) <= 10
    states = db.execute(
        "SELECT DISTINCT state FROM student_submission WHERE course_id = ? AND state <> 'NEW'", (course,)
    ).fetchall()
    assert {state for (state,) in states} == {"TURNED_IN", "RETURNED"}
    outside = db.execute(
        "SELECT count(*) FROM student_submission s WHERE course_id = ? AND NOT EXISTS "
        "(SELECT 1 FROM student t WHERE t.course_id = s.course_id AND t.user_id = s.user_id)",
        (course,),
    ).fetchone()[0]
    assert outside == 0
    assert not db.execute("SELECT count(*) FROM announcement WHERE course_id = ?", (course,)).fetchone()[0]


def test_what_is_planted_is_there_once() -> None:
    db = build("classroom", 4000).connect()
    for table, column, value in (
        ("course", "name", "Biology 10B"),
        ("course_work", "title", "Osmosis lab"),
        ("user_profile", "name_full_name", "Lea Brandt"),
        ("user_profile", "name_full_name", "王 伟"),
    ):
        assert db.execute(f'SELECT count(*) FROM "{table}" WHERE "{column}" = ?', (value,)).fetchone()[0] == 1


def test_a_planted_full_name_is_taken_apart() -> None:
    db = build("classroom", 260).connect()
    names = db.execute("SELECT name_given_name, name_family_name FROM user_profile WHERE name_full_name = '王 伟'")
    assert names.fetchall() == [("王", "伟")]


def test_background_work_never_lands_in_a_planted_course_even_on_rows_grown_there() -> None:
    db = build("classroom", 1500).connect()
    found = db.execute(
        "SELECT DISTINCT s.state FROM student_submission s JOIN course_work w ON w.id = s.course_work_id "
        "JOIN course c ON c.id = w.course_id WHERE c.name = 'Biology 10B' AND w.title <> 'Osmosis lab'"
    ).fetchall()
    assert set(found) <= {("TURNED_IN",), ("RETURNED",)}


def test_planted_files_hold_what_they_refer_to() -> None:
    files = build("classroom", 260).files
    assert files["inbox/grades.csv"].decode() == "E-mail,Grade\npupil2@northfield.example,5\n"
    assert files["policies/late.txt"] == b"Two points a day.\n"
    others = [path for path in files if path not in ("inbox/grades.csv", "policies/late.txt")]
    assert not [path for path in others if path.split("/")[0] in ("inbox", "policies", "reports") or "/" not in path]


def test_times_and_grades_do_not_contradict_each_other() -> None:
    db = build("classroom", 4000).connect()
    handed_in = "SELECT * FROM student_submission s JOIN course_work w ON w.id = s.course_work_id WHERE"
    for sql in (
        "SELECT * FROM course_work WHERE creation_time > update_time OR due_time < creation_time",
        "SELECT * FROM course_work WHERE update_time > '2026-11-02T08:00:00Z'",
        "SELECT * FROM course_work w JOIN course c ON c.id = w.course_id WHERE w.creation_time < c.creation_time",
        f"{handed_in} s.creation_time < w.creation_time",
        f"{handed_in} s.assigned_grade > w.max_points",
        "SELECT * FROM student_submission WHERE assigned_grade IS NOT NULL AND state <> 'RETURNED'",
        "SELECT course_work_id, user_id FROM student_submission GROUP BY 1, 2 HAVING count(*) > 1",
        "SELECT email_address FROM user_profile GROUP BY 1 HAVING count(*) > 1",
    ):
        assert not db.execute(sql).fetchall(), sql
    db = build("calendar", 4000).connect()
    for sql in (
        "SELECT * FROM event WHERE end_time < start_time OR length(start_time) <> length(end_time)",
        "SELECT * FROM event_attendee a JOIN person p ON p.email = a.email WHERE a.display_name <> p.display_name",
        "SELECT * FROM calendar_list_entry e JOIN calendar c ON c.id = e.id WHERE e.summary IS NOT c.summary",
        "SELECT * FROM acl_rule WHERE id <> scope_type || ':' || scope_value",
    ):
        assert not db.execute(sql).fetchall(), sql


@pytest.mark.parametrize(
    ("directives", "rows", "says"),
    [
        ({"base": {"rows": 2, "files": 0}, "plants": [{"entity": "Course", "count": 3, "set": {}}]}, 2, "planted"),
        ({"base": {"rows": 300, "files": 0}}, 200, "the base alone has 300"),
        ({"plants": [{"entity": "Curse"}]}, 300, "no entity 'Curse'"),
        ({"plants": [{"entity": "Course", "set": {"colour": 1}}]}, 300, "no column 'colour'"),
        ({"plants": [{"entity": "Student", "set": {}}]}, 300, "points at no Course"),
        ({"plants": [{"entity": "Course", "set": {"owner_id": {"ref": "her"}}}]}, 300, "called 'her'"),
        ({"planted": []}, 300, "directives are"),
        ({"base": {"rows": 100, "files": 0}, "growth": [{"entity": "Course", "share": 1.5}]}, 300, "add up"),
    ],
)
def test_what_cannot_be_made_is_refused_with_the_reason(directives: dict[str, Any], rows: int, says: str) -> None:
    error = package_of("classroom").module("populate").PopulateError
    with pytest.raises(error, match=says):
        build("classroom", rows, directives=directives)
