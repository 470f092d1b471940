"""Low-rank adapters on all six linear maps of each layer, while they are trained (Hu et al. 2022)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from emotui.backends.embedded.encoder import LAYERS, MAPS, SCALE
from tools.embedded.encoder import Encoder

RANK = 16


class AdaptedLinear(nn.Module):
    """A frozen linear map with a trained low-rank change beside it: W x + b + SCALE up (down x).

    `product` is the type that products are taken in while training; sums outside, the adapters themselves and all that
    is merged later stay float32. bfloat16 makes a training step three times as fast where the CPU has AMX.
    """

    def __init__(self, frozen: nn.Linear, product: torch.dtype) -> None:
        super().__init__()
        self.product = product
        self.frozen = copy.deepcopy(frozen).to(product)
        self.down = nn.Parameter(torch.empty(RANK, frozen.in_features))
        self.up = nn.Parameter(torch.zeros(frozen.out_features, RANK))
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    def forward(self, inputs: Tensor) -> Tensor:
        inputs = inputs.to(self.product)
        change = F.linear(F.linear(inputs, self.down.to(self.product)), self.up.to(self.product))
        return torch.add(F.linear(inputs, self.frozen.weight, self.frozen.bias), change, alpha=SCALE).float()


def _maps() -> Iterator[tuple[int, str]]:
    for layer in range(LAYERS):
        for name in MAPS:
            yield layer, name


def with_adapters(
    base: Encoder, start: Mapping[str, Tensor] | None = None, product: torch.dtype = torch.float32
) -> Encoder:
    """A copy of the base to train: its own weights are frozen, the adapters new or as in `start`."""
    encoder = copy.deepcopy(base).requires_grad_(False)
    for layer, name in _maps():
        adapted = AdaptedLinear(getattr(encoder.layers[layer], name), product)
        if start is not None:
            adapted.down.data.copy_(start[f"{layer}.{name}.down"])
            adapted.up.data.copy_(start[f"{layer}.{name}.up"])
        setattr(encoder.layers[layer], name, adapted)
    return encoder


def adapter_tensors(encoder: Encoder) -> dict[str, Tensor]:
    """The trained tensors of an encoder made by `with_adapters`, named `LAYER.MAP.down` and `LAYER.MAP.up`."""
    tensors = {}
    for layer, name in _maps():
        adapted = getattr(encoder.layers[layer], name)
        tensors[f"{layer}.{name}.down"] = adapted.down.detach().clone()
        tensors[f"{layer}.{name}.up"] = adapted.up.detach().clone()
    return tensors
