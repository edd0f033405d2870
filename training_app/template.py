"""Chat template → the skeleton of a conversation: which parts are structure, which are messages, which are trained.

The template (Jinja, as `transformers` keeps it beside a tokenizer) is rendered with a placeholder for each message, so
that structure and content stay apart: special tokens are recognised in the structure only, and a tool result that
says `<|im_end|>` stays text. What lies between `{% generation %}` marks is trained on; the end-of-turn token must be
among it, or a model never learns to stop. A template that gives no such skeleton is refused with the reason.

Source of the marks: transformers' `apply_chat_template(return_assistant_tokens_mask=True)`; the test suite holds both
to the same ids and mask.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

from training_app.errors import TemplateRefused

END_OF_TURN = "<|im_end|>"
START_OF_TURN = "<|im_start|>"
PADDING = "<|pad|>"
SPECIAL = (PADDING, START_OF_TURN, END_OF_TURN)
DEFAULT = (Path(__file__).parent / "chat_template.jinja").read_text(encoding="utf-8")

_BEGIN, _END = "\ue000", "\ue001"
_SLOT = re.compile("\ue002(\\d+)\ue003")
_PROBE = ("system", "user", "assistant", "tool", "assistant")


@dataclass(frozen=True, slots=True)
class Part:
    """A run of the rendered conversation. `message` is the index of the message it holds, None for structure."""

    text: str
    trained: bool
    message: int | None


class _Generation(jinja2.ext.Extension):
    """`{% generation %}…{% endgeneration %}`: puts marks round what it holds."""

    tags = {"generation"}

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        begin = jinja2.nodes.Output([jinja2.nodes.TemplateData(_BEGIN)]).set_lineno(line)
        end = jinja2.nodes.Output([jinja2.nodes.TemplateData(_END)]).set_lineno(line)
        return [begin, *body, end]


@lru_cache(maxsize=16)
def _compiled(source: str) -> jinja2.Template:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_Generation],
    )
    environment.globals["raise_exception"] = _raise
    try:
        return environment.from_string(source)
    except jinja2.TemplateError as error:
        raise TemplateRefused(f"The chat template is not valid Jinja: {error}. Correct chat_template.jinja.") from error


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)


def _render(source: str, messages: Sequence[Mapping[str, str]], prompt: bool) -> str:
    try:
        return _compiled(source).render(messages=list(messages), add_generation_prompt=prompt)
    except jinja2.TemplateError as error:
        raise TemplateRefused(f"The chat template refuses the conversation: {error}.") from error


def skeleton(source: str, roles: Sequence[str], *, prompt: bool = False) -> tuple[Part, ...]:
    """The parts of a conversation with these roles, in order. With `prompt`, the opening of the next assistant turn.

    Raises `TemplateRefused` when a message is left out or given twice, or when the marks do not nest.
    """
    slots = [{"role": role, "content": f"\ue002{index}\ue003"} for index, role in enumerate(roles)]
    rendered = _render(source, slots, prompt)
    parts: list[Part] = []
    trained = False
    for piece in re.split(f"([{_BEGIN}{_END}])", rendered):
        if piece in (_BEGIN, _END):
            trained = piece == _BEGIN
            continue
        parts.extend(_pieces(piece, trained))
    seen = [part.message for part in parts if part.message is not None]
    if seen != list(range(len(roles))):
        raise TemplateRefused(
            f"The chat template does not show every message once and in order (it shows {seen} of {len(roles)}), so no "
            "loss mask can be made. Use a template that renders each message's content as it is."
        )
    return tuple(parts)


def _pieces(text: str, trained: bool) -> list[Part]:
    parts: list[Part] = []
    at = 0
    for found in _SLOT.finditer(text):
        if found.start() > at:
            parts.append(Part(text[at : found.start()], trained, None))
        parts.append(Part("", trained, int(found[1])))
        at = found.end()
    if at < len(text):
        parts.append(Part(text[at:], trained, None))
    return parts


def check(source: str) -> None:
    """Raise `TemplateRefused`, with the reason, unless a loss mask can be made from this template."""
    if "generation" not in source or not re.search(r"{%-?\s*generation\s*-?%}", source):
        raise TemplateRefused(
            "The chat template marks no part as the assistant's: no {% generation %} … {% endgeneration %}, so it "
            "cannot be told which tokens to train on. Put the marks round the assistant's content and its end-of-turn "
            "token."
        )
    parts = skeleton(source, _PROBE)
    for part in parts:
        if part.message is None:
            continue
        assistant = _PROBE[part.message] == "assistant"
        if assistant and not part.trained:
            raise TemplateRefused(
                "The chat template leaves the assistant's text outside {% generation %}: nothing would "
                "be trained on. Put its content between the marks."
            )
        if part.trained and not assistant:
            raise TemplateRefused(
                f"The chat template puts a {_PROBE[part.message]} message inside {{% generation %}}: "
                "the model would be trained to write it. Mark the assistant's part only."
            )
    _check_end_of_turn(parts)
    _check_prompt(source)


def _check_end_of_turn(parts: Sequence[Part]) -> None:
    for index, part in enumerate(parts):
        if part.message is None or not part.trained:
            continue
        after = parts[index + 1] if index + 1 < len(parts) else None
        if after is None or not after.trained or not after.text.startswith(END_OF_TURN):
            raise TemplateRefused(
                f"The chat template leaves {END_OF_TURN} after the assistant's text outside {{% generation %}}: a "
                "model trained so never learns to stop. Move the end mark behind it."
            )


def _check_prompt(source: str) -> None:
    """What is sampled after a prompt must be what is trained on after the same beginning."""
    opened = "".join(
        f"[{p.message}]" if p.message is not None else p.text for p in skeleton(source, _PROBE[:2], prompt=True)
    )
    whole = "".join(f"[{p.message}]" if p.message is not None else p.text for p in skeleton(source, _PROBE[:3]))
    if not whole.startswith(opened) or not whole[len(opened) :].startswith("[2]"):
        raise TemplateRefused(
            "The chat template opens an assistant turn differently when it asks for one than when it shows one, so the "
            "tokens trained on would not be those sampled. Make add_generation_prompt write the same opening."
        )
