"""Domains, tools, environments and tasks as rows: loaded from proven content, or made by jobs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models

from tasks_app.measures import read_proof
from tasks_app.scales import Scale
from tasks_app.tasks import TaskSpec, load_task


class Domain(models.Model):
    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    source = models.CharField(max_length=300)
    source_sha256 = models.CharField(max_length=64)
    licence = models.CharField(max_length=100)
    model = models.JSONField()  # DomainModel, read by domains.model.from_json
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title


class Tool(models.Model):
    domain = models.ForeignKey(Domain, on_delete=models.CASCADE, related_name="tools")
    name = models.CharField(max_length=120)
    method = models.CharField(max_length=200)
    writes = models.BooleanField()
    effect = models.CharField(max_length=40)
    entity = models.CharField(max_length=80)
    description = models.TextField(blank=True)
    runs = models.BooleanField(default=True)  # False: left out, and `reason` says why
    reason = models.TextField(blank=True)
    spec = models.JSONField(default=dict)  # {name, description, parameters, returns} as shown to models

    class Meta:
        ordering = ["domain", "name"]
        constraints = [models.UniqueConstraint(fields=["domain", "method"], name="tool_once_per_domain")]

    def __str__(self) -> str:
        return self.name


class Environment(models.Model):
    digest = models.CharField(max_length=64, unique=True)
    domain = models.ForeignKey(Domain, on_delete=models.CASCADE, related_name="environments")
    folder = models.CharField(max_length=300)  # relative to DATA_DIR
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.domain.slug} {self.digest[:8]}"


class ImportReport(models.Model):
    source = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    report = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.source


class TaskStatus(models.TextChoices):
    PROVEN = "proven", "proven"
    FAILED = "failed", "failed a check"
    UNPROVEN = "unproven", "not proven yet"


FILTERS = {
    "domain": "domain__slug",
    "tier": "tier",
    "status": "status",
    "split": "split",
    "outcome": "outcome_kind",
    "tree": "plan_tree",
}


def words(operators: list[str]) -> str:
    """A list of operators as one string in which "|name|" can be looked for."""
    return f"|{'|'.join(operators)}|" if operators else ""


class TaskQuerySet(models.QuerySet["Task"]):
    def with_operator(self, name: str) -> TaskQuerySet:
        return self.filter(operator_words__contains=f"|{name}|")

    def at_scale(self, name: str) -> TaskQuerySet:
        """Tasks that stand at a scale of that name; "larger" means any size made by the slider."""
        scales = TaskScale.objects.filter(task=models.OuterRef("pk"))
        scales = scales.filter(name__startswith="r") if name == "larger" else scales.filter(name=name)
        return self.filter(models.Exists(scales))

    def about(self, text: str) -> TaskQuerySet:
        has = models.Q(title__icontains=text) | models.Q(instruction__icontains=text) | models.Q(key__startswith=text)
        return self.filter(has)

    def chosen(self, params: Mapping[str, str]) -> TaskQuerySet:
        """Tasks as the filters of an address choose them; the list, the admin and the API all ask here."""
        found = self
        for name, field in FILTERS.items():
            if value := params.get(name):
                found = found.filter(**{field: value})
        if value := params.get("scale"):
            found = found.at_scale(value)
        if value := params.get("operator"):
            found = found.with_operator(value)
        if value := params.get("q", "").strip():
            found = found.about(value)
        return found


class Task(models.Model):
    Status = TaskStatus

    key = models.CharField(max_length=64, unique=True)
    title = models.CharField(max_length=200)
    tier = models.CharField(max_length=10, choices=[("task", "task"), ("primer", "primer")])
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, related_name="tasks")
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="tasks")
    lineage = models.CharField(max_length=64, db_index=True)
    plan_tree = models.CharField(max_length=64, db_index=True)
    split = models.CharField(max_length=5, choices=[("train", "train"), ("test", "test")])
    status = models.CharField(max_length=10, choices=TaskStatus.choices, default=TaskStatus.UNPROVEN)
    operators = models.JSONField(default=list)
    operator_words = models.CharField(
        max_length=500, blank=True, editable=False
    )  # "|filter|join|": what lists filter on
    depth = models.PositiveSmallIntegerField()
    outcome_kind = models.CharField(max_length=20)
    folder = models.CharField(max_length=300)  # relative to DATA_DIR; the files are the truth
    instruction = models.TextField()
    checks = models.JSONField(default=dict)  # gates: reference by scale, probes with criteria, fresh seed
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["tier", "domain", "title", "id"]
        indexes = [models.Index(fields=["title", "id"]), models.Index(fields=["depth", "id"])]

    objects = TaskQuerySet.as_manager()

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.operator_words = words(self.operators)
        super().save(*args, **kwargs)

    def spec(self) -> TaskSpec:
        """The task as pure code passes it around, read from its folder, which is the truth."""
        return load_task(Path(settings.DATA_DIR) / self.folder)

    def package_folder(self) -> Path:
        return Path(settings.DATA_DIR) / self.environment.folder


class TaskScale(models.Model):
    """A size at which a task stands: v0 … v3 as shipped, or regenerated by the slider ("r2417-f55")."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="scales")
    name = models.CharField(max_length=40)
    rows = models.PositiveIntegerField()
    files = models.PositiveIntegerField()
    database_bytes = models.PositiveIntegerField(null=True)
    tokens = models.PositiveIntegerField(null=True)  # of what the reference's reads return
    calls = models.PositiveIntegerField(null=True)
    seconds = models.FloatField(null=True)  # what growing and proving took
    state_digest = models.CharField(max_length=64, blank=True)
    proof = models.JSONField(default=list)  # [{rule, name, held, detail}]
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["task", "rows", "files"]
        constraints = [models.UniqueConstraint(fields=["task", "name"], name="scale_once_per_task")]

    def __str__(self) -> str:
        return f"{self.task} · {self.name}"

    def spec(self) -> Scale:
        return Scale(self.name, self.rows, self.files)

    @property
    def regenerated(self) -> bool:
        return self.name.startswith("r")

    @property
    def broken_rules(self) -> list[int]:
        return [line.rule for line in read_proof(self.proof) if not line.held]
