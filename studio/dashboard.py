"""The rail with its counts, the overview and the search: what the studio holds and what wants a person next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_GET

from sandbox_app.models import Episode
from sandbox_app.models.episodes import EpisodeStanding
from tasks_app.models import Domain, Environment, JobState, Task, TaskSet, Tool
from tasks_app.models.content import TaskStatus
from tasks_app.permissions import LADDER, rank, role
from training_app.models import Checkpoint, Evaluation, Snapshot, TrainingRun

COUNTS_AGE = 3  # seconds that the rail's counts may be old
FOUND_AT_MOST = 8
BUSY = (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the rail. `jump` is the letter after `g`."""

    group: str
    label: str
    url_name: str
    count: str = ""
    jump: str = ""


RAIL = (
    Entry("", "Overview", "overview", jump="o"),
    Entry("Build", "Tools", "tools", "tools", "t"),
    Entry("Build", "Domains", "domains", "domains", "d"),
    Entry("Build", "Environments", "environments", "environments", "n"),
    Entry("Build", "Tasks", "tasks", "tasks", "k"),
    Entry("Build", "Task sets", "task_sets", "task_sets", "m"),
    Entry("Run", "Episodes", "episodes", "episodes", "e"),
    Entry("Judge", "Review", "review_queue", "review", "r"),
    Entry("Train", "Snapshots", "snapshots", "snapshots", "s"),
    Entry("Train", "Runs", "runs", "runs", "u"),
    Entry("Train", "Evaluations", "evaluations", "evaluations", "v"),
    Entry("Out", "Exports", "exports", jump="x"),
    Entry("Out", "API", "tokens", "tokens", "a"),
)


def waiting_for_review() -> QuerySet[Episode]:
    """Scored episodes whose verdict nobody has judged, or on which reviewers disagree: one indexed column."""
    return Episode.objects.reviewable().filter(standing__in=[EpisodeStanding.WAITING, EpisodeStanding.OPEN])


COUNTERS: dict[str, Callable[[], int]] = {
    "tools": Tool.objects.filter(runs=True).count,
    "domains": Domain.objects.count,
    "environments": Environment.objects.count,
    "tasks": Task.objects.count,
    "task_sets": TaskSet.objects.count,
    "episodes": Episode.objects.count,
    "review": lambda: waiting_for_review().count(),
    "snapshots": Snapshot.objects.count,
    "runs": TrainingRun.objects.count,
    "evaluations": Evaluation.objects.count,
}


def counts() -> dict[str, int]:
    """Counts of the rail, at most COUNTS_AGE seconds old in this process."""
    return cache.get_or_set("studio.rail", lambda: {name: count() for name, count in COUNTERS.items()}, COUNTS_AGE)


def rail(request: HttpRequest) -> list[dict[str, Any]]:
    """The rail's lines, the group's name where a group begins; the longest matching address is the current one."""
    known = counts() if request.user.is_authenticated else {}
    lines: list[dict[str, Any]] = []
    for entry in RAIL:
        try:
            url = reverse(entry.url_name)
        except NoReverseMatch:
            continue
        head = entry.group if entry.group and (not lines or lines[-1]["group"] != entry.group) else ""
        lines.append(
            {
                "group": entry.group,
                "head": head,
                "label": entry.label,
                "url": url,
                "jump": entry.jump,
                "count": known.get(entry.count),
            }
        )
    matching = [line for line in lines if line["url"] != "/" and request.path.startswith(line["url"])]
    here = max(matching, key=lambda line: len(line["url"]), default=lines[0] if request.path == "/" else None)
    if here is not None:
        here["current"] = True
    return lines


def page(request: HttpRequest) -> dict[str, Any]:
    """Context of every page: the rail, the person's role and rights, the nonce as django-htmx spells it."""
    level = rank(request.user) if hasattr(request, "user") else 0
    return {
        "rail": SimpleLazyObject(lambda: rail(request)),
        "role": SimpleLazyObject(lambda: role(request.user)),
        "can": {name: level > at for at, name in enumerate(LADDER)},
        "csp_nonce": getattr(request, "csp_nonce", ""),
    }


def ladder(request: HttpRequest) -> list[dict[str, Any]]:
    """The way of the data as cards: a count, what it is made of, and the link to go on."""
    known = counts()
    tasks = dict(Task.objects.values_list("status").annotate(n=Count("id")))
    outcomes = dict(Episode.objects.values_list("outcome").annotate(n=Count("id")))
    scored = sum(outcomes.get(o, 0) for o in (Episode.Outcome.PASSED, Episode.Outcome.FAILED, Episode.Outcome.STOPPED))
    passed = outcomes.get(Episode.Outcome.PASSED, 0)
    busy = Episode.objects.filter(state__in=BUSY).count()
    training = TrainingRun.objects.filter(state__in=BUSY).order_by("-created_at").first()
    best = Checkpoint.objects.count()
    left_out = Tool.objects.filter(runs=False).count()
    unproven = known["tasks"] - tasks.get(TaskStatus.PROVEN, 0)
    runs = f"{TrainingRun.objects.filter(state__in=BUSY).count()} training" if training else f"{known['runs']:,}"
    return [
        card(
            "Tools", known["tools"], f"{left_out} methods left out", "See why", "tools", "?runs=no" if left_out else ""
        ),
        card("Domains", known["domains"], f"{known['environments']} environments", "Entities and keys", "domains"),
        card(
            "Tasks",
            known["tasks"],
            f"{tasks.get(TaskStatus.PROVEN, 0):,} proven",
            f"{unproven} not proven" if unproven else "Browse",
            "tasks",
            "?status=failed" if unproven else "",
        ),
        card(
            "Episodes",
            known["episodes"],
            f"{passed / scored:.0%} of {scored:,} passed" if scored else "none scored yet",
            f"{busy} running" if busy else "Browse",
            "episodes",
            "?outcome=running" if busy else "",
        ),
        card(
            "Reviews",
            known["review"],
            "verdicts waiting for a person",
            "Review next" if known["review"] else "Queue",
            "review_next" if known["review"] else "review_queue",
        ),
        card(
            "Runs",
            runs,
            f"{training.name}, {training.progress:.0%}" if training else "none in progress",
            "Watch" if training else "See runs",
            "run" if training else "runs",
            args=[training.pk] if training else [],
        ),
        card("Evaluations", known["evaluations"], f"{best} checkpoints", "Compare", "evaluations"),
    ]


def card(
    label: str, number: int | str, says: str, action: str, url_name: str, query: str = "", args: list[Any] | None = None
) -> dict[str, Any]:
    try:
        url = reverse(url_name, args=args or []) + query
    except NoReverseMatch:
        url = ""
    return {
        "label": label,
        "number": f"{number:,}" if isinstance(number, int) else number,
        "says": says,
        "action": action,
        "url": url,
    }


def next_step() -> dict[str, str]:
    """The one thing that brings the whole on from where it stands: what, why, and the link."""
    known = counts()
    approved = Episode.objects.trainable().count()
    if not known["tasks"]:
        return {"says": "No tasks are loaded yet. `python manage.py load_content` loads what ships with the code."}
    if not known["episodes"]:
        return {
            "says": "Open a task and press Run: a kernel starts, and its steps arrive as they happen.",
            "action": "Browse tasks",
            "url_name": "tasks",
        }
    if approved < 3 and known["review"]:
        return {
            "says": f"{known['review']:,} verdicts wait for a person. What you approve is what a model can learn from.",
            "action": "Review next",
            "url_name": "review_next",
        }
    if not approved:
        return {
            "says": "Every verdict has a person's word and none is approved. Run more tasks for more to learn from.",
            "action": "Browse tasks",
            "url_name": "tasks",
        }
    if not known["runs"]:
        return {
            "says": f"{approved:,} episodes are approved: enough to train a first model on.",
            "action": "Train (SFT)",
            "url_name": "run_new",
            "query": "?kind=sft",
        }
    if not known["evaluations"]:
        return {
            "says": "A run is there. Evaluate it on held-out tasks, beside the reference and doing nothing.",
            "action": "Evaluate",
            "url_name": "evaluations",
        }
    return {
        "says": "The way is complete once round. More approved episodes make the next round better.",
        "action": "Review next" if known["review"] else "Browse tasks",
        "url_name": "review_next" if known["review"] else "tasks",
    }


def needs_a_person() -> list[Episode]:
    """Episodes that wait for a person, the disagreements first, and what broke on our side."""
    waiting = waiting_for_review().select_related("task").order_by("standing", "-created_at", "-id")
    return list(waiting[:FOUND_AT_MOST])


@require_GET
def overview(request: HttpRequest) -> HttpResponse:
    step = next_step()
    if "url_name" in step:
        step = {**step, "url": card("", 0, "", "", step["url_name"], step.get("query", ""))["url"]}
    return render(
        request,
        "studio/overview.html",
        {
            "cards": ladder(request),
            "step": step,
            "waiting": needs_a_person(),
            "waiting_count": counts()["review"],
            "broken": Episode.objects.filter(outcome=Episode.Outcome.INFRASTRUCTURE).count(),
            "recent": Episode.objects.select_related("task").order_by("-created_at", "-id")[:FOUND_AT_MOST],
        },
    )
