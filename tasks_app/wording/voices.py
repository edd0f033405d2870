"""People who ask, and how: a greeting and a farewell by register, put round a reason and what is wanted.

The reason and the request come from the motif, for only it knows why somebody wants this; the voice is drawn here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tasks_app.wording.grammar import expand


@dataclass(frozen=True, slots=True)
class Voice:
    name: str
    openings: tuple[str, ...]
    closings: tuple[str, ...]


VOICES = (
    Voice("plain", ("",), ("",)),
    Voice(
        "polite",
        ("{Good morning.|Hello.} {Could you take something off my hands?|I have a small job for you.}",),
        ("Thank you.", "Many thanks."),
    ),
    Voice("brisk", ("",), ("Nothing else, please.", "Leave the rest as it is.")),
    Voice("chatty", ("Hi!", "Hi there!"), ("Thanks a lot!", "You'd save me an evening.")),
    Voice("formal", ("{I would ask you to see to the following.|I have a request.}",), ("With thanks.", "")),
)


def say(rng: Random, reasons: Sequence[str], request: Sequence[str], **facts: object) -> str:
    """One reason, then every sentence of the request in order, in a voice drawn by `rng`.

    A template may be wordless (""), which leaves the sentence out.
    """
    voice = rng.choice(VOICES)
    parts = [rng.choice(voice.openings), rng.choice(list(reasons)), *request, rng.choice(voice.closings)]
    return expand(" ".join(part for part in parts if part), rng, facts)


def ask(rng: Random, requests: Sequence[str], **facts: object) -> str:
    """A primer's instruction: one of several ways to say one short thing."""
    opening = rng.choice(("", "", "", "Hi! ", "Good morning. "))
    return expand(opening + rng.choice(list(requests)), rng, facts)
