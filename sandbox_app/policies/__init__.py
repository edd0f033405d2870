"""Policy: whatever acts: a program, a model, a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sandbox_app.trajectories import Step


@dataclass(frozen=True, slots=True)
class Message:
    """What a policy says: text with at most one code block to run, or the final answer when there is none."""

    text: str
    token_ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    prompt_tokens: int = 0


class Policy(Protocol):
    name: str

    async def act(self, system: str, instruction: str, steps: Sequence[Step]) -> Message:
        """The next message, given what has happened. Raises `PolicyFault` for a fault that is ours."""
