"""The probability from which a label counts as given: chosen on one set of records, used on another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from emotui.metrics.states import Bits, Floats

USUAL = 0.5


@dataclass(frozen=True, slots=True)
class Threshold:
    """A label is given where its probability is at least `value`; `f1` is what that reaches where it was chosen.

    `ties`: how many other cuts reach the same F1. `positives`: records that have the label there; of a label without
    any nothing can be chosen, so that it keeps the usual threshold and `f1` is None.
    """

    value: float
    f1: float | None
    ties: int
    positives: int


def best_threshold(gold: ArrayLike, probabilities: ArrayLike) -> Threshold:
    """The threshold with the best F1 among all cuts between different probabilities, exactly.

    A cut stands midway between two neighbouring probabilities, below the lowest one midway to 0; giving the label to
    no record is no cut, its F1 being 0. Of equally good cuts the one nearest 0.5 is taken, then the higher.

    Args:
        gold: (n,) of 0 or 1.
        probabilities: (n,) in [0, 1].
    """
    g, p = np.asarray(gold, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    if g.shape != p.shape or g.ndim != 1:
        raise ValueError(f"gold {g.shape} and probabilities {p.shape} must both be one column")
    positives = int(g.sum())
    if not positives:
        return Threshold(USUAL, None, 0, 0)
    order = np.argsort(-p, kind="stable")
    ranked, hits = p[order], np.cumsum(g[order])
    ends = np.flatnonzero(np.append(np.diff(ranked) != 0, True))
    # Equal fractions are equal floats (division rounds correctly), so ties can be counted by equality.
    f1 = 2 * hits[ends] / (ends + 1 + positives)
    cuts = _cuts(ranked[ends])
    best = np.flatnonzero(f1 == f1.max())
    chosen = min(best.tolist(), key=lambda place: (abs(cuts[place] - USUAL), -cuts[place]))
    return Threshold(float(cuts[chosen]), float(f1[chosen]), len(best) - 1, positives)


def best_thresholds(gold: ArrayLike, probabilities: ArrayLike) -> list[Threshold]:
    """`best_threshold` of each label.

    Args:
        gold, probabilities: (n, k).
    """
    g, p = np.asarray(gold), np.asarray(probabilities)
    return [best_threshold(g[:, label], p[:, label]) for label in range(g.shape[1])]


def decided(probabilities: ArrayLike, thresholds: Sequence[float]) -> Bits:
    """1 where a label's probability is at least its threshold.

    Args:
        probabilities: (n, k).
        thresholds: k.

    Returns:
        (n, k).
    """
    return (np.asarray(probabilities, dtype=np.float64) >= np.asarray(thresholds, dtype=np.float64)).astype(np.uint8)


def decided_in_folds(gold: ArrayLike, probabilities: ArrayLike, folds: Sequence[int]) -> Bits:
    """Every record decided by thresholds that were chosen on the other folds alone.

    Args:
        gold, probabilities: (n, k).
        folds: n fold numbers.

    Returns:
        (n, k) of 0 or 1.

    Raises:
        ValueError: there is only one fold, so that nothing is left to choose on.
    """
    g, p, places = np.asarray(gold), np.asarray(probabilities, dtype=np.float64), np.asarray(folds)
    if len(set(places.tolist())) < 2:
        raise ValueError("thresholds need at least two folds")
    found = np.zeros(g.shape, dtype=np.uint8)
    for fold in np.unique(places):
        here = places == fold
        chosen = [threshold.value for threshold in best_thresholds(g[~here], p[~here])]
        found[here] = decided(p[here], chosen)
    return found


def _cuts(values: Floats) -> Floats:
    """Midway between each of the falling values and the next, the last midway to 0; never above its own value."""
    below = np.append(values[1:], 0.0)
    middle = (values + below) / 2
    # Between neighbouring floats there is no middle: it may round down to the lower one.
    return np.where(middle > below, middle, values)
