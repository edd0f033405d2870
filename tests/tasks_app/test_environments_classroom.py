"""What the classroom's tools promise beyond running: pages, filters, masks, states, and writes that reads show."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from tests.tasks_app.environment_packages import package_of, world

COURSE = "100000000001"
LAB = "100000000003"


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    connection = world("classroom").connect()
    yield connection
    connection.close()


@pytest.fixture
def tools(db: sqlite3.Connection) -> Any:
    class Tools:
        Error = package_of("classroom").module("tools").ToolError

        def __getattr__(self, name: str) -> Any:
            return lambda **arguments: package_of("classroom").functions[name](db, **arguments)

    return Tools()


def submission(tools: Any) -> dict[str, Any]:
    found: dict[str, Any] = tools.student_submissions_list(courseId=COURSE, courseWorkId=LAB)["studentSubmissions"][0]
    return found


def test_pages_give_each_row_once_and_in_order(db: sqlite3.Connection, tools: Any) -> None:
    whole = tools.courses_list(pageSize=100)["courses"]
    token, seen = None, []
    while True:
        page = tools.courses_list(pageSize=3, pageToken=token)
        seen += page["courses"]
        token = page.get("nextPageToken")
        if token is None:
            break
    assert seen == whole
    assert len(whole) == db.execute("SELECT count(*) FROM course").fetchone()[0]


def test_a_page_token_of_other_arguments_is_refused(tools: Any) -> None:
    token = tools.courses_list(pageSize=1)["nextPageToken"]
    with pytest.raises(tools.Error, match="other arguments"):
        tools.courses_list(pageSize=1, pageToken=token, courseStates=["ACTIVE"])
    with pytest.raises(tools.Error, match="pageToken"):
        tools.courses_list(pageToken="made up")


def test_a_list_hides_drafts_until_they_are_asked_for(tools: Any) -> None:
    made = tools.course_work_create(courseId=COURSE, title="Secret", workType="ASSIGNMENT", state="DRAFT")
    shown = tools.course_work_list(courseId=COURSE)["courseWork"]
    assert made["id"] not in {work["id"] for work in shown}
    asked = tools.course_work_list(courseId=COURSE, courseWorkStates=["DRAFT", "PUBLISHED"])["courseWork"]
    assert made["id"] in {work["id"] for work in asked}


def test_all_of_a_course_can_be_listed_with_a_dash(tools: Any) -> None:
    assert submission(tools)["id"] in {
        row["id"] for row in tools.student_submissions_list(courseId=COURSE, courseWorkId="-")["studentSubmissions"]
    }


def test_a_mask_writes_what_it_names_and_nothing_else(db: sqlite3.Connection, tools: Any) -> None:
    before = db.execute("SELECT * FROM course_work ORDER BY course_id, id").fetchall()
    after = tools.course_work_patch(
        courseId=COURSE,
        id=LAB,
        updateMask="dueDate,dueTime",
        title="Not named",
        dueDate={"year": 2026, "month": 11, "day": 20},
        dueTime={"hours": 15, "minutes": 30},
    )
    assert after["title"] == "Osmosis lab"
    assert after["dueDate"] == {"year": 2026, "month": 11, "day": 20}
    assert after["dueTime"] == {"hours": 15, "minutes": 30}
    changed = set(db.execute("SELECT * FROM course_work").fetchall()) - set(before)
    assert len(changed) == 1
    assert tools.course_work_get(courseId=COURSE, id=LAB) == after


def test_a_mask_that_names_what_cannot_be_written_is_refused(tools: Any) -> None:
    for mask in ("", "creationTime", "nothing"):
        with pytest.raises(tools.Error, match="updateMask"):
            tools.course_work_patch(courseId=COURSE, id=LAB, updateMask=mask, title="x")


def test_work_is_handed_in_returned_and_reclaimed_in_the_states_that_allow_it(tools: Any) -> None:
    where = {"courseId": COURSE, "courseWorkId": LAB, "id": submission(tools)["id"]}
    assert tools.student_submissions_get(**where)["state"] == "TURNED_IN"
    tools.student_submissions_reclaim(**where)
    assert tools.student_submissions_get(**where)["state"] == "RECLAIMED_BY_STUDENT"
    with pytest.raises(tools.Error) as caught:
        tools.student_submissions_reclaim(**where)
    assert caught.value.code == "FAILED_PRECONDITION"
    tools.student_submissions_turn_in(**where)
    tools.student_submissions_return(**where)
    assert submission(tools)["state"] == "RETURNED"


def test_grades_are_seen_after_they_are_given(tools: Any) -> None:
    where = {"courseId": COURSE, "courseWorkId": LAB, "id": submission(tools)["id"]}
    tools.student_submissions_patch(**where, updateMask="draftGrade,assignedGrade", draftGrade=0, assignedGrade=17.5)
    assert submission(tools)["assignedGrade"] == 17.5
    assert submission(tools)["draftGrade"] == 0
    tools.student_submissions_patch(**where, updateMask="assignedGrade")
    assert "assignedGrade" not in submission(tools)


def test_an_accepted_invitation_makes_a_member_and_is_gone(db: sqlite3.Connection, tools: Any) -> None:
    invitation = tools.invitations_list(courseId=COURSE, userId="me")["invitations"][0]
    tools.invitations_accept(id=invitation["id"])
    student = tools.students_get(courseId=COURSE, userId="me")
    assert student["profile"]["name"]["fullName"] == "Dana Whitfield"
    with pytest.raises(tools.Error) as caught:
        tools.invitations_get(id=invitation["id"])
    assert caught.value.code == "NOT_FOUND"


def test_a_course_can_be_called_by_an_alias_and_a_user_by_e_mail(tools: Any) -> None:
    tools.aliases_create(courseId=COURSE, alias="d:bio")
    assert tools.courses_get(id="d:bio")["id"] == COURSE
    assert tools.students_get(courseId="d:bio", userId="lea.brandt@northfield.example")["courseId"] == COURSE


def test_a_second_membership_is_refused(tools: Any) -> None:
    user = tools.students_list(courseId=COURSE)["students"][0]["userId"]
    with pytest.raises(tools.Error) as caught:
        tools.students_create(courseId=COURSE, userId=user)
    assert caught.value.code == "ALREADY_EXISTS"


def test_a_deleted_course_takes_its_rows_along(db: sqlite3.Connection, tools: Any) -> None:
    db.execute("PRAGMA foreign_keys = ON")
    tools.courses_delete(id=COURSE)
    for table in ("course_work", "student", "student_submission", "announcement"):
        assert not db.execute(f'SELECT count(*) FROM "{table}" WHERE course_id = ?', (COURSE,)).fetchone()[0]
    assert not db.execute("PRAGMA foreign_key_check").fetchall()


def test_a_deleted_topic_leaves_its_work_without_one(db: sqlite3.Connection, tools: Any) -> None:
    topic = tools.topics_create(courseId=COURSE, name="Cells")
    tools.course_work_patch(courseId=COURSE, id=LAB, updateMask="topicId", topicId=topic["topicId"])
    tools.topics_delete(courseId=COURSE, id=topic["topicId"])
    assert "topicId" not in tools.course_work_get(courseId=COURSE, id=LAB)


def test_a_rubric_is_replaced_with_all_its_levels(db: sqlite3.Connection, tools: Any) -> None:
    criteria = [{"title": "Content", "levels": [{"title": "Good", "points": 4}, {"title": "Weak", "points": 1}]}]
    rubric = tools.rubrics_list(courseId=COURSE, courseWorkId=LAB)["rubrics"][0]
    where = {"courseId": COURSE, "courseWorkId": LAB, "id": rubric["id"]}
    for _ in range(2):
        tools.rubrics_patch(**where, updateMask="criteria", criteria=criteria)
    shown = tools.rubrics_get(**where)["criteria"]
    assert [level["title"] for level in shown[0]["levels"]] in (["Good", "Weak"], ["Weak", "Good"])
    assert len(shown) == 1


def test_a_refused_write_changes_nothing(db: sqlite3.Connection, tools: Any) -> None:
    before = list(db.iterdump())
    with pytest.raises(tools.Error, match="person"):
        tools.course_work_create(
            courseId=COURSE,
            title="x",
            workType="ASSIGNMENT",
            assigneeMode="INDIVIDUAL_STUDENTS",
            individualStudentsOptions={"studentIds": ["nobody"]},
        )
    assert list(db.iterdump()) == before
