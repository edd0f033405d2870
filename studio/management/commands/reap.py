"""`manage.py reap`: every few seconds, find jobs whose lease ran out and put them on again, or end them with a name."""

from __future__ import annotations

import logging
import signal
import threading
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import OperationalError, close_old_connections

logger = logging.getLogger("studio.reaper")
REAPERS = ("tasks_app.services", "sandbox_app.services", "training_app.services")


def reap_all() -> int:
    """One round over all apps: the number of rows that were taken up."""
    rows = 0
    for name in REAPERS:
        reaper = getattr(import_module(name), "reap", None) if find_spec(name) is not None else None
        if reaper is not None:
            rows += reaper()
    return rows


class Command(BaseCommand):
    help = "Look for jobs whose worker is gone, every EVERY seconds (or once)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--every", type=float, default=10.0)
        parser.add_argument("--once", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            self.stdout.write(f"{reap_all()} jobs taken up")
            return
        stopping = threading.Event()
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, lambda *_: stopping.set())
        while not stopping.wait(options["every"]):
            try:
                rows = reap_all()
            except OperationalError as error:  # a database that is away now may be back in the next round
                logger.warning("this round could not be made: %s", error)
                close_old_connections()
                continue
            if rows:
                logger.info("%s jobs without a worker taken up", rows)
