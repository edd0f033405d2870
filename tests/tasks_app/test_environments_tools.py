"""Every tool of both packages runs, does what it says, and refuses what it should with a documented error."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import apsw
import pytest

from tasks_app.environments.connection import ApswConnection
from tests.tasks_app.environment_calls import arguments_for
from tests.tasks_app.environment_packages import package_of, world

DOMAINS = ("classroom", "calendar")
TOOLS = [(domain, op.tool) for domain in DOMAINS for op in package_of(domain).model.ops]
NOTHING_CHANGES = {"calendars_clear"}
CODES = {"INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION", "ALREADY_EXISTS"}


@pytest.fixture
def db(domain: str) -> Iterator[sqlite3.Connection]:
    connection = world(domain).connect()
    connection.execute("PRAGMA foreign_keys = ON")
    yield connection
    connection.close()


def call(domain: str, db: Any, tool: str, **arguments: Any) -> Any:
    return package_of(domain).functions[tool](db, **arguments)


def refusal(domain: str, db: Any, tool: str, **arguments: Any) -> Any:
    error = package_of(domain).module("tools").ToolError
    with pytest.raises(error) as caught:
        call(domain, db, tool, **arguments)
    assert caught.value.code in CODES
    assert caught.value.message
    return caught.value


@pytest.mark.parametrize("full", [False, True], ids=["required", "all"])
@pytest.mark.parametrize(("domain", "tool"), TOOLS)
def test_every_tool_runs_on_arguments_its_schema_allows(
    domain: str, tool: str, full: bool, db: sqlite3.Connection
) -> None:
    package = package_of(domain)
    op = package.model.op(tool)
    before = list(db.iterdump())
    answer = call(domain, db, tool, **arguments_for(db, op, package, full=full))
    json.dumps(answer)
    assert not db.execute("PRAGMA foreign_key_check").fetchall()
    changed = list(db.iterdump()) != before
    assert changed == op.writes
    published = op.returns.get("properties", {})
    assert not published or set(answer) <= set(published)
    if op.effect.kind in ("read_one", "insert", "update", "move", "import", "quick_add") and published:
        assert answer or package.model.entity(op.entity).kind == "singleton"


@pytest.mark.parametrize(("domain", "tool"), TOOLS)
def test_every_tool_refuses_what_its_schema_does_not_allow(domain: str, tool: str, db: sqlite3.Connection) -> None:
    package = package_of(domain)
    op = package.model.op(tool)
    good = arguments_for(db, op, package, full=False)
    before = list(db.iterdump())
    assert "no_such_argument" in refusal(domain, db, tool, **good, no_such_argument=1).message
    for param in op.params:
        if param.required:
            without = {key: value for key, value in good.items() if key != param.name}
            assert refusal(domain, db, tool, **without).code == "INVALID_ARGUMENT"
        wrong = object() if param.schema.get("type") == "array" else [object()]
        assert param.name in refusal(domain, db, tool, **{**good, param.name: wrong}).message
    assert list(db.iterdump()) == before


@pytest.mark.parametrize(
    ("domain", "tool"),
    [
        (domain, tool)
        for domain, tool in TOOLS
        if any(p.where == "path" and p.column for p in package_of(domain).model.op(tool).params)
    ],
)
def test_a_key_that_is_not_there_is_not_found(domain: str, tool: str, db: sqlite3.Connection) -> None:
    package = package_of(domain)
    op = package.model.op(tool)
    good = arguments_for(db, op, package, full=False)
    before = list(db.iterdump())
    params = [p for p in op.params if p.where == "path" and p.column and p.name != op.wildcard]
    if op.effect.kind not in ("insert", "list", "upsert"):
        params = params[-1:]
    for param in params:
        if op.effect.kind == "insert" and param.column in op.params:
            continue
        error = refusal(domain, db, tool, **{**good, param.name: "999"})
        assert error.code in ("NOT_FOUND", "INVALID_ARGUMENT")
    assert list(db.iterdump()) == before


@pytest.mark.parametrize("domain", DOMAINS)
def test_at_least_85_percent_of_the_published_methods_run(domain: str) -> None:
    model = package_of(domain).model
    assert len(model.ops) / (len(model.ops) + len(model.left_out)) >= 0.85


@pytest.mark.parametrize("domain", ["calendar"])
def test_apsw_behaves_as_sqlite(domain: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", world(domain).image)
    db = ApswConnection(connection)
    plain = world(domain).connect()
    for tool in ("events_list", "calendar_list_list"):
        arguments = {"calendarId": "primary"} if tool == "events_list" else {}
        assert call(domain, db, tool, **arguments) == call(domain, plain, tool, **arguments)
    made = call(domain, db, "calendars_insert", summary="Chess")
    assert call(domain, db, "calendars_get", calendarId=made["id"])["summary"] == "Chess"
    refusal(domain, db, "calendars_get", calendarId="nowhere")
    plain.close()


@pytest.mark.parametrize("domain", ["classroom"])
def test_a_fault_that_is_not_the_callers_stays_itself(domain: str, db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE announcement RENAME TO elsewhere")
    with pytest.raises(sqlite3.OperationalError):
        call(domain, db, "announcements_create", courseId="100000000001", text="x")
    assert not db.in_transaction
