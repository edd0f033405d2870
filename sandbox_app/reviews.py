"""What people's reviews of a verdict come to, decided purely.

A review says whether the *verdict* is right, for one version of the verifier. Skips, undone reviews and reviews of
another version of the verifier do not count. One person's word stands until somebody disagrees; a disagreement is
*open*: never final, never trained on, until all who judged agree again.

Limits: every reviewer weighs the same, and one suffices; several reviewers an item and agreement come later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal

Decision = Literal["approve", "reject", "skip"]


class Standing(Enum):
    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A review, as far as it counts."""

    reviewer: int
    decision: str               # a Decision
    verifier: str               # sha256 of the program whose verdict was judged
    undone: bool = False


def counting(judgements: Iterable[Judgement], verifier: str | None = None) -> tuple[Judgement, ...]:
    """Those that say something about the verdict of `verifier` (of any, when None)."""
    return tuple(
        judgement for judgement in judgements
        if not judgement.undone and judgement.decision != "skip" and verifier in (None, judgement.verifier)
    )


def standing(judgements: Iterable[Judgement], verifier: str | None = None) -> Standing:
    """waiting (nobody yet), approved or rejected (all agree), open (two people disagree)."""
    said = {judgement.decision for judgement in counting(judgements, verifier)}
    if not said:
        return Standing.WAITING
    if len(said) > 1:
        return Standing.OPEN
    return Standing.APPROVED if said == {"approve"} else Standing.REJECTED


def seen_token(review_ids: Iterable[int]) -> str:
    """Names the set of reviews a page showed, so that a decision made without seeing a newer one is noticed."""
    return hashlib.sha256(",".join(map(str, sorted(review_ids))).encode()).hexdigest()[:16]


def pin(episode_ids: Iterable[str]) -> str:
    """Names a set of episodes: a bulk decision is carried out on exactly the set that its preview showed."""
    return hashlib.sha256("\n".join(sorted(episode_ids)).encode()).hexdigest()
