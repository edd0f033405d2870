"""`manage.py build_content`: make and prove all shipped tasks anew, and write the archives and their manifest.

Deterministic: the same code and sources give the same keys. `--check` makes a sample again and compares by hash
with what ships, writing nothing. The environment packages come from the domains' models (`--packages`), or from the
archives that are there (`--check`).
"""

from __future__ import annotations

import json
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from random import Random
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from tasks_app import building
from tasks_app.content import FORMAT, unpack, write_archive
from tasks_app.domains.reading import read_domain
from tasks_app.environments.compiler import compile_package
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.filters import Funnel
from tasks_app.making import make, number_of
from tasks_app.tasks import TaskSpec, load_task, task_files
from tasks_app.toolpool import read_source

SOURCES = {"classroom": "classroom:v1", "calendar": "calendar:v3"}


class Command(BaseCommand):
    help = "Make and prove the shipped content anew, or compare a part of it by hash (--check)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="make a sample again and compare hashes; write nothing"
        )
        parser.add_argument("--sample", type=int, default=6, help="with --check: how many tasks (default 6)")
        parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
        parser.add_argument("--packages", type=Path, help="folder with a compiled package a domain")
        parser.add_argument("--output", type=Path, default=None, help="where to write (default: the content folder)")
        parser.add_argument("--only", default="", help="only motifs whose name contains this (for trying out)")

    def handle(self, *args: Any, **options: Any) -> None:
        content = options["output"] or Path(settings.CONTENT_DIR)
        if options["check"]:
            self._check(content, options["sample"])
            return
        with tempfile.TemporaryDirectory() as name:
            packages = options["packages"] or self._compile(Path(name))
            self._build(content, packages, options["jobs"], options["only"])

    def _compile(self, folder: Path) -> Path:
        """Environment packages from the documents that ship with google-api-python-client."""
        for domain, source in SOURCES.items():
            compile_package(read_domain(read_source(source)), folder / domain)
        return folder

    def _build(self, content: Path, packages: Path, jobs: int, only: str) -> None:
        archives, sections, every = {}, {}, []
        for domain in SOURCES:
            tasks: list[TaskSpec] = []
            for tier in ("task", "primer"):
                wanted = [order for order in building.orders(domain, tier) if only in order.motif]
                self.stdout.write(f"{domain}, {tier}s: {len(wanted)} motifs")
                made, funnel = building.build(packages / domain, wanted, jobs, self.stdout.write)
                self._tell(funnel)
                tasks += made
                sections[f"{domain}/{tier}"] = funnel.as_json()
            package = EnvironmentPackage.load(packages / domain)
            archives[f"{domain}.zip"] = write_archive(content / f"{domain}.zip", packages / domain, tasks)
            every.append((package, tasks))
        manifest = {"format": FORMAT, "archives": archives, "funnel": sections, **_summary(every)}
        text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        (content / "manifest.json").write_text(text, encoding="utf-8")
        self.stdout.write(
            f"{manifest['tasks']} tasks, {manifest['primers']} primers, {manifest['plan_trees']} plan trees of tasks, "
            f"{manifest['primer_plan_trees']} of primers"
        )

    def _tell(self, funnel: Funnel) -> None:
        for line in funnel.lines():
            self.stdout.write("  " + line)

    def _check(self, content: Path, sample: int) -> None:
        differing = []
        with tempfile.TemporaryDirectory() as name:
            folders = [(package, task) for package, tasks in unpack(content, Path(name)) for task in tasks]
            chosen = Random("check").sample(folders, min(sample, len(folders)))
            for package_folder, folder in chosen:
                shipped = load_task(folder)
                again = remake(shipped, EnvironmentPackage.load(package_folder))
                if again != task_files(shipped):
                    differing.append(f"{shipped.key} ({shipped.motif})")
        if differing:
            raise CommandError(f"made again, these differ from what ships: {', '.join(differing)}; run build_content")
        self.stdout.write(f"{len(chosen)} tasks made again, all equal by hash")


def remake(shipped: TaskSpec, package: EnvironmentPackage) -> dict[str, str]:
    """The files of the task that the shipped one's motif gives again, found by its instance."""
    tries = building.PRIMERS_A_MOTIF + building.SPARE["primer"]
    for instance in range(tries):
        if number_of(f"{shipped.motif}/{instance}") == shipped.seed:
            return task_files(make(shipped.motif, instance, package))
    raise CommandError(f"{shipped.key}: no instance of {shipped.motif} has its seed; the list of drafts has changed")


def _summary(every: list[tuple[EnvironmentPackage, list[TaskSpec]]]) -> dict[str, Any]:
    """Counts and provenance, for people and for tests."""
    tasks = [task for _, made in every for task in made if task.tier == "task"]
    primers = [task for _, made in every for task in made if task.tier == "primer"]
    return {
        "packages": {
            package.model.name: {"digest": package.digest, "provenance": dict(package.provenance)}
            for package, _ in every
        },
        "tasks": len(tasks),
        "primers": len(primers),
        "plan_trees": len({task.plan_tree for task in tasks}),
        "primer_plan_trees": len({task.plan_tree for task in primers}),
        "held_out": {
            "tasks": sum(task.split == "test" for task in tasks),
            "primers": sum(task.split == "test" for task in primers),
        },
        "with_files": sum(_with_files(task) for task in tasks),
        "operators": sorted({operator for task in tasks for operator in task.operators}),
        "probes": sum(len(task.probes) for task in [*tasks, *primers]),
        "means": _means(tasks),
        "licences": {package.model.name: package.licence for package, _ in every},
    }


def _with_files(task: TaskSpec) -> bool:
    return bool(task.plan["files"]) or "reconcile" in task.operators


def _means(tasks: list[TaskSpec]) -> dict[str, dict[str, float]]:
    """Means of the task tier by scale: database in KB, files, rows, tokens, calls."""
    found: dict[str, dict[str, float]] = {}
    for name in ("v0", "v1", "v2", "v3"):
        rows = [task.measures[name] for task in tasks]
        if rows:
            found[name] = {
                key: round(sum(row[key] for row in rows) / len(rows), 1)
                for key in ("db_kb", "files", "rows", "tokens", "calls")
            }
    return found
