"""Plutchik's eight by two models at once: adapters of their own, and a small network over the other encoders.

The adapters alone overfit XED's short lines; a network over frozen features errs elsewhere, and the sum of the two sets
of logits is better than either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emotui.backends.embedded.encoder import WIDTH, Encoder, Floats
from emotui.backends.embedded.inference import hidden_states, pooled

_ERF = np.frompyfunc(math.erf, 1, 1)


def frozen_features(base: Encoder, goemotions: Encoder, ids: Sequence[Sequence[int]]) -> Floats:
    """The base's mean state, and mean and maximum of the GoEmotions encoder's. Returns: (n, 1152)."""
    features = np.empty((len(ids), 3 * WIDTH), np.float32)
    for number, states in hidden_states(base, ids):
        features[number, :WIDTH] = states.mean(0)
    for number, states in hidden_states(goemotions, ids):
        features[number, WIDTH:] = pooled(states)
    return features


def second_logits(tensors: Mapping[str, NDArray[Any]], features: Floats) -> Floats:
    """Args: tensors: as `fit_second` gives them. features: (n, 1152). Returns: (n, labels)."""
    weights = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    inputs = (features - weights["second.centre"]) / weights["second.scale"]
    inner = inputs @ weights["second.in.weight"].T + weights["second.in.bias"]
    inner *= (1 + np.asarray(_ERF(inner / math.sqrt(2)), np.float32)) / 2  # GELU; 256 numbers a text need no scipy
    return np.asarray(inner @ weights["second.out.weight"].T + weights["second.out.bias"])
