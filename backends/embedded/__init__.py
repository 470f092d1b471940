"""The embedded model: all-MiniLM-L6-v2 with this project's small adapters. See MODEL_CARD.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from emotui.backends.base import Progress

if TYPE_CHECKING:
    from emotui.backends.embedded.backend import EmbeddedBackend


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> EmbeddedBackend:
    """Load the embedded model (SPEC `embedded`), with the options of `emotui.backends.embedded.settings`.

    Raises: ModelError in one line, when the base model is absent or is not the original.
    """
    from emotui.backends.embedded.backend import load as load_backend

    return load_backend(argument, options, progress)
