"""Rows of the tasks app. What is filtered, sorted or joined on is a column; the rest is JSON behind typed parsers."""

from tasks_app.models.content import Domain, Environment, ImportReport, Task, TaskScale, Tool
from tasks_app.models.events import Event
from tasks_app.models.jobs import JobState, LeasedJob, Regeneration
from tasks_app.models.tasksets import TaskSet, TaskSetMember

__all__ = [
    "Domain",
    "Environment",
    "Event",
    "ImportReport",
    "JobState",
    "LeasedJob",
    "Regeneration",
    "Task",
    "TaskScale",
    "TaskSet",
    "TaskSetMember",
    "Tool",
]
