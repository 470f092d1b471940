"""Ranking emotion words for a mask.

MiniLM has no language-model head any more. A trained linear map takes the states at the mask to the space of MiniLM's
own sentence embeddings; a candidate scores by the dot product with its own embedding there. So any word can be a
candidate, also one of several word pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from emotui.backends.embedded.inference import hidden_states, sentence_embeddings
from emotui.backends.embedded.tokens import END, MASK, START
from emotui.backends.embedded.weights import Weights

MARK = "<mask>"
LONGEST = 256


def masked_ids(weights: Weights, text: str) -> tuple[list[int], list[int]]:
    """Token ids with a mask token for each `<mask>`, and the masks' places; the first tokens of a long text.

    A mask behind those has a place past the end of the ids.
    """
    ids, places = [START], []
    for number, part in enumerate(weights.pieces.encode(text.split(MARK))):
        if number:
            places.append(len(ids))
            ids.append(MASK)
        ids += part.ids
    return [*ids[: LONGEST - 1], END], places


@torch.inference_mode()
def mask_states(weights: Weights, ids: Sequence[Sequence[int]], places: Sequence[Sequence[int]]) -> list[Tensor]:
    """For each text (masks, 768): the states at its masks in the unmodified encoder and in the GoEmotions one."""
    states = [torch.empty(len(masks), 0) for masks in places]
    for encoder in (weights.base, weights.goemotions.encoder):
        for indices, hidden, _ in hidden_states(encoder, ids):
            for row, index in enumerate(indices):
                states[index] = torch.cat([states[index], hidden[row, list(places[index])]], 1)
    return states


@torch.inference_mode()
def word_vectors(weights: Weights, candidates: Sequence[str]) -> Tensor:
    """Sentence embeddings of the candidates. Returns: (n, 384)."""
    return sentence_embeddings(weights.base, weights.pieces.ids(candidates, LONGEST))


@torch.inference_mode()
def mask_scores(weights: Weights, states: Tensor, vectors: Tensor) -> Tensor:
    """Log-probabilities of the candidates. Args: states: (masks, 768). vectors: (n, 384). Returns: (masks, n)."""
    wanted = torch.nn.functional.linear(states, weights.mask["weight"], weights.mask["bias"])
    return (wanted @ vectors.T).log_softmax(1)
