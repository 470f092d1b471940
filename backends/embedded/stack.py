"""One task's encoder and head, ready to run."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from emotui.backends.embedded.adapters import merged
from emotui.backends.embedded.encoder import Encoder


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
