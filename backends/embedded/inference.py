"""Forward passes over many texts: sorted by length, in batches, without gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from emotui.backends.embedded.adapters import Stack
from emotui.backends.embedded.encoder import WIDTH, Encoder, pooled
from emotui.backends.embedded.tokens import batches_by_length, padded

BATCH = 32


def hidden_states(
    encoder: Encoder, ids: Sequence[Sequence[int]], batch: int = BATCH
) -> Iterator[tuple[list[int], Tensor, Tensor | None]]:
    """Yields (indices of the texts, (b, t, 384), (b, t) presence or None where nothing is padded), longest first."""
    for indices in batches_by_length([len(row) for row in ids], batch):
        tokens, present = padded([ids[index] for index in indices])
        yield indices, encoder(tokens, present), present


@torch.inference_mode()
def label_logits(stack: Stack, ids: Sequence[Sequence[int]]) -> Tensor:
    """One row of logits a text. Args: ids: token ids of n texts. Returns: (n, labels)."""
    logits = torch.empty(len(ids), len(stack.bias))
    for indices, hidden, present in hidden_states(stack.encoder, ids):
        logits[indices] = stack.head(pooled(hidden, present))
    return logits


@torch.inference_mode()
def sentence_embeddings(encoder: Encoder, ids: Sequence[Sequence[int]]) -> Tensor:
    """What sentence-transformers computes with MiniLM: the mean over tokens, of length 1. Returns: (n, 384)."""
    embeddings = torch.empty(len(ids), WIDTH)
    for indices, hidden, present in hidden_states(encoder, ids):
        if present is None:
            mean = hidden.mean(1)
        else:
            there = present[:, :, None]
            mean = (hidden * there).sum(1) / there.sum(1)
        embeddings[indices] = F.normalize(mean, dim=1)
    return embeddings
