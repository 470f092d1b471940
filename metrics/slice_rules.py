"""Rules of one or two conditions under which values are worst: found on half of the samples, tested on the others.

A rule that was picked from thousands because it looks bad will look bad on the samples that it was picked on. So half
of the samples, drawn by seed, only picks; the other half, which nobody has looked at, says whether it is so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import ttest_ind

from emotui.metrics.paired import group_means
from emotui.metrics.resampling import Numbers, snapped
from emotui.metrics.significance import Correction, adjusted_known
from emotui.metrics.states import Floats

Bools = NDArray[np.bool_]
Direction = Literal["low", "high", "both"]

FEWEST = 10
"""Samples that a rule has to hold of, and not to hold of, in either half."""

MOST = 10
"""Rules that are tested: each one more makes the corrected p-values of all greater."""

ALIKE = 0.8
"""Two rules that hold of more of the same samples than this share of those of either are one."""

_LOOKED_AT = 2000


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, over the half on which it is tested.

    Attributes:
        columns: the one or two columns that are both true where it holds.
        found: the difference from the rest on the half on which it was found.
        n: samples that it holds of in the other half; `mean` of them, and `rest` of the samples there beside them.
        difference: `mean` less `rest`; `low` and `high` bound it (95%, Welch).
        p: one-sided, of a difference in the direction that was found; None where it cannot be tested.
        adjusted: `p`, corrected over all rules that were tested.
    """

    columns: tuple[int, ...]
    found: float
    n: int
    mean: float
    rest: float
    low: float | None
    high: float | None
    p: float | None
    adjusted: float | None

    @property
    def difference(self) -> float:
        """How far its samples are from the rest."""
        return self.mean - self.rest


def find_rules(
    values: ArrayLike,
    columns: ArrayLike,
    facets: Sequence[int],
    groups: Numbers | None = None,
    *,
    direction: Direction = "low",
    seed: int = 0,
    fewest: int = FEWEST,
    most: int = MOST,
    by: Correction = "holm",
) -> list[Rule]:
    """Rules whose samples have lower (or higher) values than all others, that of the smallest p first.

    Every column, and every two columns of different facets, is a rule. On the first half they are ordered by Welch's t
    of what a rule holds of against the rest; of two conditions only where their samples are further from the rest than
    those of either alone, and of rules that hold of nearly the same samples, or of nearly the rest of another's, only
    the first. The `most` that stand first
    are tested on the second half by Welch's t-test. Samples of one group are in the same half, and count there once on
    either side of a rule, by their mean.

    Args:
        values: (n,); NaN where a sample has none, which leaves it out.
        columns: (n, k), which conditions hold.
        facets: (k,) of which facet each condition is; two of one facet make no rule.
        groups: (n,) as of `resampled_sums`.
        direction: which rules are sought: where values are lower than elsewhere, higher, or either.

    Returns:
        none where neither half has enough samples.

    Source: the search by effect and size of Slice Finder (Chung et al. 2019), with an honest half as of Athey and
    Imbens 2016.
    """
    v, x = np.asarray(values, dtype=np.float64), np.asarray(columns, dtype=np.bool_)
    there = ~np.isnan(v)
    v, x = v[there], x[there]
    g = np.arange(len(v)) if groups is None else np.unique(groups[there], return_inverse=True)[1]
    first = _half(g, seed)
    picked = _picked(v[first], x[first], np.asarray(facets), direction, fewest, most)
    tested = [_tested(v[~first], x[~first], g[~first], pair, found, fewest) for pair, found in picked]
    kept = [rule for rule in tested if rule is not None]
    corrected = adjusted_known([rule.p for rule in kept], by)
    rules = [
        Rule(rule.columns, rule.found, rule.n, rule.mean, rule.rest, rule.low, rule.high, rule.p, corrected[at])
        for at, rule in enumerate(kept)
    ]
    return sorted(rules, key=lambda rule: (rule.p is None, rule.p or 0.0))


def _half(groups: Numbers, seed: int) -> Bools:
    """(n,) whether a sample is in the half on which rules are found: half of the groups, drawn without order."""
    n = int(groups.max()) + 1 if len(groups) else 0
    order = np.random.default_rng(seed).permutation(n)
    chosen = np.zeros(n, dtype=np.bool_)
    chosen[order[: n // 2]] = True
    found: Bools = chosen[groups]
    return found


def _picked(
    v: Floats, x: Bools, facets: Numbers, direction: Direction, fewest: int, most: int
) -> Iterator[tuple[tuple[int, ...], float]]:
    """The columns of the rules that stand first, and how far their samples are from the rest."""
    n, k = x.shape
    if n < 2 * fewest or not k:
        return
    ones = x.astype(np.float64)
    counts = ones.T @ ones
    sums, squares = ones.T @ (ones * v[:, None]), ones.T @ (ones * (v * v)[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = n - counts
        inside, outside = sums / counts, (v.sum() - sums) / rest
        spread = _variance(squares, inside, counts) / counts
        spread += _variance((v * v).sum() - squares, outside, rest) / rest
        difference = inside - outside
        t = difference / np.sqrt(spread)
    sided = {"low": -t, "high": t, "both": np.abs(t)}[direction]
    reach = {"low": -difference, "high": difference, "both": np.abs(difference)}[direction]
    single = np.eye(k, dtype=np.bool_)
    fits = (counts >= fewest) & (rest >= fewest) & (sided > 0)
    fits &= single | (facets[:, None] != facets[None, :])
    reach = snapped(reach)  # of two conditions that hold of the samples of one alone, neither is further
    alone = np.diag(reach)
    enough = np.diag(counts) >= fewest
    further = (reach > np.where(enough, alone, -np.inf)[:, None]) & (reach > np.where(enough, alone, -np.inf)[None, :])
    fits &= (single | further) & np.triu(np.ones((k, k), dtype=np.bool_))
    rows, cols = np.nonzero(fits)
    order = np.argsort(-sided[rows, cols], kind="stable")[:_LOOKED_AT]
    chosen: list[Bools] = []
    for i, j in zip(rows[order].tolist(), cols[order].tolist(), strict=True):
        holds = x[:, i] & x[:, j]
        if any(_alike(holds, other) or _alike(~holds, other) for other in chosen):
            continue
        chosen.append(holds)
        yield ((i,) if i == j else (i, j)), float(difference[i, j])
        if len(chosen) == most:
            return


def _alike(one: Bools, other: Bools) -> bool:
    return bool((one & other).sum() > ALIKE * (one | other).sum())


def _variance(squares: Floats, mean: Floats, n: Floats) -> Floats:
    """(k, k) with n - 1, from sums of squares."""
    found: Floats = np.maximum(squares - n * mean * mean, 0.0) / (n - 1)
    return found


def _tested(v: Floats, x: Bools, groups: Numbers, pair: tuple[int, ...], found: float, fewest: int) -> Rule | None:
    """A rule over the half on which it was not found; None where it holds of too few samples, or of too many.

    Where both sides are without variance Welch's t has no p: then it is the chance of just this split.
    """
    holds = np.logical_and.reduce(x[:, list(pair)], axis=1)
    n = int(holds.sum())
    if n < fewest or len(v) - n < fewest:
        return None
    inside, outside = group_means(v[holds], groups[holds]), group_means(v[~holds], groups[~holds])
    mean, rest = float(v[holds].mean()), float(v[~holds].mean())
    if len(inside) < 2 or len(outside) < 2:
        return Rule(pair, found, n, mean, rest, None, None, None, None)
    if np.ptp(inside) == 0 and np.ptp(outside) == 0:
        apart = (mean < rest) if found < 0 else (mean > rest)
        p = 1 / comb(len(inside) + len(outside), len(inside)) if apart else 1.0
        return Rule(pair, found, n, mean, rest, None, None, p, None)
    test = ttest_ind(inside, outside, equal_var=False, alternative="less" if found < 0 else "greater")
    sure = ttest_ind(inside, outside, equal_var=False).confidence_interval()
    return Rule(pair, found, n, mean, rest, float(sure.low), float(sure.high), float(test.pvalue), None)
