"""The two rules of the rooms: imports and foreign keys run one way, and Django stays at the edges.

tasks_app ← sandbox_app ← training_app ← studio; nothing imports studio.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from tests.pure_modules import APPS, EDGES, ROOT, edge, pure_modules

ORDER = (*APPS, "studio")
WEB = ("django", "celery", "channels", "ninja", "unfold")
SOURCES = [path.relative_to(ROOT) for app in ORDER for path in sorted((ROOT / app).rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """Every module a file imports, at the top or inside a function, and names given to import_module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_imports_run_one_way(path: Path) -> None:
    room = ORDER.index(path.parts[0])
    upward = {name for name in imported(path) if name.split(".")[0] in ORDER[room + 1 :]}
    assert not upward, f"{path} imports {sorted(upward)}, which lies above it"


@pytest.mark.parametrize("path", pure_modules(), ids=str)
def test_pure_modules_know_no_framework_and_no_edge(path: Path) -> None:
    names = imported(path)
    framework = {name for name in names if name.split(".")[0] in WEB}
    assert not framework, f"{path} is pure by its name, yet imports {sorted(framework)}"
    edges = {name for name in names if name.split(".")[0] in APPS and set(name.split(".")[1:]) & EDGES}
    assert not edges, f"{path} is pure by its name, yet imports the edges {sorted(edges)}"


@pytest.mark.parametrize("path", [p for p in SOURCES if "migrations" not in p.parts], ids=str)
def test_torch_is_named_only_where_it_may_load(path: Path) -> None:
    heavy = {
        name for name in imported(path) if name.split(".")[0] in ("torch", "trl", "transformers", "peft", "accelerate")
    }
    if heavy:
        assert not edge(path), f"{path} would load {sorted(heavy)} into a web process"


def test_foreign_keys_run_one_way() -> None:
    for model in apps.get_models():
        here = model._meta.app_label
        if here not in ORDER:
            continue
        for field in model._meta.get_fields():
            if field.is_relation and not field.auto_created and field.related_model is not None:
                there = field.related_model._meta.app_label
                if there in ORDER:
                    assert ORDER.index(there) <= ORDER.index(here), (
                        f"{model.__name__}.{field.name} points up at {there}"
                    )


def test_the_web_process_never_loads_torch() -> None:
    code = (
        "import sys, studio.asgi\n"
        "from django.urls import get_resolver\n"
        "get_resolver().url_patterns\n"
        "import studio.celery; studio.celery.app.loader.import_default_modules()\n"
        "bad = [m for m in ('torch', 'transformers', 'trl', 'pandas', 'datasets') if m in sys.modules]\n"
        "sys.exit(f'loaded: {bad}' if bad else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "DJANGO_SETTINGS_MODULE": "studio.settings",
            "DATA_DIR": str(settings.DATA_DIR),
            "SECRET_KEY": "x",
        },
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", [p for p in SOURCES if "migrations" not in p.parts], ids=str)
def test_modules_stay_short_and_say_what_they_are_for(path: Path) -> None:
    text = (ROOT / path).read_text()
    assert len(text.splitlines()) <= 400, f"{path} has {len(text.splitlines())} lines"
    assert not text.strip() or ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
