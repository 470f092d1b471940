"""Plutchik's eight by two models at once: adapters of their own, and a small network over the other encoders.

The adapters alone overfit XED's short lines; a network over frozen features errs elsewhere, and the sum of the two sets
of logits is better than either.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from emotui.backends.embedded.encoder import WIDTH, Encoder, pooled
from emotui.backends.embedded.inference import hidden_states


@torch.inference_mode()
def frozen_features(base: Encoder, goemotions: Encoder, ids: Sequence[Sequence[int]]) -> Tensor:
    """The base's mean state, and mean and maximum of the GoEmotions encoder's. Returns: (n, 1152)."""
    features = torch.empty(len(ids), 3 * WIDTH)
    for indices, hidden, present in hidden_states(base, ids):
        features[indices, :WIDTH] = pooled(hidden, present)[:, :WIDTH]
    for indices, hidden, present in hidden_states(goemotions, ids):
        features[indices, WIDTH:] = pooled(hidden, present)
    return features


def second_logits(tensors: dict[str, Tensor], features: Tensor) -> Tensor:
    """Args: tensors: as `fit_second` gives them. features: (n, 1152). Returns: (n, labels)."""
    inputs = (features - tensors["second.centre"]) / tensors["second.scale"]
    inner = F.gelu(F.linear(inputs, tensors["second.in.weight"].float(), tensors["second.in.bias"].float()))
    return F.linear(inner, tensors["second.out.weight"].float(), tensors["second.out.bias"].float())
