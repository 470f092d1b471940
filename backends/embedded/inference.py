"""Forward passes over many texts: each text once, sorted by length, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from emotui.backends.embedded.adapters import Stack
from emotui.backends.embedded.encoder import WIDTH, Encoder, Floats
from emotui.backends.embedded.tokens import batches_by_length, padded

F = TypeVar("F", bound=NDArray[Any])


def hidden_states(encoder: Encoder, ids: Sequence[Sequence[int]]) -> Iterator[tuple[int, Floats]]:
    """Yields (number of a text, (t, 384) its states), each once, in no set order.

    A text that stands there twice, or that this encoder has read lately, is not read again.
    """
    places: dict[tuple[int, ...], list[int]] = {}
    for number, row in enumerate(ids):
        places.setdefault(tuple(row), []).append(number)
    fresh = []
    for row, numbers in places.items():
        known = encoder.lately.get(row)
        if known is None:
            fresh.append(row)
        else:
            yield from ((number, known) for number in numbers)
    for indices in batches_by_length([len(row) for row in fresh]):
        hidden = encoder(*padded([fresh[index] for index in indices]))
        for index, padded_states in zip(indices, hidden, strict=True):
            row = fresh[index]
            states = padded_states[: len(row)].copy()
            encoder.lately.keep(row, states)
            yield from ((number, states) for number in places[row])


def pooled(states: Floats) -> Floats:
    """Mean and maximum over the tokens. Args: (t, 384). Returns: (768,)."""
    return np.concatenate([states.mean(0), states.max(0)])


def label_logits(stack: Stack, ids: Sequence[Sequence[int]]) -> Floats:
    """One row of logits a text. Args: ids: token ids of n texts. Returns: (n, labels)."""
    features = np.empty((len(ids), 2 * WIDTH), np.float32)
    for number, states in hidden_states(stack.encoder, ids):
        features[number] = pooled(states)
    return stack.head(features)


def sentence_embeddings(encoder: Encoder, ids: Sequence[Sequence[int]]) -> Floats:
    """What sentence-transformers computes with MiniLM: the mean over tokens, of length 1. Returns: (n, 384)."""
    means = np.empty((len(ids), WIDTH), np.float32)
    for number, states in hidden_states(encoder, ids):
        means[number] = states.mean(0)
    return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12))


def sigmoid(logits: F) -> F:
    """1 / (1 + exp(-x)), in the type of its argument and without overflow; importing scipy for it takes a while."""
    return cast(F, np.exp(-np.logaddexp(0, -logits)))
