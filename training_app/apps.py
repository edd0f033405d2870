"""The training app: snapshots, runs, checkpoints, evaluations and exports."""

from django.apps import AppConfig


class TrainingConfig(AppConfig):
    name = "training_app"
    verbose_name = "Training"
    default_auto_field = "django.db.models.BigAutoField"
