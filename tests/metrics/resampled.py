"""Intervals by brute force: a figure computed anew over all rows, without each group of them, and over each draw."""

from collections.abc import Callable
from typing import Any

import numpy as np

from emotui.metrics.resampling import BESIDE, Interval, Replicates, draws, interval_of

Compute = Callable[[np.ndarray], float | None]
"""From the places of rows, some of them several times, to a figure."""


def replicates_by_hand(
    compute: Compute, groups: np.ndarray, resamples: int = BESIDE, n: int | None = None, **of: Any
) -> Replicates:
    """Args: groups: (rows,) as of `group_numbers`; n: how many have a say in it, all unless said."""
    count = int(groups.max()) + 1
    rows = [np.flatnonzero(groups == group) for group in range(count)]

    def over(drawn: list[int]) -> float:
        value = compute(np.concatenate([rows[group] for group in drawn]))
        return np.nan if value is None else value

    every = list(range(count))
    left_out = np.array([over([group for group in every if group != one]) for one in every])
    again = np.array([over(one.tolist()) for one in np.concatenate(list(draws(count, resamples, 0)))])
    return Replicates(over(every), left_out, again, count if n is None else n, count < len(groups), **of)


def interval_by_hand(compute: Compute, groups: np.ndarray, resamples: int = BESIDE, **of: Any) -> Interval:
    """The interval of `replicates_by_hand`."""
    return interval_of(replicates_by_hand(compute, groups, resamples, **of))
