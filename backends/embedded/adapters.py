"""Low-rank adapters on all six linear maps of each layer, and merging them into the base (Hu et al. 2022)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from emotui.backends.embedded.encoder import LAYERS, Encoder

RANK = 16
SCALE = 2.0
MAPS = ("query", "key", "value", "mix", "widen", "narrow")


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


@torch.no_grad()
def merged(base: Encoder, adapters: Mapping[str, Tensor]) -> Encoder:
    """The base with the adapters added into its weights: as fast as the base. Embeddings and norms stay shared."""
    with torch.device("meta"):
        encoder = Encoder()
    state = dict(base.state_dict())
    for layer, name in _maps():
        weight = f"layers.{layer}.{name}.weight"
        down, up = adapters[f"{layer}.{name}.down"].float(), adapters[f"{layer}.{name}.up"].float()
        state[weight] = state[weight] + SCALE * (up @ down)
    encoder.load_state_dict(state, assign=True)
    return encoder.requires_grad_(False).eval()


class Stack:
    """One task's encoder, adapters merged, and its linear head, calibration merged: slope logit + shift."""

    def __init__(
        self, base: Encoder, tensors: dict[str, Tensor], slope: float = 1.0, shifts: Sequence[float] = (0.0,)
    ) -> None:
        self.encoder = merged(base, tensors)
        self.weight = slope * tensors["head.weight"].float()
        self.bias = slope * tensors["head.bias"].float() + torch.tensor(shifts, dtype=torch.float32)

    def head(self, features: Tensor) -> Tensor:
        """Args: (..., features). Returns: (..., outputs)."""
        return torch.nn.functional.linear(features, self.weight, self.bias)
