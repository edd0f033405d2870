"""The small model: a Qwen3-architecture checkpoint made here, from a preset, a seed and our own text.

Weights are drawn with numpy and written as safetensors, so making a base needs no torch and gives the same bytes for
the same seed. The names and shapes are those of `transformers`' Qwen3ForCausalLM with tied embeddings; a test loads
one there and finds nothing missing and nothing left over.

Limits: this is a model to show that the loop learns, not one to use. Larger ones are checkpoints like any other.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy
from safetensors.numpy import save_file

from training_app import template, tokens

WEIGHTS = "model.safetensors"
ADAPTER = "adapter_model.safetensors"
EMBEDDING = "model.embed_tokens.weight"
EMBEDDING_SCALE = 0.08
ROPE_THETA = 1_000_000.0  # slow enough that a match two thousand tokens back is still one


@dataclass(frozen=True, slots=True)
class Preset:
    """A size. `parameters` follows from the rest and is shown on the form."""

    name: str
    hidden: int
    layers: int
    heads: int
    key_value_heads: int
    head: int
    inner: int
    vocabulary: int
    positions: int = 16_384

    @property
    def parameters(self) -> int:
        attention = self.hidden * self.head * (2 * self.heads + 2 * self.key_value_heads) + 2 * self.head
        layer = attention + 3 * self.hidden * self.inner + 2 * self.hidden
        return self.vocabulary * self.hidden + self.layers * layer + self.hidden


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("tiny", 64, 2, 2, 1, 32, 160, 2_048),
        Preset("nano", 128, 4, 4, 2, 32, 384, 6_144),
        Preset("mini", 192, 6, 6, 2, 32, 576, 6_144),
    )
}


def config(preset: Preset, vocabulary: int) -> dict[str, object]:
    """config.json of a Qwen3ForCausalLM of this size."""
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": vocabulary,
        "hidden_size": preset.hidden,
        "intermediate_size": preset.inner,
        "num_hidden_layers": preset.layers,
        "num_attention_heads": preset.heads,
        "num_key_value_heads": preset.key_value_heads,
        "head_dim": preset.head,
        "hidden_act": "silu",
        "max_position_embeddings": preset.positions,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": ROPE_THETA},
        "tie_word_embeddings": True,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "initializer_range": 0.02,
        "use_sliding_window": False,
        "pad_token_id": template.SPECIAL.index(template.PADDING),
        "eos_token_id": template.SPECIAL.index(template.END_OF_TURN),
        "bos_token_id": None,
        "dtype": "float32",
    }


def weights(preset: Preset, vocabulary: int, seed: int) -> dict[str, numpy.ndarray]:
    """Fresh weights: normal(0, .02), those that write to the residual stream scaled down by depth, norms at one.

    One pair of heads is then set to copy (`_copying`); a model of this size takes longer to find that than to learn
    the rest.
    """
    tensors: dict[str, numpy.ndarray] = {}

    def normal(name: str, rows: int, columns: int, scale: float = 0.02) -> None:
        generator = numpy.random.default_rng([seed, zlib.crc32(name.encode())])
        tensors[name] = (generator.standard_normal((rows, columns)) * scale).astype(numpy.float32)

    def ones(name: str, size: int) -> None:
        tensors[name] = numpy.ones(size, dtype=numpy.float32)

    width, head = preset.hidden, preset.head
    out = 0.02 / (2 * preset.layers) ** 0.5
    normal(EMBEDDING, vocabulary, width, EMBEDDING_SCALE)
    for index in range(preset.layers):
        layer = f"model.layers.{index}."
        normal(layer + "self_attn.q_proj.weight", preset.heads * head, width)
        normal(layer + "self_attn.k_proj.weight", preset.key_value_heads * head, width)
        normal(layer + "self_attn.v_proj.weight", preset.key_value_heads * head, width)
        normal(layer + "self_attn.o_proj.weight", width, preset.heads * head, out)
        ones(layer + "self_attn.q_norm.weight", head)
        ones(layer + "self_attn.k_norm.weight", head)
        normal(layer + "mlp.gate_proj.weight", preset.inner, width)
        normal(layer + "mlp.up_proj.weight", preset.inner, width)
        normal(layer + "mlp.down_proj.weight", width, preset.inner, out)
        ones(layer + "input_layernorm.weight", width)
        ones(layer + "post_attention_layernorm.weight", width)
    ones("model.norm.weight", width)
    _copying(tensors, preset, seed)
    return tensors


def _copying(tensors: dict[str, numpy.ndarray], preset: Preset, seed: int) -> None:
    """Set head 0 of layers 0 and 1 as an induction pair (Olsson et al. 2022, arXiv:2209.11895).

    Layer 0 looks one token back (a constant query and key, a step apart in the fast rotary frequencies) and writes a
    code of that token into directions that embeddings leave free. Layer 1 looks for the place whose code is that of
    the current token (in the slow frequencies, so that distance hardly matters) and hands on the token found there.
    """
    head, half = preset.head, preset.head // 2
    basis, _ = numpy.linalg.qr(numpy.random.default_rng([seed, 1]).standard_normal((preset.hidden, preset.hidden)))
    constant, free, code = basis[:, 0], basis[:, 1 : 1 + half], basis[:, 1 + half : 1 + head]
    carried = basis[:, 1 + head : 1 + 2 * head] if preset.hidden > 2 * head else basis[:, 1 + half : 1 + half + head]
    embedding = tensors[EMBEDDING]
    embedding -= embedding @ numpy.column_stack([constant, free]) @ numpy.column_stack([constant, free]).T
    embedding += 2 * EMBEDDING_SCALE * constant
    frequencies = ROPE_THETA ** (-numpy.arange(half) / half)
    ahead, behind = numpy.zeros(head), numpy.zeros(head)
    fast = numpy.arange(4)
    ahead[fast], behind[fast], behind[half + fast] = 1, numpy.cos(frequencies[fast]), numpy.sin(frequencies[fast])
    slow = numpy.concatenate([numpy.arange(half // 2, half), numpy.arange(half + half // 2, head)])
    match = numpy.zeros((head, half))
    match[slow, numpy.arange(half)] = 1
    first, second = ("model.layers.0.self_attn.", "model.layers.1.self_attn.")
    pairs = {
        first + "q_proj.weight": numpy.outer(ahead, constant),
        first + "k_proj.weight": numpy.outer(behind, constant),
        first + "v_proj.weight": numpy.eye(head, half) @ code.T,
        second + "q_proj.weight": match @ code.T,
        second + "k_proj.weight": match @ free.T,
        second + "v_proj.weight": carried.T,
    }
    for name, rows in pairs.items():
        tensors[name][:head] = rows
    tensors[first + "o_proj.weight"][:, :head] = 0.3 * free @ numpy.eye(half, head)
    tensors[second + "o_proj.weight"][:, :head] = 1.2 * carried
    for name in ("q_norm.weight", "k_norm.weight"):
        tensors[first + name] *= 2.0
        tensors[second + name] *= 2.5


def make_base(texts: Iterable[str], preset: Preset, folder: Path, *, seed: int = 0) -> str:
    """Write a fresh checkpoint (tokenizer, template, configuration, weights) and return its digest.

    `texts` must come from the train split alone. Written beside and renamed, so that half a base is never seen.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))  # two presses at once: one each
    tokenizer = tokens.train(texts, preset.vocabulary)
    tokens.save(tokenizer, staging)
    size = tokenizer.get_vocab_size()
    (staging / "config.json").write_text(json.dumps(config(preset, size), indent=1), encoding="utf-8")
    (staging / "generation_config.json").write_text(
        json.dumps(
            {
                "eos_token_id": template.SPECIAL.index(template.END_OF_TURN),
                "pad_token_id": template.SPECIAL.index(template.PADDING),
                "do_sample": True,
            }
        ),
        encoding="utf-8",
    )
    save_file(weights(preset, size, seed), str(staging / WEIGHTS), metadata={"format": "pt"})
    digest = digest_of(staging)
    try:
        staging.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        if _same(staging, folder):
            shutil.rmtree(staging)  # another press was faster, with the same bytes
        else:
            shutil.rmtree(folder)  # what lay there was changed since, or came of other code
            staging.rename(folder)
    return digest


def _same(one: Path, other: Path) -> bool:
    names = {path.name for path in one.iterdir()}
    if names != {path.name for path in other.iterdir()}:
        return False
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def digest_of(folder: Path) -> str:
    """sha256 over the weights of a checkpoint, full or adapter."""
    digest = hashlib.sha256()
    for name in (WEIGHTS, ADAPTER):
        path = folder / name
        if path.is_file():
            with path.open("rb") as body:
                while block := body.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()


def size_of(folder: Path) -> int:
    """Bytes of a checkpoint's weights: what one more copy of the model takes on disk."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))
