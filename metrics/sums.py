"""Figures that are made of sums over samples: means, rates, F1, correlations. Two are compared, or two parts of a set.

A rate over sentences or spans is no mean over samples: a sample adds to what stands above the line and to what stands
below it. What is drawn, exchanged or left out is always a whole sample, or a group of samples that share a text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.permutation import exchange_p
from emotui.metrics.resampling import (
    EQUAL,
    FEW_SAMPLES,
    RESAMPLES,
    Drawn,
    Interval,
    Numbers,
    convention,
    drawn_by,
    estimates,
    grouped_sums,
    interval_of,
    known_means,
    score_differences,
)
from emotui.metrics.states import Floats

Bools = NDArray[np.bool_]
Statistic = Callable[[Floats], Floats]
"""From (m, k) sums to (m,) figures; NaN or infinite where a figure is undefined."""

Bounds = tuple[float, float]
ANY = -np.inf, np.inf
SHARE = 0.0, 1.0

_WIDEST = 800
"""Columns that are resampled at once."""

_NO_MEAN = "the figure is no mean over samples"


@dataclass(frozen=True, slots=True)
class SumFigure:
    """One figure of one source.

    Attributes:
        columns: (n, k) what each sample adds to the sums; 0 where it has no say.
        statistic: from sums to the figure.
        there: (n,) whether the sample was scored at all.
        bounds: the least and the greatest value that there can be.
        labels: of columns that are some blocks with a column a label the labels, in order; the statistic is of any.
        repeats: the figures of the repeats that this is the mean of.
    """

    columns: Floats
    statistic: Statistic
    there: Bools
    bounds: Bounds = ANY
    labels: tuple[str, ...] = ()
    repeats: "tuple[SumFigure, ...]" = ()

    def over(self, kept: Bools) -> float | None:
        """The figure over some of the samples; None where it is undefined there. Args: kept: (n,)."""
        return _known(self._of(self.columns[kept].sum(axis=0)[None])[0])

    @property
    def by_sample(self) -> Floats:
        """(n,): the figure of each sample alone; NaN where it is undefined."""
        return np.where(self.there, self._of(self.columns), np.nan)

    @property
    def all_labels(self) -> set[str]:
        """Of every repeat."""
        return set(self.labels).union(*(one.all_labels for one in self.repeats))

    def over_labels(self, labels: Sequence[str]) -> "SumFigure":
        """The same with its columns in the order of these labels, and 0 of those that it has not."""
        if self.repeats:
            return over_repeats([one.over_labels(labels) for one in self.repeats])
        if not self.labels:
            return self
        n, place = len(self.columns), {label: at for at, label in enumerate(labels)}
        blocks = self.columns.reshape(n, -1, len(self.labels))
        columns = np.zeros((n, blocks.shape[1], len(labels)))
        columns[:, :, [place[label] for label in self.labels]] = blocks
        return replace(self, columns=columns.reshape(n, -1), labels=tuple(labels))

    def _of(self, sums: Floats) -> Floats:
        return _defined(self.statistic, sums)


def aligned(first: SumFigure, second: SumFigure) -> tuple[SumFigure, SumFigure]:
    """Two figures over the labels of both, so that the columns of one are of what those of the other are."""
    labels = sorted(first.all_labels | second.all_labels)
    return first.over_labels(labels), second.over_labels(labels)


def exchanged(
    first: SumFigure, second: SumFigure, kept: Bools, groups: Numbers | None = None, *, seed: int = 0
) -> tuple[float, str] | None:
    """As `exchange_p`, over some of the samples; None where one source has more repeats than the other.

    Args:
        kept: (n,); groups: (n,), of all samples.
    """
    first, second = aligned(first, second)
    if first.columns.shape != second.columns.shape:
        return None
    own = None if groups is None else np.unique(groups[kept], return_inverse=True)[1].astype(np.int64)
    sides = first.columns[kept], second.columns[kept]
    return exchange_p(*sides, first.statistic, second.statistic, own, seed=seed)


def ratio(above: ArrayLike, below: ArrayLike, there: ArrayLike | None = None) -> SumFigure:
    """A mean or a rate. Args: above, below: (n,) what each sample adds; there: as of `SumFigure`, all unless told."""
    columns = np.stack([np.asarray(side, dtype=np.float64) for side in (above, below)], axis=1)
    is_share = bool(((columns[:, 0] >= 0) & (columns[:, 0] <= columns[:, 1])).all())
    scored = np.ones(len(columns), dtype=np.bool_) if there is None else np.asarray(there)
    return SumFigure(columns, divided, scored, SHARE if is_share else ANY)


def divided(sums: Floats) -> Floats:
    """(m,): the first of two sums over the second. Args: sums: (m, 2)."""
    return sums[:, 0] / sums[:, 1]


def placed(figure: SumFigure, places: NDArray[np.int64], n: int) -> SumFigure:
    """The same, whose rows stand at these places of a set of n samples."""
    columns, there = np.zeros((n, figure.columns.shape[1])), np.zeros(n, dtype=np.bool_)
    columns[places], there[places] = figure.columns, figure.there
    return replace(figure, columns=columns, there=there)


def over_repeats(each: Sequence[SumFigure]) -> SumFigure:
    """The mean of a figure over the repeats in which it is defined; all over the same n samples."""
    if len(each) == 1:
        return each[0]
    ends = np.cumsum([one.columns.shape[1] for one in each])

    def mean(sums: Floats) -> Floats:
        parts = np.split(sums, ends[:-1], axis=1)
        table = np.stack([_defined(one.statistic, part) for one, part in zip(each, parts, strict=True)])
        return known_means(table)

    columns = np.concatenate([one.columns for one in each], axis=1)
    bounds = min(one.bounds[0] for one in each), max(one.bounds[1] for one in each)
    there = np.logical_or.reduce([one.there for one in each])
    return SumFigure(columns, mean, there, bounds, repeats=tuple(each))


def compared_sums(
    first: SumFigure, second: SumFigure, kept: Bools, groups: Numbers | None = None, *, seed: int = 0
) -> dict[str, Any]:
    """The document of `emotui compare` for a figure that is no mean over samples; first minus second.

    Args:
        kept: (n,) the samples that are compared; both sources have them.
        groups: (n,) the number of each sample's group.

    Returns:
        the names of `paired_report`. `mean_a` and `mean_b` are the figures themselves; `permutation_p` is of the
        exchange of both sources' answers to a sample or group; `wilcoxon_p` and `cohens_d` are null.
    """
    # It imports scipy.stats, which takes longer than anything that is shown before this is asked.
    from emotui.metrics.significance import smallest_difference

    x, y = first.columns[kept], second.columns[kept]
    own = None if groups is None else np.unique(groups[kept], return_inverse=True)[1].astype(np.int64)
    n, drawn = len(x), len(x) if own is None else int(own.max(initial=-1)) + 1
    if drawn == n:
        own = None
    a, b = first.over(kept), second.over(kept)
    off = score_differences(first.by_sample[kept], second.by_sample[kept])
    won, lost = int((off > 0).sum()), int((off < 0).sum())
    notes = dict.fromkeys(("wilcoxon_p", "cohens_d"), _NO_MEAN)
    document: dict[str, Any] = {"n": n, "mean_a": a, "mean_b": b, "mean_difference": None, "ci95": None}
    document |= {"wilcoxon_p": None, "cohens_d": None, "won": won, "lost": lost, "tied": n - won - lost}
    document |= {"smallest_difference": None, "permutation_p": None}
    if own is not None:
        document["groups"] = drawn
    of = "pairs" if own is None else "groups"
    told = {"mean_a": "the figure over all samples together, not a mean of theirs"}
    told["won"] = "samples whose own figure is above that of the other source"
    if a is None or b is None:
        notes |= dict.fromkeys(("mean_difference", "ci95", "permutation_p", "smallest_difference"), "undefined in one")
        return document | {"conventions": told, "notes": notes}
    document["mean_difference"] = a - b
    if drawn < 2:
        few = "there is one pair only" if n == 1 else "all pairs are of one group"
        notes |= dict.fromkeys(("ci95", "permutation_p", "smallest_difference"), few)
        return document | {"conventions": told, "notes": notes}
    both, apart = np.concatenate([x, y], axis=1), _apart(first, second)
    by = drawn_by(own, n)
    (sure,) = _intervals(both, apart, by, [[x, y]], _bounds(first, second), seed, RESAMPLES)
    document["ci95"] = None if sure.ends is None else list(sure.ends)
    if sure.note:
        notes["ci95"] = sure.note
    pseudo = pseudo_values(both, apart, own)
    test = exchanged(first, second, kept, groups, seed=seed)
    if test is not None:
        document["permutation_p"], tried = test
        told["permutation_p"] = f"two-sided, {tried} of both sources' answers over {of}"
    else:
        notes["permutation_p"] = "one source has more repeats than the other: answers cannot change sides"
    if len(pseudo) > 1:
        document["smallest_difference"] = smallest_difference(
            float(pseudo.std(ddof=1) / np.sqrt(len(pseudo))), len(pseudo)
        )
    told |= {
        "ci95": f"95% {sure.note}" if sure.t else convention(drawn, of, RESAMPLES, seed),
        "smallest_difference": "true difference found with a power of 0.8 at 5% (two-sided t-test of pseudo-values)",
    }
    return document | {"conventions": told, "notes": notes}


OF_RANKS = f"p by Mann and Whitney's U: fewer than {FEW_SAMPLES} samples, all with one value"


@dataclass(frozen=True, slots=True)
class Contrast:
    """A figure, or the difference of two sources' figures, in one part of a set less that in another.

    `inside`, `outside`: in either part; `low`, `high`: the 95% interval of `difference`; `p`: Welch's t-test. `note`:
    why there is no interval, or what has to be known of it.
    """

    n: int
    rest: int
    inside: float | None
    outside: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    note: str = ""


def contrasts(
    first: SumFigure,
    second: SumFigure | None,
    parts: Sequence[tuple[Bools, Bools]],
    groups: Numbers | None = None,
    *,
    seed: int = 0,
) -> list[Contrast]:
    """How far the first of each two parts is from the second one.

    The interval draws samples, or groups, of the whole set, each with all its rows of either part. The test is Welch's
    t-test of the pseudo-values that groups have in either part (Tukey 1958); those of a mean are the values themselves.

    Args:
        second: of another source: the contrast is of the difference, first less second (an interaction).
        parts: (n,) and (n,) of each contrast; no sample in both.
    """
    columns, apart = _beside(first, second), _apart(first, second)
    by, (least, greatest) = drawn_by(groups, len(columns)), _bounds(first, second)
    at_once = max(1, _WIDEST // (2 * columns.shape[1]))
    sure: list[Interval] = []
    for start in range(0, len(parts), at_once):
        block = parts[start : start + at_once]
        tables = [columns * side[:, None] for part in block for side in part]

        def differences(sums: Floats, n: int = len(block)) -> Floats:
            each = np.stack([apart(one) for one in np.split(sums, 2 * n, axis=1)], axis=1)
            return each[:, ::2] - each[:, 1::2]

        says = list(zip(tables[::2], tables[1::2], strict=True))
        bounds = least - greatest, greatest - least
        sure += _intervals(np.concatenate(tables, axis=1), differences, by, says, bounds, seed)
    found = []
    for (inside, outside), ends in zip(parts, sure, strict=True):
        ins, outs = (_known(apart(columns[side].sum(axis=0)[None])[0]) for side in (inside, outside))
        known = ins is not None and outs is not None
        low, high = (ends.low, ends.high) if known else (None, None)
        own = [
            pseudo_values(columns[side], apart, None if groups is None else groups[side]) for side in (inside, outside)
        ]
        found.append(
            Contrast(
                int(inside.sum()),
                int(outside.sum()),
                ins,
                outs,
                ins - outs if ins is not None and outs is not None else None,
                low,
                high,
                welch_p(own[0], own[1]) if known else None,
                "; ".join(filter(None, (ends.note, OF_RANKS if _few_alike(*own) else ""))) if known else "",
            )
        )
    return found


def intervals_within(
    first: SumFigure, second: SumFigure | None, parts: Sequence[Bools], groups: Numbers | None = None, *, seed: int = 0
) -> list[Interval]:
    """The 95% intervals of a figure, or of the difference of two sources, in each part. Args: parts: (n,) each."""
    columns, apart = _beside(first, second), _apart(first, second)
    by, found = drawn_by(groups, len(columns)), list[Interval]()
    at_once = max(1, _WIDEST // columns.shape[1])
    for start in range(0, len(parts), at_once):
        tables = [columns * part[:, None] for part in parts[start : start + at_once]]

        def each(sums: Floats, n: int = len(tables)) -> Floats:
            return np.stack([apart(one) for one in np.split(sums, n, axis=1)], axis=1)

        k = first.columns.shape[1]
        says = [[table] if second is None else [table[:, :k], table[:, k:]] for table in tables]
        found += _intervals(np.concatenate(tables, axis=1), each, by, says, _bounds(first, second), seed)
    return found


def pseudo_values(columns: Floats, statistic: Statistic, groups: Numbers | None = None) -> Floats:
    """(m,): what each sample, or group, says of a figure: m times the figure less m - 1 times it without that one.

    Of a mean over samples these are the values themselves. Those without which the figure is undefined are left out.

    Args:
        columns: (n, k); groups: (n,).

    Source: Tukey 1958.
    """
    x = columns if groups is None else grouped_sums(columns, np.unique(groups, return_inverse=True)[1].astype(np.int64))
    m = len(x)
    if m < 2:
        return np.zeros(0)
    whole = x.sum(axis=0)
    found = m * _defined(statistic, whole[None])[0] - (m - 1) * _defined(statistic, whole - x)
    known: Floats = found[~np.isnan(found)]
    return known


def welch_p(inside: Floats, outside: Floats) -> float | None:
    """Two-sided; None where either side has fewer than two values, or none of both varies.

    Where a side of fewer than `FEW_SAMPLES` values does not vary, the p is that of Mann and Whitney's U (as scipy has
    it): Welch's t takes two texts that happen to be right for a part without variance, beyond any doubt.
    """
    from scipy.stats import mannwhitneyu, ttest_ind_from_stats

    sides = (inside, outside)
    if min(map(len, sides)) < 2 or all(np.ptp(side) <= EQUAL for side in sides):
        return None
    if _few_alike(*sides):
        return float(mannwhitneyu(*(side.round(9) for side in sides)).pvalue)  # rounding makes no ranks
    # From moments, because scipy warns of a side that does not vary.
    moments = [moment for side in sides for moment in (side.mean(), side.std(ddof=1), len(side))]
    return float(ttest_ind_from_stats(*moments, equal_var=False).pvalue)


def _few_alike(*sides: Floats) -> bool:
    return any(2 <= len(side) < FEW_SAMPLES and np.ptp(side) <= EQUAL for side in sides)


def _apart(first: SumFigure, second: SumFigure | None) -> Statistic:
    """From the sums of the first source, and of the second beside them, to the figure or the difference of both."""
    k = first.columns.shape[1]
    if second is None:
        return lambda sums: _defined(first.statistic, sums)
    other = second.statistic
    return lambda sums: _defined(first.statistic, sums[:, :k]) - _defined(other, sums[:, k:])


def _beside(first: SumFigure, second: SumFigure | None) -> Floats:
    """(n, k): the columns of one source, or of both side by side."""
    return first.columns if second is None else np.concatenate([first.columns, second.columns], axis=1)


def _bounds(first: SumFigure, second: SumFigure | None) -> Bounds:
    """Of a figure, or of the difference of two."""
    if second is None:
        return first.bounds
    return first.bounds[0] - second.bounds[1], first.bounds[1] - second.bounds[0]


def _intervals(
    columns: Floats,
    statistic: Statistic,
    by: Drawn,
    says: Sequence[Sequence[Floats]],
    bounds: Bounds,
    seed: int,
    resamples: int | None = None,
) -> list[Interval]:
    """Of the figures, from (m, k) sums to (m,) or (m, figures).

    Args:
        says: of each figure the (n, some) columns that its sides are of. The side in which fewer samples, or groups,
            have a say decides whether these are few, as the fewer degrees of freedom do in Welch's test.
    """
    made = estimates(columns, statistic, by, seed=seed, resamples=resamples, bounds=bounds)
    least = [min(by.holding(side.any(axis=1)) for side in sides) for sides in says]
    return [interval_of(replace(one, n=n)) for one, n in zip(made, least, strict=True)]


def _defined(statistic: Statistic, sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        values = statistic(sums)
    return np.where(np.isfinite(values), values, np.nan)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def made_of(parts: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> dict[str, Callable[[], SumFigure]]:
    """Means and rates by their names, each made when it is asked for. Args: parts: (n,) above and below the line."""
    return {name: partial(ratio, above, below) for name, (above, below) in parts.items()}


def of_numbers_sums(gold: ArrayLike, said: ArrayLike, there: ArrayLike) -> dict[str, Callable[[], SumFigure]]:
    """Pearson's correlation, Lin's concordance, RMSE and MAE. Args: gold, said, there: (n,); there: both are given."""
    known = np.asarray(there, dtype=np.bool_)
    x, y = (np.asarray(side, dtype=np.float64) for side in (gold, said))
    # Squares of numbers far from 0 would lose their last digits, and those of great ones overflow. No figure changes
    # where all numbers move alike; where they grow alike, errors do.
    middle = float(x[known].mean()) if known.any() else 0.0
    scale = float(np.ptp(np.concatenate([x[known], y[known]]))) if known.any() else 0.0
    scale = scale if scale > 0 else 1.0
    x, y = (np.where(known, (side - middle) / scale, 0.0) for side in (x, y))
    columns = np.stack([known.astype(np.float64), x, y, x * x, y * y, x * y, (x - y) ** 2, np.abs(x - y)], axis=1)

    def moments(sums: Floats) -> tuple[Floats, ...]:
        mx, my, xx, yy, xy = (sums[:, at] / sums[:, 0] for at in range(1, 6))
        return xx - mx**2, yy - my**2, xy - mx * my, (mx - my) ** 2

    def pearson(sums: Floats) -> Floats:
        vx, vy, cov, _ = moments(sums)
        found: Floats = cov / np.sqrt(vx * vy)
        return found

    def ccc(sums: Floats) -> Floats:
        vx, vy, cov, off = moments(sums)
        found: Floats = 2 * cov / (vx + vy + off)
        return found

    statistics: dict[str, Statistic] = {
        "pearson": pearson,
        "ccc": ccc,
        "rmse": lambda sums: np.sqrt(sums[:, 6] / sums[:, 0]) * scale,
        "mae": lambda sums: sums[:, 7] / sums[:, 0] * scale,
    }
    least = {"pearson": -1.0, "ccc": -1.0}
    return {
        name: partial(SumFigure, columns, statistic, known, (least.get(name, 0.0), 1.0 if name in least else np.inf))
        for name, statistic in statistics.items()
    }
