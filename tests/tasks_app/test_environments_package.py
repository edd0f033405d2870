"""A package is the same bytes for the same model, named by its content, and usable without the studio."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tasks_app.domains.model import DomainModel, Effect
from tasks_app.environments.compile_tools import CannotCompile
from tasks_app.environments.compiler import compile_package
from tasks_app.environments.package import FILES, EnvironmentPackage, PackageError
from tasks_app.environments.state import State
from tests.tasks_app.environment_packages import package_of, world

ALONE = """
import json, pathlib, sqlite3, sys, tempfile
def module(name):
    space = {"__name__": name}
    exec((pathlib.Path(sys.argv[1]) / f"{name}.py").read_text(), space)
    return space
db = sqlite3.connect(":memory:")
db.executescript((pathlib.Path(sys.argv[1]) / "schema.sql").read_text())
with tempfile.TemporaryDirectory() as workspace:
    module("populate")["populate"](db, pathlib.Path(workspace), seed=1, rows=300, files=3, directives={})
print(json.dumps(len(module("tools")["TOOLS"]["courses_list"](db)["courses"])))
print(sorted(name for name in sys.modules if name.split(".")[0] in ("django", "tasks_app")))
"""


def test_the_same_model_gives_the_same_package(tmp_path: Path) -> None:
    package = package_of("calendar")
    again = compile_package(package.model, tmp_path)
    assert again.digest == package.digest
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
    (tmp_path / "tools.py").write_text("")
    assert EnvironmentPackage.load(tmp_path).digest != package.digest


def test_a_package_needs_nothing_of_the_studio() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(package_of("classroom").folder)],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    count, modules = done.stdout.splitlines()
    assert int(count) > 0
    assert modules == "[]"


def test_a_folder_that_is_no_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match="is missing"):
        EnvironmentPackage.load(tmp_path)


def test_every_tool_is_described_with_schemas_of_arguments_and_answer() -> None:
    document = json.loads((package_of("classroom").folder / "environment.json").read_text())
    assert document["licence"] == "Apache-2.0"
    assert document["provenance"]["sha256"]
    for spec in document["tools"]:
        assert spec["parameters"]["type"] == "object"
        assert spec["description"]
        assert set(spec) == {"name", "method", "description", "parameters", "returns", "writes"}


def test_an_effect_without_a_compiler_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    import dataclasses

    model: DomainModel = package_of("calendar").model
    op = dataclasses.replace(model.ops[0], effect=Effect("teleport", {}))
    with pytest.raises(CannotCompile, match="teleport"):
        compile_package(dataclasses.replace(model, ops=(op,)), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_digest_of_a_state_sees_rows_and_files_but_not_their_order() -> None:
    state = world("calendar")
    db = state.connect()
    rows = db.execute("SELECT * FROM event_label").fetchall()
    db.execute("DELETE FROM event_label")
    marks = ", ".join("?" for _ in rows[0])
    db.executemany(f"INSERT INTO event_label VALUES ({marks})", reversed(rows))
    db.commit()
    assert State(db.serialize(), state.files).digest == state.digest
    db.execute("UPDATE event_label SET name = name || '!'")
    db.commit()
    assert State(db.serialize(), state.files).digest != state.digest
    assert State(state.image, {**state.files, "new.txt": b""}).digest != state.digest
    db.close()
