"""Forms of accounts: a new API token."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User

from studio.models import SCOPES
from tasks_app.permissions import may

SCOPE_WORDS = {
    "read": "read: tasks, environments, episodes, verdicts, reviews, runs",
    "write": "write: start episodes and runs, review, as far as your groups go",
    "export": "export: download trajectories (engineers)",
}


class TokenForm(forms.Form):
    name = forms.CharField(max_length=80, label="What it is for")
    scopes = forms.MultipleChoiceField(
        choices=[(scope, SCOPE_WORDS[scope]) for scope in SCOPES],
        initial=["read"],
        widget=forms.CheckboxSelectMultiple,
        label="What it may do",
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_scopes(self) -> list[str]:
        scopes: list[str] = self.cleaned_data["scopes"]
        if "export" in scopes and not may(self.user, "engineer"):
            raise forms.ValidationError("Only engineers may make a token that exports; leave out export.")
        return scopes
