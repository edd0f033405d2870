"""App configurations: accounts, and the admin with a site of our own."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class StudioConfig(AppConfig):
    name = "studio"
    verbose_name = "Accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from studio import checks  # noqa: F401  (registers the system checks)


class StudioAdminConfig(AdminConfig):
    default_site = "studio.admin_site.StudioAdminSite"
