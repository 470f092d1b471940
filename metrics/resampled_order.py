"""Figures of probabilities and of ranks over resamples: their order has to be read anew in each.

They cost more than sums do, so they are taken over the first draws only where there is much to read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.probabilities import BINS
from emotui.metrics.resampling import (
    Drawn,
    Replicates,
    draws,
    known_means,
    replicates,
    resamples_for,
    with_ties,
)
from emotui.metrics.states import Floats

_READ = 40_000_000
_FEWEST = 200
_BLOCK = 1 << 18  # weights held at once
_PARTS = 200
_FIGURES = ("brier", "ece", "average_precision")
_RANKED = 4  # columns whose reading costs as much as ranking one


def resamples_of(n: int, rows: int, columns: int) -> int:
    """How many resamples of n groups are read: all that are drawn, or fewer where rows and columns are many."""
    return min(resamples_for(n), max(_FEWEST, _READ // max(rows * columns, 1)))


def resampled_probabilities(
    gold: ArrayLike, probabilities: ArrayLike, by: Drawn, seed: int
) -> tuple[Floats, list[int], Drawn]:
    """Brier score, calibration error and average precision of each label over all, with parts left out, and resamples.

    Args:
        gold, probabilities: (rows, k), as of `emotui.metrics.probabilities`.

    Returns:
        (3, 1 + parts + resamples, k), NaN where there is no row, or no positive for average precision; of each label
        how many groups have a positive; and what was drawn.
    """
    g, p = np.asarray(gold, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    k = g.shape[1]
    off, order = p - g, np.argsort(-p, axis=0, kind="stable")
    ends = [np.flatnonzero(np.append(np.diff(p[order[:, at], at]) != 0, True)) for at in range(k)]
    binned = [_binned(p[:, at], off[:, at]) for at in range(k)]
    each = []
    for weights in resampled_weights(by, resamples_of(by.n, len(g), k), seed):
        found = np.empty((3, len(weights), k))
        with np.errstate(invalid="ignore", divide="ignore"):
            size = weights.sum(axis=1)
            found[0] = (weights @ off**2) / size[:, None]
            for at in range(k):
                found[1, :, at] = np.abs(weights @ binned[at]).sum(axis=1) / size
                ordered = weights[:, order[:, at]]
                given = np.cumsum(ordered, axis=1)[:, ends[at]]
                hits = np.cumsum(ordered * g[order[:, at], at], axis=1)[:, ends[at]]
                gained = np.diff(hits, axis=1, prepend=0.0)
                # A cut from which no row was drawn gains nothing.
                precision = np.divide(hits, given, out=np.zeros_like(hits), where=given > 0)
                found[2, :, at] = (precision * gained).sum(axis=1) / hits[:, -1]
        each.append(found)
    return np.concatenate(each, axis=1), [by.holding(g[:, at]) for at in range(k)], read_parts(by)


def resampled_spearman(x: ArrayLike, y: ArrayLike, by: Drawn, seed: int, resamples: int | None = None) -> Replicates:
    """Spearman's rank correlation over resamples, equal numbers with their mean rank; NaN where a side does not vary.

    Args:
        x, y: (rows,), finite.
        resamples: as many as are drawn, or fewer (`resamples_of`), unless said.
    """
    many = resamples_of(by.n, len(by.numbers), _RANKED) if resamples is None else resamples
    sides = [np.unique(with_ties(side), return_inverse=True)[1].astype(np.int32) for side in (x, y)]
    found = []
    for weights in resampled_weights(by, many, seed):
        size = weights.sum(axis=1, keepdims=True)
        (a, spread_a), (b, spread_b) = (_ranked(side, weights, size) for side in sides)
        spread = np.sqrt(spread_a * spread_b)
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append(np.where(spread > 0, np.einsum("ij,ij,ij->i", weights, a, b) / spread, np.nan))
    return replicates(np.concatenate(found), read_parts(by), bounds=(-1.0, 1.0))


def _ranked(side: NDArray[np.int32], weights: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Of each row how far its rank is from the mean rank, (some, rows), and the sum of their squares, (some,).

    Ranks and squares are those of the different numbers, which are mostly far fewer than the rows.

    Args:
        side: (rows,), which of the different numbers a row has, in their order.
        weights: (some, rows), how often each row counts; size: (some, 1), their sums.
    """
    m, levels = len(weights), int(side.max(initial=0)) + 1
    place = side + np.arange(m, dtype=np.int64)[:, None] * levels
    times = np.bincount(place.ravel(), weights.ravel(), minlength=m * levels).reshape(m, levels)
    rank = np.cumsum(times, axis=1) - times / 2 - size / 2  # the mean rank is the middle of all
    return np.take(rank, side, axis=1), np.einsum("ij,ij,ij->i", times, rank, rank)


def _binned(probabilities: Floats, off: Floats) -> Floats:
    """(rows, bins): how far each row is off, in the column of its bin."""
    table = np.zeros((len(off), BINS))
    table[np.arange(len(off)), np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)] = off
    return table


def read_parts(by: Drawn) -> Drawn:
    """What is drawn, with fewer parts to leave out: of a set of 5,000 rows each of them is as dear as a resample."""
    return replace(by, parts=_PARTS)


def resampled_weights(by: Drawn, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks (some, rows) of how often each row counts: in all, with each part left out, and as often as it is drawn.

    The draws are those of everything else of this seed.
    """
    for times in _times(read_parts(by), resamples, seed):
        at_once = max(_BLOCK // max(len(by.numbers), 1), 1)
        for at in range(0, len(times), at_once):
            yield times[at : at + at_once, by.numbers].astype(np.float64)


def _times(by: Drawn, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The same of groups, (some, groups)."""
    part = np.arange(by.n) % by.blocks
    yield np.ones((1, by.n), dtype=np.int64)
    at_once = max(_BLOCK // max(by.n, 1), 1)
    for start in range(0, by.blocks, at_once):
        yield (part != np.arange(start, min(start + at_once, by.blocks))[:, None]).astype(np.int64)
    for rows in draws(by.n, resamples, seed):
        flat = (rows + np.arange(len(rows), dtype=np.int64)[:, None] * by.n).ravel()
        yield np.bincount(flat, minlength=len(rows) * by.n).reshape(len(rows), by.n)


def named(found: Floats, positives: Sequence[int], by: Drawn, labels: Sequence[str]) -> dict[str, Replicates]:
    """What `resampled_probabilities` returns by the names of the figures: their means, and each label's."""
    bounds = (0.0, 1.0)
    means = [
        replicates(known_means(one.T), by, bounds=bounds, distances=name == "ece")
        for name, one in zip(_FIGURES, found, strict=True)
    ]
    by_label = {
        f"by_label.{label}.{figure}": replicates(
            found[place, :, at],
            by,
            positives[at] if figure == "average_precision" else None,
            bounds=bounds,
            distances=figure == "ece",
        )
        for at, label in enumerate(labels)
        for place, figure in enumerate(_FIGURES)
    }
    return dict(zip(_FIGURES, means, strict=True)) | by_label
