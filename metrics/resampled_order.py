"""Figures of probabilities and of ranks over resamples: their order has to be read anew in each.

They cost more than sums do, so they are taken over the first draws only where there is much to read.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from emotui.metrics.probabilities import BINS
from emotui.metrics.resampling import Numbers, draws, resamples_for
from emotui.metrics.states import Floats

_READ = 40_000_000
_FEWEST = 200
_BLOCK = 1 << 18  # weights held at once
_RANKED = 4  # columns whose reading costs as much as ranking one


def resamples_of(n: int, rows: int, columns: int) -> int:
    """How many resamples of n groups are read: all that are drawn, or fewer where rows and columns are many."""
    return min(resamples_for(n), max(_FEWEST, _READ // max(rows * columns, 1)))


def resampled_probabilities(gold: ArrayLike, probabilities: ArrayLike, numbers: Numbers, n: int, seed: int) -> Floats:
    """Brier score, calibration error and average precision of each label over resamples.

    Args:
        gold, probabilities: (rows, k), as of `emotui.metrics.probabilities`.
        numbers: (rows,) which of the n drawn groups each row is of.

    Returns:
        (3, resamples, k); NaN where a resample has no row, or no positive for average precision.
    """
    g, p = np.asarray(gold, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    k = g.shape[1]
    off, order = p - g, np.argsort(-p, axis=0, kind="stable")
    ends = [np.flatnonzero(np.append(np.diff(p[order[:, at], at]) != 0, True)) for at in range(k)]
    binned = [_binned(p[:, at], off[:, at]) for at in range(k)]
    resamples = resamples_of(n, len(g), k)
    found = np.empty((3, resamples, k))
    start = 0
    for weights in _weights(numbers, n, resamples, seed):
        stop = start + len(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            size = weights.sum(axis=1)
            found[0, start:stop] = (weights @ off**2) / size[:, None]
            for at in range(k):
                found[1, start:stop, at] = np.abs(weights @ binned[at]).sum(axis=1) / size
                ordered = weights[:, order[:, at]]
                given = np.cumsum(ordered, axis=1)[:, ends[at]]
                hits = np.cumsum(ordered * g[order[:, at], at], axis=1)[:, ends[at]]
                gained = np.diff(hits, axis=1, prepend=0.0)
                # A cut from which no row was drawn gains nothing.
                precision = np.divide(hits, given, out=np.zeros_like(hits), where=given > 0)
                found[2, start:stop, at] = (precision * gained).sum(axis=1) / hits[:, -1]
        start = stop
    return found


def resampled_spearman(x: ArrayLike, y: ArrayLike, numbers: Numbers, n: int, seed: int) -> Floats:
    """Spearman's rank correlation over resamples, equal numbers with their mean rank.

    Args:
        x, y: (rows,), finite.
        numbers: as of `resampled_probabilities`.

    Returns:
        (resamples,); NaN where a side has no variance.
    """
    sides = [np.unique(np.asarray(side, dtype=np.float64), return_inverse=True)[1] for side in (x, y)]
    orders = [np.argsort(side, kind="stable") for side in sides]
    starts = [np.flatnonzero(np.diff(side[order], prepend=-1)) for side, order in zip(sides, orders, strict=True)]
    found = []
    for weights in _weights(numbers, n, resamples_of(n, len(numbers), _RANKED), seed):
        size = weights.sum(axis=1, keepdims=True)
        ranks = []
        for side, order, start in zip(sides, orders, starts, strict=True):
            times = np.add.reduceat(weights[:, order], start, axis=1)
            middle = np.cumsum(times, axis=1) - times / 2
            ranks.append(middle[:, side] - size / 2)  # the mean rank is the middle of all
        a, b = ranks
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.sqrt((weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1))
            found.append(np.where(spread > 0, (weights * a * b).sum(axis=1) / spread, np.nan))
    return np.concatenate(found)


def _binned(probabilities: Floats, off: Floats) -> Floats:
    """(rows, bins): how far each row is off, in the column of its bin."""
    table = np.zeros((len(off), BINS))
    table[np.arange(len(off)), np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)] = off
    return table


def _weights(numbers: Numbers, n: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks (some, rows) of how often each row is drawn, by the same draws as everything else of this seed."""
    for drawn in draws(n, resamples, seed):
        flat = (drawn + np.arange(len(drawn), dtype=np.int64)[:, None] * n).ravel()
        times = np.bincount(flat, minlength=len(drawn) * n).reshape(len(drawn), n)
        at_once = max(_BLOCK // max(len(numbers), 1), 1)
        for at in range(0, len(times), at_once):
            yield times[at : at + at_once, numbers].astype(np.float64)


def named(found: Floats, labels: Sequence[str]) -> dict[str, Floats]:
    """What `resampled_probabilities` returns by the names of the figures: their means, and each label's."""
    known = np.isfinite(found)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(known, found, 0.0).sum(axis=2) / known.sum(axis=2)
    figures = ("brier", "ece", "average_precision")
    by_label = {
        f"by_label.{label}.{figure}": found[place, :, at]
        for at, label in enumerate(labels)
        for place, figure in enumerate(figures)
    }
    return dict(zip(figures, means, strict=True)) | by_label
