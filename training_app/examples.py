"""Trajectory → Record (a line of a snapshot) → Example (token ids and loss mask).

Loss falls on what the policy said: its text, its calls and its end-of-turn tokens. System, user and tool turns are
masked. Where the policy's ids were recorded and belong to this tokenizer they are used as they are, so that what is
trained on is what was sampled. An example longer than the limit is left out and counted; it is never cut, since the
end of an episode is where its answer stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_app import interfaces
from sandbox_app.trajectories import Trajectory
from training_app import template
from training_app.errors import Refused
from training_app.tokens import Codec

ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Record:
    """One approved episode as a snapshot keeps it: independent of any tokenizer.

    `sampled` maps the index of an assistant message to the ids the policy sampled for it.
    """

    episode: str
    task: str
    lineage: str
    tier: str
    scale: str
    seed: int
    policy: str
    messages: tuple[Mapping[str, str], ...]
    sampled: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "episode": self.episode,
            "task": self.task,
            "lineage": self.lineage,
            "tier": self.tier,
            "scale": self.scale,
            "seed": self.seed,
            "policy": self.policy,
            "messages": [dict(message) for message in self.messages],
            "sampled": [{"message": index, "ids": list(ids)} for index, ids in sorted(self.sampled.items())],
        }


def record_from_json(row: Mapping[str, Any]) -> Record:
    """The inverse of `Record.to_json`. Raises `Refused` on an unknown role."""
    messages = tuple({"role": m["role"], "content": m["content"]} for m in row["messages"])
    unknown = sorted({m["role"] for m in messages} - set(ROLES))
    if unknown:
        raise Refused(
            f"Episode {row['episode']} has messages of the role {unknown[0]!r}; known are {', '.join(ROLES)}."
        )
    return Record(
        episode=row["episode"],
        task=row["task"],
        lineage=row["lineage"],
        tier=row["tier"],
        scale=row["scale"],
        seed=row["seed"],
        policy=row["policy"],
        messages=messages,
        sampled={entry["message"]: tuple(entry["ids"]) for entry in row.get("sampled", ())},
    )


def record_of(trajectory: Trajectory, *, episode: str, lineage: str, tier: str) -> Record:
    """The record of a trajectory. Message k of the assistant is step k."""
    messages = tuple(interfaces.chat(trajectory.system, trajectory.instruction, trajectory.steps))
    spoken = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    sampled = {
        index: tuple(step.token_ids) for index, step in zip(spoken, trajectory.steps, strict=True) if step.token_ids
    }
    return Record(
        episode=episode,
        task=trajectory.task,
        lineage=lineage,
        tier=tier,
        scale=trajectory.scale,
        seed=trajectory.seed,
        policy=trajectory.policy,
        messages=messages,
        sampled=sampled,
    )


@dataclass(frozen=True, slots=True)
class Example:
    """What one episode trains on."""

    episode: str
    ids: tuple[int, ...]
    mask: tuple[bool, ...]
    labels: list[int]


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples, and what was left out by reason. `as_sampled` counts messages whose recorded ids were used."""

    kept: tuple[Example, ...]
    left_out: Mapping[str, int]
    as_sampled: int

    @property
    def tokens(self) -> int:
        return sum(len(example.ids) for example in self.kept)

    @property
    def trained_tokens(self) -> int:
        return sum(sum(example.mask) for example in self.kept)


def build(records: Iterable[Record], codec: Codec, *, max_length: int) -> Examples:
    """Examples of all records that fit. Raises `TemplateRefused` when no mask can be made from the codec's template."""
    template.check(codec.template)
    kept: list[Example] = []
    left_out: Counter[str] = Counter()
    as_sampled = 0
    for record in records:
        encoded = codec.conversation(record.messages, usable(record, codec))
        if len(encoded.ids) > max_length:
            left_out[f"longer than {max_length} tokens"] += 1
            continue
        if not any(encoded.mask):
            left_out["nothing said by the policy"] += 1
            continue
        as_sampled += encoded.resampled
        kept.append(Example(record.episode, encoded.ids, encoded.mask, encoded.labels))
    return Examples(tuple(kept), dict(left_out), as_sampled)


def usable(record: Record, codec: Codec) -> dict[int, tuple[int, ...]]:
    """Those recorded ids that spell the recorded text in this tokenizer; others came from another tokenizer."""
    size = codec.plain.get_vocab_size()
    return {
        index: ids
        for index, ids in record.sampled.items()
        if all(0 <= token < size for token in ids) and _text(ids, codec) == record.messages[index]["content"]
    }


def _text(ids: Sequence[int], codec: Codec) -> str:
    ended = bool(ids) and ids[-1] == codec.end_of_turn
    return codec.decode(ids[:-1] if ended else ids)


@dataclass(frozen=True, slots=True)
class Piece:
    """A token as the mask page shows it."""

    text: str
    trained: bool


def pieces(example: Example, codec: Codec) -> tuple[Piece, ...]:
    """Each token of an example with its text. Tokens that hold a part of a character are shown joined to it."""
    shown: list[Piece] = []
    run: list[int] = []
    for token, trained in zip(example.ids, example.mask, strict=True):
        run.append(token)
        text = codec.decode(run)
        if text.endswith("\ufffd") and len(run) < 4:
            continue
        shown.append(Piece(text, trained))
        run = []
    if run:
        shown.append(Piece(codec.decode(run), example.mask[-1]))
    return tuple(shown)
