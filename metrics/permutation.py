"""Is one source's F1 over a whole set greater than another's? A permutation test: whose answer is whose is exchanged.

Macro F1 is no mean over samples, so that no test of pairs fits it. A sample's two answers (those of a whole group,
where samples share one) change sides by chance; under the hypothesis that the sources are alike that changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.resampling import Numbers, grouped_sums
from emotui.metrics.states import Floats, all_vectors

PERMUTATIONS = 10_000
_ALL = 13  # up to so many groups whose answers differ, all 2^m exchanges are tried
_BLOCK = 1 << 20
_SLACK = 1e-9  # sums in another order are equal but for this

Average = Literal["macro", "micro"]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class F1Test:
    """`difference`: first minus second. `exact`: all exchanges were tried, else `permutations` were drawn."""

    difference: float
    p: float
    exact: bool
    permutations: int


def one_hot(labels: ArrayLike, n_labels: int) -> Bools:
    """(n, n_labels): one label a sample as a set of labels; a number below 0 is no label."""
    said: Bools = np.asarray(labels)[:, None] == np.arange(n_labels)
    return said


def f1_of_sums(hits: Floats, given: Floats, average: Average, known: ArrayLike | None = None) -> Floats:
    """F1 by label and then averaged (0 for a label that is nowhere), or pooled over all labels.

    Args:
        hits: (..., k) true positives.
        given: (..., k) how often gold and predicted say the label, added up.
        known: (k,) the labels that are somewhere in the whole set. One of these that a resample happens to lack is left
            out of the mean there; it would pull macro F1 down by a share that it has in no set of this size.
    """
    if average == "micro":
        hits, given = hits.sum(axis=-1, keepdims=True), given.sum(axis=-1, keepdims=True)
    each = np.divide(2 * hits, given, out=np.zeros(np.broadcast(hits, given).shape), where=given > 0)
    counted = each.shape[-1] - (0 if known is None else ((given <= 0) & np.asarray(known)).sum(axis=-1))
    mean: Floats = each.sum(axis=-1) / counted
    return mean


def weighted_f1_of_sums(hits: Floats, given: Floats, there: Floats) -> Floats:
    """F1 by label and then averaged, each label as often as it is gold; NaN where none is.

    Args:
        hits: (..., k) true positives; given, there: (..., k) how often predicted and gold say the label.
    """
    size = given + there
    each = np.divide(2 * hits, size, out=np.zeros(size.shape), where=size > 0)
    whole = there.sum(axis=-1)
    mean: Floats = np.divide((each * there).sum(axis=-1), whole, out=np.full(whole.shape, np.nan), where=whole > 0)
    return mean


def f1(gold: ArrayLike, predicted: ArrayLike, average: Average | Literal["weighted"] = "macro") -> float:
    """F1 of sets of labels; the weighted one is NaN where no label is gold. Args: gold, predicted: (n, k) of 0 or 1."""
    g, p = np.asarray(gold, dtype=bool), np.asarray(predicted, dtype=bool)
    if average == "weighted":
        hits, given, there = (each.sum(0).astype(float) for each in (g & p, p, g))
        return float(weighted_f1_of_sums(hits, given, there))
    return float(f1_of_sums((g & p).sum(0).astype(float), (g.sum(0) + p.sum(0)).astype(float), average))


def permutation_f1(
    gold: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    average: Average = "macro",
    groups: Numbers | None = None,
    *,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> F1Test:
    """Two-sided p-value of the difference of two sources' F1.

    Args:
        gold, first, second: (n, k) of 0 or 1; of one label a sample, `one_hot`.
        groups: (n,) the number of each sample's group, whose answers change sides together.

    Returns:
        p is at least 1 / (permutations + 1): what was seen counts as one of the exchanges.
    """
    tests = permutation_f1s(gold, first, second, groups, seed=seed, permutations=permutations)
    return tests.macro if average == "macro" else tests.micro


def exchange_p(
    first: Floats,
    second: Floats,
    of_first: Callable[[Floats], Floats],
    of_second: Callable[[Floats], Floats],
    groups: Numbers | None = None,
    *,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> tuple[float, str]:
    """Two-sided p-value of the difference of two sources in any figure that is made of sums over samples.

    Args:
        first, second: (n, k) what each sample adds to the sums of either source.
        of_first, of_second: from (m, k) sums to (m,) figures.
        groups: (n,) the number of each sample's group, which changes sides as a whole.

    Returns:
        p, and how many exchanges were tried, in words. An exchange that leaves a figure undefined counts as one that is
        as far apart as what was seen.
    """
    base, other = first.sum(axis=0), second.sum(axis=0)

    def apart(change: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.abs(of_first(base + change) - of_second(other - change))[:, None]
        return np.where(np.isfinite(off), off, np.inf)

    _, p, tried = _exchanged(second - first, apart, groups, seed, permutations)
    return float(p[0]), f"{tried:,} exchanges, seed {seed}" if tried else "all exchanges"


def _exchanged(
    moves: Floats, apart: Callable[[Floats], Floats], groups: Numbers | None, seed: int, permutations: int
) -> tuple[Floats, Floats, int]:
    """What is seen, its p, and how many exchanges were drawn for that; 0: all were tried.

    Args:
        moves: (n, k) what changes of the sums where a sample's answers change sides.
        apart: from (m, k) changes to the (m, figures) differences.
    """
    if groups is not None:
        moves = grouped_sums(moves, groups)
    moves = moves[moves.any(axis=1)]
    m = len(moves)
    seen = apart(np.zeros((1, moves.shape[1])))[0]
    least = np.abs(seen) - _SLACK

    def as_far(exchanges: NDArray[np.uint8]) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = np.abs(apart(exchanges.astype(np.float64) @ moves)) >= least
        return found

    if m <= _ALL:
        return seen, as_far(all_vectors(m) if m else np.zeros((1, 0), dtype=np.uint8)).mean(axis=0), 0
    draw, rows, times = np.random.default_rng(seed), max(1, _BLOCK // m), np.zeros(len(seen))
    for start in range(0, permutations, rows):
        size = min(rows, permutations - start), m
        times += as_far(draw.integers(0, 2, size, dtype=np.uint8)).sum(axis=0)
    return seen, (times + 1) / (permutations + 1), permutations


@dataclass(frozen=True, slots=True)
class F1Tests:
    """The tests of the three averages, and of each label by itself, all over the same exchanges."""

    macro: F1Test
    micro: F1Test
    weighted: F1Test
    by_label: tuple[F1Test, ...]


def permutation_f1s(
    gold: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    groups: Numbers | None = None,
    *,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> F1Tests:
    """As `permutation_f1`, of macro, micro and weighted F1 and of the F1 of each label at once."""
    g, a, b = (np.asarray(each, dtype=bool) for each in (gold, first, second))
    support = g.sum(axis=0).astype(np.float64)
    base = np.concatenate([(g & a).sum(0), g.sum(0) + a.sum(0)]).astype(np.float64)
    other = np.concatenate([(g & b).sum(0), g.sum(0) + b.sum(0)]).astype(np.float64)
    moves = np.concatenate([(g & b).astype(np.float64) - (g & a), b.astype(np.float64) - a.astype(np.float64)], axis=1)

    def apart(change: Floats) -> Floats:
        """(rows, 3 + k): the difference in macro, micro and weighted F1, and of each label."""
        return _f1s(base + change, support) - _f1s(other - change, support)

    seen, p, tried = _exchanged(moves, apart, groups, seed, permutations)
    found = [F1Test(float(d), float(q), not tried, tried) for d, q in zip(seen, p, strict=True)]
    return F1Tests(found[0], found[1], found[2], tuple(found[3:]))


def _f1s(sums: Floats, support: Floats) -> Floats:
    """(rows, 3 + k) from (rows, 2 k): true positives of each label, then how often gold and predicted say it.

    Args:
        support: (k,) how often gold says each label, which no exchange changes; without any, weighted F1 counts as 0.
    """
    k = len(support)
    hits, given = sums[:, :k], sums[:, k:]
    each = np.divide(2 * hits, given, out=np.zeros_like(hits), where=given > 0)
    weighted = each @ (support / max(support.sum(), 1.0))
    averages = [f1_of_sums(hits, given, "macro"), f1_of_sums(hits, given, "micro"), weighted]
    return np.concatenate([np.stack(averages, axis=1), each], axis=1)
