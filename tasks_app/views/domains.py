"""Pages of tools, domains and environments: what the world of a task is made of."""

from __future__ import annotations

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from tasks_app.domains.model import DomainModel, from_json
from tasks_app.models import Domain, Environment, ImportReport, Tool
from tasks_app.pages import Sort, chips, page

TOOL_SORTS = {
    "name": Sort("name", "name"),
    "method": Sort("method", "published as"),
    "entity": Sort("entity", "entity"),
    "effect": Sort("effect", "effect"),
}


@require_safe
def tools(request: HttpRequest) -> HttpResponse:
    params = request.GET
    rows = Tool.objects.select_related("domain").defer("domain__model")
    if value := params.get("domain"):
        rows = rows.filter(domain__slug=value)
    if (value := params.get("kind")) in ("read", "write"):
        rows = rows.filter(writes=value == "write", runs=True)
    if (value := params.get("runs")) in ("yes", "no"):
        rows = rows.filter(runs=value == "yes")
    if value := params.get("q", "").strip():
        rows = rows.filter(Q(name__icontains=value) | Q(method__icontains=value) | Q(description__icontains=value))
    return render(
        request,
        "tasks_app/tools.html",
        {
            "page": page(rows, params, TOOL_SORTS, "name"),
            "text": params.get("q", ""),
            "kept": [(name, value) for name, value in params.items() if name not in ("q", "after")],
            "filters": [
                chips(params, "domain", "domain", list(Domain.objects.values_list("slug", "title"))),
                chips(params, "kind", "kind", [("read", "read"), ("write", "write")]),
                chips(params, "runs", "state", [("yes", "runs"), ("no", "left out")]),
            ],
            "reports": ImportReport.objects.all()[:5],
        },
    )


@require_safe
def domains(request: HttpRequest) -> HttpResponse:
    rows = Domain.objects.annotate(
        running=Count("tools", filter=Q(tools__runs=True), distinct=True),
        writing=Count("tools", filter=Q(tools__runs=True, tools__writes=True), distinct=True),
        left_out=Count("tools", filter=Q(tools__runs=False), distinct=True),
        tasks_count=Count("tasks", filter=Q(tasks__tier="task"), distinct=True),
        primers_count=Count("tasks", filter=Q(tasks__tier="primer"), distinct=True),
    ).defer("model")
    return render(request, "tasks_app/domains.html", {"domains": rows})


@require_safe
def domain(request: HttpRequest, slug: str) -> HttpResponse:
    row = get_object_or_404(Domain, slug=slug)
    model: DomainModel = from_json(row.model)
    text = request.GET.get("q", "").strip()
    found = row.tools.all()
    if text:
        found = found.filter(Q(name__icontains=text) | Q(method__icontains=text))
    states: dict[str, list[str]] = {}
    for entity in model.entities:
        lines = [
            f"{arrow.source if arrow.source != '*' else 'any'} → {arrow.target} by {arrow.tool}"
            for arrow in entity.states
        ]
        states[entity.name] = lines
    return render(
        request,
        "tasks_app/domain.html",
        {
            "domain": row,
            "model": model,
            "text": text,
            "entities": [
                (entity, [a for a in entity.attrs if a.references], states[entity.name]) for entity in model.entities
            ],
            "tools": found.filter(runs=True),
            "left_out": found.filter(runs=False),
            "environments": row.environments.all(),
        },
    )


@require_safe
def environments(request: HttpRequest) -> HttpResponse:
    rows = (
        Environment.objects.select_related("domain")
        .defer("domain__model")
        .annotate(
            tasks_count=Count("tasks", filter=Q(tasks__tier="task")),
            primers_count=Count("tasks", filter=Q(tasks__tier="primer")),
        )
        .order_by("domain__slug", "-created_at")
    )
    return render(request, "tasks_app/environments.html", {"environments": rows})
