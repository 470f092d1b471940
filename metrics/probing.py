"""Linear probes: what can be read off a representation by a weighted sum, on texts that it was not fitted on.

Ridge regression on labels as 0 and 1 (the least squares classifier) or on numbers. One decomposition of a fold serves
all labels, all penalties and all shuffles of the labels, so that every layer can be shown beside its control.

Sources: Alain and Bengio 2017 (probes by layer); Hewitt and Liang 2019 (a probe is as good as what it has above a
control task); Hastie, Tibshirani and Friedman 2009, section 7.10 (errors of leaving one out in closed form).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.nested_cv import assign_folds
from emotui.metrics.resampled_order import read_parts, resampled_weights, resamples_of
from emotui.metrics.resampling import EQUAL, Drawn, Replicates, interval_of, known_means, replicates
from emotui.metrics.states import Floats

FOLDS = 5
SHUFFLES = 20
"""Fits to shuffled labels; a figure above all of them has been seen by chance in fewer than one of so many."""

PENALTIES = tuple(10.0**power for power in range(-4, 4))
"""Times the mean of the squared singular values; chosen by leaving texts of the training part out."""


def grouped_folds(
    ids: Sequence[str], groups: Sequence[str | None], folds: int = FOLDS, seed: int = 0
) -> NDArray[np.int64]:
    """(n,): the fold of each text; texts that share a passage or a post are in one fold.

    Raises:
        ValueError: fewer groups than folds.
    """
    keys = [f"text {key}" if group is None else f"group {group}" for key, group in zip(ids, groups, strict=True)]
    each = list(dict.fromkeys(keys))
    fold_of = dict(zip(each, assign_folds(each, folds, seed).tolist(), strict=True))
    return np.array([fold_of[key] for key in keys], dtype=np.int64)


def held_out(features: ArrayLike, targets: ArrayLike, folds: ArrayLike, *, ranked: bool = False) -> Floats:
    """Predictions of each text by a probe that was fitted without its fold.

    Args:
        features: (n, d). targets: (n, k). folds: (n,), whole numbers.
        ranked: predictions of all folds are to be ranked together. The mean of the training part is then replaced by
            that of all texts: where a fold has many with a label its training part has few, and a probe that knows
            nothing would rank texts against the truth.

    Returns:
        (n, k).
    """
    x, y = np.asarray(features, np.float64), np.asarray(targets, np.float64)
    of = np.asarray(folds)
    found = np.empty_like(y)
    for fold in np.unique(of):
        test = of == fold
        found[test] = ridge(x[~test], y[~test], x[test])
        if ranked:
            found[test] += y.mean(0) - y[~test].mean(0)
    return found


@dataclass(frozen=True, slots=True)
class Probe:
    """Weighted sums of features: (d,) what is taken off each, (d, k) weights, and (k,) what is added at the end."""

    centre: Floats
    weights: Floats
    middle: Floats

    def __call__(self, features: ArrayLike) -> Floats:
        """Args: (t, d). Returns: (t, k)."""
        return np.asarray((np.asarray(features, np.float64) - self.centre) @ self.weights + self.middle)


def ridge(train: Floats, targets: Floats, test: Floats, penalties: Sequence[float] = PENALTIES) -> Floats:
    """Predictions for `test` by such a probe. Args: (m, d), (m, k), (t, d). Returns: (t, k)."""
    return fitted(train, targets, penalties)(test)


def fitted(train: Floats, targets: Floats, penalties: Sequence[float] = PENALTIES) -> Probe:
    """A probe of each target, by the penalty that has the least error where one text is left out.

    Features are centred and divided by their deviation in `train`. Args: (m, d), (m, k).
    """
    centre, spread = train.mean(0), train.std(0)
    scale = np.where(spread > 1e-9 * max(float(spread.max(initial=0.0)), 1e-12), spread, np.inf)
    x = (train - centre) / scale
    middle = targets.mean(0)
    y = targets - middle
    m = len(x)
    # x = U S V'; by whichever of x'x and xx' is smaller. `back` is V S^-1.
    if x.shape[1] <= m:
        squares, right = np.linalg.eigh(x.T @ x)
        kept = squares > 1e-10 * max(float(squares.max(initial=0.0)), 1e-300)
        squares, right = squares[kept], right[:, kept]
        back = right / np.sqrt(squares)
        left = x @ back
    else:
        squares, left = np.linalg.eigh(x @ x.T)
        kept = squares > 1e-10 * max(float(squares.max(initial=0.0)), 1e-300)
        squares, left = squares[kept], left[:, kept]
        back = (x.T @ left) / squares
    if not len(squares):
        return Probe(centre, np.zeros((x.shape[1], y.shape[1])), middle)
    along = left.T @ y
    best, shrunk_along = np.full(y.shape[1], np.inf), np.zeros_like(along)
    for penalty in penalties:
        shrunk = squares / (squares + penalty * squares.mean())
        each = shrunk[:, None] * along
        leverage = np.minimum((left**2) @ shrunk + 1 / m, 1 - 1e-9)
        errors = (((y - left @ each) / (1 - leverage)[:, None]) ** 2).mean(0)
        better = errors < best
        shrunk_along[:, better] = each[:, better]
        best = np.where(better, errors, best)
    return Probe(centre, back @ shrunk_along / scale[:, None], middle)


def shuffled(targets: ArrayLike, times: int = SHUFFLES, seed: int = 0) -> Floats:
    """(n, times, k): the rows in random orders; of each order all targets of a text stay together."""
    y = np.asarray(targets, np.float64)
    draw = np.random.default_rng(int.from_bytes(hashlib.sha256(f"{seed}/{len(y)}".encode()).digest()[:8]))
    return np.asarray(np.stack([y[draw.permutation(len(y))] for _ in range(times)], axis=1))


def directions(features: ArrayLike, gold: ArrayLike) -> Floats:
    """(k, d): from the mean of the texts without a label to that of those with it; zeros where a side is empty.

    Args:
        features: (n, d), divided here by their deviation. gold: (n, k) of 0 or 1.
    """
    x, g = np.asarray(features, np.float64), np.asarray(gold, np.float64)
    spread = x.std(0)
    x = (x - x.mean(0)) / np.where(spread > 1e-12, spread, np.inf)
    with_, without = g.sum(0), (1 - g).sum(0)
    means = (g.T @ x) / np.maximum(with_, 1)[:, None] - ((1 - g).T @ x) / np.maximum(without, 1)[:, None]
    means[(with_ == 0) | (without == 0)] = 0
    return np.asarray(means)


def number_directions(features: ArrayLike, numbers: ArrayLike) -> Floats:
    """(k, d): where numbers rise, as the correlation of each with each feature; zeros where nothing varies.

    For a label as a number, of 0 or 1, it is `directions` up to its length.

    Args:
        features: (n, d), divided here by their deviation. numbers: (n, k).
    """

    def standard(table: ArrayLike) -> Floats:
        values = np.asarray(table, np.float64)
        spread = values.std(0)
        return np.asarray((values - values.mean(0)) / np.where(spread > 1e-12, spread, np.inf))

    x = standard(features)
    return np.asarray(standard(numbers).T @ x / len(x))


def cosines(vectors: ArrayLike) -> Floats:
    """(k, k); NaN where a vector has no length. Args: vectors: (k, d)."""
    v = np.asarray(vectors, np.float64)
    length = np.linalg.norm(v, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(v @ v.T / length[:, None] / length[None])


def as_many(scores: ArrayLike, gold: ArrayLike) -> NDArray[np.bool_]:
    """Which labels a probe gives: each label to as many texts as have it, those with the highest scores.

    Where every text has one label, a text has the one with its highest score.

    Args:
        scores, gold: (n, k), gold of 0 or 1.
    """
    s, g = np.asarray(scores, np.float64), np.asarray(gold, bool)
    given = np.zeros(s.shape, dtype=bool)
    if len(g) and (g.sum(1) == 1).all():
        given[np.arange(len(s)), s.argmax(1)] = True
        return given
    for label, n in enumerate(g.sum(0).tolist()):
        given[np.argsort(-s[:, label], kind="stable")[:n], label] = True
    return given


# Area under the ROC curve: how often a text with a label has a higher score than one without it; equal ones half.
# Source: Hanley and McNeil 1982.


def auc(gold: ArrayLike, scores: ArrayLike) -> Floats:
    """(k,): of each label; NaN where no text, or every text, has it. Args: gold, scores: (n, k), gold of 0 or 1."""
    g, s = np.asarray(gold, np.float64), np.asarray(scores, np.float64)
    return np.asarray(areas(g, s, np.ones((1, len(g))))[0])


def areas(gold: Floats, scores: Floats, weights: Floats) -> Floats:
    """(m, k): the same with each text counted as often as a row of weights says. Args: weights: (m, n)."""
    found = np.full((len(weights), gold.shape[1]), np.nan)
    for at in range(gold.shape[1]):
        order = np.argsort(scores[:, at], kind="stable")
        starts = np.flatnonzero(np.diff(scores[order, at], prepend=np.nan) != 0)
        counted = weights[:, order]
        with_ = np.add.reduceat(counted * gold[order, at], starts, axis=1)
        without = np.add.reduceat(counted * (1 - gold[order, at]), starts, axis=1)
        below = np.cumsum(without, axis=1) - without / 2
        pairs = with_.sum(axis=1) * without.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found[:, at] = np.where(pairs > 0, (with_ * below).sum(axis=1) / pairs, np.nan)
    return found


def resampled_auc(gold: ArrayLike, scores: ArrayLike, by: Drawn, seed: int = 0) -> Floats:
    """(1 + parts + resamples, k): over all, with parts left out, and over resamples."""
    g, s = np.asarray(gold, np.float64), np.asarray(scores, np.float64)
    many = resamples_of(by.n, len(g), g.shape[1])
    return np.concatenate([areas(g, s, weights) for weights in resampled_weights(by, many, seed)])


def mean_over_labels(table: Floats, by: Drawn) -> Replicates:
    """Of a figure, or the difference of two. Args: table: as of `resampled_auc`."""
    return replicates(known_means(table.T), read_parts(by))


def above_zero(difference: Replicates) -> bool:
    """Does its interval lie above 0? A difference that is the same whatever is drawn has none, and is above."""
    ends = interval_of(difference).ends
    if ends is not None:
        return ends[0] > 0
    every = np.concatenate([difference.left_out, difference.resampled])
    return bool(difference.whole > EQUAL and len(every) and (np.abs(every - difference.whole) <= EQUAL).all())


def each_label(table: Floats, by: Drawn) -> list[Replicates]:
    """Of each column. Args: table: as of `resampled_auc`."""
    return [replicates(column, read_parts(by)) for column in table.T]


# How much of numbers is explained: 1 less the squared errors over the squared distances from the mean.


def explained(gold: ArrayLike, said: ArrayLike, by: Drawn, seed: int = 0) -> Floats:
    """(1 + parts + resamples, k): R2 of each column over all, with parts left out, and over resamples.

    Below 0 where the mean of the numbers would have been nearer. Args: gold, said: (n, k).
    """
    y, p = np.asarray(gold, np.float64), np.asarray(said, np.float64)
    found = []
    for weights in resampled_weights(by, resamples_of(by.n, len(y), y.shape[1]), seed):
        with np.errstate(invalid="ignore", divide="ignore"):
            around = weights @ y**2 - (weights @ y) ** 2 / weights.sum(axis=1, keepdims=True)
            found.append(np.where(around > 1e-12, 1 - weights @ (y - p) ** 2 / around, np.nan))
    return np.concatenate(found)
