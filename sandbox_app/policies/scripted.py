"""ScriptedPolicy: the reference gone wrong in a seeded way, then mended or not.

It gives people failures and recovered errors to review, and training data its contrasts, before any model acts.

    mended    misspelt_tool  wrong_argument  undefined_name  malformed_call     an error, read, then the right cell
              slow_cell                                                         prints, and takes its time
    not       gives_up  wrong_answer  no_op                                     stops short, or says what is not so
              PROBED                                                            a probe of the task, as it stands
    stopped   kernel_exit                                                       ends its own kernel

A task that has no probe of the kind asked for gives another of its probes; `name` says which one it became. Of a task
that asks for no answer, a wrong one is no fault.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from sandbox_app.errors import PolicyFault
from sandbox_app.interfaces import render_call
from sandbox_app.policies import Message
from sandbox_app.policies.reference import DONE, last_line, said
from sandbox_app.trajectories import Step
from tasks_app.tasks import ProbeSpec, TaskSpec, cells

_TOOL = re.compile(r"\btools\.(\w+)\(|\btools\[[\"'](\w+)[\"']\]\(")
_GAVE_UP = "I could not find what is needed, so I changed nothing more."
PROBED = (
    "boundary", "default_filter", "dropped_condition", "first_page", "forged_answer", "neighbour", "over_reach",
    "partial", "report_only", "short_report", "twice", "wrong_column", "wrong_value",
)


class ScriptedPolicy:
    """A fixed list of messages; a message None is the last line that was printed."""

    def __init__(self, task: TaskSpec, seed: int, fault: str) -> None:
        if fault not in FAULTS:
            raise PolicyFault(f"there is no fault {fault!r}; there are {', '.join(FAULTS)}")
        chance = random.Random(f"{task.key}:{fault}:{seed}")
        kind, self._script = FAULTS[fault](task, chance)
        self.name = f"scripted:{kind or fault}:{seed}"

    async def act(self, system: str, instruction: str, steps: Sequence[Step]) -> Message:
        text = self._script[len(steps)] if len(steps) < len(self._script) else None
        return Message(last_line(steps) if text is None else text)


_Script = tuple[str, list[str | None]]      # what it became, when that is not what was asked for; the messages
_Maker = Callable[[TaskSpec, random.Random], _Script]


def _calls(task: TaskSpec) -> list[str]:
    """The reference's messages."""
    parts = cells(task.reference)
    return [render_call(part, said(position, len(parts))) for position, part in enumerate(parts)]


def _mended(break_cell: Callable[[str, random.Random], str | None], words: str) -> _Maker:
    """One cell that fails before it does anything, then all as it should be."""

    def script(task: TaskSpec, chance: random.Random) -> _Script:
        parts = cells(task.reference)
        broken = {position: break_cell(part, chance) for position, part in enumerate(parts)}
        able = [position for position, text in broken.items() if text is not None]
        messages: list[str | None] = list(_calls(task))
        at = chance.choice(able) if able else 0
        wrong = broken.get(at) or _undefined(parts[at], chance)
        messages.insert(at, render_call(wrong, said(at, len(parts))))
        messages[at + 1] = render_call(parts[at], words)
        return "", [*messages, None]

    return script


def _misspelt(code: str, chance: random.Random) -> str | None:
    found = _TOOL.search(code)
    if found is None:
        return None
    name = found[1] or found[2]
    wrong = chance.choice((name + "s", name.replace("_", ""), name.rsplit("_", 1)[0] + "_all"))
    return code[: found.start()] + found[0].replace(name, wrong) + code[found.end():] if wrong != name else None


def _argument(code: str, chance: random.Random) -> str | None:
    found = _TOOL.search(code)
    if found is None:
        return None
    extra = chance.choice(("limit=100", "verbose=True", "filter=None"))
    rest = code[found.end():]
    return code[: found.end()] + extra + ("" if rest.lstrip().startswith(")") else ", ") + rest


def _undefined(code: str, chance: random.Random) -> str:
    return f"print(len({chance.choice(('rows', 'result', 'data'))}_before))\n{code}"


def _malformed(task: TaskSpec, chance: random.Random) -> _Script:
    messages = _calls(task)
    unclosed = chance.choice(("\n</tool_call>", "\n</function>\n</tool_call>"))
    return "", [messages[0].removesuffix(unclosed), *messages, None]


def _slow(task: TaskSpec, chance: random.Random) -> _Script:
    first, *others = _calls(task)
    part = cells(task.reference)[0]
    waiting = 'import time\nprint("Reading…", flush=True)\ntime.sleep(4)\n'
    return "", [first.replace(part, waiting + part), *others, None]


def _gives_up(task: TaskSpec, chance: random.Random) -> _Script:
    messages = _calls(task)
    return "", [*messages[: chance.randrange(max(1, len(messages) // 2))], _GAVE_UP]


def _wrong_answer(task: TaskSpec, chance: random.Random) -> _Script:
    return "", [*_calls(task), str(chance.randrange(1_000, 10_000))]


def _no_op(task: TaskSpec, chance: random.Random) -> _Script:
    return "", [DONE]


def _kernel_exit(task: TaskSpec, chance: random.Random) -> _Script:
    messages: list[str | None] = list(_calls(task))
    at = chance.randrange(len(messages))
    return "", [*messages[:at], render_call("import os\nos._exit(1)", "I start afresh.")]


def _probe(kind: str) -> _Maker:
    def script(task: TaskSpec, chance: random.Random) -> _Script:
        fitting = [probe for probe in task.probes if kind in (probe.kind, probe.name)] or list(task.probes)
        if not fitting:
            return "gives_up", _gives_up(task, chance)[1]
        return _played(chance.choice(fitting))

    return script


def _played(probe: ProbeSpec) -> _Script:
    parts = cells(probe.source)
    messages = [render_call(part, said(position, len(parts))) for position, part in enumerate(parts)]
    return probe.name, [*messages, probe.answer]


FAULTS: dict[str, _Maker] = {
    "misspelt_tool": _mended(_misspelt, "That tool has another name."),
    "wrong_argument": _mended(_argument, "That argument does not exist; without it."),
    "undefined_name": _mended(_undefined, "That name was not there yet."),
    "malformed_call": _malformed,
    "slow_cell": _slow,
    "gives_up": _gives_up,
    "wrong_answer": _wrong_answer,
    "no_op": _no_op,
    "kernel_exit": _kernel_exit,
    **{kind: _probe(kind) for kind in PROBED},
}
