"""How sure a mean is: bootstrap over samples, or over the groups that samples share (a passage, a post, an original).

Samples of one group are drawn together, because they do not vary apart. Columns (sources, metrics) share the draws, so
the difference of two columns' resampled means is the resampled mean of their paired differences.
"""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.figure import LEVEL
from emotui.metrics.states import Floats

Numbers = NDArray[np.int64]

RESAMPLES = 10_000
"""For one comparison."""

BESIDE = 2000
"""For intervals beside many figures; the ends of an interval then waver by about a fiftieth of its length."""

EQUAL = 1e-12
"""Scores that are no farther apart are equal: what is left is rounding."""

_DRAWS = 40_000_000
_FEWEST = 200
_BLOCK = 1 << 18  # draws held at once
_LOOKED_UP = 4  # so few columns are added up faster draw by draw than by how often each row was drawn


def resamples_for(n: int, wanted: int = BESIDE) -> int:
    """How many resamples of n groups are drawn where time counts: as many as wanted, fewer above 20,000 groups."""
    return max(min(wanted, _FEWEST), min(wanted, _DRAWS // max(n, 1)))


def group_numbers(groups: Sequence[Hashable | None]) -> Numbers:
    """(n,): the number of each sample's group, from 0, in the order in which they come; None is a group of its own."""
    seen: dict[Hashable, int] = {}
    return np.array(
        [seen.setdefault((place,) if group is None else ("", group), len(seen)) for place, group in enumerate(groups)],
        dtype=np.int64,
    )


def draws(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.int32]]:
    """Blocks (some, n) of which of n groups are drawn, with replacement, until there are `resamples` rows."""
    draw = np.random.default_rng(seed)
    rows = max(1, _BLOCK // max(n, 1))
    for start in range(0, resamples, rows):
        yield draw.integers(0, n, (min(rows, resamples - start), n), dtype=np.int32)


def resampled_sums(
    columns: ArrayLike, groups: Numbers | None, seed: int, resamples: int, n_groups: int | None = None
) -> Floats:
    """Sums of columns over resamples, for any figure that is made of sums (a mean, a rate, F1).

    Args:
        columns: (n, k), finite.
        groups: (n,) the number of each row's group, all of 0 to some number; None: each row is its own.
        n_groups: how many groups there are, where not each of them has a row here.

    Returns:
        (resamples, k).
    """
    x = np.asarray(columns, dtype=np.float64)
    if groups is not None:
        x = grouped_sums(x, groups, n_groups)
    n, k = x.shape
    sums = np.zeros((resamples, k))
    varied = []
    for column, places in _alike(x):
        if _is_steady(column):
            sums[:, places] = n * column[:1]
        else:
            varied.append((column, places))
    if not varied:
        return sums
    together = np.stack([column for column, _ in varied], axis=1) if len(varied) > _LOOKED_UP else None
    start = 0
    for drawn in draws(n, resamples, seed):
        into = sums[start : start + len(drawn)]
        start += len(drawn)
        if together is None:
            wide = drawn.astype(np.intp)  # numpy would make it so for each column
            for column, places in varied:
                into[:, places] = column.take(wide).sum(axis=1)[:, None]
        else:
            # A row at a time, whose counts stay in the processor's cache.
            weights = np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(np.float64)
            added = weights @ together
            for at, (_, places) in enumerate(varied):
                into[:, places] = added[:, at, None]
    return sums


def _alike(x: Floats) -> list[tuple[Floats, list[int]]]:
    """The different columns, each with the places at which it stands: many figures have the number of samples below."""
    found: dict[bytes, tuple[Floats, list[int]]] = {}
    for place in range(x.shape[1]):
        column = np.ascontiguousarray(x[:, place])
        found.setdefault(column.tobytes(), (column, []))[1].append(place)
    return list(found.values())


def _is_steady(column: Floats) -> bool:
    """Is its sum the same whatever is drawn?"""
    return bool((column == column[:1]).all() or np.isnan(column).all())


def grouped_sums(columns: Floats, groups: Numbers, n_groups: int | None = None) -> Floats:
    """(groups, k): each column added up over the rows of each group. Args: columns: (n, k); n_groups: as above."""
    n = n_groups if n_groups is not None else int(groups.max()) + 1 if len(groups) else 0
    return np.stack([np.bincount(groups, column, minlength=n) for column in columns.T], axis=1)


def resampled_means(
    values: ArrayLike, groups: Numbers | None = None, *, seed: int = 0, resamples: int = RESAMPLES
) -> Floats:
    """Means of columns over resamples.

    Args:
        values: (n, k); NaN where a sample has no value, which its column leaves out.
        groups: (n,), as of `resampled_sums`.

    Returns:
        (resamples, k); NaN where a resample has no value of a column.
    """
    x = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(x)
    if there.all() and groups is None:
        return resampled_sums(x, None, seed, resamples) / len(x)
    k = x.shape[1]
    sums = resampled_sums(np.concatenate([np.where(there, x, 0.0), there], axis=1), groups, seed, resamples)
    with np.errstate(invalid="ignore"):
        means: Floats = sums[:, :k] / sums[:, k:]
    return means


def percentile_interval(means: ArrayLike, level: float = LEVEL) -> tuple[float, float]:
    """The middle `level` of bootstrap means (percentile method, Efron 1979)."""
    low, high = np.quantile(np.asarray(means, dtype=np.float64), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def interval(resampled: ArrayLike, level: float = LEVEL) -> tuple[float, float] | None:
    """As `percentile_interval`, of a figure that may be undefined in some resamples.

    Args:
        resampled: (resamples,); NaN where the figure is undefined, which is left out.

    Returns:
        None where it is undefined in more than half of them.
    """
    values = np.asarray(resampled, dtype=np.float64)
    defined = values[~np.isnan(values)]
    if not len(defined) or 2 * len(defined) < len(values):
        return None
    return percentile_interval(defined, level)


def standard_error(values: ArrayLike, groups: Numbers | None = None) -> float | None:
    """Of a mean over samples of which those of one group vary together; None for fewer than two groups.

    It is sqrt(G/(G-1) * sum over groups of (their sum of distances from the mean)^2) / n; with groups of one, the
    standard deviation (n - 1) over sqrt(n).

    Args:
        values: (n,), finite.

    Source: Cameron and Miller 2015, section II, with the factor G/(G-1).
    """
    x = np.asarray(values, dtype=np.float64)
    off = x - x.mean() if len(x) else x
    sums = off if groups is None else np.bincount(groups, off)
    if len(sums) < 2:
        return None
    return float(np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum()) / len(x))


def convention(n: int, of: str, resamples: int, seed: int) -> str:
    """What an interval was computed under, in words. `of`: what is drawn, such as `samples`."""
    return f"95% percentile bootstrap: {resamples:,} resamples of {n:,} {of}, seed {seed}"


def ratio_intervals(
    parts: Sequence[tuple[ArrayLike, ArrayLike]], groups: Numbers | None = None, *, seed: int = 0
) -> list[tuple[float, float] | None]:
    """Intervals of figures that are sums over sums: means, rates, precision, recall.

    Args:
        parts: for each figure (n,) numerators and (n,) denominators, one of each a sample; 0 over 0 where a sample
            has no say in it.
        groups: (n,), as of `resampled_sums`.

    Returns:
        of each figure, None where it is undefined in more than half of the resamples, or there is one group only.
    """
    n = len(parts[0][0] if parts else ()) if groups is None else int(groups.max(initial=-1)) + 1  # type: ignore[arg-type]
    if n < 2:
        return [None] * len(parts)
    return [spread_interval(ratio) for ratio in resampled_ratios(parts, groups, n, seed=seed).T]


def resampled_ratios(
    parts: Sequence[tuple[ArrayLike, ArrayLike]], groups: Numbers | None, n: int, *, seed: int = 0
) -> Floats:
    """(resamples, figures): such figures over resamples of n groups; NaN where one is undefined."""
    columns = np.stack([np.asarray(side, dtype=np.float64) for part in parts for side in part], axis=1)
    sums = resampled_sums(columns, groups, seed, resamples_for(n), n)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = sums[:, ::2] / sums[:, 1::2]
    return np.where(np.isfinite(ratios), ratios, np.nan)


def spread_interval(resampled: ArrayLike) -> tuple[float, float] | None:
    """As `interval`; None too where no resample differs: that 0 of 50 were found makes 0 not certain."""
    found = interval(resampled)
    return None if found is None or found[0] == found[1] else found


def snapped(differences: ArrayLike, scale: float = 1.0) -> Floats:
    """Differences on a grid of 1e-12, before their signs, ranks or counts are taken: equal scores are equal then.

    .3 - .2 and .2 - .1 are the same size on paper and not in binary; a rank test orders such differences.

    Args:
        differences: (n,).
        scale: the greatest score behind them, where it is above 1: the grid is as much wider.
    """
    d = np.asarray(differences, dtype=np.float64)
    grid = EQUAL * max(1.0, float(scale))
    found: Floats = np.round(d / grid) * grid if grid > EQUAL else np.round(d, 12)
    return found + 0.0  # no negative zeros
