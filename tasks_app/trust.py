"""Why a task's verifier can be trusted: what was checked when it was made, read from what is kept as JSON. Pure.

A gate that was never run is unknown (None), never held and never broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks_app.measures import ProofLine
from tasks_app.tasks import TaskSpec


@dataclass(frozen=True, slots=True)
class Gate:
    """One check: what it asks, whether it held, and what was seen."""

    name: str
    held: bool | None
    says: str


@dataclass(frozen=True, slots=True)
class ProbeLine:
    """An attempt that must not pass: the criterion predicted to fail, and the one that failed at each scale."""

    name: str
    kind: str
    says: str
    predicted: str
    rejected: Mapping[str, str]
    held: bool | None


@dataclass(frozen=True, slots=True)
class Trust:
    gates: tuple[Gate, ...]
    probes: tuple[ProbeLine, ...]

    @property
    def held(self) -> bool | None:
        """All that was checked held; None when nothing was."""
        known = [gate.held for gate in self.gates if gate.held is not None]
        return all(known) if known else None


def _passed(entry: Any) -> bool | None:
    if isinstance(entry, Mapping):
        entry = entry.get("passed")
    return entry if isinstance(entry, bool) else None


def reference_gate(checks: Mapping[str, Any]) -> Gate:
    by_scale = {name: _passed(entry) for name, entry in dict(checks.get("reference") or {}).items()}
    known = {name: passed for name, passed in by_scale.items() if passed is not None}
    if not known:
        return Gate("The reference passes", None, "not run yet")
    failed = [name for name, passed in known.items() if not passed]
    return Gate(
        "The reference passes", not failed, f"not at {', '.join(failed)}" if failed else f"at {', '.join(known)}"
    )


def _rejections(entry: Any) -> dict[str, str]:
    """Scale → the criterion that rejected; "passed" where nothing did. Empty when the probe was never run."""
    if not isinstance(entry, Mapping):
        return {}
    criterion = str(entry.get("criterion", "")) if entry.get("rejected") else "passed"
    return {str(scale): criterion for scale in entry.get("scales", ())}


def probe_lines(spec: TaskSpec, checks: Mapping[str, Any]) -> tuple[ProbeLine, ...]:
    seen = dict(checks.get("probes") or {})
    lines = []
    for probe in spec.probes:
        entry = seen.get(probe.name)
        named = _rejections(entry)
        held = all(criterion == probe.criterion for criterion in named.values()) if named else None
        lines.append(ProbeLine(probe.name, probe.kind, probe.says, probe.criterion, named, held))
    return tuple(lines)


def probes_gate(lines: Sequence[ProbeLine]) -> Gate:
    known = [line for line in lines if line.held is not None]
    kinds = ", ".join(dict.fromkeys(line.kind.replace("_", " ") for line in lines))
    if not known:
        return Gate("Probes are rejected", None, f"{len(lines)} planned: {kinds}" if lines else "none planned")
    right = [line for line in known if line.held]
    return Gate(
        "Probes are rejected",
        len(right) == len(known),
        f"{len(right)} of {len(known)} by the criterion that names the fault: {kinds}",
    )


def seed_gate(checks: Mapping[str, Any]) -> Gate:
    entry = checks.get("fresh_seed")
    passed = _passed(entry)
    says = f"seed {entry['seed']}" if isinstance(entry, Mapping) and "seed" in entry else "not run yet"
    return Gate("It judges rightly at a seed not looked at before", passed, says)


def growth_gate(proofs: Sequence[tuple[str, Sequence[ProofLine]]]) -> Gate:
    known = [(name, proof) for name, proof in proofs if proof]
    if not known:
        return Gate("Each scale keeps the rules of growth", None, "no proof is kept")
    broken = [f"rule {line.rule} at {name}" for name, proof in known for line in proof if not line.held]
    held = sum(line.held for _, proof in known for line in proof)
    return Gate(
        "Each scale keeps the rules of growth",
        not broken,
        ", ".join(broken) if broken else f"{held} proofs at {', '.join(name for name, _ in known)}",
    )


def trust(spec: TaskSpec, checks: Mapping[str, Any], proofs: Sequence[tuple[str, Sequence[ProofLine]]]) -> Trust:
    probes = probe_lines(spec, checks)
    return Trust((reference_gate(checks), probes_gate(probes), seed_gate(checks), growth_gate(proofs)), probes)
