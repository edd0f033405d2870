"""Pages of the tasks app."""

from tasks_app.views.domains import domain, domains, environments, tools
from tasks_app.views.regenerations import forecast_view, regenerate, regeneration, regeneration_cancel
from tasks_app.views.tasks import task, tasks
from tasks_app.views.tasksets import task_set, task_set_freeze, task_set_version, task_sets

__all__ = [
    "domain",
    "domains",
    "environments",
    "forecast_view",
    "regenerate",
    "regeneration",
    "regeneration_cancel",
    "task",
    "task_set",
    "task_set_freeze",
    "task_set_version",
    "task_sets",
    "tasks",
    "tools",
]
