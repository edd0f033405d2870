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

import hashlib
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

from tasks_app.environments.state import State

RUNTIME_MARK = "\n# ---- what this task asks ----\n"  # above it, all programs made by plans.to_sql are one text


class VerifierFault(Exception):
    """A verifier that gave no verdict: what it did, and where. Never the fault of what is judged, never a 0."""


@dataclass(frozen=True, slots=True)
class Criterion:
    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    criteria: tuple[Criterion, ...]
    verifier: str  # sha256 of the verifier program

    @property
    def reward(self) -> float:
        return 1.0 if all(c.passed for c in self.criteria) else 0.0


def judge(source: str, before: State, after: State, answer: str) -> Verdict:
    """The verdict of a trusted verifier program, run in this process. Raises VerifierFault."""
    verify = load(source)
    old, new = before.connect(), after.connect()
    try:
        found = verify(old, new, dict(before.files), dict(after.files), answer)
    except Exception as error:  # a boundary: whatever it is, it is the verifier's
        raise VerifierFault(_told(error)) from error
    finally:
        old.close()
        new.close()
    return Verdict(criteria_of(found), hashlib.sha256(source.encode()).hexdigest())


def load(source: str) -> Any:
    """The `verify` function of a program. Raises VerifierFault where there is none."""
    namespace: dict[str, Any] = {"__name__": "verifier"}
    head, mark, tail = source.partition(RUNTIME_MARK)
    try:
        exec(_compiled(head), namespace)
        exec(_compiled(mark + tail), namespace)
    except Exception as error:  # a boundary, as above
        raise VerifierFault(_told(error)) from error
    if not callable(namespace.get("verify")):
        raise VerifierFault("the verifier defines no function verify(before, after, files_before, files_after, answer)")
    return namespace["verify"]


@lru_cache(maxsize=256)
def _compiled(text: str) -> CodeType:
    return compile(text, "verifier.py", "exec", dont_inherit=True)


def _told(error: Exception) -> str:
    """Kind, message and place of what a verifier raised."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "verifier.py"]
    place = f" at line {frames[-1].lineno} in {frames[-1].name}" if frames else ""
    return f"the verifier raised {type(error).__name__}: {error}{place}"


def criteria_of(found: object) -> tuple[Criterion, ...]:
    """What a verifier returned, as criteria. Raises VerifierFault on none, on two of one name, on other types."""
    if not isinstance(found, (list, tuple)):
        raise VerifierFault(f"the verifier returned {type(found).__name__}, not a list of criteria")
    if not found:
        raise VerifierFault("the verifier gave no criteria")
    criteria = tuple(_criterion(one, i) for i, one in enumerate(found))
    names = [c.name for c in criteria]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise VerifierFault(f"the verifier gave two criteria of one name: {', '.join(twice)}")
    return criteria


def _criterion(one: object, index: int) -> Criterion:
    if not isinstance(one, Mapping):
        raise VerifierFault(f"criterion {index} is {type(one).__name__}, not an object")
    name, passed, detail = one.get("name"), one.get("passed"), one.get("detail", "")
    if not isinstance(name, str) or not name:
        raise VerifierFault(f"criterion {index} has no name: {one!r:.200}")
    if not isinstance(passed, bool):
        raise VerifierFault(f"criterion {name!r}: passed is {passed!r:.100}, neither true nor false")
    if not isinstance(detail, str):
        raise VerifierFault(f"criterion {name!r}: detail is {type(detail).__name__}, not text")
    return Criterion(name, passed, detail)
