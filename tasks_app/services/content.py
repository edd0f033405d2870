"""Content: proven packages and tasks that ship with the code (or lie in a folder), as rows. Proves nothing again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db import transaction

from tasks_app.content import unpack
from tasks_app.domains.model import DomainModel, to_json
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.measures import Measures, read_measures
from tasks_app.models import Domain, Environment, Task, TaskScale, Tool
from tasks_app.models.content import TaskStatus
from tasks_app.tasks import TaskSpec, load_task


def load_content(content: Path | None = None) -> str:
    """Load what `content/manifest.json` names, once for each manifest. Returns a line that says what was done."""
    content = content or Path(settings.CONTENT_DIR)
    manifest = content / "manifest.json"
    if not manifest.exists():
        return f"no content: {manifest} is not there; `python manage.py build_content` makes it"
    digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
    marker = Path(settings.DATA_DIR) / "content" / "loaded"
    if marker.exists() and marker.read_text() == digest and Task.objects.exists():
        return f"{Task.objects.count()} tasks are loaded"
    unpacked = [
        (Path(package), [Path(task) for task in tasks]) for package, tasks in unpack(content, Path(settings.DATA_DIR))
    ]
    new = load_folders(unpacked)
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text(digest)
    return f"{Task.objects.count()} tasks are loaded, {new} of them new"


@transaction.atomic
def load_folders(folders: Iterable[tuple[Path, list[Path]]]) -> int:
    """Rows for packages and their tasks, all lying under DATA_DIR. Returns how many tasks are new."""
    new = 0
    for package_folder, task_folders in folders:
        package = EnvironmentPackage.load(package_folder)
        environment = load_environment(package, package_folder)
        known = set(Task.objects.filter(environment=environment).values_list("key", flat=True))
        for folder in task_folders:
            task = load_task(folder)
            if task.key not in known:
                record_task(task, environment, folder)
                new += 1
    return new


def relative(folder: Path) -> str:
    return folder.resolve().relative_to(Path(settings.DATA_DIR).resolve()).as_posix()


def load_environment(package: EnvironmentPackage, folder: Path) -> Environment:
    """Domain, tools (left-out ones too, with their reasons) and environment of a package."""
    model = package.model
    domain, _ = Domain.objects.update_or_create(
        slug=model.name,
        defaults={
            "title": model.title,
            "description": model.description,
            "source": model.source,
            "source_sha256": model.source_sha256,
            "licence": model.licence,
            "model": to_json(model),
        },
    )
    environment, _ = Environment.objects.get_or_create(
        digest=package.digest,
        defaults={"domain": domain, "folder": relative(folder)},
    )
    load_tools(domain, model, package)
    return environment


def load_tools(domain: Domain, model: DomainModel, package: EnvironmentPackage) -> None:
    rows = [
        Tool(
            domain=domain,
            name=op.tool,
            method=op.method,
            writes=op.writes,
            effect=op.effect.kind,
            entity=op.entity,
            description=op.description,
            runs=True,
            reason="",
            spec=dict(package.tools.get(op.tool, {})),
        )
        for op in model.ops
    ]
    rows += [
        Tool(
            domain=domain,
            name=out.method.rpartition(".")[2],
            method=out.method,
            writes=False,
            effect="",
            entity="",
            runs=False,
            reason=out.reason,
        )
        for out in model.left_out
    ]
    unique = {row.method: row for row in reversed(rows)}
    domain.tools.exclude(method__in=unique).delete()
    Tool.objects.bulk_create(
        unique.values(),
        update_conflicts=True,
        unique_fields=["domain", "method"],
        update_fields=["name", "writes", "effect", "entity", "description", "runs", "reason", "spec"],
    )


def record_task(spec: TaskSpec, environment: Environment, folder: Path) -> Task:
    """A task and its scales as rows; the folder stays the truth."""
    task = Task.objects.create(
        key=spec.key,
        title=spec.title,
        tier=spec.tier,
        domain=environment.domain,
        environment=environment,
        lineage=spec.lineage,
        plan_tree=spec.plan_tree,
        split=spec.split,
        status=TaskStatus.PROVEN,
        operators=list(spec.operators),
        depth=spec.depth,
        outcome_kind=spec.outcome_kind,
        folder=relative(folder),
        instruction=spec.instruction,
        checks=dict(spec.measures.get("checks", {})),
    )
    TaskScale.objects.bulk_create(
        [
            scale_row(
                task,
                name,
                scale.rows,
                scale.files,
                read_measures(spec.measures.get(name, {})),
                list(spec.measures.get(name, {}).get("proof", [])),
            )
            for name, scale in spec.scales.items()
        ]
    )
    return task


def scale_row(task: Task, name: str, rows: int, files: int, measures: Measures, proof: list[object]) -> TaskScale:
    return TaskScale(
        task=task,
        name=name,
        rows=rows,
        files=files,
        database_bytes=measures.database_bytes,
        tokens=measures.tokens,
        calls=measures.calls,
        seconds=measures.seconds,
        state_digest=measures.state,
        proof=proof,
    )
