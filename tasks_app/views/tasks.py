"""The list of tasks and the page of one, in tabs that each have an address."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from tasks_app import browsing, outline
from tasks_app.environments.package import EnvironmentPackage
from tasks_app.environments.state import State
from tasks_app.errors import Refused
from tasks_app.measures import ProofLine, read_proof
from tasks_app.models import Domain, Regeneration, Task, TaskScale
from tasks_app.models.content import TaskStatus
from tasks_app.pages import Chips, Sort, address, chips, page
from tasks_app.plans.algebra import PlanError
from tasks_app.services.regenerations import BUSY, MOST_FILES, MOST_ROWS
from tasks_app.tasks import TaskError, TaskSpec
from tasks_app.trust import trust

SORTS = {
    "title": Sort("title", "title"),
    "domain": Sort("domain__slug", "domain"),
    "tier": Sort("tier", "tier"),
    "depth": Sort("depth", "depth", descending=True, number=True),
    "new": Sort("created_at", "made", descending=True),
}
SCALES = ("v0", "v1", "v2", "v3", "larger")
TABS = (
    ("task", "Task"),
    ("tools", "Tools"),
    ("data", "Rows and files"),
    ("programs", "Verifier and reference"),
    ("checks", "Checks"),
    ("scales", "Scales"),
)


def operator_names() -> list[str]:
    """Operators that occur, each once: read from the distinct lists, which are few."""
    lists = Task.objects.exclude(operator_words="").order_by().values_list("operator_words", flat=True).distinct()
    return sorted({word for words in lists for word in words.strip("|").split("|")})


def filters(params: QueryDict) -> list[Chips]:
    slugs = [(slug, title) for slug, title in Domain.objects.values_list("slug", "title")]
    lines = [
        chips(params, "domain", "domain", slugs),
        chips(params, "tier", "tier", [("task", "tasks"), ("primer", "primers")]),
        chips(params, "scale", "scale", [(name, name) for name in SCALES]),
        chips(params, "status", "status", [(str(value), str(label)) for value, label in TaskStatus.choices]),
        chips(params, "split", "split", [("train", "train"), ("test", "held out")]),
        chips(params, "operator", "operator", [(name, name.replace("_", " ")) for name in operator_names()]),
    ]
    return [line for line in lines if line.chips]


@require_safe
def tasks(request: HttpRequest) -> HttpResponse:
    rows = (
        Task.objects.chosen(request.GET)
        .select_related("domain")
        .prefetch_related("scales")
        .defer("checks", "domain__model")
    )
    shown = page(rows, request.GET, SORTS, "title")
    filtered = any(request.GET.get(name) for name in ("domain", "tier", "scale", "status", "split", "operator", "q"))
    return render(
        request,
        "tasks_app/tasks.html",
        {
            "page": shown,
            "filters": filters(request.GET),
            "text": request.GET.get("q", ""),
            "filtered": filtered,
            "kept": [(name, value) for name, value in request.GET.items() if name not in ("q", "after")],
        },
    )


@require_safe
def task(request: HttpRequest, key: str) -> HttpResponse:
    row = get_object_or_404(Task.objects.select_related("domain", "environment"), key=key)
    try:
        spec = row.spec()
    except TaskError as error:
        raise Refused(
            "This task's files can't be read.", where=str(error), how="Run `python manage.py load_content` again."
        ) from error
    tab = request.GET.get("tab", "task")
    builder = BUILDERS.get(tab)
    if builder is None:
        raise Http404(f"no tab {tab!r}")
    scales = list(row.scales.all())
    tabs = [
        (name, label, address(QueryDict(), tab=name) if name != "task" else "?", name == tab) for name, label in TABS
    ]
    context = {
        "task": row,
        "spec": spec,
        "scales": scales,
        "tab": tab,
        "tabs": tabs,
        "outcome": row.outcome_kind.replace("_", " "),
        "facts": facts(spec, scales),
    }
    return render(request, f"tasks_app/task_{tab}.html", {**context, **builder(request, row, spec, scales)})


def facts(spec: TaskSpec, scales: list[TaskScale]) -> dict[str, Any]:
    return {
        "calls": scales[0].calls if scales else None,
        "words": len(spec.instruction.split()),
        "counter": spec.measures.get("v0", {}).get("token_counter", ""),
    }


def task_tab(request: HttpRequest, row: Task, spec: TaskSpec, scales: list[TaskScale]) -> dict[str, Any]:
    largest, least = (scales[-1], scales[0]) if scales else (None, None)
    job = Regeneration.objects.filter(task=row).first()
    return {
        "trust": trust(spec, row.checks, [(scale.name, read_proof(scale.proof)) for scale in scales]),
        "least": least,
        "largest": largest,
        "most_rows": MOST_ROWS,
        "most_files": MOST_FILES,
        "start_rows": min(largest.rows * 2, MOST_ROWS) if largest else 0,
        "start_files": min(largest.files + 10, MOST_FILES) if largest else 0,
        "job": job,
        "job_busy": job is not None and job.state in BUSY,
        "request_key": secrets.token_hex(16),
        "family": Task.objects.filter(lineage=row.lineage).count(),
    }


def tools_tab(request: HttpRequest, row: Task, spec: TaskSpec, scales: list[TaskScale]) -> dict[str, Any]:
    known = {tool.name: tool for tool in row.domain.tools.filter(name__in=spec.tools, runs=True)}
    return {
        "tools": [known[name] for name in spec.tools if name in known],
        "unknown": [name for name in spec.tools if name not in known],
    }


def state_of(row: Task, spec: TaskSpec, scale: TaskScale) -> State:
    """The state a task starts from at a scale; the package keeps the latest ones."""
    return EnvironmentPackage.load(row.package_folder()).build(spec.seed, scale.spec(), spec.directives)


def picked(request: HttpRequest, scales: list[TaskScale]) -> TaskScale:
    wanted = request.GET.get("scale", "v0")
    for scale in scales:
        if scale.name == wanted:
            return scale
    raise Http404(f"no scale {wanted!r}")


def data_tab(request: HttpRequest, row: Task, spec: TaskSpec, scales: list[TaskScale]) -> dict[str, Any]:
    scale = picked(request, scales)
    state = state_of(row, spec, scale)
    sizes = browsing.table_sizes(state)
    path = request.GET.get("file")
    if path is not None and path not in state.files:
        raise Http404("no such file")
    shown = request.GET.get("table") or (sizes[0].name if sizes and path is None else "")
    offset = request.GET.get("from", "0")
    try:
        table = browsing.table_page(state, shown, int(offset) if offset.isdecimal() else 0) if shown else None
    except KeyError as error:
        raise Http404(str(error)) from error
    links = {}
    if table is not None:
        if table.offset + len(table.rows) < table.total:
            links["next"] = address(request.GET, **{"from": str(table.offset + browsing.ROWS_A_PAGE), "table": shown})
        if table.offset:
            links["previous"] = address(
                request.GET, **{"from": str(max(0, table.offset - browsing.ROWS_A_PAGE)), "table": shown}
            )
    base = QueryDict(f"tab=data&scale={scale.name}")
    return {
        "scale": scale,
        "table": table,
        "links": links,
        "last": table.offset + len(table.rows) if table else 0,
        "tables": [(size, address(base, table=size.name), size.name == shown) for size in sizes],
        "files": [(entry, address(base, file=entry.path), entry.path == path) for entry in browsing.files(state)],
        "preview": browsing.preview(path, state.files[path]) if path is not None else None,
        "scale_links": [(s.name, address(request.GET, scale=s.name, **{"from": None}), s == scale) for s in scales],
    }


def programs_tab(request: HttpRequest, row: Task, spec: TaskSpec, scales: list[TaskScale]) -> dict[str, Any]:
    try:
        groups, problem = outline.read(spec.plan), ""
    except PlanError as error:
        groups, problem = (), str(error)
    return {"outline": groups, "outline_problem": problem}


def checks_tab(request: HttpRequest, row: Task, spec: TaskSpec, scales: list[TaskScale]) -> dict[str, Any]:
    return {"trust": trust(spec, row.checks, [(scale.name, read_proof(scale.proof)) for scale in scales])}


def scales_tab(request: HttpRequest, row: Task, spec: TaskSpec, scales: list[TaskScale]) -> dict[str, Any]:
    """All scales side by side: what grew (rows by table, files, tokens), and what provably stayed."""
    states = [(scale.name, state_of(row, spec, scale)) for scale in scales]
    proofs = [read_proof(scale.proof) for scale in scales]
    rules: dict[tuple[int, str], list[ProofLine | None]] = {}
    for at, proof in enumerate(proofs):
        for line in proof:
            rules.setdefault((line.rule, line.name), [None] * len(scales))[at] = line
    return {
        "growth": browsing.growth_by_table(states),
        "rules": [(rule, name, lines) for (rule, name), lines in sorted(rules.items())],
    }


BUILDERS: dict[str, Callable[[HttpRequest, Task, TaskSpec, list[TaskScale]], dict[str, Any]]] = {
    "task": task_tab,
    "tools": tools_tab,
    "data": data_tab,
    "programs": programs_tab,
    "checks": checks_tab,
    "scales": scales_tab,
}
