"""`manage.py load_content`: the proven content that ships with the code, as rows. Nothing is proven again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Load content/ into the database (idempotent)."

    def handle(self, *args: Any, **options: Any) -> None:
        from tasks_app.services.content import load_content

        self.stdout.write(load_content())
