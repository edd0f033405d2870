"""Forms of the tasks app: a size to regenerate to."""

from __future__ import annotations

from django import forms

from tasks_app.services.regenerations import MOST_FILES, MOST_ROWS


class SizeForm(forms.Form):
    rows = forms.IntegerField(min_value=1, max_value=MOST_ROWS, label="Rows")
    files = forms.IntegerField(min_value=0, max_value=MOST_FILES, label="Files")
