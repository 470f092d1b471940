"""An encoder with its head, and forward passes over many texts: each text once, sorted by length, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from emotui.backends.base import HiddenStates, Refused, States, chosen_layers, hidden_states_of
from emotui.backends.embedded.encoder import LAYERS, WIDTH, Encoder, Floats
from emotui.backends.embedded.tokens import END, START, WordPieces, batches_by_length, padded
from emotui.backends.words import word_places


class Stack:
    """An encoder and its linear head, calibration merged: slope logit + shift.

    Args:
        tensors: `head.weight` (outputs, features) and `head.bias`.
    """

    def __init__(
        self,
        encoder: Encoder,
        tensors: Mapping[str, NDArray[Any]],
        slope: float = 1.0,
        shifts: Sequence[float] = (0.0,),
    ) -> None:
        self.encoder = encoder
        self.weight = np.float32(slope) * tensors["head.weight"].astype(np.float32)
        self.bias = np.float32(slope) * tensors["head.bias"].astype(np.float32) + np.array(shifts, np.float32)

    def head(self, features: Floats) -> Floats:
        """Args: (..., features). Returns: (..., outputs)."""
        return np.asarray(features @ self.weight.T + self.bias)


F = TypeVar("F", bound=NDArray[Any])


def hidden_states(encoder: Encoder, ids: Sequence[Sequence[int]], *, keep: bool = True) -> Iterator[tuple[int, Floats]]:
    """Yields (number of a text, (t, 384) its states), each once, in no set order.

    A text that stands there twice, or that this encoder has read lately, is not read again.

    Args:
        keep: whether any of these may be asked about again.
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
    for indices in batches_by_length([len(row) for row in fresh], encoder.together):
        hidden = encoder(*padded([fresh[index] for index in indices]))
        for index, padded_states in zip(indices, hidden, strict=True):
            row = fresh[index]
            states = padded_states[: len(row)].copy()
            if keep:
                encoder.lately.keep(row, states)
            yield from ((number, states) for number in places[row])


def pooled(states: Floats) -> Floats:
    """Mean and maximum over the tokens. Args: (t, 384). Returns: (768,)."""
    return np.concatenate([states.mean(0), states.max(0)])


def label_logits(stack: Stack, ids: Sequence[Sequence[int]], *, keep: bool = True) -> Floats:
    """One row of logits a text. Args: ids: token ids of n texts; keep: as of `hidden_states`. Returns: (n, labels)."""
    features = np.empty((len(ids), 2 * WIDTH), np.float32)
    for number, states in hidden_states(stack.encoder, ids, keep=keep):
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


# What a text becomes from layer to layer; of each layer no more is kept than was asked for.

NO_CHAT = "the embedded model reads no chat and ranks no continuations"


class _Input:
    """The ids of a text, and which of them each row is the mean of."""

    def __init__(self, pieces: WordPieces, request: States, longest: int) -> None:
        (encoding,) = pieces.encode([request.text])
        room = longest - 2
        self.ids = [START, *encoding.ids[:room], END]
        self.cut = len(encoding.ids) > room
        n = len(self.ids) - 2
        self.words: list[tuple[int, int]] = []
        if request.over == "words":
            self.rows = []
            for start, end in word_places(request.text):
                own = [1 + at for at, (a, b) in enumerate(encoding.offsets[:room]) if a < end and start < b]
                if own:
                    self.words.append((start, end))
                    self.rows.append(own)
        else:
            # Of a text without a token the two that stand around it are all that there is.
            self.rows = [[n] if request.over == "last" and n else list(range(1, n + 1)) or [0, 1]]


def text_states(
    encoder: Encoder, pieces: WordPieces, requests: Sequence[States], longest: int
) -> list[HiddenStates | Refused]:
    """The states of each text. Args: longest: tokens that are read, with those for beginning and end."""
    results: list[HiddenStates | Refused | None] = [None] * len(requests)
    inputs: dict[int, _Input] = {}
    layers: dict[int, tuple[int, ...]] = {}
    for number, request in enumerate(requests):
        chosen = chosen_layers(request.layers, LAYERS)
        if isinstance(chosen, Refused):
            results[number] = chosen
        elif request.messages or request.continuations:
            results[number] = Refused(NO_CHAT)
        else:
            inputs[number], layers[number] = _Input(pieces, request, longest), chosen
    numbers = list(inputs)
    for batch in batches_by_length([len(inputs[number].ids) for number in numbers], encoder.together):
        own = [numbers[at] for at in batch]
        held: dict[int, dict[int, Floats]] = {number: {} for number in own}
        deepest = max((layer for number in own for layer in layers[number]), default=0)
        every = encoder.by_layer(*padded([inputs[number].ids for number in own]), depth=deepest)
        for layer, hidden in enumerate(every):
            for row, number in enumerate(own):
                if layer in layers[number]:
                    means = [hidden[row, places].mean(0) for places in inputs[number].rows]
                    held[number][layer] = np.array(means, np.float32).reshape(-1, WIDTH)
        for number in own:
            one, wanted = inputs[number], layers[number]
            empty = np.zeros((0, len(one.rows), WIDTH), np.float32)
            states = np.stack([held[number][layer] for layer in wanted]) if wanted else empty
            results[number] = hidden_states_of(states, wanted, LAYERS, one.words, truncated=one.cut)
    return [result for result in results if result is not None]
