"""`import_tools`: whole or not at all, once for the same source, with a report people can read."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tasks_app.domains.model import DomainModel, Op
from tasks_app.management.commands import import_tools
from tasks_app.models import Domain, ImportReport, Tool

pytestmark = pytest.mark.django_db


def imported(*sources: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("import_tools", *sources, "--json", stdout=out, skip_checks=True)
    return dict(json.loads(out.getvalue()))


def test_import_keeps_domain_tools_and_report() -> None:
    found = imported("classroom:v1", "calendar:v3")
    assert [(d["domain"], d["methods"], d["ops"], d["outcome"]) for d in found["documents"]] == [
        ("classroom", 105, 99, "imported"),
        ("calendar", 38, 33, "imported"),
    ]
    assert all(d["share"] >= 0.85 for d in found["documents"])
    assert Domain.objects.get(slug="calendar").licence == "Apache-2.0"
    assert Tool.objects.filter(domain__slug="calendar", runs=True).count() == 33
    assert Tool.objects.get(method="calendar.channels.stop").reason == "ends a notification channel"
    spec = Tool.objects.get(name="students_list").spec
    assert spec["parameters"]["required"] == ["courseId"]
    assert (
        spec["returns"]["properties"]["students"]["items"]["properties"]["profile"]["properties"]["emailAddress"][
            "type"
        ]
        == "string"
    )


def test_import_of_the_same_source_changes_nothing() -> None:
    imported("calendar:v3")
    before = list(Tool.objects.values_list("id", flat=True))
    assert imported("calendar:v3")["documents"][0]["outcome"] == "unchanged"
    assert list(Tool.objects.values_list("id", flat=True)) == before
    assert ImportReport.objects.count() == 1


def test_import_that_fails_leaves_the_rest_and_says_what_where_and_what_to_do(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"kind": "discovery#restDescription", "name": "x"')
    out = io.StringIO()
    with pytest.raises(CommandError, match=r"truncated .*line 1"):
        call_command("import_tools", str(broken), "calendar:v3", "--json", stdout=out, skip_checks=True)
    found = json.loads(out.getvalue())
    assert found["problems"][0]["source"] == str(broken)
    assert "import it again" in found["problems"][0]["problem"]
    assert list(Domain.objects.values_list("slug", flat=True)) == ["calendar"]


def test_import_interrupted_while_writing_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(import_tools, "_tools", broken)
    with pytest.raises(RuntimeError, match="disk is full"):
        imported("calendar:v3")
    assert not Domain.objects.exists()
    assert not ImportReport.objects.exists()


def test_two_versions_of_one_service_are_two_domains() -> None:
    imported("drive:v2", "drive:v3")
    assert set(Domain.objects.values_list("slug", flat=True)) == {"drive", "drive-v3"}


def test_import_says_in_words_what_was_left_out() -> None:
    out = io.StringIO()
    call_command("import_tools", "calendar:v3", stdout=out, skip_checks=True)
    said = out.getvalue()
    assert "33 of 38 methods run (87%)" in said
    assert "left out: calendar.events.watch: pushes notifications to a channel" in said


def test_tool_that_no_code_can_be_made_for_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(op: Op, model: DomainModel) -> str:
        if op.effect.kind == "free_busy":
            raise import_tools.CannotCompile("no compiler for free_busy")
        return ""

    monkeypatch.setattr(import_tools, "compile_tool", refusing)
    found = imported("calendar:v3")["documents"][0]
    assert found["ops"] == 32
    assert "no code can be made for it" in Tool.objects.get(method="calendar.freebusy.query").reason
