"""Metrics of an evaluation: rates with Wilson intervals, pass@k, pass^k, a paired test, and whether it counts at all.

Pure. Infrastructure outcomes are never scored: they are counted beside n and leave it. An evaluation carries two
control rows; unless every reference passed, and no no-op passed but where nothing was to do, it is void and says why.

Sources: Wilson 1927 for the interval; Chen et al. 2021 (arXiv:2107.03374) for pass@k; Yao et al. 2024
(arXiv:2406.12045) for pass^k; McNemar 1947, exact, for the paired test.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

REFERENCE, NO_OP = "reference", "no_op"
Z = 1.959963984540054  # 95 %


@dataclass(frozen=True, slots=True)
class Entry:
    """One episode of an evaluation. `item` names task, scale and seed; `reward` is None for infrastructure."""

    policy: str
    item: str
    tier: str
    reward: float | None
    nothing_to_do: bool = False


@dataclass(frozen=True, slots=True)
class Rate:
    passed: int
    n: int
    infrastructure: int
    rate: float | None
    low: float | None
    high: float | None


def wilson(passed: int, n: int) -> tuple[float, float]:
    """95 % interval of a rate. Raises ValueError for n = 0."""
    if n == 0:
        raise ValueError("no interval without a try")
    share = passed / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return (0.0 if passed == 0 else max(0.0, middle - half)), (1.0 if passed == n else min(1.0, middle + half))


def rate(entries: Iterable[Entry]) -> Rate:
    rows = list(entries)
    scored = [entry.reward for entry in rows if entry.reward is not None]
    passed, n = sum(reward == 1.0 for reward in scored), len(scored)
    if not n:
        return Rate(0, 0, len(rows), None, None, None)
    low, high = wilson(passed, n)
    return Rate(passed, n, len(rows) - n, passed / n, low, high)


def pass_at_k(n: int, passed: int, k: int) -> float:
    """Chance that at least one of k tries passes, without bias, from `passed` of n. Raises ValueError for k > n."""
    if not 0 < k <= n:
        raise ValueError(f"k must be from 1 to {n}, not {k}")
    return 1.0 - float(math.comb(n - passed, k) / math.comb(n, k))


def pass_hat_k(n: int, passed: int, k: int) -> float:
    """Chance that all of k tries pass, from `passed` of n. Raises ValueError for k > n."""
    if not 0 < k <= n:
        raise ValueError(f"k must be from 1 to {n}, not {k}")
    return float(math.comb(passed, k) / math.comb(n, k))


@dataclass(frozen=True, slots=True)
class Paired:
    """Items on which both were scored: how many only the one or only the other passed, and McNemar's exact p."""

    only_first: int
    only_second: int
    both_scored: int
    p: float


def paired(first: Iterable[Entry], second: Iterable[Entry]) -> Paired:
    left = {entry.item: entry.reward for entry in first if entry.reward is not None}
    right = {entry.item: entry.reward for entry in second if entry.reward is not None}
    shared = left.keys() & right.keys()
    a = sum(left[item] == 1.0 and right[item] != 1.0 for item in shared)
    b = sum(right[item] == 1.0 and left[item] != 1.0 for item in shared)
    return Paired(a, b, len(shared), binomial_two_sided(min(a, b), a + b))


def binomial_two_sided(fewer: int, n: int) -> float:
    """Two-sided exact p of `fewer` heads in n fair tosses; 1.0 without a toss."""
    if n == 0:
        return 1.0
    tail: float = sum(math.comb(n, index) for index in range(fewer + 1)) / 2**n
    return min(1.0, 2 * tail)


def void_reasons(entries: Sequence[Entry]) -> list[str]:
    """Why the evaluation does not count; empty when its controls came out right."""
    reasons: list[str] = []
    for policy in (REFERENCE, NO_OP):
        rows = [entry for entry in entries if entry.policy == policy]
        if not rows:
            reasons.append(f"the control row {policy} is missing")
        unscored = sum(entry.reward is None for entry in rows)
        if unscored:
            reasons.append(
                f"{unscored} of {len(rows)} {policy} episodes ended as infrastructure, so the controls are "
                "incomplete; run it again"
            )
    failed = sum(entry.policy == REFERENCE and entry.reward == 0.0 for entry in entries)
    if failed:
        reasons.append(f"{failed} reference solutions did not pass: the verifier or the environment is at fault")
    passed = sum(entry.policy == NO_OP and entry.reward == 1.0 and not entry.nothing_to_do for entry in entries)
    if passed:
        reasons.append(f"{passed} tasks pass with nothing done: their verifiers do not look")
    return reasons


def summarise(entries: Sequence[Entry], order: Sequence[str], tries: int = 1) -> dict[str, Any]:
    """The result of an evaluation: a row for each policy and tier, paired tests against the first checkpoint, void."""
    tiers = sorted({entry.tier for entry in entries})  # primers and tasks, always apart
    rows: list[dict[str, Any]] = []
    for policy in order:
        for tier in tiers:
            mine = [entry for entry in entries if entry.policy == policy and entry.tier == tier]
            if mine:
                rows.append({"policy": policy, "tier": tier, **asdict(rate(mine)), **_tries(mine, tries)})
    reasons = void_reasons(entries)
    return {"rows": rows, "paired": _pairs(entries, order, tiers), "void": bool(reasons), "why": reasons}


def _tries(entries: Sequence[Entry], tries: int) -> dict[str, float]:
    if tries < 2:
        return {}
    by_task: dict[str, list[float]] = {}
    for entry in entries:
        if entry.reward is not None:
            by_task.setdefault(entry.item.rpartition("/")[0], []).append(entry.reward)
    counts = [(len(rewards), int(sum(rewards))) for rewards in by_task.values() if len(rewards) >= tries]
    if not counts:
        return {}
    return {
        f"pass@{tries}": sum(pass_at_k(n, passed, tries) for n, passed in counts) / len(counts),
        f"pass^{tries}": sum(pass_hat_k(n, passed, tries) for n, passed in counts) / len(counts),
    }


def _pairs(entries: Sequence[Entry], order: Sequence[str], tiers: Sequence[str]) -> list[dict[str, Any]]:
    judged = [policy for policy in order if policy not in (REFERENCE, NO_OP)]
    found: list[dict[str, Any]] = []
    for first, second in pairwise(judged):
        for tier in tiers:
            one = [entry for entry in entries if entry.policy == first and entry.tier == tier]
            other = [entry for entry in entries if entry.policy == second and entry.tier == tier]
            if one and other:
                found.append({"first": first, "second": second, "tier": tier, **asdict(paired(one, other))})
    return found


def entry_from_json(row: Mapping[str, Any]) -> Entry:
    """An Entry as kept in an evaluation's JSON."""
    return Entry(row["policy"], row["item"], row["tier"], row["reward"], bool(row.get("nothing_to_do", False)))
