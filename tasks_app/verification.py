"""Criterion and Verdict, and the contract of a verifier program.

A verifier is one self-contained module (standard library only) with

    verify(before, after, files_before, files_after, answer) -> [{"name", "passed", "detail"}, …]

    before, after              sqlite3.Connection, read-only states of all tables
    files_before, files_after  dict: path in the workspace → bytes
    answer                     str: the final message of the policy ("" when there was none)

The reward is 1.0 only if every criterion passed. A verifier that raises, never ends, gives no criteria or two of one
name yields no verdict: `VerifierFault`, which an episode records as infrastructure, never as 0.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Criterion:
    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    criteria: tuple[Criterion, ...]
    verifier: str               # sha256 of the verifier program

    @property
    def reward(self) -> float:
        return 1.0 if all(c.passed for c in self.criteria) else 0.0
