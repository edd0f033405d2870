"""LocalPolicy: a transformers checkpoint on this machine. torch is imported here and nowhere else in this app.

The ids that are recorded are the ids that were sampled, the end-of-turn id included when it came; earlier messages go
back into the prompt by those ids, never by encoding their text again. Structure is encoded with the tokenizer's special
tokens, content never is: a tool result that says `<|im_end|>` stays text.

Limits: one message at a time, the prompt is read anew for each; many episodes at once are training_app's rollouts.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from sandbox_app.errors import PolicyFault
from sandbox_app.interfaces import chat
from sandbox_app.policies import Message
from sandbox_app.trajectories import Step

_SLOT = re.compile("\ue002(\\d+)\ue003")


class LocalPolicy:
    """`temperature` 0 takes the likeliest token. Raises `PolicyFault` when the checkpoint does not load."""

    def __init__(self, folder: Path | str, *, temperature: float, seed: int, max_new_tokens: int) -> None:
        self.name = f"local:{Path(folder).name}"
        self._temperature, self._seed, self._max_new = temperature, seed, max_new_tokens
        self._model, self._tokenizer = _checkpoint(str(folder))

    async def act(self, system: str, instruction: str, steps: Sequence[Step]) -> Message:
        return await asyncio.to_thread(self._act, system, instruction, steps)

    def _act(self, system: str, instruction: str, steps: Sequence[Step]) -> Message:
        prompt = self.prompt(chat(system, instruction, steps), steps)
        room = int(self._model.config.max_position_embeddings) - self._max_new
        if len(prompt) > room:
            return Message("", prompt_tokens=len(prompt))  # no room to say anything: an empty answer, which is judged
        ids, logprobs = self._sample(prompt, f"{self._seed}:{len(steps)}")
        ended = bool(ids) and ids[-1] == self._tokenizer.eos_token_id
        text = self._tokenizer.decode(ids[:-1] if ended else ids, skip_special_tokens=False)
        return Message(text, tuple(ids), tuple(logprobs), len(prompt))

    def prompt(self, messages: Sequence[dict[str, str]], steps: Sequence[Step]) -> list[int]:
        """Ids of the conversation up to where the assistant speaks next."""
        spoken = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
        sampled = {index: step.token_ids for index, step in zip(spoken, steps, strict=True) if step.token_ids}
        slots = [{"role": m["role"], "content": f"\ue002{i}\ue003"} for i, m in enumerate(messages)]
        rendered = self._tokenizer.apply_chat_template(slots, tokenize=False, add_generation_prompt=True)
        ids: list[int] = []
        ended = False
        for position, piece in enumerate(_SLOT.split(rendered)):
            if position % 2 == 0:
                end = self._tokenizer.eos_token
                ids += self._encode(piece.removeprefix(end) if ended else piece, special=True)
                ended = False
            elif int(piece) in sampled:
                ids += sampled[int(piece)]
                ended = ids[-1] == self._tokenizer.eos_token_id
            else:
                ids += self._encode(messages[int(piece)]["content"], special=False)
        return ids

    def _encode(self, text: str, *, special: bool) -> list[int]:
        if not text:
            return []
        return list(self._tokenizer(text, add_special_tokens=False, split_special_tokens=not special)["input_ids"])

    def _sample(self, prompt: list[int], seed: str) -> tuple[list[int], list[float]]:
        import zlib

        import torch
        from transformers import DynamicCache

        chance = torch.Generator().manual_seed(zlib.crc32(seed.encode()))
        ids: list[int] = []
        logprobs: list[float] = []
        given, cache = torch.tensor([prompt]), DynamicCache(config=self._model.config)
        with torch.inference_mode():
            while len(ids) < self._max_new and (not ids or ids[-1] != self._tokenizer.eos_token_id):
                logits = self._model(input_ids=given, cache=cache, use_cache=True, logits_to_keep=1).logits
                scale = self._temperature or 1.0
                words = torch.log_softmax(logits[0, -1].float() / scale, dim=-1)
                if self._temperature:
                    taken = int(torch.multinomial(words.exp(), 1, generator=chance))
                else:
                    taken = int(words.argmax())
                ids.append(taken)
                logprobs.append(float(words[taken]))
                given = torch.tensor([[taken]])
        return ids, logprobs


@lru_cache(maxsize=2)
def _checkpoint(folder: str) -> tuple[Any, Any]:
    """Model and tokenizer; the latest two stay loaded."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if not Path(folder).is_dir():
        raise PolicyFault(f"there is no checkpoint folder {folder!r}")
    torch.set_num_threads(1)
    try:
        model = AutoModelForCausalLM.from_pretrained(folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError, RuntimeError) as fault:
        raise PolicyFault(f"the checkpoint {folder} does not load: {fault}") from fault
    model.train(False)
    if tokenizer.eos_token_id is None or not tokenizer.chat_template:
        raise PolicyFault(f"the checkpoint {folder} has no end-of-turn token or no chat template")
    return model, tokenizer
