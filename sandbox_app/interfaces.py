"""Interfaces: what a policy is told, how its messages are read, and what it gets back. One mode so far: programmatic.

In *programmatic* mode a policy acts by one Python cell a message; tools are functions inside that cell. Code travels
raw between tags (no JSON escaping to get wrong):

    <tool_call>
    <function=python>
    <parameter=code>
    print(tools.courses_get(id="1"))
    </parameter>
    </function>
    </tool_call>

A message without the tag is the final answer. The prompt is short on purpose (small models read it): one signature a
tool, strings left untyped, one sentence of description, the keys of the answer.

Limits: at most one call a message, and nothing after it; what looks like a call and is none raises `MalformedCall`,
never a guess. Direct and hybrid modes will be further functions beside these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sandbox_app.trajectories import CellResult, Step

OPEN, CLOSE = "<tool_call>", "</tool_call>"
_HEAD = f"{OPEN}\n<function=python>\n<parameter=code>\n"
_TAIL = f"\n</parameter>\n</function>\n{CLOSE}"
_CALL = re.compile(
    r"<tool_call>\s*<function=python>\s*<parameter=code>\n?(?P<code>.*?)\n?</parameter>\s*</function>\s*</tool_call>",
    re.DOTALL,
)
_TYPES = {"integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}
_DESCRIPTION = 110
_ENUM = 90
_TRACEBACK = 2_000
_PLAIN_KEYS, _NESTED_KEYS = 10, 4
_NOISE = ("etag", "kind")

_RULES = f"""\
You act by running Python in a session that keeps its state. To run a cell, end your message with exactly one call:
{_HEAD}print(tools["name"](argument="value")){_TAIL}
Only printed text comes back. A tool is called as tools.name(argument=value), arguments by name; a refused call raises \
ToolError with .code and .message. The working directory holds the user's files. There is no network.
When the work is done, answer the user in a message without a call."""


class MalformedCall(ValueError):
    """A message that begins a call and does not end it as asked; the text says what is wrong."""


def system_prompt(tools: Sequence[Mapping[str, Any]]) -> str:
    """The system message for these tool specs ({name, description, parameters, returns, writes}), in their order."""
    lines = "\n".join(signature(tool) for tool in tools)
    return f"{_RULES}\n\nTools:\n{lines}"


def signature(tool: Mapping[str, Any]) -> str:
    """One line: `name(courseId, pageSize: int = None) -> {courses: [], nextPageToken}  # first sentence`."""
    parameters = tool.get("parameters") or {}
    required = list(parameters.get("required", ()))
    properties: Mapping[str, Any] = parameters.get("properties", {})
    optional = [name for name in properties if name not in required]
    shown = [_argument(name, properties.get(name, {}), "") for name in required]
    shown += [_argument(name, properties[name], " = None") for name in optional]
    answer = "" if tool.get("writes") else _answer(tool.get("returns") or {})  # a write gives back what it wrote
    sentence = _sentence(str(tool.get("description", "")))
    return f"{tool['name']}({', '.join(shown)})" + (f" -> {answer}" if answer else "") + (
        f"  # {sentence}" if sentence else ""
    )


def _argument(name: str, schema: Mapping[str, Any], default: str) -> str:
    kind = _TYPES.get(str(schema.get("type", "string")), "")
    values = "|".join(repr(value) for value in schema.get("enum", ()))
    if values and len(values) <= _ENUM:
        kind = values
    if kind == "list":
        items = schema.get("items") or {}
        inner = "|".join(repr(value) for value in items.get("enum", ()))
        kind = f"list[{inner}]" if inner and len(inner) <= _ENUM else "list"
    if kind:
        return f"{name}: {kind}{default}"
    return f"{name}{default.replace(' ', '')}"


def _answer(schema: Mapping[str, Any]) -> str:
    """The keys of an answer, of its rows as well: `{courses: [{id, name, …}], nextPageToken}`; the shortest names.

    Published descriptions have dozens of keys in alphabetical order; what tasks are about has short names (id, name,
    state, title, start), the long ones are links and settings.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    return "{" + ", ".join(_keys(properties, lambda name: _rows(properties[name]))) + "}" if properties else ""


def _rows(schema: Mapping[str, Any]) -> str:
    if schema.get("type") != "array":
        return ": {}" if schema.get("type") == "object" else ""
    inner: Mapping[str, Any] = (schema.get("items") or {}).get("properties", {})
    keys = _keys(inner, lambda name: {"array": ": []", "object": ": {}"}.get(str(inner[name].get("type")), ""))
    return ": [{" + ", ".join(keys) + "}]" if keys else ": []"


def _keys(properties: Mapping[str, Any], mark: Callable[[str], str]) -> list[str]:
    """The shortest names of plain values and of nested ones, in the order published, and … where some are left out."""
    by_length = sorted((name for name in properties if name not in _NOISE), key=len)
    nested = [name for name in by_length if properties[name].get("type") in ("array", "object")]
    plain = [name for name in by_length if name not in nested]
    kept = {*plain[:_PLAIN_KEYS], *nested[:_NESTED_KEYS]}
    return [name + mark(name) for name in properties if name in kept] + ["…"] * (len(kept) < len(by_length))


def _sentence(text: str) -> str:
    """The first sentence of a description, on one line."""
    flat = " ".join(text.split())
    first = re.split(r"(?<=[.!?])\s", flat, maxsplit=1)[0] if flat else ""
    return first if len(first) <= _DESCRIPTION else first[: _DESCRIPTION - 1].rstrip() + "…"


def render_call(code: str, text: str = "") -> str:
    """The message that says `text` and runs `code`; `parse` of it gives `code` back."""
    call = f"{_HEAD}{code}{_TAIL}"
    return f"{text}\n{call}" if text else call


def parse(message: str) -> str | None:
    """The code that a message asks to run; None for a final answer. Raises `MalformedCall`."""
    if OPEN not in message:
        if "<function=" in message or CLOSE in message:
            raise MalformedCall(f"a call must begin with {OPEN}")
        return None
    start = message.index(OPEN)
    rest = message[start:].rstrip()
    found = _CALL.match(rest)
    if found is None:
        raise MalformedCall(
            f"a call is {OPEN}, <function=python>, <parameter=code>, the code, </parameter>, </function>, {CLOSE}, "
            "each on a line of its own"
        )
    if found.end() != len(rest):
        more = "one call a message, please" if OPEN in rest[found.end():] else f"nothing may follow {CLOSE}"
        raise MalformedCall(more)
    code = found["code"]
    if not code.strip():
        raise MalformedCall("the call holds no code")
    if any("\ud800" <= character <= "\udfff" for character in code):
        raise MalformedCall("the code holds half a character (a lone surrogate)")
    return code


def observation(result: CellResult) -> str:
    """What a policy reads after a cell: the printed text (capped), a short traceback, and how the cell ended."""
    parts = [result.returned.rstrip("\n")] if result.returned.strip() else []
    if result.error is not None:
        parts.append(result.error.traceback.strip()[-_TRACEBACK:] or f"{result.error.name}: {result.error.message}")
    if result.outcome not in ("ok", "error"):
        survived = "Variables are kept." if result.state_survived else "The session is lost."
        detail = f": {result.detail}" if result.detail else ""
        parts.append(f"[{result.outcome}{detail}. {survived}]")
    return "\n".join(parts) if parts else "(nothing was printed)"


def chat(system: str, instruction: str, steps: Sequence[Step]) -> list[dict[str, str]]:
    """The conversation so far as chat messages with the roles system, user, assistant and tool."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": instruction}]
    for step in steps:
        messages.append({"role": "assistant", "content": step.message})
        if step.result is not None:
            messages.append({"role": "tool", "content": observation(step.result)})
    return messages
