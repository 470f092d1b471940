"""Sampling that depends on a request and its seed alone: not on its batch, its place there, or the library.

Each request owns a generator (PCG64 by its seed) that draws one number in [0, 1) a token. The token is where that
number falls in the cumulated probabilities, in the vocabulary's order. Two libraries whose logits agree to rounding
therefore write the same text, but for numbers that fall on a border.
"""

import numpy as np
from numpy.typing import NDArray

LIKELIEST = 2048
"""Tokens among which a nucleus is looked for before the whole vocabulary is sorted."""


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
        tokens = _nucleus(probabilities, top_p)
        return int(tokens[_fall(probabilities[tokens], draw)])
    return _fall(probabilities, draw)


def _nucleus(probabilities: NDArray[np.float64], top_p: float) -> NDArray[np.intp]:
    """The fewest likeliest tokens that together have that probability, in the vocabulary's order; of equals the first.

    Among few likeliest tokens nearly always, so that the others need not be sorted.
    """
    if len(probabilities) > LIKELIEST:
        least = np.partition(probabilities, -LIKELIEST)[-LIKELIEST]
        above = np.flatnonzero(probabilities > least)
        found, enough = _fewest(probabilities, above, top_p)
        if enough:
            return found
    return _fewest(probabilities, np.arange(len(probabilities)), top_p)[0]


def _fewest(
    probabilities: NDArray[np.float64], tokens: NDArray[np.intp], top_p: float
) -> tuple[NDArray[np.intp], bool]:
    """The nucleus among some tokens, all likelier than the others, and whether it ends among them."""
    order = tokens[np.argsort(-probabilities[tokens], kind="stable")]
    cumulated = np.cumsum(probabilities[order])
    before = cumulated - probabilities[order]
    return np.sort(order[before < top_p]), bool(len(order) and cumulated[-1] >= top_p)


def _fall(probabilities: NDArray[np.float64], draw: float) -> int:
    """Where a draw falls in the cumulated probabilities; never on one of 0."""
    cumulated = np.cumsum(probabilities)
    place = int(np.searchsorted(cumulated, draw * cumulated[-1], side="right"))
    return min(place, int(np.flatnonzero(probabilities)[-1]))
