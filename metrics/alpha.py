"""Krippendorff's alpha at four levels of measurement, with missing ratings and a bootstrap interval.

alpha = 1 - D_o / D_e over all pairs of ratings of items that have two or more (Krippendorff 2011, "Computing
Krippendorff's alpha-reliability"; 2004, chapter 11). Differences of two values c and k:

- `nominal`: 0 where they are equal, else 1.
- `ordinal`: (n_c / 2 + all n between + n_k / 2)², which is the squared difference of the two values' mean ranks.
- `interval`: (c - k)².
- `ratio`: ((c - k) / (c + k))², for values from 0 on.

The interval is by resampling items with replacement, with chance agreement computed anew in each resample (Zapf and
others 2016, "Measuring inter-rater reliability for nominal data", section on bootstrap intervals). Krippendorff's own
algorithm instead keeps D_e and draws single differences; it treats the pairs of an item as independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from emotui.metrics.figure import Figure, resample_counts, unique_rows, with_interval
from emotui.metrics.resampling import Drawn, draw_counts, drawn_by, interval_of, replicates

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")

Floats = NDArray[np.float64]

_TOO_FEW = "no item has two ratings"
_CONSTANT = "all ratings are equal: there is nothing to tell apart"
_AT_ONCE = 4_000_000
"""Numbers of one block of resamples."""

_PARTS = 200
_FEW = 256
"""Different items up to which texts with the same ones are drawn as one."""


def alpha(
    ratings: ArrayLike,
    level: Level = "nominal",
    resamples: int = 0,
    seed: int = 0,
    texts: Sequence[int] | None = None,
) -> Figure:
    """Krippendorff's alpha.

    Args:
        ratings: (items, raters), NaN where a rater did not rate; of nominal labels any number for each.
        resamples: of the bootstrap; 0: no interval.
        texts: of each item the number of its text, where a text has several items (labels, masks), or of what several
            texts share: resampling draws these then. None: an item is a text.

    Returns:
        a value of at most 1, over the items with two ratings or more; None where no item has two, or all ratings of
        such items are equal.

    Raises:
        ValueError: a level that there is not, or a ratio scale with a value below 0.
    """
    if level not in LEVELS:
        raise ValueError(f"no level {level!r}: {', '.join(LEVELS)}")
    whole_table = np.asarray(ratings, dtype=np.float64)
    table = _pairable(whole_table)
    n = len(table)
    if n == 0:
        return Figure(None, 0, why=_TOO_FEW)
    there = ~np.isnan(table)
    values, codes = np.unique(table[there], return_inverse=True)
    if len(values) < 2:
        return Figure(None, n, why=_CONSTANT)
    if level == "ratio" and values[0] < 0:
        raise ValueError("a ratio scale begins at 0")
    alike = _Alike.of(there, codes)
    whole = Figure(float(alike.alphas(values, level, alike.times[None, :])[0]), n)
    if not resamples:
        return whole
    owner = np.arange(n)
    if texts is not None:
        owner = np.unique(np.asarray(texts)[(~np.isnan(whole_table)).sum(axis=1) > 1], return_inverse=True)[1]
    by = replace(drawn_by(owner), parts=_PARTS)
    weights = alike.drawn(by, resamples, seed)
    step = max(1, _AT_ONCE // max(len(alike.times), len(values)))
    parts = [alike.alphas(values, level, weights[start : start + step]) for start in range(0, len(weights), step)]
    return with_interval(whole, interval_of(replicates(np.concatenate(parts), by, bounds=(-np.inf, 1.0))))


def item_disagreement(ratings: ArrayLike, level: Level = "nominal") -> Floats:
    """How far the ratings of each item are apart: the mean difference of its pairs, on the level's own scale.

    Ordinal differences are by ranks over all items.

    Args:
        ratings: as `alpha`.

    Returns:
        (items,), 0 for complete agreement, NaN for items with fewer than two ratings.
    """
    table = np.asarray(ratings, dtype=np.float64)
    found = np.full(len(table), np.nan)
    rows = (~np.isnan(table)).sum(axis=1) > 1
    if not rows.any():
        return found
    pairable = table[rows]
    there = ~np.isnan(pairable)
    values, codes = np.unique(pairable[there], return_inverse=True)
    sizes = there.sum(axis=1)
    found[rows] = _observed(pairable, there, values, codes, level) / sizes
    return found


def _pairable(table: Floats) -> Floats:
    if table.ndim != 2:
        return np.empty((0, 0))
    rows: NDArray[np.bool_] = (~np.isnan(table)).sum(axis=1) > 1
    return np.asarray(table[rows])


def _observed(
    table: Floats, there: NDArray[np.bool_], values: Floats, codes: NDArray[np.int64], level: Level
) -> Floats:
    """(items,): the differences of all ordered pairs of an item, over its number of ratings less one."""
    sizes = there.sum(axis=1)
    if level in ("ordinal", "interval"):
        scale = _midranks(np.bincount(codes).astype(np.float64)) if level == "ordinal" else _unit(values)
        scores = np.zeros(table.shape)
        scores[there] = scale[codes]
        return np.asarray(_apart(sizes, scores.sum(axis=1), (scores**2).sum(axis=1)) / (sizes - 1))
    found = np.zeros(len(table))
    filled = np.where(there, table, 0.0)
    for a in range(table.shape[1]):
        for b in range(a + 1, table.shape[1]):
            both = there[:, a] & there[:, b]
            found += 2 * both * _difference(filled[:, a], filled[:, b], level)
    return np.asarray(found / (sizes - 1))


def _difference(x: Floats, y: Floats, level: Level) -> Floats:
    if level == "nominal":
        return np.asarray(x != y, dtype=np.float64)
    total = x + y
    return np.asarray(np.divide(x - y, total, out=np.zeros(np.broadcast(x, y).shape), where=total != 0) ** 2)


@dataclass(frozen=True, slots=True)
class _Alike:
    """The different items: two items are alike that have the same ratings, whoever gave them.

    `there`, `codes`: (items, raters) and the number of the value of every rating, row by row. `times`: (items,), how
    often there is one like it. `which`: of every item of the table which it is like.
    """

    there: NDArray[np.bool_]
    codes: NDArray[np.int64]
    times: Floats
    which: NDArray[np.int64]

    @classmethod
    def of(cls, there: NDArray[np.bool_], codes: NDArray[np.int64]) -> "_Alike":
        rows = np.full(there.shape, -1, dtype=np.int64)
        rows[there] = codes
        different, which, times = unique_rows(np.sort(rows, axis=1))
        known = different >= 0
        return cls(known, different[known], times, which)

    def drawn(self, by: Drawn, resamples: int, seed: int) -> Floats:
        """(1 + parts + resamples, items): how often each counts where texts are left out, or drawn, with all items."""
        held = csr_array((np.ones(len(by.numbers)), (by.numbers, self.which)), shape=(by.n, len(self.times)))
        part = csr_array((np.ones(by.n), (np.arange(by.n) % by.blocks, np.arange(by.n))), shape=(by.blocks, by.n))
        left_out = self.times - np.asarray((part @ held).todense())
        if not by.grouped:
            again = resample_counts(self.times, resamples, seed)
        elif len(self.times) > _FEW:
            counts = draw_counts(by.n, resamples, seed)
            again = np.concatenate([np.asarray(block @ held) for block in counts])
        else:
            different, _, times = unique_rows(held.toarray())
            again = np.asarray(resample_counts(times, resamples, seed) @ different)
        return np.concatenate([self.times[None], left_out, again])

    def alphas(self, values: Floats, level: Level, weights: Floats) -> Floats:
        """(resamples,): alpha, each item counted as `weights`, (resamples, items), says; NaN where undefined."""
        sizes = self.there.sum(axis=1).astype(np.float64)
        if level == "ordinal":
            return np.array([_ordinal(self.there, self.codes, len(values), sizes, row) for row in weights])
        table = np.full(self.there.shape, np.nan)
        table[self.there] = values[self.codes]
        n = weights @ sizes
        observed = weights @ _observed(table, self.there, values, self.codes, level)
        if level == "interval":
            scores = np.zeros(table.shape)
            scores[self.there] = _unit(values)[self.codes]
            expected = _apart(n, weights @ scores.sum(axis=1), weights @ (scores**2).sum(axis=1))
        else:
            counts = np.asarray(weights @ self._counts(len(values)))
            if level == "nominal":
                expected = n**2 - (counts**2).sum(axis=1)
            else:
                apart = _difference(values[:, None], values[None, :], "ratio")
                expected = ((counts @ apart) * counts).sum(axis=1)
        return _from(observed, expected, n)

    def _counts(self, k: int) -> csr_array:
        """(items, values): how many ratings of an item have the value."""
        rows = np.nonzero(self.there)[0]
        return csr_array((np.ones(len(rows)), (rows, self.codes)), shape=(len(self.there), k))


def _ordinal(there: NDArray[np.bool_], codes: NDArray[np.int64], k: int, sizes: Floats, weights: Floats) -> float:
    """Alpha by mean ranks, which differ from resample to resample. Args: sizes, weights: (items,)."""
    of_rating = np.repeat(weights, there.sum(axis=1))
    ranks = _midranks(np.bincount(codes, weights=of_rating, minlength=k).astype(np.float64))
    scores = np.zeros(there.shape)
    scores[there] = ranks[codes] - ranks.mean()
    total, squares = scores.sum(axis=1), (scores**2).sum(axis=1)
    n = weights @ sizes
    observed = weights @ (_apart(sizes, total, squares) / (sizes - 1))
    expected = _apart(n, weights @ total, weights @ squares)
    return float(_from(np.array([observed]), np.array([expected]), np.array([n]))[0])


def _from(observed: Floats, expected: Floats, n: Floats) -> Floats:
    known = expected > 1e-12 * n**2
    return np.where(known, 1 - (n - 1) * observed / np.where(known, expected, 1.0), np.nan)


def _apart(n: NDArray[np.float64] | NDArray[np.int64], total: Floats, squares: Floats) -> Floats:
    """The squared differences of all ordered pairs among n numbers with this sum and sum of squares."""
    return np.maximum(2 * (n * squares - total**2), 0.0)


def _midranks(counts: Floats) -> Floats:
    """The mean rank of each value that occurs so often."""
    return np.cumsum(counts) - counts / 2


def _unit(values: Floats) -> Floats:
    """Values in [-1, 1] with the same proportions: alpha does not change, and no square overflows."""
    half = (values[-1] - values[0]) / 2
    return np.asarray((values - (values[0] + half)) / half)


def coded(rows: Sequence[Sequence[str | None]]) -> Floats:
    """(items, raters): a number for each label, NaN for None. Args: rows: labels of an item, by rater."""
    numbers: dict[str, int] = {}
    table = np.full((len(rows), len(rows[0]) if rows else 0), np.nan)
    for line, row in zip(table, rows, strict=True):
        for place, label in enumerate(row):
            if label is not None:
                line[place] = numbers.setdefault(label, len(numbers))
    return table
