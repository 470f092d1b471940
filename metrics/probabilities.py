"""How good the probabilities of one label are: Brier score, calibration error, average precision."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.states import Floats

BINS = 15


def brier_score(gold: ArrayLike, probabilities: ArrayLike) -> float | None:
    """Mean squared distance of probability and truth, in [0, 1]; None over no record.

    Args:
        gold: (n,) of 0 or 1.
        probabilities: (n,) in [0, 1].

    Source: Brier 1950, for two classes in the form that is halved (as scikit-learn's `brier_score_loss`).
    """
    g, p = _columns(gold, probabilities)
    return float(((p - g) ** 2).mean()) if len(g) else None


def bin_sizes(probabilities: ArrayLike, bins: int = BINS) -> list[int]:
    """How many probabilities lie in each bin of `expected_calibration_error`."""
    p = np.asarray(probabilities, dtype=np.float64)
    sizes: list[int] = np.bincount(_bin_of(p, bins), minlength=bins).tolist()
    return sizes


def expected_calibration_error(confidences: ArrayLike, right: ArrayLike, bins: int = BINS) -> float | None:
    """Mean distance of confidence and accuracy over bins of equal width, weighted by their sizes; None over no record.

    Args:
        confidences: (n,) in [0, 1]. For one label of several, its probability, low ones too.
        right: (n,) of 0 or 1: whether the label is there.
        bins: half open at the top, the last one closed.

    Source: Guo et al. 2017, equation 3, with their 15 bins.
    """
    r, c = _columns(right, confidences)
    if not len(c):
        return None
    sums = np.bincount(_bin_of(c, bins), weights=c - r, minlength=bins)
    return float(np.abs(sums).sum() / len(c))


def _bin_of(probabilities: Floats, bins: int) -> NDArray[np.int64]:
    return np.minimum((probabilities * bins).astype(np.int64), bins - 1)


def average_precision(gold: ArrayLike, probabilities: ArrayLike) -> float | None:
    """The area under the precision-recall steps: the sum over cuts of precision times the recall gained there.

    Equal probabilities are one cut. None without a positive: there is no recall to gain.

    Args:
        gold: (n,) of 0 or 1.
        probabilities: (n,), of which only the order counts.

    Source: scikit-learn's `average_precision_score` (no interpolation).
    """
    g, p = _columns(gold, probabilities)
    positives = g.sum()
    if not positives:
        return None
    order = np.argsort(-p, kind="stable")
    hits = np.cumsum(g[order])
    ends = np.flatnonzero(np.append(np.diff(p[order]) != 0, True))
    precision = hits[ends] / (ends + 1)
    gained = np.diff(hits[ends], prepend=0.0) / positives
    return float((precision * gained).sum())


def _columns(gold: ArrayLike, probabilities: ArrayLike) -> tuple[Floats, Floats]:
    g, p = np.asarray(gold, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    if g.shape != p.shape or g.ndim != 1:
        raise ValueError(f"gold {g.shape} and probabilities {p.shape} must both be one column")
    return g, p
