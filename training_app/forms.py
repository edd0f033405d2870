"""Forms of the training pages. A form that is shown with a forecast is valid on GET as well as on POST."""

from __future__ import annotations

from typing import Any

from django import forms

from tasks_app.models import Domain
from training_app.configs import SftConfig
from training_app.model import PRESETS
from training_app.models import Checkpoint, Snapshot

TIERS = [("primer", "primers"), ("task", "full tasks")]
SCALES = [("v0", "v0"), ("v1", "v1"), ("v2", "v2"), ("v3", "v3")]
OUTCOMES = [
    ("", "any outcome"),
    ("passed", "passed"),
    ("failed", "failed"),
    ("stopped", "stopped"),
    ("infrastructure", "infrastructure"),
]
STANDINGS = [
    ("", "any review"),
    ("approved", "approved"),
    ("rejected", "rejected"),
    ("waiting", "not judged"),
    ("open", "reviewers disagree"),
]
POLICIES = [("", "any policy"), ("reference", "reference"), ("scripted", "scripted"), ("local", "local model")]


def domains(empty: str = "any domain") -> list[tuple[str, str]]:
    return [("", empty), *Domain.objects.values_list("slug", "title")]


class CheckpointField(forms.ModelChoiceField):
    def label_from_instance(self, checkpoint: Checkpoint) -> str:
        return f"{checkpoint.label} ({checkpoint.digest[:6]})"


class SnapshotField(forms.ModelChoiceField):
    def label_from_instance(self, snapshot: Snapshot) -> str:
        return f"{snapshot.digest[:8]}: {snapshot.train_count} train, {snapshot.validation_count} validation"


class ChoiceForm(forms.Form):
    """Which episodes a snapshot takes."""

    tier = forms.ChoiceField(choices=[("", "primers and full tasks"), *TIERS], required=False)
    domain = forms.ChoiceField(required=False)
    scale = forms.ChoiceField(choices=[("", "any scale"), *SCALES], required=False)
    policy = forms.ChoiceField(choices=POLICIES, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["domain"].choices = domains()


class SftForm(forms.Form):
    snapshot = SnapshotField(queryset=Snapshot.objects.all(), empty_label=None)
    start_from = CheckpointField(queryset=Checkpoint.objects.all(), empty_label=None, label="Start from")
    lora_rank = forms.TypedChoiceField(
        label="What is trained",
        coerce=int,
        choices=[(0, "all weights"), (8, "LoRA, rank 8"), (16, "LoRA, rank 16")],
    )
    epochs = forms.IntegerField(min_value=1, max_value=200)
    batch = forms.IntegerField(min_value=1, max_value=128, label="Examples a step")
    learning_rate = forms.FloatField(min_value=1e-7, max_value=0.1, widget=forms.NumberInput(attrs={"step": "any"}))
    max_length = forms.IntegerField(
        min_value=256,
        max_value=131_072,
        label="Longest example",
        help_text="tokens; what is longer is left out and counted, never cut",
    )
    save_every = forms.IntegerField(min_value=1, max_value=10_000, label="Checkpoint every", help_text="steps")
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1)

    DEFAULTS = {
        "lora_rank": 0,
        "epochs": 6,
        "batch": 8,
        "learning_rate": 0.0015,
        "max_length": 4096,
        "save_every": 50,
        "seed": 0,
    }

    def config(self, start_folder: str, snapshot_folder: str) -> SftConfig:
        values = {name: self.cleaned_data[name] for name in self.DEFAULTS}
        return SftConfig(start_from=start_folder, snapshot=snapshot_folder, **values)


class RlForm(forms.Form):
    start_from = CheckpointField(queryset=Checkpoint.objects.all(), empty_label=None, label="Start from")
    tier = forms.ChoiceField(choices=TIERS, label="Tasks of the train split")
    domain = forms.ChoiceField(required=False)
    scale = forms.ChoiceField(choices=SCALES)
    most = forms.IntegerField(min_value=0, max_value=100_000, label="At most so many tasks", help_text="0 takes all")
    steps = forms.IntegerField(min_value=1, max_value=100_000)
    tasks_per_step = forms.IntegerField(min_value=1, max_value=64, label="Groups a step")
    group = forms.IntegerField(min_value=2, max_value=64, label="Episodes a group")
    learning_rate = forms.FloatField(min_value=1e-8, max_value=0.1, widget=forms.NumberInput(attrs={"step": "any"}))
    temperature = forms.FloatField(min_value=0.05, max_value=2.0, widget=forms.NumberInput(attrs={"step": "any"}))
    save_every = forms.IntegerField(min_value=1, max_value=10_000, label="Checkpoint every", help_text="steps")
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1)

    DEFAULTS = {
        "tier": "primer",
        "scale": "v0",
        "most": 0,
        "steps": 20,
        "tasks_per_step": 4,
        "group": 8,
        "learning_rate": 0.0002,
        "temperature": 1.0,
        "save_every": 10,
        "seed": 0,
    }
    SETTINGS = ("steps", "tasks_per_step", "group", "learning_rate", "temperature", "save_every", "seed")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["domain"].choices = domains()


class EvaluationForm(forms.Form):
    checkpoints = forms.ModelMultipleChoiceField(
        queryset=Checkpoint.objects.all(),
        widget=forms.CheckboxSelectMultiple,
        help_text="each makes every attempt; the two control rows are always run",
    )
    domain = forms.ChoiceField(required=False)
    scale = forms.ChoiceField(choices=SCALES)
    primers = forms.IntegerField(
        min_value=0, max_value=5_000, label="Primer attempts", help_text="distinct task and seed"
    )
    tasks = forms.IntegerField(min_value=0, max_value=5_000, label="Full-task attempts", help_text="always shown apart")
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1)

    DEFAULTS = {"scale": "v0", "primers": 200, "tasks": 24, "seed": 0}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["domain"].choices = domains()
        self.fields["checkpoints"].label_from_instance = lambda row: f"{row.label} ({row.digest[:6]})"


class BaseForm(forms.Form):
    preset = forms.ChoiceField(
        choices=[
            (preset.name, f"{preset.name}: {preset.parameters / 1e6:.1f} M parameters, {preset.layers} layers")
            for preset in PRESETS.values()
        ],
        initial="nano",
    )


class ExportForm(forms.Form):
    outcome = forms.ChoiceField(choices=OUTCOMES, required=False)
    standing = forms.ChoiceField(choices=STANDINGS, required=False)
    tier = forms.ChoiceField(choices=[("", "primers and full tasks"), *TIERS], required=False)
    domain = forms.ChoiceField(required=False)
    scale = forms.ChoiceField(choices=[("", "any scale"), *SCALES], required=False)
    split = forms.ChoiceField(choices=[("", "any split"), ("train", "train"), ("test", "test")], required=False)
    policy = forms.ChoiceField(choices=POLICIES, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["domain"].choices = domains()
