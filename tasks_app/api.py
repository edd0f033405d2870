"""Addresses of tasks and environments under /api/v1."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status

from tasks_app.models import Environment, Regeneration, Task, TaskSet
from tasks_app.pages import Sort, page
from tasks_app.permissions import check_group
from tasks_app.services import regenerations

router = Router(tags=["tasks and environments"])
MOST = 200


class ScaleOut(Schema):
    name: str
    rows: int
    files: int
    database_bytes: int | None
    tokens: int | None
    calls: int | None
    proof: list[Any]


class TaskOut(Schema):
    key: str
    title: str
    tier: str
    domain: str
    environment: str
    split: str
    status: str
    operators: list[str]
    depth: int
    outcome_kind: str
    lineage: str
    plan_tree: str
    instruction: str

    @staticmethod
    def resolve_domain(task: Task) -> str:
        return task.domain.slug

    @staticmethod
    def resolve_environment(task: Task) -> str:
        return task.environment.digest


class TaskDetail(TaskOut):
    tools: list[str]
    plan: dict[str, Any]
    verifier: str
    reference: str
    checks: dict[str, Any]
    scales: list[ScaleOut]


class TaskFilters(Schema):
    """The filters of the list page, and its pages: give `after` as the last answer's `next` says."""

    domain: str = ""
    tier: str = ""
    scale: str = ""
    status: str = ""
    split: str = ""
    operator: str = ""
    q: str = ""
    after: str = ""
    limit: int = 50


class TaskPage(Schema):
    total: int
    next: str
    items: list[TaskOut]


class EnvironmentOut(Schema):
    digest: str
    domain: str
    created_at: datetime

    @staticmethod
    def resolve_domain(environment: Environment) -> str:
        return environment.domain.slug


class RegenerationIn(Schema):
    rows: int
    files: int


class RegenerationOut(Schema):
    id: UUID
    task: str
    rows: int
    files: int
    state: str
    progress: float
    error: str
    proof: list[Any]

    @staticmethod
    def resolve_task(job: Regeneration) -> str:
        return job.task.key


class TaskSetOut(Schema):
    id: int
    name: str
    version: int
    digest: str
    frozen: bool
    keys: list[str]

    @staticmethod
    def resolve_keys(task_set: TaskSet) -> list[str]:
        return sorted(task.key for task in task_set.tasks.all())


@router.get("/tasks", response=TaskPage, summary="Tasks by filter, a page at a time")
def list_tasks(request: HttpRequest, filters: Query[TaskFilters]) -> dict[str, Any]:
    rows = Task.objects.chosen(filters.dict()).select_related("domain", "environment").defer("domain__model", "checks")
    shown = page(rows, request.GET, {"title": Sort("title", "title")}, "title", size=max(1, min(filters.limit, MOST)))
    return {"total": shown.total, "next": shown.next_url, "items": shown.rows}


@router.get("/tasks/{key}", response=TaskDetail, summary="One task with its programs, scales and proofs")
def get_task(request: HttpRequest, key: str) -> Task:
    task = get_object_or_404(Task.objects.select_related("domain", "environment").prefetch_related("scales"), key=key)
    spec = task.spec()
    task.tools, task.plan = list(spec.tools), dict(spec.plan)
    task.verifier, task.reference = spec.verifier, spec.reference
    return task


@router.post(
    "/tasks/{key}/regenerations",
    response={201: RegenerationOut, 200: RegenerationOut},
    summary="Grow a task's environment to a size; the same size gives the same job",
)
def make_regeneration(request: HttpRequest, key: str, size: RegenerationIn) -> Status[Regeneration]:
    check_group(request.user, "curator")
    task = get_object_or_404(Task, key=key)
    job, new = regenerations.ask(task=task, rows=size.rows, files=size.files, by=request.user)
    return Status(201 if new else 200, job)


@router.get("/regenerations/{regeneration_id}", response=RegenerationOut, summary="How a regeneration stands")
def get_regeneration(request: HttpRequest, regeneration_id: UUID) -> Regeneration:
    return get_object_or_404(Regeneration.objects.select_related("task"), pk=regeneration_id)


@router.get("/environments", response=list[EnvironmentOut], summary="All environments")
def list_environments(request: HttpRequest) -> Any:
    return Environment.objects.select_related("domain").defer("domain__model").order_by("domain__slug", "-created_at")


@router.get("/environments/{digest}", summary="One environment with its tools' schemas and its entities")
def get_environment(request: HttpRequest, digest: str) -> dict[str, Any]:
    environment = get_object_or_404(Environment.objects.select_related("domain"), digest=digest)
    tools = environment.domain.tools.filter(runs=True)
    return {
        "digest": environment.digest,
        "domain": environment.domain.slug,
        "licence": environment.domain.licence,
        "source": environment.domain.source,
        "tools": [tool.spec for tool in tools],
        "model": environment.domain.model,
    }


@router.get("/task-sets", response=list[TaskSetOut], summary="All task sets with the keys of their tasks")
def list_task_sets(request: HttpRequest) -> Any:
    return TaskSet.objects.prefetch_related("tasks")
