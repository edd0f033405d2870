"""The funnel: named gates, each counting what it took and saying why.

A draft goes through the gates in order; the first that refuses it ends its way. Nothing is dropped in silence: the
funnel holds every rejection with its gate and a sentence, and the build prints it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

GATES = {
    "made": "the motif gives a draft and populate can plant it",
    "wording": "short, no ids, no names of tools or columns, nothing left open",
    "typed": "the plan is typed and all that it reads can be seen through tools",
    "worth": "enough tools, entities and calls to be worth a program (primers: at most four calls at v0)",
    "reference": "the reference passes at every scale",
    "outcome": "rows qualify as the kind of outcome says",
    "probes": "enough wrong attempts with different end states, each refused by the criterion that names its fault",
    "growth": "rules 1 to 9 of scaling are proved at every scale",
    "fresh": "the verifier judges rightly at a seed that was not looked at",
    "distinct": "not the same plan and words as a task that is there already",
}


class Rejected(Exception):
    """A draft that a gate refuses."""

    def __init__(self, gate: str, reason: str) -> None:
        super().__init__(f"{gate}: {reason}")
        self.gate, self.reason = gate, reason

    def __reduce__(self) -> tuple[type[Rejected], tuple[str, str]]:
        return Rejected, (self.gate, self.reason)


@dataclass(frozen=True, slots=True)
class Rejection:
    motif: str
    instance: int
    gate: str
    reason: str


@dataclass(slots=True)
class Funnel:
    """What went in, what each gate took, what came out."""

    entered: int = 0
    passed: int = 0
    rejections: list[Rejection] = field(default_factory=list)

    def take(self, motif: str, instance: int, rejected: Rejected | None) -> None:
        self.entered += 1
        if rejected is None:
            self.passed += 1
        else:
            self.rejections.append(Rejection(motif, instance, rejected.gate, rejected.reason))

    def lines(self) -> Iterable[str]:
        """The funnel as people read it: a line a gate, then each rejection."""
        counts = Counter(rejection.gate for rejection in self.rejections)
        yield f"{self.entered:5d} drafts"
        left = self.entered
        for gate, promise in GATES.items():
            left -= counts[gate]
            yield f"{left:5d} after {gate:<10} −{counts[gate]:<4} {promise}"
        for rejection in self.rejections:
            yield f"      {rejection.motif}/{rejection.instance} refused by {rejection.gate}: {rejection.reason}"

    def as_json(self) -> dict[str, object]:
        counts = Counter(rejection.gate for rejection in self.rejections)
        return {"entered": self.entered, "passed": self.passed, "gates": {gate: counts[gate] for gate in GATES}}
