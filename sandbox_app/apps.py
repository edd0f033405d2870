"""The sandbox app."""

from django.apps import AppConfig


class SandboxConfig(AppConfig):
    name = "sandbox_app"
    verbose_name = "Sandbox"
    default_auto_field = "django.db.models.BigAutoField"
