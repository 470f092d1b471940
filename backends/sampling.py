"""Sampling that depends on a request and its seed alone: not on its batch, its place there, or the library.

Each request owns a generator (PCG64 by its seed) that draws one number in [0, 1) a token. The token is where that
number falls in the cumulated probabilities, in the vocabulary's order. Two libraries whose logits agree to rounding
therefore write the same text, but for numbers that fall on a border.
"""

import numpy as np
from numpy.typing import NDArray


class Draws:
    """The numbers of one request."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def next(self) -> float:
        """A number in [0, 1)."""
        return float(self._generator.random())


def pick(logits: NDArray[np.floating], temperature: float, top_p: float, draw: float) -> int:
    """The next token: the likeliest at temperature 0, else the one that `draw` falls on.

    Args:
        logits: (vocabulary,).
        top_p: only the fewest likeliest tokens that together have this probability count (nucleus sampling).
        draw: in [0, 1); unused at temperature 0.
    """
    if temperature <= 0:
        return int(np.argmax(logits))
    # The greatest is taken off first: divided by a tiny temperature it would be infinite.
    exact = logits.astype(np.float64)
    with np.errstate(over="ignore"):
        probabilities = np.exp((exact - exact.max()) / temperature)
    probabilities /= probabilities.sum()
    if top_p < 1:
        order = np.argsort(-probabilities, kind="stable")
        before = np.cumsum(probabilities[order]) - probabilities[order]
        probabilities[order[before >= top_p]] = 0.0
    cumulated = np.cumsum(probabilities)
    place = int(np.searchsorted(cumulated, draw * cumulated[-1], side="right"))
    return min(place, int(np.flatnonzero(probabilities)[-1]))
