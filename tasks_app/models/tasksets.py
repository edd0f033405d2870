"""TaskSet: a list of tasks that is frozen, hashed and then never changes."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models


class TaskSet(models.Model):
    name = models.CharField(max_length=120)
    version = models.PositiveIntegerField(default=1)
    description = models.TextField(blank=True)
    digest = models.CharField(max_length=64, blank=True)  # sha256 over the sorted task keys; "" until frozen
    frozen_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    tasks = models.ManyToManyField("tasks_app.Task", through="TaskSetMember", related_name="task_sets")

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="task_set_version_once")]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    @property
    def frozen(self) -> bool:
        return self.frozen_at is not None


class TaskSetMember(models.Model):
    task_set = models.ForeignKey(TaskSet, on_delete=models.CASCADE, related_name="members")
    task = models.ForeignKey("tasks_app.Task", on_delete=models.PROTECT, related_name="memberships")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task_set", "task"], name="task_once_per_set")]

    def __str__(self) -> str:
        return f"{self.task} in {self.task_set}"

    def clean(self) -> None:
        if self.task_set.frozen:
            raise ValidationError(f"{self.task_set} is frozen; make a new version to change it")
