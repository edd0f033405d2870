"""`manage.py api_token NAME --scopes read,export [--user NAME]`: a token for a program, printed once."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio.accounts import OWNER
from studio.models import SCOPES, ApiToken


class Command(BaseCommand):
    help = "Make an API token and print its secret, which is kept nowhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what it is for")
        parser.add_argument("--scopes", default="read", help=f"of {', '.join(SCOPES)}, with commas")
        parser.add_argument("--user", default=OWNER)

    def handle(self, *args: Any, **options: Any) -> None:
        scopes = options["scopes"].split(",")
        if unknown := set(scopes) - set(SCOPES):
            raise CommandError(f"There is no scope {', '.join(sorted(unknown))}; there are {', '.join(SCOPES)}.")
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active account {options['user']!r}.")
        _, secret = ApiToken.objects.issue(user=user, name=options["name"], scopes=scopes)
        self.stdout.write(secret)
