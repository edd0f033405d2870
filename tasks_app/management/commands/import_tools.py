"""`manage.py import_tools SOURCE… [--json]`: read published descriptions into domains, whole or not at all.

A source is a path or a document that google-api-python-client carries (`classroom:v1`). One that was imported before
and reads the same is left as it is. A source that can't be read gets a sentence that says what, where and what to do;
the others are imported, and the command ends with status 1.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from tasks_app.domains.model import DomainModel, LeftOut, to_json
from tasks_app.domains.reading import read_domain
from tasks_app.domains.report import left_out_name, report, tool_spec
from tasks_app.environments.compile_tools import CannotCompile, compile_tool
from tasks_app.models import Domain, ImportReport, Tool
from tasks_app.toolpool import read_source
from tasks_app.tools import ToolDocument, ToolSourceError


class Command(BaseCommand):
    help = "Read published API descriptions (a path, or a package document such as classroom:v1) into domains."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sources", nargs="+", metavar="SOURCE")
        parser.add_argument("--json", action="store_true", help="print the reports as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        reports: list[dict[str, Any]] = []
        problems: list[dict[str, str]] = []
        for spec in options["sources"]:
            try:
                reports.append(import_source(spec))
            except ToolSourceError as error:
                problems.append({"source": spec, "problem": str(error)})
        if options["json"]:
            self.stdout.write(json.dumps({"documents": reports, "problems": problems}, indent=2))
        else:
            for one in reports:
                self._say(one)
        if problems:
            raise CommandError("\n".join(f"{one['source']}: {one['problem']}" for one in problems))

    def _say(self, one: dict[str, Any]) -> None:
        """In words; what a document says of itself reaches the terminal without control characters."""
        beyond = one["beyond_crud"]
        title = "".join(letter for letter in one["title"] if letter.isprintable())
        self.stdout.write(f"{title} ({one['source']}): {one['outcome']}")
        self.stdout.write(
            f"  {one['ops']} of {one['methods']} methods run ({one['share']:.0%}); "
            f"beyond create, read, update, delete: {beyond['ops']} of {beyond['methods']}"
        )
        self.stdout.write(f"  {len(one['entities'])} entities, {one['foreign_keys']} foreign keys")
        for left in one["left_out"]:
            self.stdout.write(f"  left out: {left['method']}: {left['reason']}")
        for note in one["notes"]:
            self.stdout.write(f"  note: {note}")


def import_source(spec: str) -> dict[str, Any]:
    """Read one source and keep it. Returns its report with "outcome". Raises ToolSourceError; nothing is kept then."""
    document = read_source(spec)
    model = runnable(read_domain(document))
    found = report(document, model)
    return {**found, "outcome": record(document, model, found)}


def runnable(model: DomainModel) -> DomainModel:
    """The model with only the tools that can be made; the others are left out with the compiler's reason."""
    ops, left = [], list(model.left_out)
    for op in model.ops:
        try:
            compile_tool(op, model)
        except CannotCompile as error:
            left.append(
                LeftOut(op.method, f"read as {op.effect.kind} of {op.entity}, but no code can be made for it: {error}")
            )
        else:
            ops.append(op)
    return replace(model, ops=tuple(ops), left_out=tuple(left))


@transaction.atomic
def record(document: ToolDocument, model: DomainModel, found: dict[str, Any]) -> str:
    """Domain, Tool and ImportReport rows of one reading: "imported", "updated", or "unchanged"."""
    slug = slug_of(document)
    content = to_json(model)
    domain = Domain.objects.filter(slug=slug).first()
    if domain and domain.source_sha256 == document.sha256 and domain.model == content and domain.tools.exists():
        if not ImportReport.objects.filter(source=document.source, sha256=document.sha256).exists():
            ImportReport.objects.create(source=document.source, sha256=document.sha256, report=found)
        return "unchanged"
    values = {
        "title": document.title[:200],
        "description": document.description,
        "source": document.source[:300],
        "source_sha256": document.sha256,
        "licence": (document.licence or "unknown")[:100],
        "model": content,
    }
    kept, created = Domain.objects.update_or_create(slug=slug, defaults=values)
    kept.tools.all().delete()
    Tool.objects.bulk_create(_tools(kept, model))
    ImportReport.objects.create(source=document.source, sha256=document.sha256, report=found)
    return "imported" if created else "updated"


def slug_of(document: ToolDocument) -> str:
    """The document's name; with its version where another document holds that name already."""
    holder = Domain.objects.filter(slug=document.name).first()
    if holder is None or holder.source == document.source:
        return document.name
    return f"{document.name}-{document.version}".replace(".", "-")


def _tools(domain: Domain, model: DomainModel) -> list[Tool]:
    rows = [
        Tool(
            domain=domain,
            name=op.tool[:120],
            method=op.method[:200],
            writes=op.writes,
            effect=op.effect.kind,
            entity=op.entity[:80],
            description=op.description,
            spec=tool_spec(op),
        )
        for op in model.ops
    ]
    rows += [
        Tool(
            domain=domain,
            name=left_out_name(left.method)[:120],
            method=left.method[:200],
            writes=False,
            effect="",
            entity="",
            runs=False,
            reason=left.reason,
        )
        for left in model.left_out
    ]
    return rows
