"""`manage.py sign_in_link [NAME]`: a link that signs in once, for an account without a password or a forgotten one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio.accounts import OWNER
from studio.models import SignInLink


class Command(BaseCommand):
    help = "Print a link that signs in once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", default=OWNER)

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["name"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active account {options['name']!r}. `manage.py up` makes {OWNER!r}.")
        self.stdout.write(f"http://127.0.0.1:{settings.PORT}/sign-in/{SignInLink.objects.issue(user)}/")
