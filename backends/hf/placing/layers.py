"""A cancel is seen between a model's layers, so that a long step costs the answer and not the loaded model."""

import threading
from typing import Any

from torch import nn

from emotui.backends import stopping


def stop_between_layers(model: nn.Module) -> None:
    """Look before each layer of a forward pass whether what is computed is still wanted (`stopping.check`)."""
    for part in model.modules():
        if isinstance(part, nn.ModuleList):
            for layer in part:
                layer.register_forward_pre_hook(_look)


def _look(*_: Any) -> None:
    # Continuous batching computes in a thread of transformers' own, which nothing may end.
    if threading.current_thread() is threading.main_thread():
        stopping.check()
