"""Which memory answers are written in: the one that scores are read in, or one with a room for each of them."""

from collections.abc import Callable, Sequence

from emotui.backends.gguf.context import Context
from emotui.errors import ModelError

_SHARE = 0.25
"""Of the free memory, what the rooms may take."""
MOST_ON_A_CPU = 32
"""Answers written together at most: a tenth more tokens a second than 16 (benchmarks/models/side_by_side.py)."""
ON_A_GPU, MOST_ON_A_GPU = 32, 255
"""Answers written together on a GPU, at first and at most: whoever asks takes twice as many again and again while that
makes more texts a second. llama.cpp has 256 sequences (LLAMA_MAX_SEQ), one of which reads the prompts."""
_WHOLE = 256
"""llama.cpp's rooms have a multiple of so many tokens."""


class Rooms:
    """A second memory of one model, made when answers are first asked for together, and larger when that is too small.

    Args:
        make: a context of so many sequences with room for so many tokens each. Raises ModelError: it does not fit.
        token_bytes: what keys and values of a token take.
        free: bytes that can be had now; None where that is not known.
        most: answers at a time.
    """

    def __init__(
        self,
        shared: Context,
        make: Callable[[int, int], Context],
        token_bytes: float,
        free: Callable[[], int | None],
        most: int = MOST_ON_A_CPU,
    ) -> None:
        self._shared, self._make, self._token_bytes, self._free = shared, make, token_bytes, free
        self._most = most if shared.branches else 0
        self._own: Context | None = None
        self._wanted = 0
        """How many rooms it was to have."""

    def of(self, needs: Sequence[int]) -> Context:
        """Where so many answers are best written. Args: needs: tokens of prompt and answer of each."""
        count = min(len(needs), self._most)
        if count < 2:
            return self._shared
        longest = min(max(needs), self._shared.capacity)
        if self._own is not None and longest <= self._own.capacity and count <= self._wanted:
            return self._own
        self.close()
        self._wanted = count
        tokens = -(-longest // _WHOLE) * _WHOLE
        free = self._free()
        if free is not None:
            count = min(count, int(free * _SHARE / max(1.0, tokens * self._token_bytes)) - 1)
        self._own = self._made(count, tokens)
        return self._own or self._shared

    def _made(self, count: int, tokens: int) -> Context | None:
        """Rooms for so many, or for half as many as often as there is no memory for them; None for fewer than two."""
        while count > 1:
            try:
                own = self._make(count, tokens)
            except ModelError:
                count //= 2
                continue
            own.capacity = min(own.capacity, self._shared.capacity)  # an answer is as long here as there
            return own
        return None

    def close(self) -> None:
        """Free the rooms; the shared memory stays."""
        if self._own is not None:
            self._own.close()
            self._own = None
