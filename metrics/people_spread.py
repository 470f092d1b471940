"""A source against the spread of people's labels, in place of one gold label: how far, and how well calibrated.

People who differ are not wrong: what is compared is a probability with the share of annotators who give the label
(soft evaluation: Uma et al. 2021, Learning from Disagreement, section 4; Baan et al. 2022, Stop Measuring Calibration
When Humans Disagree). Each label of a text is a question of its own, yes or no.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import jensenshannon
from scipy.special import xlogy

from emotui.metrics.probabilities import BINS
from emotui.metrics.states import Floats

FLOOR = 1e-3
"""No probability counts as less sure than this: a source that says yes or no alone would be infinitely far."""


class Bin(NamedTuple):
    """`probability`, `share`: means over the `n` questions of a bin."""

    probability: float
    share: float
    n: int


def cross_entropy(shares: ArrayLike, probabilities: ArrayLike, floor: float = FLOOR) -> Floats:
    """-q log p - (1 - q) log(1 - p) in nats for each question; where p is q it is the entropy of people.

    Args:
        shares, probabilities: (n, k) in [0, 1]; probabilities are moved to [floor, 1 - floor].

    Returns:
        (n, k), at least 0.

    Source: Peterson et al. 2019; Uma et al. 2021, section 4.2.
    """
    q, p = _same(shares, probabilities)
    p = np.clip(p, floor, 1 - floor)
    found: Floats = -xlogy(q, p) - xlogy(1 - q, 1 - p)
    return found


def jensen_shannon(shares: ArrayLike, probabilities: ArrayLike) -> Floats:
    """The Jensen-Shannon divergence, base 2, for each question: 0 where both are equal, 1 for yes against no.

    Args:
        shares, probabilities: (n, k) in [0, 1].

    Returns:
        (n, k) in [0, 1].

    Source: Lin 1991; Uma et al. 2021, section 4.2.
    """
    # A number below the smallest normal one has a half that is 0, and what is over 0 there would be infinitely far.
    q, p = (np.where(part < np.finfo(np.float64).tiny, 0.0, part) for part in _same(shares, probabilities))
    distance = jensenshannon(np.stack([q, 1 - q]), np.stack([p, 1 - p]), base=2, axis=0)
    found: Floats = np.nan_to_num(np.asarray(distance, dtype=np.float64)) ** 2  # rounding below 0 under the root
    return found


def squared_distance(shares: ArrayLike, probabilities: ArrayLike) -> Floats:
    """(p - q)^2 for each question: the Brier score against people's shares; of one gold label it is Brier's own.

    Args:
        shares, probabilities: (n, k) in [0, 1].

    Source: Brier 1950, in the form that is halved.
    """
    q, p = _same(shares, probabilities)
    found: Floats = (p - q) ** 2
    return found


def reliability(shares: ArrayLike, probabilities: ArrayLike, bins: int = BINS) -> list[Bin]:
    """Probability against the share of people who say so, over bins of equal width that hold a question.

    Args:
        shares, probabilities: of one shape, in [0, 1].
        bins: half open at the top, the last one closed.

    Source: Guo et al. 2017, Figure 1, with shares in place of right and wrong (Baan et al. 2022).
    """
    q, p = (one.ravel() for one in _same(shares, probabilities))
    places = np.minimum((p * bins).astype(np.int64), bins - 1)
    sizes = np.bincount(places, minlength=bins)
    sums = [np.bincount(places, weights=one, minlength=bins) for one in (p, q)]
    return [Bin(float(sums[0][at] / n), float(sums[1][at] / n), int(n)) for at, n in enumerate(sizes) if n]


def calibration_error(shares: ArrayLike, probabilities: ArrayLike, bins: int = BINS) -> float | None:
    """Mean distance of probability and share over the bins of `reliability`, weighted by their sizes; None of nothing.

    Source: Guo et al. 2017, equation 3, with shares in place of right and wrong.
    """
    found = reliability(shares, probabilities, bins)
    n = sum(one.n for one in found)
    return sum(one.n * abs(one.probability - one.share) for one in found) / n if n else None


def majority(shares: ArrayLike) -> Floats:
    """1 where more than half of the people say so, else 0: also where just half do."""
    found: Floats = (np.asarray(shares, dtype=np.float64) > 0.5).astype(np.float64)
    return found


def _same(shares: ArrayLike, probabilities: ArrayLike) -> tuple[Floats, Floats]:
    q, p = np.asarray(shares, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    if q.shape != p.shape:
        raise ValueError(f"shares {q.shape} and probabilities {p.shape} must have one shape")
    return q, p
