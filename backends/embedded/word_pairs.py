"""Plutchik's eight from words and pairs of neighbouring words alone: one weight a label for each.

It knows set phrases of film dialogue word for word, which both encoders blur; with its logits added, those of the
adapters and of `second_opinion` rank better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emotui.backends.embedded.encoder import VOCABULARY
from emotui.backends.embedded.encoder import Floats as Floats32

Floats = NDArray[np.float64]
Keys = NDArray[np.int64]

SHARE = 0.6
"""What these logits count for beside those of the two networks."""


def keys_and_counts(ids: Sequence[int]) -> tuple[Keys, Floats]:
    """The distinct keys of a text, in order, and how often each is there.

    The key of a word piece is its id, that of a pair left * 30522 + right; a text's start and end make pairs too.

    Args: ids: token ids of one text, with start and end.
    """
    row = np.asarray(ids, dtype=np.int64)
    keys, counts = np.unique(np.concatenate([row[1:-1], row[:-1] * VOCABULARY + row[1:]]), return_counts=True)
    return keys, counts.astype(np.float64)


def weighted(texts: Sequence[tuple[Keys, Floats]], known: Keys, rarity: Floats) -> Iterator[tuple[Keys, Floats]]:
    """For each text the places in `known` of the keys that it has, and (1 + ln count) rarity, scaled to length 1.

    Args: texts: as `keys_and_counts` gives them. known: (k,), in order. rarity: (k,).
    """
    for keys, counts in texts:
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        there = known[places] == keys
        values = (1 + np.log(counts[there])) * rarity[places[there]]
        yield places[there], values / max(float(np.linalg.norm(values)), 1e-12)


def pair_logits(tensors: Mapping[str, NDArray[Any]], ids: Sequence[Sequence[int]]) -> Floats32:
    """Args: tensors: as `fit_pairs` gives them. ids: token ids of n texts, with start and end. Returns: (n, labels)."""
    known, rarity = tensors["pairs.keys"].astype(np.int64), tensors["pairs.rarity"].astype(np.float64)
    weight, bias = tensors["pairs.weight"], tensors["pairs.bias"].astype(np.float64)
    logits = np.empty((len(ids), len(bias)))
    for row, (places, values) in enumerate(weighted([keys_and_counts(text) for text in ids], known, rarity)):
        logits[row] = values @ weight[places].astype(np.float64) + bias
    return (SHARE * logits).astype(np.float32)
