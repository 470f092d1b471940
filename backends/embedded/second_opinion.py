"""Plutchik's eight by two models at once: adapters of their own, and a small network over the other encoders.

The adapters alone overfit XED's short lines; a network over frozen features errs elsewhere, and the sum of the two sets
of logits is better than either.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from emotui.backends.embedded.encoder import WIDTH, Encoder
from emotui.backends.embedded.fitting import pooled
from emotui.backends.embedded.inference import hidden_states

HIDDEN = 256
DROPOUT = 0.5
EPOCHS = 20
BATCH = 128
RATE = 1e-3


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


def fit_second(features: Tensor, gold: Tensor, seed: int) -> dict[str, Tensor]:
    """The network's tensors, fp16, and the features' means and scales, float32.

    Args: features: (n, 1152). gold: (n, labels).
    """
    torch.manual_seed(seed)
    centre, spread = features.mean(0), features.std(0)
    scale = torch.where(spread > 1e-4, spread, torch.ones_like(spread))
    inputs = (features - centre) / scale
    into, out = nn.Linear(features.shape[1], HIDDEN), nn.Linear(HIDDEN, gold.shape[1])
    optimizer = torch.optim.AdamW([*into.parameters(), *out.parameters()], lr=RATE, weight_decay=0.05)
    steps, step = EPOCHS * -(-len(inputs) // BATCH), 0
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(inputs)).split(BATCH):
            logits = out(F.dropout(F.gelu(into(F.dropout(inputs[batch], DROPOUT))), DROPOUT))
            loss = F.binary_cross_entropy_with_logits(logits, gold[batch], reduction="sum") / len(batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = RATE * (1 - step / steps)
    return {
        "second.centre": centre,
        "second.scale": scale,
        "second.in.weight": into.weight.detach().half(),
        "second.in.bias": into.bias.detach().half(),
        "second.out.weight": out.weight.detach().half(),
        "second.out.bias": out.bias.detach().half(),
    }
