"""Tokenizer: byte-level BPE trained on our own text, and the codec that turns conversations into ids and a loss mask.

Only `tokenizers` is imported (no torch), so that a web process can show a mask. Byte-level, so nothing is unknown.
Merges may cross words, up to a line of code or a clause of prose ("superwords", Liu et al. 2025, arXiv:2503.13423):
signatures and code repeat, and a conversation is a fifth as long as with words alone. What is copied from an
instruction into code stands apart and is cut alike in both places: digits one by one, capitalised words, parts of an
e-mail address, anything between quotes that is no identifier. Structure is encoded with its special tokens, content
never is: a message that holds the text `<|im_end|>` cannot end a turn.

Limits: made for the few shapes of text in our own prompts and programs; unseen code costs many more tokens than seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from training_app import template
from training_app.errors import Refused

FILE = "tokenizer.json"
TEMPLATE_FILE = "chat_template.jinja"

ROLES = ("system", "user", "assistant", "tool")
_IDENTIFIER = r'"[a-z][A-Za-z_]*(?:\.[a-z_]+)*:?"(?=[\]:,)}])'  # in code: a key or a column, no name
_ADDRESS = r"(?=[\w.\-]*@)"  # inside the first part of an e-mail address
_CLAUSE = (
    rf'(?:{_IDENTIFIER}|"""| ?(?:True|False|None)\b|(?<=[a-z]_)\d|(?<=:)\d(?=\])'
    r'|(?<=[a-z_])\p{Lu}| (?![\p{Lu}\d])|(?![\p{L}.\-][\w.\-]*@)[^\n"\d\p{Lu}@ ])'
)
PIECES = "|".join(
    (
        rf"\A(?:{'|'.join(ROLES)})\n",  # how a turn begins, wherever its text is encoded
        rf"\p{{L}}+{_ADDRESS}",
        rf"[.\-]{_ADDRESS}",
        r"@[\w.]+",
        r" ?\d",
        rf"(?:\n\s*)?{_CLAUSE}+",
        r" ?\p{Lu}[\p{L}']*",
        r"\n\s*",
        r"[\s\S]",
    )
)


def train(texts: Iterable[str], size: int) -> Tokenizer:
    """A byte-level BPE of at most `size` tokens, the special ones first. Deterministic for the same texts in order."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(template.SPECIAL),
        show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        min_frequency=2,
    )
    beginnings = [f"{role}\n" for role in ROLES] * 1_000  # among the commonest of all words, and in no text
    tokenizer.train_from_iterator(chain(texts, beginnings), trainer)
    return tokenizer


def save(tokenizer: Tokenizer, folder: Path, *, chat_template: str = template.DEFAULT) -> None:
    """Write tokenizer.json, its configuration for transformers, and the chat template."""
    tokenizer.save(str(folder / FILE))
    (folder / TEMPLATE_FILE).write_text(chat_template, encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "pad_token": template.PADDING,
                "eos_token": template.END_OF_TURN,
                "model_max_length": 1_000_000,
                "clean_up_tokenization_spaces": False,
            },
            indent=1,
            sort_keys=True,
        ),
        encoding="utf-8",
    )


@dataclass(frozen=True, slots=True)
class Encoded:
    """Ids of a conversation and, beside each, whether it is trained on."""

    ids: tuple[int, ...]
    mask: tuple[bool, ...]
    resampled: int = 0  # messages whose recorded ids were used as they are

    @property
    def labels(self) -> list[int]:
        """Ids where trained on, −100 elsewhere: what TRL's collator takes as it is."""
        return [token if kept else -100 for token, kept in zip(self.ids, self.mask, strict=True)]


class Codec:
    """A tokenizer with its chat template."""

    def __init__(self, tokenizer: Tokenizer, chat_template: str) -> None:
        self.plain = Tokenizer.from_str(tokenizer.to_str())
        self.plain.encode_special_tokens = True
        self.structural = tokenizer
        self.template = chat_template
        end = tokenizer.token_to_id(template.END_OF_TURN)
        if end is None:
            raise Refused(
                f"The tokenizer has no token {template.END_OF_TURN}; a turn could not be ended. Use another one."
            )
        self.end_of_turn: int = end
        self.digest = hashlib.sha256(tokenizer.to_str().encode()).hexdigest()

    @classmethod
    def load(cls, folder: Path) -> Codec:
        """The codec kept in a checkpoint folder. Raises `Refused` when it holds none."""
        if not (folder / FILE).is_file() or not (folder / TEMPLATE_FILE).is_file():
            raise Refused(f"{folder.name} holds no {FILE} and {TEMPLATE_FILE}; it is not a checkpoint of this studio.")
        source = (folder / TEMPLATE_FILE).read_text(encoding="utf-8")
        return cls(Tokenizer.from_file(str(folder / FILE)), source)

    def encode(self, text: str) -> list[int]:
        """Ids of a text in which nothing is special."""
        return list(self.plain.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.plain.decode(list(ids), skip_special_tokens=False))

    def prompt(
        self, messages: Sequence[Mapping[str, str]], sampled: Mapping[int, Sequence[int]] | None = None
    ) -> list[int]:
        """Ids up to where the assistant speaks next."""
        return list(self._assemble(messages, sampled or {}, prompt=True).ids)

    def conversation(
        self, messages: Sequence[Mapping[str, str]], sampled: Mapping[int, Sequence[int]] | None = None
    ) -> Encoded:
        """Ids and mask of a whole conversation. `sampled` gives, by message index, ids to be used as they are."""
        return self._assemble(messages, sampled or {}, prompt=False)

    def rollout(self, messages: Sequence[Mapping[str, str]], sampled: Mapping[int, Sequence[int]]) -> Encoded:
        """As `conversation`, with a mask over the sampled ids alone (an end-of-turn not sampled is not trained on)."""
        return self._assemble(messages, sampled, prompt=False, only_sampled=True)

    def _assemble(
        self,
        messages: Sequence[Mapping[str, str]],
        sampled: Mapping[int, Sequence[int]],
        *,
        prompt: bool,
        only_sampled: bool = False,
    ) -> Encoded:
        ids: list[int] = []
        mask: list[bool] = []
        used = 0
        ended = False
        for part in template.skeleton(self.template, [m["role"] for m in messages], prompt=prompt):
            if part.message is None:
                text = part.text
                if ended and text.startswith(template.END_OF_TURN):
                    text = text[len(template.END_OF_TURN) :]
                piece = list(self.structural.encode(text, add_special_tokens=False).ids) if text else []
                ended = False
            elif part.message in sampled:
                piece = list(sampled[part.message])
                ended = bool(piece) and piece[-1] == self.end_of_turn
                used += 1
            else:
                piece = self.encode(messages[part.message]["content"])
            ids.extend(piece)
            mask.extend([part.trained and (not only_sampled or part.message in sampled)] * len(piece))
        return Encoded(tuple(ids), tuple(mask), used)
