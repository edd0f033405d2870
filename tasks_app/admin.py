"""Admin of task sets: choose tasks by filter, freeze, go on in a new version. The other rows are looked at only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from tasks_app.errors import Refused
from tasks_app.models import Domain, Environment, ImportReport, Task, TaskSet
from tasks_app.models.content import TaskStatus
from tasks_app.services import tasksets

ANY = ("", "any")
SCALES = ("v0", "v1", "v2", "v3")


def operator_names() -> list[str]:
    words = Task.objects.exclude(operator_words="").order_by().values_list("operator_words", flat=True).distinct()
    return sorted({word for line in words for word in line.strip("|").split("|")})


class TaskSetForm(forms.ModelForm):
    """The set's name, and which tasks to put in (or take out) on saving: those that fit all that is chosen."""

    change = forms.ChoiceField(
        choices=[
            ("", "leave the tasks as they are"),
            ("add", "add the tasks that fit"),
            ("remove", "take out the tasks that fit"),
        ],
        required=False,
        label="On saving",
        widget=UnfoldAdminSelectWidget,
    )
    domain = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    tier = forms.ChoiceField(
        choices=[ANY, ("task", "tasks"), ("primer", "primers")], required=False, widget=UnfoldAdminSelectWidget
    )
    split = forms.ChoiceField(
        choices=[ANY, ("train", "train"), ("test", "held out")], required=False, widget=UnfoldAdminSelectWidget
    )
    status = forms.ChoiceField(
        choices=[ANY, *TaskStatus.choices], required=False, initial="proven", widget=UnfoldAdminSelectWidget
    )
    scale = forms.ChoiceField(
        choices=[ANY, *((s, s) for s in SCALES), ("larger", "larger")], required=False, widget=UnfoldAdminSelectWidget
    )
    operator = forms.ChoiceField(required=False, widget=UnfoldAdminSelectWidget)
    q = forms.CharField(
        required=False, label="Text", help_text="in title, instruction or key", widget=UnfoldAdminTextInputWidget
    )

    FILTERS = ("domain", "tier", "split", "status", "scale", "operator", "q")

    class Meta:
        model = TaskSet
        fields = ("name", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["domain"].choices = [ANY, *Domain.objects.values_list("slug", "title")]
        self.fields["operator"].choices = [ANY, *((name, name) for name in operator_names())]

    def chosen(self) -> list[Task]:
        return list(Task.objects.chosen({name: self.cleaned_data.get(name, "") for name in self.FILTERS}))

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if self.instance.pk and self.instance.frozen:
            raise forms.ValidationError(
                f"{self.instance} is frozen and can't be changed. Make a new version to change it."
            )
        if data.get("change") and not self.chosen():
            raise forms.ValidationError("No task fits all that is chosen under “Tasks by filter”. Widen it.")
        return data


@admin.register(TaskSet)
class TaskSetAdmin(ModelAdmin):
    form = TaskSetForm
    list_display = ("name", "version", "size", "frozen_at", "digest_shown")
    search_fields = ("name", "description")
    fieldsets = (
        (None, {"fields": ("name", "description", "standing")}),
        ("Tasks by filter", {"fields": ("change", *TaskSetForm.FILTERS)}),
    )
    readonly_fields = ("standing",)
    actions_detail = ("freeze", "version")

    def get_queryset(self, request: HttpRequest) -> QuerySet[TaskSet]:
        return super().get_queryset(request).annotate(members_count=Count("members"))

    @admin.display(description="tasks", ordering="members_count")
    def size(self, task_set: TaskSet) -> int:
        return int(getattr(task_set, "members_count", 0))

    @admin.display(description="hash")
    def digest_shown(self, task_set: TaskSet) -> str:
        return task_set.digest[:12] or "–"

    @admin.display(description="State")
    def standing(self, task_set: TaskSet) -> str:
        if task_set.pk is None:
            return "new"
        state = f"frozen, {task_set.digest}" if task_set.frozen else "open"
        link = reverse("task_set", args=[task_set.pk])
        return format_html(
            'version {}, <a href="{}">{} tasks</a>, {}', task_set.version, link, task_set.members.count(), state
        )

    def has_delete_permission(self, request: HttpRequest, obj: TaskSet | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj is not None and obj.frozen)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {}  # no deletion in bulk: a frozen one among them would fail half-way

    def save_model(self, request: HttpRequest, obj: TaskSet, form: TaskSetForm, change: bool) -> None:
        if not change:
            obj.created_by = request.user
        obj.save()
        wanted = form.cleaned_data.get("change")
        if wanted == "add":
            new = tasksets.add_tasks(task_set=obj, tasks=form.chosen())
            messages.info(request, f"{new} tasks were added.")
        elif wanted == "remove":
            gone, _ = obj.members.filter(task__in=form.chosen()).delete()
            messages.info(request, f"{gone} tasks were taken out.")

    @action(description="Freeze for good", url_path="freeze", permissions=["change"])
    def freeze(self, request: HttpRequest, object_id: int) -> HttpResponseRedirect:
        task_set = TaskSet.objects.get(pk=object_id)
        try:
            tasksets.freeze(task_set=task_set)
            messages.success(request, f"{task_set} is frozen; its hash is {task_set.digest[:12]}….")
        except Refused as refused:
            messages.error(request, str(refused))
        return HttpResponseRedirect(reverse("admin:tasks_app_taskset_change", args=[object_id]))

    @action(description="New version", url_path="new-version", permissions=["change"])
    def version(self, request: HttpRequest, object_id: int) -> HttpResponseRedirect:
        fresh = tasksets.new_version(task_set=TaskSet.objects.get(pk=object_id), by=request.user)
        messages.success(request, f"{fresh} is open and holds the same tasks.")
        return HttpResponseRedirect(reverse("admin:tasks_app_taskset_change", args=[fresh.pk]))


class RecordAdmin(ModelAdmin):
    """Rows that come from content by command, or say what happened: shown, never edited by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Task)
class TaskAdmin(RecordAdmin):
    list_display = ("title", "domain", "tier", "split", "status", "depth")
    list_filter = ("domain", "tier", "split", "status")
    search_fields = ("title", "instruction", "key")
    list_select_related = ("domain",)
    fields = ("key", "title", "tier", "domain", "split", "status", "lineage", "plan_tree", "instruction", "folder")


@admin.register(Environment)
class EnvironmentAdmin(RecordAdmin):
    list_display = ("digest", "domain", "folder", "created_at")


@admin.register(ImportReport)
class ImportReportAdmin(RecordAdmin):
    list_display = ("source", "sha256", "created_at")
