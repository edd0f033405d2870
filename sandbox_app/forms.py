"""What people send: a run of a task, a decision on a verdict, a bulk decision."""

from __future__ import annotations

import secrets
from typing import Any

from django import forms

from sandbox_app.models import Review, ReviewReason
from sandbox_app.policies.scripted import FAULTS
from tasks_app.models import Task

RUNNABLE = (("reference", "reference: the proven solution"), ("scripted", "scripted: the reference gone wrong"),
            ("no_op", "no-op: answers and does nothing"))


class RunForm(forms.Form):
    scale = forms.ChoiceField(label="Scale")
    policy = forms.ChoiceField(choices=RUNNABLE, initial="reference")
    fault = forms.ChoiceField(required=False, help_text="what the scripted policy does wrong")
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, help_text="empty: the seed it was proven at",
    )
    request_key = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.task = task
        self.fields["scale"].choices = [
            (scale.name, f"{scale.name}: {scale.rows:,} rows, {scale.files} files") for scale in task.scales.all()
        ]
        self.fields["fault"].choices = [("", "any"), *((name, name.replace("_", " ")) for name in FAULTS)]
        self.fields["request_key"].initial = secrets.token_hex(16)

    def config(self) -> dict[str, Any]:
        if self.cleaned_data["policy"] != "scripted":
            return {}
        fault = self.cleaned_data["fault"] or secrets.choice(list(FAULTS))
        return {"fault": fault, "seed": secrets.randbelow(1_000)}


class DecisionForm(forms.Form):
    decision = forms.ChoiceField(choices=Review.Decision.choices)
    reason = forms.ModelChoiceField(ReviewReason.objects.all(), to_field_name="code", required=False)
    note = forms.CharField(required=False, max_length=4_000, strip=True)
    seen = forms.CharField(required=False, max_length=64)
    verifier = forms.CharField(required=False, max_length=64)


class BulkForm(forms.Form):
    decision = forms.ChoiceField(choices=[(d, d.label) for d in (Review.Decision.APPROVE, Review.Decision.REJECT)])
    reason = forms.ModelChoiceField(ReviewReason.objects.all(), to_field_name="code", required=False)
    note = forms.CharField(required=False, max_length=4_000)
    until = forms.CharField(max_length=40)
    pin = forms.CharField(max_length=64)
    bulk = forms.UUIDField()


def says(form: forms.Form) -> str:
    """The form's problems as one sentence."""
    return " ".join(f"{name}: {' '.join(map(str, problems))}" for name, problems in form.errors.items())
