"""How sure a figure is: bootstrap over samples, or over the groups that samples share (a passage, a post, an original).

Samples of one group are drawn together, because they do not vary apart. Columns (sources, metrics) share the draws, so
the difference of two columns' resampled means is the resampled mean of their paired differences.

An interval is made from the `Replicates` of a figure: its value over all groups, with each left out, and over
resamples. Any figure of sums over samples has them (`estimates`); a mean, a rate or a difference of these (`ratios`).
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.figure import LEVEL
from emotui.metrics.figure import Interval as Interval
from emotui.metrics.states import Floats

Numbers = NDArray[np.int64]
Statistic = Callable[[Floats], Floats]
"""From sums (m, k) of k columns to a figure of each, (m,), or to several, (m, figures); NaN where one is undefined."""

RESAMPLES = 10_000
"""For one comparison."""

BESIDE = 2000
"""For intervals beside many figures; the ends of an interval then waver by about a fiftieth of its length."""

FEW_GROUPS = 20
FEW_SAMPLES = 30
"""Below so many groups, or samples that share nothing, an interval is Student's t."""

FEW_OF_DISTANCES = 100
"""Samples, or groups, below which a figure that adds up distances, such as a calibration error, has no interval."""

BIAS = 0.5
"""Standard deviations by which the median of resamples may be off a figure before they say nothing of it."""

BIAS_OF_DISTANCES = 0.25
"""The same of a figure that adds up distances, such as a calibration error."""

SKEW = 0.04
"""Acceleration from which an interval is said to rest on few samples."""

EQUAL = 1e-12
"""Scores that are no farther apart are equal: what is left is rounding."""

PARTS = 2000
"""Parts that are left out, one at a time, at most."""

_DRAWS = 40_000_000
_FEWEST = 200
_BLOCK = 1 << 18  # draws held at once
_KEPT = 8_000_000  # of so many draws the counts are kept, four times at most: 32 MB
_LOOKED_UP = 4  # so few columns are added up faster draw by draw than by how often each row was drawn


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn: `n` groups, and (rows,) which of them each row is of.

    `grouped`: some groups have several rows. `parts`: how many are left out at most, one at a time: each group, or of
    very many groups equal shares of them.
    """

    numbers: Numbers
    n: int
    grouped: bool = False
    parts: int = PARTS

    @property
    def resamples(self) -> int:
        return resamples_for(self.n)

    @property
    def blocks(self) -> int:
        return min(self.n, self.parts)

    def rows(self, places: ArrayLike) -> "Drawn":
        """Of the rows at these places; what is drawn stays the same."""
        return replace(self, numbers=self.numbers[np.asarray(places, dtype=np.int64)])

    def holding(self, has: ArrayLike) -> int:
        """How many groups have a row of which this is so, or is not 0. Args: has: (rows,)."""
        return int(np.count_nonzero(np.bincount(self.numbers[np.asarray(has) != 0], minlength=self.n)))


@dataclass(frozen=True, slots=True)
class Replicates:
    """A figure over all groups, with parts left out, and over resamples; NaN where it is undefined.

    Attributes:
        left_out: (parts,), each part a group or an equal share of very many.
        resampled: (resamples,).
        n: how many groups have a say in it.
        grouped: whether these are groups of several samples.
        bounds: the least and the greatest value that there can be.
        distances: it adds up distances, as a calibration error does: chance alone makes it greater.
        caution: what has to be known of its interval besides.
    """

    whole: float
    left_out: Floats
    resampled: Floats
    n: int
    grouped: bool = False
    bounds: tuple[float, float] = (-np.inf, np.inf)
    distances: bool = False
    caution: str = ""


def resamples_for(n: int, wanted: int = BESIDE) -> int:
    """How many resamples of n groups are drawn where time counts: as many as wanted, fewer above 20,000 groups."""
    return max(min(wanted, _FEWEST), min(wanted, _DRAWS // max(n, 1)))


def group_numbers(groups: Sequence[Hashable | None]) -> Numbers:
    """(n,): the number of each sample's group, from 0, in the order in which they come; None is a group of its own."""
    if all(group is None for group in groups):
        return np.arange(len(groups), dtype=np.int64)
    seen: dict[Hashable, int] = {}
    return np.array(
        [seen.setdefault((place,) if group is None else ("", group), len(seen)) for place, group in enumerate(groups)],
        dtype=np.int64,
    )


def drawn(groups: Sequence[Hashable | None]) -> Drawn:
    """Samples, or groups of those that share something. Args: groups: as of `group_numbers`."""
    return drawn_by(group_numbers(groups))


def drawn_by(groups: Numbers | None, rows: int = 0) -> Drawn:
    """The same by the numbers of the groups; None: each of so many rows is its own."""
    numbers = np.arange(rows, dtype=np.int64) if groups is None else groups
    n = int(numbers.max(initial=-1)) + 1
    return Drawn(numbers, n, n < len(numbers))


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


def score_differences(first: ArrayLike, second: ArrayLike) -> Floats:
    """First less second, `snapped` by the size of the scores: what every paired test, sign and order is of.

    Args:
        first, second: (n,); NaN where either is, which stays.
    """
    a, b = (np.asarray(side, dtype=np.float64) for side in (first, second))
    return snapped(a - b, float(np.fmax.reduce(np.abs(np.concatenate([a, b])), initial=1.0)))


def with_ties(values: ArrayLike) -> Floats:
    """Values to be ranked: those that are equal but for rounding are equal. Args: values: (n,), finite.

    Returns:
        (n,), as shares of the greatest size.
    """
    x = np.asarray(values, dtype=np.float64)
    size = float(np.abs(x).max(initial=0.0))
    return snapped(x / size) if size > 0 else x


def draws(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.int32]]:
    """Blocks (some, n) of which of n groups are drawn, with replacement, until there are `resamples` rows."""
    draw = np.random.default_rng(seed)
    rows = _rows_at_once(n)
    for start in range(0, resamples, rows):
        yield draw.integers(0, n, (min(rows, resamples - start), n), dtype=np.int32)


def _rows_at_once(n: int) -> int:
    return max(1, _BLOCK // max(n, 1))


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
    if not n or not resamples:
        return sums
    varied = []
    for column, places in _alike(x):
        if _is_steady(column):
            sums[:, places] = n * column[:1]
        else:
            varied.append((column, places))
    if not varied:
        return sums
    together = np.stack([column for column, _ in varied], axis=1)
    start = 0
    for added in _added_up(together, resamples, seed):
        for at, (_, places) in enumerate(varied):
            sums[start : start + len(added), places] = added[:, at, None]
        start += len(added)
    return sums


def _added_up(table: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks (some, k) of the sums of the rows that are drawn. Args: table: (n, k)."""
    n = len(table)
    if n * resamples <= _KEPT:
        yield from (block @ table for block in draw_counts(n, resamples, seed))
        return
    # Rows that are alike are counted; where hardly any are, few columns are added up faster draw by draw.
    kinds, kind_of = _kinds(table)
    by_draw = kind_of is None and table.shape[1] <= _LOOKED_UP
    for drawn in draws(n, resamples, seed):
        if by_draw:
            wide = drawn.astype(np.intp)  # numpy would make it so for each column
            yield np.stack([column.take(wide).sum(axis=1) for column in np.ascontiguousarray(table.T)], axis=1)
        else:
            yield _counted(drawn if kind_of is None else kind_of.take(drawn), len(kinds)) @ kinds


def draw_counts(n: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks (some, n) of how often each of n groups is drawn, of `draws`.

    Of small numbers all are kept for whoever asks next: many figures of one dataset share the draws.
    """
    if n * resamples > _KEPT:
        yield from (_counted(drawn, n) for drawn in draws(n, resamples, seed))
        return
    kept = _kept_counts(n, resamples, seed)
    rows = _rows_at_once(n)
    yield from (kept[start : start + rows].astype(np.float64) for start in range(0, resamples, rows))


@lru_cache(maxsize=4)
def _kept_counts(n: int, resamples: int, seed: int) -> NDArray[Any]:
    """(resamples, n), a byte each unless one is drawn more than 255 times."""
    counted = [_counted(drawn, n) for drawn in draws(n, resamples, seed)]
    most = max((block.max(initial=0) for block in counted), default=0)
    return np.concatenate([block.astype(np.min_scalar_type(int(most))) for block in counted])


def _counted(drawn: NDArray[Any], n: int) -> Floats:
    """(rows, n): how often each of n is drawn. A row at a time, whose counts stay in the processor's cache."""
    return np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(np.float64)


def _alike(x: Floats) -> list[tuple[Floats, list[int]]]:
    """The different columns, each with the places at which it stands: many figures have the number of samples below."""
    found: dict[bytes, tuple[Floats, list[int]]] = {}
    for place in range(x.shape[1]):
        column = np.ascontiguousarray(x[:, place])
        found.setdefault(column.tobytes(), (column, []))[1].append(place)
    return list(found.values())


def _kinds(table: Floats) -> tuple[Floats, NDArray[Any] | None]:
    """The different rows of a table (n, k), and which of them each of its rows is; None: most stand there once.

    Labels that are right or wrong make few rows; counting those takes a fraction of what adding up all rows does.
    """
    wide = np.ascontiguousarray(table)
    as_bytes = wide.view(np.dtype((np.void, wide.dtype.itemsize * wide.shape[1]))).ravel()
    _, first, kind_of = np.unique(as_bytes, return_index=True, return_inverse=True)
    if 2 * len(first) > len(table):
        return table, None
    return table[first], kind_of.astype(np.min_scalar_type(len(first)))


def _is_steady(column: Floats) -> bool:
    """Is its sum the same whatever is drawn?"""
    return bool((column == column[:1]).all() or np.isnan(column).all())


def grouped_sums(columns: Floats, groups: Numbers, n_groups: int | None = None) -> Floats:
    """(groups, k): each column added up over the rows of each group. Args: columns: (n, k); n_groups: as above."""
    n = n_groups if n_groups is not None else int(groups.max()) + 1 if len(groups) else 0
    return np.stack([np.bincount(groups, column, minlength=n) for column in columns.T], axis=1)


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
    return f"95% BCa bootstrap: {resamples:,} resamples of {n:,} {of}, seed {seed}; Student's t where these are few"


def replicated_sums(
    columns: ArrayLike, by: Drawn, *, seed: int = 0, resamples: int | None = None, kinds: Numbers | None = None
) -> Floats:
    """Sums of columns over all groups, with each part left out, and over resamples.

    Args:
        columns: (rows, k), finite; with `kinds` the different rows that there are.
        kinds: (rows,) which of them each row is: the table of a million rows need not stand in memory then.

    Returns:
        (1 + parts + resamples, k), in this order.
    """
    x = np.asarray(columns, dtype=np.float64)
    if kinds is not None:
        often = 2 * len(x) <= len(kinds) and by.n * (by.resamples if resamples is None else resamples) > _KEPT
        if often and np.bincount(by.numbers, minlength=by.n).max() == 1:
            return _sums_of_kinds(x, kinds, by, seed, by.resamples if resamples is None else resamples)
        x = x[kinds]
    x = grouped_sums(x, by.numbers, by.n)
    whole = x.sum(axis=0)
    parts = x if by.blocks == by.n else grouped_sums(x, np.arange(by.n) % by.blocks, by.blocks)
    again = resampled_sums(x, None, seed, by.resamples if resamples is None else resamples)
    return np.concatenate([whole[None], whole - parts, again])


def _sums_of_kinds(columns: Floats, kinds: Numbers, by: Drawn, seed: int, resamples: int) -> Floats:
    """`replicated_sums` by how often each kind of row is there, of groups that have a row at most."""
    n, k = columns.shape
    table = np.concatenate([columns, np.zeros((1, k))])  # the last: no row
    of_group = np.full(by.n, n, dtype=np.min_scalar_type(n))
    of_group[by.numbers] = kinds
    whole = np.bincount(of_group, minlength=n + 1) @ table
    block = np.arange(by.n) % by.blocks
    parts = np.stack([np.bincount(block, column[of_group], minlength=by.blocks) for column in table.T], axis=1)
    again = [_counted(of_group.take(drawn), n + 1) @ table for drawn in draws(by.n, resamples, seed)]
    return np.concatenate([whole[None], whole - parts, *again])


def replicates(values: Floats, by: Drawn, n: int | None = None, **of: Any) -> Replicates:
    """A figure from its values over `replicated_sums`.

    Args:
        values: (1 + parts + resamples,).
        n, of: see `Replicates`; every group with a row, unless said.
    """
    start = 1 + by.blocks
    finite = np.where(np.isfinite(values), values, np.nan)
    n = by.holding(np.ones(len(by.numbers))) if n is None else n
    return Replicates(float(finite[0]), finite[1:start], finite[start:], n, by.grouped, **of)


def estimates(
    columns: ArrayLike,
    statistic: Statistic,
    by: Drawn,
    *,
    seed: int = 0,
    resamples: int | None = None,
    n: int | None = None,
    sums: Floats | None = None,
    **of: Any,
) -> list[Replicates]:
    """The replicates of figures that are made of sums over samples, such as F1, a correlation or a difference of rates.

    Args:
        columns: (rows, k), finite; of two sources side by side, which shares the draws. Not looked at beside `sums`.
        statistic: from (m, k) sums to (m,) or (m, figures).
        n, of: see `Replicates`.
        sums: what `replicated_sums` gives for these columns, where it is at hand.
    """
    if sums is None:
        sums = replicated_sums(columns, by, seed=seed, resamples=resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = statistic(sums)
    table = values[:, None] if values.ndim == 1 else values
    return [replicates(column, by, n, **of) for column in table.T]


def ratio_replicates(
    parts: Sequence[tuple[ArrayLike, ArrayLike]],
    by: Drawn,
    *,
    seed: int = 0,
    resamples: int | None = None,
    sums: Floats | None = None,
    bounds: tuple[float, float] | None = None,
) -> list[Replicates]:
    """Of figures that are sums over sums: means, rates, precision, recall.

    Args:
        parts: as of `ratio_intervals`.
        sums: what `replicated_sums` gives for `ratio_columns`, where it is at hand.
        bounds: the least and the greatest value that there can be; None: 0 and 1 of shares, as which all count whose
            values lie in between. Differences have bounds of their own.
    """
    if sums is None:
        sums = replicated_sums(ratio_columns(parts), by, seed=seed, resamples=resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = sums[:, ::2] / sums[:, 1::2]
    found = []
    for at, part in enumerate(parts):
        above, below = (np.asarray(side, dtype=np.float64) for side in part)
        share = bool(((above >= 0) & (above <= below)).all())
        guessed = (0.0, 1.0) if share else (-np.inf, np.inf)
        found.append(replicates(values[:, at], by, by.holding(below), bounds=guessed if bounds is None else bounds))
    return found


def ratio_columns(parts: Sequence[tuple[ArrayLike, ArrayLike]]) -> Floats:
    """(rows, 2 k): what is added up above and below the line of k ratios, in turn."""
    return np.stack([np.asarray(side, dtype=np.float64) for part in parts for side in part], axis=1)


def mean_replicates(
    values: ArrayLike,
    by: Drawn,
    *,
    seed: int = 0,
    resamples: int | None = None,
    bounds: tuple[float, float] | None = None,
) -> list[Replicates]:
    """Of the means of columns. Args: values: (rows, k); NaN where a row has none. bounds: as of `ratio_replicates`."""
    x = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(x)
    parts = [(np.where(there[:, at], x[:, at], 0.0), there[:, at]) for at in range(x.shape[1])]
    return ratio_replicates(parts, by, seed=seed, resamples=resamples, bounds=bounds) if parts else []


def averaged(each: Sequence[Replicates]) -> Replicates:
    """Of repeats, or annotators, over the same draws: the mean of those that are defined, over as many resamples."""
    if len(each) == 1:
        return each[0]
    least = min(len(one.resampled) for one in each)
    first = max(each, key=lambda one: one.n)
    whole, left, again = (
        known_means(table)
        for table in (
            np.array([[one.whole] for one in each]),
            np.stack([one.left_out for one in each]),
            np.stack([one.resampled[:least] for one in each]),
        )
    )
    caution = next((one.caution for one in each if one.caution), "")
    return replace(first, whole=float(whole[0]), left_out=left, resampled=again, caution=caution)


def known_means(table: Floats) -> Floats:
    """(k,): the mean of each column over what is not NaN in it. Args: table: (n, k)."""
    known = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0)
    return means


def interval_of(figure: Replicates, level: float = LEVEL) -> Interval:
    """The 95% interval of a figure: BCa, or Student's t where there are few groups; it always holds the figure.

    BCa takes the quantiles of resamples at levels that are moved for the bias of the figure (how many resamples are
    below it) and for its skew (the acceleration, by leaving groups out). Levels are those of t, not of the normal
    distribution, which makes up for resamples of n groups being narrower by sqrt((n - 1) / n).

    Student's t, with n - 1 degrees of freedom and the jackknife's error, over fewer than `FEW_GROUPS` groups, or fewer
    than `FEW_SAMPLES` samples that share nothing. Of distances there is none over fewer than `FEW_OF_DISTANCES`.

    Sources: Efron 1987; DiCiccio and Efron 1996, sections 2 and 3; Hesterberg 2015, section 3.2 (expanded levels).
    """
    from scipy.special import ndtr, ndtri, stdtrit  # a third of a second to import, and nobody asks before this

    unit, few = ("groups", FEW_GROUPS) if figure.grouped else ("samples", FEW_SAMPLES)
    if np.isnan(figure.whole):
        return Interval()
    if figure.n < 2:
        return Interval(note=f"no interval: it is over one {unit[:-1]} alone")
    edge = float(stdtrit(figure.n - 1, (1 + level) / 2))
    if figure.n < FEW_OF_DISTANCES and figure.distances:
        why = "no interval: chance alone makes such a figure greater, and nobody can tell by how much"
        return Interval(note=f"{why} of {figure.n} {unit}")
    if figure.n < few:
        return _by_t(figure, edge, told_of_t(figure.n, figure.grouped))
    again = figure.resampled[~np.isnan(figure.resampled)]
    if 2 * len(again) < len(figure.resampled) or not len(again):
        return Interval(note="no interval: undefined in more than half of the resamples")
    rounding = EQUAL * max(1.0, abs(figure.whole))
    if again.max() - again.min() <= rounding:
        return Interval(note="no interval: no resample differs, which does not make it certain")
    below = float((again < figure.whole - rounding).mean() + (np.abs(again - figure.whole) <= rounding).mean() / 2)
    shift = float(ndtri(below))
    if not abs(shift) <= (BIAS_OF_DISTANCES if figure.distances else BIAS):
        side, share = ("above", 1 - below) if below < 0.5 else ("below", below)
        why = f"no interval: {share:.0%} of resamples lie {side} it, so that they say little of how far off it is"
        return Interval(note=why)
    skew = _acceleration(figure.left_out)
    edge *= float(np.sqrt(figure.n / (figure.n - 1)))
    moved = np.array([shift - edge, shift + edge])
    low, high = np.quantile(again, ndtr(shift + moved / np.maximum(1 - skew * moved, EQUAL))).tolist()
    note = figure.caution
    if abs(skew) >= SKEW:
        note = (
            f"{note}; " * bool(note)
            + f"few {unit} decide it: the true figure may lie outside more than 5 of 100 such intervals"
        )
    return Interval(min(low, figure.whole), max(high, figure.whole), note)


def told_of_t(n: int, grouped: bool) -> str:
    """What is said of an interval over so few groups, or samples."""
    return (
        f"Student's t over {n} groups: fewer than {FEW_GROUPS}"
        if grouped
        else (f"Student's t over {n} samples: fewer than {FEW_SAMPLES}")
    )


def intervals_of(figures: Sequence[Replicates]) -> list[Interval]:
    """Of each."""
    return [interval_of(figure) for figure in figures]


def _by_t(figure: Replicates, edge: float, note: str) -> Interval:
    known = figure.left_out[~np.isnan(figure.left_out)]
    # Parts that have no say in the figure leave it as it is, and add nothing.
    said = known[np.abs(known - figure.whole) > EQUAL * max(1.0, abs(figure.whole))]
    if not len(said):
        return Interval(note="no interval: the same figure whatever is left out")
    idle = max(figure.n - len(said), 0)
    middle = (said.sum() + idle * figure.whole) / (len(said) + idle)
    squares = ((said - middle) ** 2).sum() + idle * (figure.whole - middle) ** 2
    reach = edge * float(np.sqrt((figure.n - 1) / figure.n * squares))
    low, high = max(figure.whole - reach, figure.bounds[0]), min(figure.whole + reach, figure.bounds[1])
    note = f"{note}; {figure.caution}" if figure.caution else note
    return Interval(min(low, figure.whole), max(high, figure.whole), note, t=True)


def _acceleration(left_out: Floats) -> float:
    """A sixth of the skewness of what each part adds to the figure (Efron 1987, equation 6.6, by the jackknife)."""
    known = left_out[~np.isnan(left_out)]
    away = known.mean() - known if len(known) else known
    squares = float((away**2).sum())
    return float((away**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0


def ratio_intervals(
    parts: Sequence[tuple[ArrayLike, ArrayLike]], groups: Numbers | None = None, *, seed: int = 0
) -> list[Interval]:
    """Intervals of figures that are sums over sums: means, rates, precision, recall.

    Args:
        parts: for each figure (n,) numerators and (n,) denominators, one of each a sample; 0 over 0 where a sample
            has no say in it.
        groups: (n,), as of `resampled_sums`.
    """
    if not parts:
        return []
    by = drawn_by(groups, len(np.asarray(parts[0][0])))
    return intervals_of(ratio_replicates(parts, by, seed=seed))
