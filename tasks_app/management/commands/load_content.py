"""`manage.py load_content`: the proven content that ships with the code, as rows. Nothing is proven again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.content import ContentError
from tasks_app.environments.package import PackageError
from tasks_app.services.content import load_content
from tasks_app.tasks import TaskError


class Command(BaseCommand):
    help = "Load content/ (or another folder with a manifest) into the database. Doing it twice does it once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, default=None)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(load_content(options["folder"]))
        except (ContentError, PackageError, TaskError) as error:
            raise CommandError(str(error)) from error
