"""The search of the top bar: tasks, tools and episodes by text, a few of each."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from sandbox_app.models import Episode
from tasks_app.models import Task, Tool

FOUND_AT_MOST = 8


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Tasks, tools, domains and episodes by text; a fragment for the box in the top bar, a page when opened."""
    text = request.GET.get("q", "").strip()[:200]
    found = find(text) if text else []
    template = "studio/_found.html" if request.headers.get("HX-Request") else "studio/search.html"
    return render(request, template, {"q": text, "found": found})


def find(text: str) -> list[dict[str, Any]]:
    """Groups of {label, rows: [{title, says, url}]}, each of at most FOUND_AT_MOST rows; empty groups are left out."""
    tools = Tool.objects.filter(Q(name__icontains=text) | Q(method__icontains=text)).select_related("domain")
    episodes = Episode.objects.filter(Q(task__title__icontains=text) | Q(policy__icontains=text))
    groups = [
        (
            "Tasks",
            [
                _row(task.title, task.instruction[:110], reverse("task", args=[task.key]))
                for task in Task.objects.about(text).defer("checks")[:FOUND_AT_MOST]
            ],
        ),
        (
            "Tools",
            [
                _row(
                    tool.name,
                    tool.method,
                    f"{reverse('domain', args=[tool.domain.slug])}?{urlencode({'q': tool.method})}#tools",
                )
                for tool in tools.defer("domain__model")[:FOUND_AT_MOST]
            ],
        ),
        (
            "Episodes",
            [
                _row(str(episode), episode.outcome or episode.state, reverse("episode", args=[episode.pk]))
                for episode in episodes.select_related("task")[:FOUND_AT_MOST]
            ],
        ),
    ]
    return [{"label": label, "rows": rows} for label, rows in groups if rows]


def _row(title: str, says: str, url: str) -> dict[str, str]:
    return {"title": title, "says": says, "url": url}
