"""Policy: whatever acts: a program, a model, a person. `make` builds one by its name and a JSON configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sandbox_app.errors import PolicyFault
from sandbox_app.trajectories import Step
from tasks_app.tasks import TaskSpec

NAMES = ("reference", "scripted", "no_op", "local")


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


def make(name: str, task: TaskSpec, config: Mapping[str, Any]) -> Policy:
    """The policy of that name for a task.

    scripted: {"fault", "seed"} · local: {"folder", "temperature", "seed", "max_new_tokens"}, of which only `fault` and
    `folder` must be given. Raises `PolicyFault` for a name or configuration there is not.
    """
    from sandbox_app.policies import no_op, reference, scripted

    if name == "reference":
        return reference.ReferencePolicy(task)
    if name == "no_op":
        return no_op.NoOpPolicy()
    if name == "scripted":
        return scripted.ScriptedPolicy(task, int(config.get("seed", 0)), str(config.get("fault", "")))
    if name == "local":
        from sandbox_app.policies import local  # the only one that loads torch, and only now

        return local.LocalPolicy(
            str(config.get("folder", "")), temperature=float(config.get("temperature", 0.0)),
            seed=int(config.get("seed", 0)), max_new_tokens=int(config.get("max_new_tokens", 512)),
        )
    raise PolicyFault(f"there is no policy {name!r}; there are {', '.join(NAMES)}")
