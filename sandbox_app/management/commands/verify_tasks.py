"""`manage.py verify_tasks`: proves the shipped content again, in real kernels, with nothing else running."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from sandbox_app.proofs import Proof, prove
from tasks_app.content import ContentError, unpack
from tasks_app.tasks import load_task


class Command(BaseCommand):
    help = (
        "Run every reference as an episode (primers: in a kernel at v0, in process at the other scales) and every "
        "probe in process, at every scale. Fails when a reference does not pass or a probe is not rejected as foreseen."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object instead of sentences")
        parser.add_argument("--sample", type=int, default=0, metavar="N", help="only N of them, both tiers among them")
        parser.add_argument("--tier", choices=["task", "primer"], help="only this tier")
        parser.add_argument("--jobs", type=int, default=2, help="how many at once (default: 2)")

    def handle(self, *args: Any, **options: Any) -> None:
        begun = time.monotonic()
        try:
            found = _chosen(unpack(settings.CONTENT_DIR, settings.DATA_DIR), options["tier"], options["sample"])
        except ContentError as fault:
            raise CommandError(str(fault)) from fault
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(max(1, options["jobs"]), mp_context=context) as pool:
            proofs = list(pool.map(prove, [package for package, _ in found], [task for _, task in found]))
        summary = summarise(proofs, time.monotonic() - begun)
        self.stdout.write(json.dumps(summary, indent=1) if options["json"] else told(summary))
        if summary["problems"]:
            raise SystemExit(1)


def _chosen(
    content: Sequence[tuple[Path, Sequence[Path]]], tier: str | None, sample: int,
) -> list[tuple[Path, Path]]:
    """(package folder, task folder) to prove; a sample is the same one each time, half of it tasks."""
    by_tier: dict[str, list[tuple[Path, Path]]] = {"task": [], "primer": []}
    for package, folders in content:
        for folder in folders:
            by_tier[load_task(folder).tier].append((package, folder))
    tiers = [tier] if tier else list(by_tier)
    if not sample:
        return [pair for name in tiers for pair in by_tier[name]]
    chosen: list[tuple[Path, Path]] = []
    for position, name in enumerate(tiers):
        share = (sample - len(chosen)) // (len(tiers) - position)
        chosen += random.Random(name).sample(by_tier[name], min(share, len(by_tier[name])))
    return chosen


def summarise(proofs: Iterable[Proof], seconds: float) -> dict[str, Any]:
    """The figures of the report, by the names it is read by."""
    proofs = list(proofs)
    return {
        "tasks": sum(proof.tier == "task" for proof in proofs),
        "primers": sum(proof.tier == "primer" for proof in proofs),
        "plan_trees": len({proof.plan_tree for proof in proofs if proof.tier == "task"}),
        "scales": len({scale for proof in proofs for scale in proof.scales}),
        "references_passed": sum(proof.references_passed for proof in proofs),
        "references_total": sum(proof.references_total for proof in proofs),
        "probes_rejected": sum(proof.probes_rejected for proof in proofs),
        "probes_total": sum(proof.probes_total for proof in proofs),
        "seconds": round(seconds, 1),
        "problems": [problem for proof in proofs for problem in proof.problems],
    }


def told(summary: dict[str, Any]) -> str:
    """The report in sentences."""
    lines = [
        f"{summary['tasks']} tasks of {summary['plan_trees']} plan trees and {summary['primers']} primers, "
        f"{summary['scales']} scales, in {summary['seconds']:,} s",
        f"references passed: {summary['references_passed']:,} of {summary['references_total']:,}",
        f"probes rejected as predicted: {summary['probes_rejected']:,} of {summary['probes_total']:,}",
        *(f"problem: {problem}" for problem in summary["problems"]),
    ]
    return "\n".join(lines)
