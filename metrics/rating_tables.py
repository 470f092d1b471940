"""Agreement over a table of labels, items by raters, for tables of any size: percent, Fleiss, Cohen of each two."""

from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.metrics.agreement import fleiss_kappa
from emotui.metrics.alpha import Level, alpha
from emotui.metrics.figure import Figure, with_interval
from emotui.metrics.rating_intervals import resampled_agreement
from emotui.metrics.resampling import Replicates, interval_of

Floats = NDArray[np.float64]


class RaterPair(msgspec.Struct, frozen=True):
    """Two raters. `n`: items that both rated. `percent`: the share on which they agree; `kappa`: Cohen's.

    `confusion`: how often the first said the row and the second the column.
    """

    a: str
    b: str
    n: int
    percent: Figure
    kappa: Figure
    confusion: dict[str, dict[str, int]] = {}


class TableAgreement(msgspec.Struct, frozen=True):
    """Figures of one table. `percent`: of all pairs of ratings of an item the share that agree."""

    n: int
    alphas: dict[str, Figure]
    fleiss_kappa: Figure
    percent: Figure
    pairs: list[RaterPair]
    mean_cohen_kappa: Figure


def table_agreement(
    table: Floats,
    raters: Sequence[str],
    labels: Sequence[str],
    *,
    levels: Sequence[Level] = ("nominal",),
    resamples: int = 0,
    seed: int = 0,
    texts: Sequence[int] | None = None,
) -> TableAgreement:
    """Every figure of one label an item.

    Args:
        table: (items, raters), the number of the label, NaN for none. For levels above nominal the numbers of the
            labels are their values.
        labels: names, by their numbers; none for a table of values.
        texts: as for `alpha`.

    Returns:
        None, with the reason, where a figure is undefined.
    """
    there = ~np.isnan(table)
    rated = int((there.sum(axis=1) > 0).sum())
    pairs = [
        _pair(table[:, a], table[:, b], raters[a], raters[b], labels) for a, b in combinations(range(len(raters)), 2)
    ]
    sure = resampled_agreement(table, texts, resamples, seed) if resamples and rated else None
    if sure is not None and sure.kappas:
        pairs = [
            msgspec.structs.replace(pair, percent=_sure(pair.percent, percent), kappa=_sure(pair.kappa, kappa))
            for pair, percent, kappa in zip(pairs, sure.pair_percents, sure.kappas, strict=True)
        ]
    known = [pair.kappa.value for pair in pairs if pair.kappa.value is not None]
    mean = Figure(sum(known) / len(known), len(known)) if known else Figure(None, 0, why="no two raters have a kappa")
    return TableAgreement(
        rated,
        {level: alpha(table, level, resamples, seed, texts) for level in levels},
        _sure(_fleiss(table, there), None if sure is None else sure.fleiss_kappa),
        _sure(percent_agreement(table), None if sure is None else sure.percent),
        pairs,
        _sure(mean, None if sure is None else sure.mean_kappa),
    )


def _sure(figure: Figure, made: Replicates | None) -> Figure:
    return figure if made is None else with_interval(figure, interval_of(made))


def percent_agreement(table: Floats) -> Figure:
    """Of all pairs of ratings of the same item, the share that agree, in [0, 1]; every pair counts once."""
    agree = total = items = 0
    there = ~np.isnan(table)
    for a, b in combinations(range(table.shape[1]), 2):
        both = there[:, a] & there[:, b]
        agree += int((table[both, a] == table[both, b]).sum())
        total += int(both.sum())
    items = int((there.sum(axis=1) > 1).sum())
    return Figure(agree / total, items) if total else Figure(None, 0, why="no item has two ratings")


def cohen(a: Floats, b: Floats) -> Figure:
    """Cohen's kappa of two columns, over the items that both rated. Args: a, b: (items,), NaN for none."""
    both = ~np.isnan(a) & ~np.isnan(b)
    n = int(both.sum())
    if n == 0:
        return Figure(None, 0, why="no item that both rated")
    values, codes = np.unique(np.concatenate([a[both], b[both]]), return_inverse=True)
    first, second = codes[:n], codes[n:]
    k = len(values)
    # In whole numbers, so that complete chance agreement is recognised exactly.
    chance = int(np.bincount(first, minlength=k) @ np.bincount(second, minlength=k))
    if chance == n * n:
        return Figure(None, n, why="always the same one label")
    return Figure((int((first == second).sum()) * n - chance) / (n * n - chance), n)


def votes(table: Floats, k: int) -> Floats:
    """(items, raters, k) of 0 or 1: who gave which label. Args: table: (items, raters), numbers below k, NaN: none."""
    found = np.zeros((*table.shape, k))
    rows, columns = np.nonzero(~np.isnan(table))
    found[rows, columns, table[rows, columns].astype(np.int64)] = 1
    return found


def _fleiss(table: Floats, there: NDArray[np.bool_]) -> Figure:
    sizes = there.sum(axis=1)
    rated = sizes > 0
    n = int(rated.sum())
    if n == 0:
        return Figure(None, 0, why="nobody rated anything")
    if (sizes[rated] != sizes[rated][0]).any():
        return Figure(None, n, why=f"items have unequal numbers of ratings ({sizes[rated].min()} to {sizes.max()})")
    values, codes = np.unique(table[there], return_inverse=True)
    rows = np.nonzero(there)[0]
    counts = np.bincount(rows * len(values) + codes, minlength=len(table) * len(values)).reshape(len(table), -1)
    value = fleiss_kappa(counts[rated])
    return Figure(value, n, why=None if value is not None else "needs two ratings of each item, and two labels")


def _pair(a: Floats, b: Floats, first: str, second: str, labels: Sequence[str]) -> RaterPair:
    both = ~np.isnan(a) & ~np.isnan(b)
    kappa = cohen(a, b)
    confusion: dict[str, dict[str, int]] = {}
    k = len(labels)
    if k and kappa.n:
        counts = np.bincount(a[both].astype(np.int64) * k + b[both].astype(np.int64), minlength=k * k).reshape(k, k)
        for row, column in zip(*(part.tolist() for part in np.nonzero(counts)), strict=True):
            confusion.setdefault(labels[row], {})[labels[column]] = int(counts[row, column])
    agree = float((a[both] == b[both]).mean()) if kappa.n else None
    percent = Figure(agree, kappa.n, why=None if kappa.n else "no item that both rated")
    return RaterPair(first, second, kappa.n, percent, kappa, confusion)
