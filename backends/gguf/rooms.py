"""Which memory answers are written in: the one that scores are read in, or one with a room for each of them."""

from collections.abc import Callable, Sequence

from emotui.backends.gguf.context import BRANCHES, Context
from emotui.errors import ModelError

_SHARE = 0.25
"""Of the free memory, what the rooms may take."""
_WHOLE = 256
"""llama.cpp's rooms have a multiple of so many tokens."""


class Rooms:
    """A second memory of one model, made when answers are first asked for together, and larger when that is too small.

    Args:
        make: a context of so many sequences with room for so many tokens each. Raises ModelError: it does not fit.
        token_bytes: what keys and values of a token take.
        free: bytes that can be had now; None where that is not known.
    """

    def __init__(
        self,
        shared: Context,
        make: Callable[[int, int], Context],
        token_bytes: float,
        free: Callable[[], int | None],
    ) -> None:
        self._shared, self._make, self._token_bytes, self._free = shared, make, token_bytes, free
        self._own: Context | None = None

    def of(self, needs: Sequence[int]) -> Context:
        """Where so many answers are best written. Args: needs: tokens of prompt and answer of each."""
        count = min(len(needs), BRANCHES, self._shared.branches)
        if count < 2:
            return self._shared
        most = min(max(needs), self._shared.capacity)
        if self._own is not None and most <= self._own.capacity and count <= self._own.branches:
            return self._own
        self.close()
        tokens = -(-most // _WHOLE) * _WHOLE
        free = self._free()
        if free is not None:
            count = min(count, int(free * _SHARE / max(1.0, tokens * self._token_bytes)) - 1)
        if count < 2:
            return self._shared
        try:
            own = self._make(count, tokens)
        except ModelError:
            return self._shared
        own.capacity = min(own.capacity, self._shared.capacity)  # an answer is as long here as there
        self._own = own
        return own

    def close(self) -> None:
        """Free the rooms; the shared memory stays."""
        if self._own is not None:
            self._own.close()
            self._own = None
