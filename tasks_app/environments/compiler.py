"""compile_package: DomainModel → a folder with schema.sql, tools.py, populate.py and what describes them.

The same model always gives the same bytes. Everything generated is plain text that a person can read and change.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tasks_app.domains.model import DomainModel, from_json, to_json
from tasks_app.environments.compile_populate import compile_populate
from tasks_app.environments.compile_schema import compile_schema
from tasks_app.environments.compile_tools import compile_tools, parameters_of
from tasks_app.environments.package import FORMAT, EnvironmentPackage

LICENCES = {"Apache-2.0": "Apache License, Version 2.0, http://www.apache.org/licenses/LICENSE-2.0"}


def compile_package(model: DomainModel, folder: Path) -> EnvironmentPackage:
    """Write the package into `folder`, made if need be, and load it. Raises CannotCompile before it writes."""
    model = from_json(json.loads(_json(to_json(model))))  # as it will be read again: tuples in details are lists
    texts = {
        "schema.sql": compile_schema(model),
        "tools.py": compile_tools(model),
        "populate.py": compile_populate(model),
        "model.json": _json(to_json(model)),
        "environment.json": _json(_environment(model)),
        "SOURCE.json": _json(_provenance(model)),
        "LICENSE": _licence(model),
    }
    compile(texts["tools.py"], "tools.py", "exec")
    compile(texts["populate.py"], "populate.py", "exec")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return EnvironmentPackage.load(folder)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _environment(model: DomainModel) -> dict[str, Any]:
    tools = [
        {
            "name": op.tool,
            "method": op.method,
            "description": op.description,
            "parameters": parameters_of(op, model),
            "returns": to_json(op.returns),
            "writes": op.writes,
        }
        for op in model.ops
    ]
    return {
        "format": FORMAT,
        "domain": model.name,
        "title": model.title,
        "description": model.description,
        "tools": tools,
        "left_out": to_json(model.left_out),
        "licence": model.licence,
        "provenance": _provenance(model),
    }


def _provenance(model: DomainModel) -> dict[str, Any]:
    return {"source": model.source, "sha256": model.source_sha256, "licence": model.licence}


def _licence(model: DomainModel) -> str:
    return (
        f"Compiled from {model.source} (sha256 {model.source_sha256}).\n"
        f"Licence of the source and of what is derived from it: {LICENCES.get(model.licence, model.licence)}\n"
    )
