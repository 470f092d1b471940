"""Ranking emotion words for a mask.

MiniLM has no language-model head any more. A trained linear map takes its state at the mask after the fourth of six
layers, and the word embeddings of the tokens on both sides, to the space of MiniLM's own sentence embeddings; there a
candidate scores by the dot product with its own embedding. So any word can be a candidate, also one of several word
pieces. The last layers of a sentence encoder turn to what the whole text says; the earlier ones, and the tokens beside
the mask, still tell which part of speech fits there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from emotui.backends.embedded.encoder import WIDTH, Floats
from emotui.backends.embedded.inference import sentence_embeddings
from emotui.backends.embedded.tokens import END, MASK, START, batches_by_length, padded
from emotui.backends.embedded.weights import Weights

MARK = "<mask>"
LONGEST = 256
DEPTH = 4
STATE = 3 * WIDTH
"""Numbers that are known of a mask."""


Window = tuple[list[int], list[int]]
"""Token ids with a start and an end, and the places of the masks that are filled from them."""


def mask_windows(weights: Weights, text: str) -> list[Window]:
    """A text of up to 256 tokens as one window; of a longer one a window a mask, with the mask in its middle, or at an
    end of the text as near to it as can be."""
    ids: list[int] = []
    places = []
    for number, part in enumerate(weights.pieces.encode(text.split(MARK))):
        if number:
            places.append(len(ids))
            ids.append(MASK)
        ids += part.ids
    room = LONGEST - 2
    if len(ids) <= room:
        return [([START, *ids, END], [place + 1 for place in places])]
    firsts = [min(max(0, place - room // 2), len(ids) - room) for place in places]
    return [
        ([START, *ids[first : first + room], END], [place - first + 1])
        for first, place in zip(firsts, places, strict=True)
    ]


def mask_states(weights: Weights, ids: Sequence[Sequence[int]], places: Sequence[Sequence[int]]) -> list[Floats]:
    """For each text (masks, 1152): at its masks the unmodified encoder's state after `DEPTH` layers, then the word
    embeddings of the token before and of the token after (at an end of the text the frame's own)."""
    states = [np.empty((0, STATE), np.float32)] * len(ids)
    embedding = weights.base.words
    for indices in batches_by_length([len(row) for row in ids]):
        tokens, lengths = padded([ids[index] for index in indices])
        hidden = weights.base(tokens, lengths, DEPTH)
        for row, index in enumerate(indices):
            at = np.array(places[index], np.int64)
            beside = [embedding[tokens[row, at + side]] for side in (-1, 1)]
            states[index] = np.concatenate([hidden[row, at], *beside], 1)
    return states


def word_vectors(weights: Weights, candidates: Sequence[str]) -> Floats:
    """Sentence embeddings of the candidates. Returns: (n, 384)."""
    return sentence_embeddings(weights.base, weights.pieces.ids(candidates, LONGEST))


def mask_scores(weights: Weights, states: Floats, vectors: Floats) -> Floats:
    """Log-probabilities of the candidates. Args: states: (masks, 1152). vectors: (n, 384). Returns: (masks, n)."""
    scores = (states @ weights.mask["weight"].T + weights.mask["bias"]) @ vectors.T
    scores -= scores.max(1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(1, keepdims=True)))
