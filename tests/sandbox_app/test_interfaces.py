"""What a policy is told and how its messages are read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_app import interfaces
from sandbox_app.interfaces import MalformedCall, chat, observation, parse, render_call, signature, system_prompt
from sandbox_app.trajectories import CellError, CellResult, Step


def result(**changes: Any) -> CellResult:
    values: dict[str, Any] = {
        "outcome": "ok", "stdout": "", "returned": "", "error": None, "calls": (), "variables": (), "rows": (),
        "files": (), "milliseconds": 1.0,
    }
    return CellResult(**{**values, **changes})


@given(st.text().filter(lambda code: bool(code.strip()) and "</parameter>" not in code and interfaces.OPEN not in code),
       st.text().filter(lambda text: interfaces.OPEN not in text))
def test_what_is_rendered_is_parsed_back(code: str, text: str) -> None:
    assert parse(render_call(code, text)) == code


def test_code_may_hold_the_tags_of_a_call_in_its_texts() -> None:
    code = 'print("</parameter>")\nprint("<function=python>")'
    assert parse(render_call(code)) == code


def test_a_message_without_a_call_is_the_answer() -> None:
    assert parse("There are 3 < 4 courses.") is None


@pytest.mark.parametrize(("message", "says"), [
    ("<tool_call>\n<function=python>\n<parameter=code>\nprint(1)", "each on a line"),
    ("<tool_call>\n<function=bash>\n<parameter=code>\nls\n</parameter>\n</function>\n</tool_call>", "each on a line"),
    (render_call("print(1)") + "\nDone.", "nothing may follow"),
    (render_call("print(1)") + "\n" + render_call("print(2)"), "one call a message"),
    (render_call("  \n"), "no code"),
    ("<function=python>\nprint(1)\n</function>", "must begin with <tool_call>"),
    ('<tool_call>\n{"name": "python", "arguments": {"code": "1"}}\n</tool_call>', "each on a line"),
])
def test_what_is_half_a_call_is_malformed_and_says_how(message: str, says: str) -> None:
    with pytest.raises(MalformedCall, match=says):
        parse(message)


def test_a_signature_is_one_line_with_what_can_be_given_and_what_comes_back() -> None:
    tool = {
        "name": "courses_list", "description": "Lists  the\ncourses. More of it.", "writes": False,
        "parameters": {
            "type": "object", "required": ["teacherId"],
            "properties": {
                "pageSize": {"type": "integer"}, "teacherId": {"type": "string"}, "pageToken": {"type": "string"},
                "courseStates": {"type": "array", "items": {"type": "string", "enum": ["ACTIVE", "ARCHIVED"]}},
            },
        },
        "returns": {"type": "object", "properties": {
            "courses": {"type": "array", "items": {"type": "object", "properties": {
                "alternateLinkOfTheCourse": {"type": "string"}, "id": {"type": "string"}, "name": {"type": "string"},
                "etag": {"type": "string"}, "owner": {"type": "object"},
                **{f"aVeryLongSettingNumber{n}": {"type": "string"} for n in range(9)},
            }}},
            "nextPageToken": {"type": "string"},
        }},
    }
    line = signature(tool)
    assert line.startswith(
        "courses_list(teacherId, pageSize: int = None, pageToken=None, courseStates: list['ACTIVE'|'ARCHIVED'] = None) "
        "-> {courses: [{id, name, owner: {}, aVeryLongSettingNumber0, "
    )
    assert line.endswith("…}], nextPageToken}  # Lists the courses.")
    assert "\n" not in line
    assert "alternateLink" not in line
    assert system_prompt([tool, tool]).count("courses_list(") == 2


def test_the_form_shown_in_the_prompt_is_the_form_that_is_read() -> None:
    assert parse(interfaces._RULES.split("end your message with exactly one call:\n")[1].split("\nOnly printed")[0])


def test_an_observation_says_how_the_cell_ended() -> None:
    assert observation(result(returned="3\n")) == "3"
    assert observation(result()) == "(nothing was printed)"
    error = CellError("KeyError", "'x'", "Traceback …\nKeyError: 'x'\n")
    assert observation(result(outcome="error", returned="a\n", error=error)) == "a\nTraceback …\nKeyError: 'x'"
    lost = observation(result(outcome="timeout", detail="the cell ran longer than 1 s", state_survived=False))
    assert lost == "[timeout: the cell ran longer than 1 s. The session is lost.]"


def test_a_chat_has_a_tool_message_after_each_cell() -> None:
    steps = [Step(1, render_call("print(3)"), "print(3)", result(returned="3\n")), Step(2, "Three.", None, None)]
    assert [(m["role"], m["content"]) for m in chat("rules", "Count.", steps)] == [
        ("system", "rules"), ("user", "Count."), ("assistant", render_call("print(3)")), ("tool", "3"),
        ("assistant", "Three."),
    ]
