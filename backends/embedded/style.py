"""Which texts are like REMAN's fiction: those are marked by cue words, the others by clauses."""

from __future__ import annotations

from collections.abc import Sequence

from emotui.backends.embedded.inference import sentence_embeddings
from emotui.backends.embedded.weights import Weights


def like_fiction(weights: Weights, ids: Sequence[Sequence[int]]) -> list[bool]:
    """By a linear head on the sentence embedding. Args: ids: token ids of n texts."""
    odds = sentence_embeddings(weights.base, ids) @ weights.clauses["style.weight"] + weights.clauses["style.bias"]
    return [value > 0 for value in odds.tolist()]
