"""A figure with what it is over, how sure it is, and, where it is undefined, why."""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
"""Of every interval."""


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One number.

    `n`: over how many items (texts, or questions of texts). `low`, `high`: its 95% interval. `why`: the reason why
    there is no value, or no interval.
    """

    value: float | None
    n: int = 0
    low: float | None = None
    high: float | None = None
    why: str | None = None


def with_interval(figure: Figure, resampled: NDArray[np.float64]) -> Figure:
    """The figure with the middle 95% of its values over resamples (percentile method, Efron 1979).

    Resamples in which the figure is undefined are left out; where these are more than half, there is no interval.

    Args:
        resampled: (resamples,), NaN where undefined.
    """
    defined = resampled[~np.isnan(resampled)]
    if figure.value is None or len(resampled) == 0:
        return figure
    if 2 * len(defined) < len(resampled):
        return msgspec.structs.replace(figure, why="no interval: undefined in more than half of the resamples")
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return msgspec.structs.replace(figure, low=float(low), high=float(high))


def resample_weights(n: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """(resamples, n): how often each of n items is drawn, with replacement, in each resample; rows sum to n."""
    draw = np.random.default_rng(seed)
    weights = np.empty((resamples, n))
    for row in weights:
        row[:] = np.bincount(draw.integers(0, n, n), minlength=n)
    return weights


def resample_counts(times: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """(resamples, kinds): how often items of each kind are drawn, where there are so many of each.

    The same as drawing single items with replacement and counting their kinds; rows sum to the number of items.

    Args:
        times: (kinds,), whole numbers.
    """
    n = int(times.sum())
    if 4 * len(times) > n:
        kinds = np.repeat(np.arange(len(times)), times.astype(np.int64))
        draw = np.random.default_rng(seed)
        rows = [np.bincount(kinds[draw.integers(0, n, n)], minlength=len(times)) for _ in range(resamples)]
        return np.array(rows, dtype=np.float64)
    return np.random.default_rng(seed).multinomial(n, times / n, resamples).astype(np.float64)


def unique_rows(table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float64]]:
    """The different rows of a table, which of them each row is, and how often each is there.

    Args:
        table: (rows, columns), without NaN.
    """
    if not table.shape[1]:
        return table[:1], np.zeros(len(table), dtype=np.int64), np.array([len(table)], dtype=np.float64)
    order = np.lexsort(table.T)
    ordered = table[order]
    first = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    which = np.empty(len(table), dtype=np.int64)
    which[order] = np.cumsum(first) - 1
    return ordered[first], which, np.bincount(which).astype(np.float64)
