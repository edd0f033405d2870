"""Rows and trajectories made by hand, for tests of pages, services and reviews: no kernel, no content."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from django.utils import timezone

from sandbox_app.interfaces import render_call
from sandbox_app.models import Episode
from sandbox_app.services import running
from sandbox_app.trajectories import (
    VERSION,
    Call,
    CellError,
    CellResult,
    FileChange,
    Outcome,
    RowChange,
    Step,
    Trajectory,
    Variable,
)
from tasks_app.models import Domain, Environment, JobState, Task, TaskScale
from tasks_app.models.content import TaskStatus
from tasks_app.scales import Scale
from tasks_app.services.files import in_data_dir
from tasks_app.tasks import TaskSpec, keyed, save_task

VERIFIER = "ab" * 32
CODE = """\
# Post announcements, part {}
for title, n in missing.items():
    print(tools.announcements_create(courseId=bio['id']))"""
EVIL = "<script>alert(1)</script>\x1b[31m\u202egnp.exe\x00"
_number = itertools.count(1)


def make_task(
    title: str = "Chase what is missing", *, slug: str = "classroom", tier: str = "task", **fields: Any,
) -> Task:
    """A proven task with four scales, its files in DATA_DIR; nothing of it could be run."""
    domain, _ = Domain.objects.get_or_create(slug=slug, defaults={
        "title": slug.capitalize(), "source": f"{slug}.json", "source_sha256": "0" * 64, "licence": "Apache-2.0",
        "model": {},
    })
    environment, _ = Environment.objects.get_or_create(digest=f"{slug:0<64}"[:64], defaults={
        "domain": domain, "folder": f"content/{slug}/environment",
    })
    spec = keyed(TaskSpec(
        key="", title=title, tier="task", domain=slug, environment=environment.digest, seed=7, tools=(), directives={},
        instruction=f"Count what is there, number {next(_number)}.", scales={"v0": Scale("v0", 200, 10)}, verifier="",
        reference="", plan={}, plan_tree="t", lineage="l", operators=(), depth=1, outcome_kind="done", split="train",
    ))
    folder = f"content/{slug}/tasks/{spec.key}"
    save_task(spec, in_data_dir(folder))
    task = Task.objects.create(**{
        "key": spec.key, "title": title, "tier": tier, "domain": domain, "environment": environment,
        "lineage": spec.key, "plan_tree": spec.key, "split": "train", "status": TaskStatus.PROVEN, "depth": 3,
        "outcome_kind": "done", "folder": folder, "checks": {},
        "instruction": "In “Biology 10B”, post an announcement for each assignment with three students missing.",
    } | fields)
    for index, scale in enumerate(("v0", "v1", "v2", "v3")):
        TaskScale.objects.create(task=task, name=scale, rows=200 * (index + 1), files=10 * (index + 1))
    return task


def call(tool: str = "announcements_create", *, ok: bool = True, **arguments: Any) -> Call:
    error = None if ok else {"code": "UNAVAILABLE", "message": "backend busy, try again", "retryable": True}
    return Call(
        tool=tool, arguments=arguments or {"courseId": "7731", "text": "Osmosis lab: 5 students"}, ok=ok,
        value_preview='{"id": "99", "state": "PUBLISHED"}' if ok else "", bytes=312 if ok else 0, error=error,
        milliseconds=9.0, writes=tool.endswith("create"),
    )


def result(**fields: Any) -> CellResult:
    return CellResult(**{
        "outcome": "ok", "stdout": "5 posted\n", "returned": "5 posted\n", "error": None, "calls": (call(),),
        "variables": (Variable("bio", "dict", "14", "{'name': 'Biology 10B'}", "same"),
                      Variable("missing", "dict", "9", "{'Osmosis lab': 5}", "new")),
        "rows": (RowChange("announcement", {"id": "99"}, None,
                           {"id": "99", "text": "Osmosis lab: 5", "state": "PUBLISHED"}),
                 RowChange("course", {"id": "1"}, {"id": "1", "section": "A"}, {"id": "1", "section": "B"})),
        "files": (FileChange("missing.csv", "added", 40, "assignment,student\n"),), "milliseconds": 420.0,
    } | fields)


def steps(count: int = 3, **fields: Any) -> tuple[Step, ...]:
    """`count` steps: cells, the second of which fails, and the answer."""
    made = []
    for index in range(1, count):
        code = CODE.format(index)
        outcome = result(**fields)
        if index == 2:
            outcome = replace(
                outcome, outcome="error", calls=(call(), call(ok=False)),
                error=CellError("ToolError", "UNAVAILABLE: backend busy", "Traceback …\nToolError: UNAVAILABLE"),
            )
        made.append(Step(index, render_call(code), code, outcome, seconds=0.5))
    return (*made, Step(count, "Done: 5 posted.", None, None, seconds=0.1))


def trajectory(kind: str = "failed", *, count: int = 3, answer: str = "Done: 5 posted.", **fields: Any) -> Trajectory:
    passed = kind == "passed"
    criteria = () if kind == "infrastructure" else (
        {"name": "announcement: inserted", "passed": True, "detail": "5 of 5"},
        {"name": "missing.csv", "passed": passed, "detail": "" if passed else "12 rows expected, 13 found"},
        {"name": "answer", "passed": passed, "detail": "says 5"},
        {"name": "nothing else changed", "passed": True, "detail": "0 rows"},
    )
    cause = "verdict" if kind in ("passed", "failed") else {"stopped": "max_steps", "infrastructure": "host_lost"}[kind]
    return Trajectory(**{
        "version": VERSION, "task": "key", "environment": "e" * 64, "scale": "v2", "seed": 7, "policy": "scripted",
        "mode": "programmatic", "system": "…", "instruction": "…", "steps": steps(count), "answer": answer,
        "outcome": Outcome(kind, cause, "" if cause == "verdict" else "the limit of 30 steps"),  # type: ignore[arg-type]
        "criteria": criteria, "verifier": VERIFIER if criteria else "", "state_before": "b", "state_after": "a",
        "seconds": 3.1,
    } | fields)


def make_episode(kind: str = "failed", *, task: Task | None = None, whole: bool = False, **fields: Any) -> Episode:
    """An ended episode; `whole` keeps its steps and trajectory as blobs too."""
    task = task or make_task()
    if whole:
        return running.record_trajectory(
            trajectory=fields.pop("record", None) or trajectory(kind), task=task, source="demo", policy="scripted",
            policy_config={"fault": "partial"}, record_key="", rows=400, files=20,
        )
    reward = {"passed": 1.0, "failed": 0.0, "stopped": 0.0}.get(kind)
    return Episode.objects.create(**{
        "task": task, "scale": "v2", "rows": 400, "files": 20, "seed": 7, "policy": "scripted", "source": "demo",
        "policy_config": {"fault": "partial"}, "state": JobState.SUCCEEDED, "outcome": kind, "reward": reward,
        "cause": "verdict", "verifier": VERIFIER,
        "criteria": [{"name": "one", "passed": kind == "passed", "detail": ""}], "ended_at": timezone.now(),
        "seconds": 3.0,
    } | fields)


def running_episode(task: Task | None = None, **fields: Any) -> Episode:
    episode = Episode.objects.create(**{
        "task": task or make_task(), "scale": "v0", "rows": 200, "files": 10, "seed": 1, "policy": "reference",
        "dispatched_at": timezone.now(),
    } | fields)
    assert episode.claim("worker-1")
    return episode


__all__ = [
    "EVIL", "VERIFIER", "Call", "CellError", "FileChange", "RowChange", "Step", "Variable", "call", "make_episode",
    "make_task", "result", "running_episode", "steps", "trajectory",
]
