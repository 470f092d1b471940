"""The small network over frozen features that answers beside the adapters: how it is fitted."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

HIDDEN = 256
DROPOUT = 0.5
EPOCHS = 20
BATCH = 128
RATE = 1e-3


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
