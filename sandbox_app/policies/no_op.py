"""NoOpPolicy: answers at once and does nothing. It must pass only where nothing is to do."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_app.policies import Message
from sandbox_app.policies.reference import DONE
from sandbox_app.trajectories import Step


class NoOpPolicy:
    name = "no_op"

    async def act(self, system: str, instruction: str, steps: Sequence[Step]) -> Message:
        return Message(DONE)
