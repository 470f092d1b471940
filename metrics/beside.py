"""Intervals beside the figures of a score document: `ci95` by the figure's name, and under which convention.

What a figure comes to over resamples is told first, and its interval then: repeats share the draws of samples, so
that of repeated answers the figures are averaged before the interval is taken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.permutation import f1_of_sums, weighted_f1_of_sums
from emotui.metrics.resampled_order import named, resampled_probabilities, resampled_spearman
from emotui.metrics.resampling import (
    Numbers,
    convention,
    group_numbers,
    resampled_ratios,
    resampled_sums,
    resamples_for,
    spread_interval,
)
from emotui.metrics.states import Floats

SEED = 0

Shared = Sequence[str | None]
"""Of each sample which passage, post or original it shares with others; None: none."""

Intervals = dict[str, tuple[float, float] | None]
Resampled = dict[str, Floats]
"""By figure (resamples,) what it comes to; NaN where it is undefined."""

Parts = Mapping[str, tuple[ArrayLike, ArrayLike]]
"""By figure (n,) numerators and denominators, as of `resampled_ratios`."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn: `n` groups, and (rows,) which of them each row is of."""

    numbers: Numbers
    n: int

    @property
    def resamples(self) -> int:
        return resamples_for(self.n)


class Answer(Protocol):
    """What was scored of one answer about a sample."""

    @property
    def id(self) -> str: ...

    @property
    def repeat(self) -> int: ...


A = TypeVar("A", bound=Answer)


def drawn(shared: Shared) -> Drawn:
    """Samples, or groups of those that share something."""
    numbers = group_numbers(shared)
    return Drawn(numbers, int(numbers.max(initial=-1)) + 1)


def beside(
    found: Intervals, shared: Shared, of: str = "samples", fewer: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """What is added to a document: `ci95` `{figure: [low, high]}` and its convention; nothing where there is none.

    Args:
        fewer: the figures that are of the first so many resamples alone (`fewer_of`).
    """
    known = {name: list(each) for name, each in found.items() if each is not None}
    if not known:
        return {}
    n = drawn(shared).n
    what = f"groups of {of} that share a text" if n < len(shared) else of
    told = convention(n, what, resamples_for(n), SEED)
    for count in sorted(set((fewer or {}).values())):
        kinds = dict.fromkeys(name.rpartition(".")[2] for name, own in (fewer or {}).items() if own == count)
        told += f"; {', '.join(kinds)}: the first {count:,}"
    return {"ci95": known, "conventions": {"ci95": told}}


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What two documents over the same draws add, as one; its convention is that which says more."""
    known = [each for each in (one, other) if each]
    if not known:
        return {}
    told = max((each["conventions"]["ci95"] for each in known), key=len)
    return {"ci95": {**one.get("ci95", {}), **other.get("ci95", {})}, "conventions": {"ci95": told}}


def fewer_of(each: Sequence[Resampled], n: int) -> dict[str, int]:
    """The figures of which fewer resamples were read than are drawn of n groups."""
    least = {name: min(len(one[name]) for one in each if name in one) for one in each for name in one}
    return {name: count for name, count in least.items() if count < resamples_for(n)}


def beside_repeats(
    answers: Sequence[A], shared: Mapping[str, str | None], of: Callable[[list[A], Drawn], Resampled]
) -> dict[str, Any]:
    """As `beside`, of figures over repeats: of each resample of samples the mean over repeats.

    Args:
        shared: by a sample's id what it shares with others.
        of: the figures of one repeat's answers over resamples.
    """
    ids, repeats = [one.id for one in answers], [one.repeat for one in answers]
    return beside_rows(ids, repeats, shared, lambda rows, by: of([answers[at] for at in rows.tolist()], by))


def beside_rows(
    ids: Sequence[str],
    repeats: Sequence[int],
    shared: Mapping[str, str | None],
    of: Callable[[Numbers, Drawn], Resampled],
) -> dict[str, Any]:
    """As `beside_repeats`, of rows that have these samples and repeats. Args: of: of the rows at these places."""
    each_id = list(dict.fromkeys(ids))
    groups = [shared.get(key) for key in each_id]
    every = drawn(groups)
    if every.n < 2:
        return {}
    number = dict(zip(each_id, every.numbers.tolist(), strict=True))
    numbers_of_rows, repeat_of_rows = np.array([number[key] for key in ids]), np.asarray(repeats)
    each = []
    for repeat in sorted(set(repeats)):
        rows = np.flatnonzero(repeat_of_rows == repeat).astype(np.int64)
        each.append(of(rows, Drawn(numbers_of_rows[rows], every.n)))
    return beside(intervals(each), groups, fewer=fewer_of(each, every.n))


def intervals(each: Sequence[Resampled]) -> Intervals:
    """Of figures over the same resamples, a repeat each: the intervals of their means over the repeats."""
    found: Intervals = {}
    for name in dict.fromkeys(name for one in each for name in one):
        least = min(len(one[name]) for one in each if name in one)
        table = np.stack([one[name][:least] for one in each if name in one])
        known = np.isfinite(table)
        with np.errstate(invalid="ignore"):
            found[name] = spread_interval(np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0))
    return found


def of_ratios(parts: Parts, shared: Shared) -> Intervals:
    """Of means and rates."""
    return intervals([ratios(parts, drawn(shared))])


def ratios(parts: Parts, by: Drawn) -> Resampled:
    """Means and rates over resamples."""
    if by.n < 2:
        return {name: np.full(1, np.nan) for name in parts}
    return dict(zip(parts, resampled_ratios(list(parts.values()), by.numbers, by.n, seed=SEED).T, strict=True))


def of_vectors(gold: ArrayLike, said: ArrayLike, labels: Sequence[str], shared: Shared) -> Intervals:
    """Of the figures of `scenes_metrics` and `labels_metrics` that are made of counts.

    Args:
        gold, said: (n, k) of 0 or 1.
    """
    return intervals([vectors(gold, said, labels, drawn(shared))])


def vectors(gold: ArrayLike, said: ArrayLike, labels: Sequence[str], by: Drawn) -> Resampled:
    """Such figures over resamples."""
    g, p = (np.asarray(each, dtype=bool) for each in (gold, said))
    n, k = g.shape
    right, ones = (g == p).sum(axis=1), np.ones(n)
    both, either, size = (g & p).sum(axis=1), (g | p).sum(axis=1), g.sum(axis=1) + p.sum(axis=1)
    found = ratios(
        {
            "lexical_accuracy": (right, ones * k),
            "vector_accuracy": (right == k, ones),
            "hamming_loss": (k - right, ones * k),
            "jaccard": (np.divide(both, either, out=np.ones(n), where=either > 0), ones),
            "samples_f1": (np.divide(2 * both, size, out=np.ones(n), where=size > 0), ones),
        },
        by,
    )
    return found | _f1(g, p, labels, by)


def probabilities(gold: ArrayLike, given: ArrayLike, labels: Sequence[str], by: Drawn) -> Resampled:
    """Brier score, calibration error and average precision over resamples. Args: gold, given: (n, k)."""
    if by.n < 2 or not labels or not len(by.numbers):
        return {}
    return named(resampled_probabilities(gold, given, by.numbers, by.n, SEED), labels)


def of_labels(gold: Sequence[str], said: Sequence[str], labels: Sequence[str], shared: Shared) -> Intervals:
    """Of accuracy and F1 of one label a sample; a label said that is none of `labels` is a missing answer."""
    return intervals([single_labels(gold, said, labels, drawn(shared))])


def single_labels(gold: Sequence[str], said: Sequence[str], labels: Sequence[str], by: Drawn) -> Resampled:
    """Such figures over resamples."""
    names = np.array(labels, dtype=object)
    g, p = (np.array(each, dtype=object)[:, None] == names for each in (gold, said))
    found = ratios({"accuracy": ((g & p).any(axis=1), np.ones(len(g)))}, by)
    return found | {name: each for name, each in _f1(g, p, labels, by).items() if name != "micro_f1"}


def _f1(gold: NDArray[np.bool_], said: NDArray[np.bool_], labels: Sequence[str], by: Drawn) -> Resampled:
    k = len(labels)
    if by.n < 2 or not k:
        return {}
    sums = resampled_sums(np.concatenate([gold & said, said, gold], axis=1), by.numbers, SEED, by.resamples, by.n)
    hits, given, there = np.split(sums, 3, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        each = {"f1": 2 * hits / (given + there), "precision": hits / given, "recall": hits / there}
    return {
        "macro_f1": f1_of_sums(hits, given + there, "macro"),
        "micro_f1": f1_of_sums(hits, given + there, "micro"),
        "weighted_f1": weighted_f1_of_sums(hits, given, there),
        **{
            f"by_label.{label}.{figure}": one[:, place]
            for figure, one in each.items()
            for place, label in enumerate(labels)
        },
    }


def of_numbers(gold: ArrayLike, said: ArrayLike, shared: Shared) -> Intervals:
    """Of the figures of `numbers`."""
    return intervals([numbers(gold, said, drawn(shared))])


def numbers(gold: ArrayLike, said: ArrayLike, by: Drawn) -> Resampled:
    """Both correlations, Lin's concordance, RMSE and MAE over resamples. Args: gold, said: (n,)."""
    x, y = (np.asarray(each, dtype=np.float64) for each in (gold, said))
    if by.n < 2 or not len(x):
        return {}
    scale = float(max(np.ptp(x), np.ptp(y), 1e-300))
    middle = float(x.mean())
    x, y = (x - middle) / scale, (y - middle) / scale
    off = x - y
    columns = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y, off * off, np.abs(off)], axis=1)
    sums = resampled_sums(columns, by.numbers, SEED, by.resamples, by.n)
    with np.errstate(invalid="ignore", divide="ignore"):
        mx, my, xx, yy, xy, square, distance = (sums[:, place] / sums[:, 0] for place in range(1, 8))
        vx, vy, cov = xx - mx**2, yy - my**2, xy - mx * my
        figures = {
            "pearson": cov / np.sqrt(vx * vy),
            "ccc": 2 * cov / (vx + vy + (mx - my) ** 2),
            "rmse": np.sqrt(square) * scale,
            "mae": distance * scale,
        }
    found = {name: np.where(np.isfinite(each), each, np.nan) for name, each in figures.items()}
    return found | {"spearman": resampled_spearman(x, y, by.numbers, by.n, SEED)}
