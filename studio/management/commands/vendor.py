"""`manage.py vendor`: fetch the browser's libraries from npm into static/vendor, with versions and hashes on record.

Run by a developer when a version changes, never by `up` or CI: what it fetches is committed. `--check` compares what
lies there with static/vendor/VENDORED.json and needs no network.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

FOLDER = Path(settings.BASE_DIR) / "static" / "vendor"
RECORD = FOLDER / "VENDORED.json"
# npm package, version, licence, {file in the package: name here}. plotly-basic (scatter, bar, pie) keeps inline styles
# out when an element #plotly.js-style-global.no-inline-styles is there; plotly.css is linked as that element.
PACKAGES = (
    (
        "plotly.js",
        "4.1.1",
        "MIT",
        {
            "dist/plotly-basic.min.js": "plotly-basic.min.js",
            "dist/plotly.css": "plotly.css",
            "LICENSE": "plotly.LICENSE",
        },
    ),
)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record() -> list[dict[str, Any]]:
    """What VENDORED.json must say for the files that lie here."""
    return [
        {
            "name": name,
            "version": version,
            "licence": licence,
            "script": "manage.py vendor",
            "files": {here: {"from": there, "sha256": sha256(FOLDER / here)} for there, here in files.items()},
        }
        for name, version, licence, files in PACKAGES
    ]


class Command(BaseCommand):
    help = "Fetch the vendored browser libraries, or check them against VENDORED.json."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="compare only; needs no network")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["check"]:
            if json.loads(RECORD.read_text()) != record():
                raise CommandError(f"{FOLDER} is not what VENDORED.json records; run `python manage.py vendor`")
            self.stdout.write("static/vendor is as recorded")
            return
        for name, version, _, files in PACKAGES:
            with tempfile.TemporaryDirectory() as folder:
                self.fetch(f"{name}@{version}", Path(folder), files)
        RECORD.write_text(json.dumps(record(), indent=2) + "\n")
        self.stdout.write(f"{len(PACKAGES)} packages lie in {FOLDER}")

    def fetch(self, package: str, folder: Path, files: dict[str, str]) -> None:
        done = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise CommandError(f"npm could not fetch {package}: {done.stderr.strip()}")
        with tarfile.open(folder / done.stdout.strip()) as archive:
            for there, here in files.items():
                member = archive.extractfile(f"package/{there}")
                if member is None:
                    raise CommandError(f"{package} has no file {there}")
                (FOLDER / here).write_bytes(member.read())
