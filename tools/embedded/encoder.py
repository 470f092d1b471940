"""all-MiniLM-L6-v2 as a plain torch module, to be trained: six BERT layers, without importing transformers.

The same arithmetic as `transformers.BertModel` in evaluation mode (a test compares the two).
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from emotui.backends.embedded.encoder import EPSILON, HEADS, INNER, LAYERS, MAX_TOKENS, VOCABULARY, WIDTH


class Layer(nn.Module):
    """One BERT layer, its norms after the residual sums (Devlin et al. 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.query: nn.Module = nn.Linear(WIDTH, WIDTH)
        self.key: nn.Module = nn.Linear(WIDTH, WIDTH)
        self.value: nn.Module = nn.Linear(WIDTH, WIDTH)
        self.mix: nn.Module = nn.Linear(WIDTH, WIDTH)
        self.mix_norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.widen: nn.Module = nn.Linear(WIDTH, INNER)
        self.narrow: nn.Module = nn.Linear(INNER, WIDTH)
        self.narrow_norm = nn.LayerNorm(WIDTH, eps=EPSILON)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Args: hidden: (n, t, 384). mask: (n, 1, 1, t), True where a token stands, or None where all do."""
        n, t, _ = hidden.shape

        def heads(projected: Tensor) -> Tensor:
            return projected.view(n, t, HEADS, WIDTH // HEADS).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(
            heads(self.query(hidden)), heads(self.key(hidden)), heads(self.value(hidden)), attn_mask=mask
        )
        hidden = self.mix_norm(hidden + self.mix(mixed.transpose(1, 2).reshape(n, t, WIDTH)))
        return self.narrow_norm(hidden + self.narrow(F.gelu(self.widen(hidden))))


class Encoder(nn.Module):
    """Token ids to one vector a token."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(MAX_TOKENS, WIDTH)
        self.segments = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids: Tensor, present: Tensor | None = None, depth: int = LAYERS) -> Tensor:
        """Args: ids: (n, t), t at most 512. present: (n, t), True where a token stands; None where all do. depth: how
        many of the layers are gone through.

        Returns: (n, t, 384); what stands at an absent token has no meaning.
        """
        hidden = self.words(ids) + self.positions.weight[: ids.shape[1]] + self.segments.weight[0]
        hidden = self.norm(hidden)
        mask = None if present is None else present[:, None, None, :]
        for layer in self.layers[:depth]:
            hidden = layer(hidden, mask)
        return hidden


_NAMES = {
    "embeddings.word_embeddings": "words",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "segments",
    "embeddings.LayerNorm": "norm",
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "mix",
    "attention.output.LayerNorm": "mix_norm",
    "intermediate.dense": "widen",
    "output.dense": "narrow",
    "output.LayerNorm": "narrow_norm",
}


def _renamed(name: str) -> str | None:
    """Our name of a tensor of the original file, or None for one that has no part in a forward pass."""
    stem, _, leaf = name.rpartition(".")
    if stem in _NAMES:
        return f"{_NAMES[stem]}.{leaf}"
    if stem.startswith("encoder.layer."):
        number, _, part = stem.removeprefix("encoder.layer.").partition(".")
        return f"layers.{number}.{_NAMES[part]}.{leaf}"
    return None


def load_encoder(path: Path) -> Encoder:
    """The unmodified MiniLM from its safetensors file, in evaluation mode and with no gradients."""
    with torch.device("meta"):
        encoder = Encoder()
    tensors = {_renamed(name): tensor for name, tensor in load_file(path).items()}
    encoder.load_state_dict({name: tensor for name, tensor in tensors.items() if name}, assign=True)
    return encoder.requires_grad_(False).eval()


def pooled(hidden: Tensor, present: Tensor | None) -> Tensor:
    """Mean and maximum over the tokens that are there. Args: (n, t, 384), (n, t). Returns: (n, 768)."""
    if present is None:
        return torch.cat([hidden.mean(1), hidden.amax(1)], 1)
    there = present[:, :, None]
    mean = (hidden * there).sum(1) / there.sum(1)
    return torch.cat([mean, hidden.masked_fill(~there, -torch.inf).amax(1)], 1)
