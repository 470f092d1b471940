"""One task's encoder and head: MiniLM with the task's adapters merged in, and a linear map on its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emotui.backends.embedded.encoder import Encoder, Floats


class Stack:
    """An encoder and its linear head, calibration merged: slope logit + shift.

    Args:
        tensors: `head.weight` (outputs, features) and `head.bias`.
    """

    def __init__(
        self,
        encoder: Encoder,
        tensors: Mapping[str, NDArray[Any]],
        slope: float = 1.0,
        shifts: Sequence[float] = (0.0,),
    ) -> None:
        self.encoder = encoder
        self.weight = np.float32(slope) * tensors["head.weight"].astype(np.float32)
        self.bias = np.float32(slope) * tensors["head.bias"].astype(np.float32) + np.array(shifts, np.float32)

    def head(self, features: Floats) -> Floats:
        """Args: (..., features). Returns: (..., outputs)."""
        return np.asarray(features @ self.weight.T + self.bias)
