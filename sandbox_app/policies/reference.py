"""ReferencePolicy: says a program's cells one after another, and answers with the last line that was printed.

It is how a task's reference is shown to pass as an Episode, and the first teacher of a small model.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_app.interfaces import render_call
from sandbox_app.policies import Message
from sandbox_app.trajectories import Step
from tasks_app.tasks import TaskSpec, cells

DONE = "Done."


def said(position: int, count: int) -> str:
    """The few words before a cell; a program of one cell needs none."""
    if count == 1:
        return ""
    if position == 0:
        return "First I look at what is there."
    return "Now the last part." if position == count - 1 else "Next."


def last_line(steps: Sequence[Step]) -> str:
    """The last line printed by the last cell; "Done." when it printed none."""
    results = [step.result for step in steps if step.result is not None]
    lines = [line for line in results[-1].stdout.splitlines() if line.strip()] if results else []
    return lines[-1].strip() if lines else DONE


class ReferencePolicy:
    """Runs `program` (the task's reference by default); `answer` replaces the last printed line."""

    def __init__(
        self, task: TaskSpec, *, program: str | None = None, answer: str | None = None, name: str = "reference",
    ) -> None:
        self.name = name
        self._cells = cells(task.reference if program is None else program)
        self._answer = answer

    async def act(self, system: str, instruction: str, steps: Sequence[Step]) -> Message:
        if len(steps) < len(self._cells):
            position = len(steps)
            return Message(render_call(self._cells[position], said(position, len(self._cells))))
        return Message(last_line(steps) if self._answer is None else self._answer)
