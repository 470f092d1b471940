"""A figure with what it is over, how sure it is, and, where it is undefined, why."""

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
"""Of every interval."""


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One number.

    `n`: over how many items (texts, or questions of texts). `low`, `high`: its 95% interval. `why`: the reason why
    there is no value, or no interval. `note`: what has to be known of the interval.
    """

    value: float | None
    n: int = 0
    low: float | None = None
    high: float | None = None
    why: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """`low` and `high`, or None where there is nothing honest to say; `t`: they are Student's.

    `note`: why there is none, or what has to be known of it.
    """

    low: float | None = None
    high: float | None = None
    note: str = ""
    t: bool = False

    @property
    def ends(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


def with_interval(figure: Figure, found: Interval) -> Figure:
    """The figure with its interval, or with the reason why it has none."""
    if figure.value is None:
        return figure
    if found.ends is None:
        return msgspec.structs.replace(figure, why=found.note or figure.why)
    low, high = found.ends
    return msgspec.structs.replace(figure, low=low, high=high, note=found.note or None)


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
