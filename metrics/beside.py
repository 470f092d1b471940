"""Intervals beside the figures of a score document: `ci95` by the figure's name, and under which convention."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.permutation import f1_of_sums
from emotui.metrics.resampling import (
    Numbers,
    convention,
    group_numbers,
    ratio_intervals,
    resampled_sums,
    resamples_for,
    spread_interval,
)

SEED = 0

Shared = Sequence[str | None]
"""Of each sample which passage, post or original it shares with others; None: none."""

Intervals = dict[str, tuple[float, float] | None]
Parts = Mapping[str, tuple[ArrayLike, ArrayLike]]
"""By figure (n,) numerators and denominators, as of `ratio_intervals`."""


def beside(found: Intervals, shared: Shared, of: str = "samples") -> dict[str, Any]:
    """What is added to a document: `ci95` `{figure: [low, high]}` and its convention; nothing where there is none."""
    known = {name: list(each) for name, each in found.items() if each is not None}
    if not known:
        return {}
    groups = _groups(shared)
    n = len(shared) if groups is None else int(groups.max()) + 1
    drawn = f"groups of {of} that share a text" if groups is not None else of
    return {"ci95": known, "conventions": {"ci95": convention(n, drawn, resamples_for(n), SEED)}}


def of_ratios(parts: Parts, shared: Shared) -> Intervals:
    """Of means and rates."""
    found = ratio_intervals(list(parts.values()), _groups(shared), seed=SEED)
    return dict(zip(parts, found, strict=True))


def of_vectors(gold: ArrayLike, said: ArrayLike, labels: Sequence[str], shared: Shared) -> Intervals:
    """Of the figures of `scenes_metrics` and `labels_metrics` that are made of counts.

    Args:
        gold, said: (n, k) of 0 or 1.
    """
    g, p = (np.asarray(each, dtype=bool) for each in (gold, said))
    n, k = g.shape
    right, ones = (g == p).sum(axis=1), np.ones(n)
    both, either, size = (g & p).sum(axis=1), (g | p).sum(axis=1), g.sum(axis=1) + p.sum(axis=1)
    found = of_ratios(
        {
            "lexical_accuracy": (right, ones * k),
            "vector_accuracy": (right == k, ones),
            "hamming_loss": (k - right, ones * k),
            "jaccard": (np.divide(both, either, out=np.ones(n), where=either > 0), ones),
            "samples_f1": (np.divide(2 * both, size, out=np.ones(n), where=size > 0), ones),
        },
        shared,
    )
    return found | _of_f1(g, p, labels, shared)


def of_labels(gold: Sequence[str], said: Sequence[str], labels: Sequence[str], shared: Shared) -> Intervals:
    """Of accuracy and F1 of one label a sample; a label said that is none of `labels` is a missing answer."""
    names = np.array(labels, dtype=object)
    g, p = (np.array(each, dtype=object)[:, None] == names for each in (gold, said))
    found = of_ratios({"accuracy": ((g & p).any(axis=1), np.ones(len(g)))}, shared)
    return found | {name: each for name, each in _of_f1(g, p, labels, shared).items() if name != "micro_f1"}


def _of_f1(gold: NDArray[np.bool_], said: NDArray[np.bool_], labels: Sequence[str], shared: Shared) -> Intervals:
    groups, k = _groups(shared), len(labels)
    n = len(gold) if groups is None else int(groups.max()) + 1
    if n < 2 or not k:
        return {}
    sums = resampled_sums(
        np.concatenate([gold & said, gold.astype(np.int8) + said], axis=1), groups, SEED, resamples_for(n)
    )
    hits, given = sums[:, :k], sums[:, k:]
    with np.errstate(invalid="ignore", divide="ignore"):
        each = 2 * hits / given
    return {
        "macro_f1": spread_interval(f1_of_sums(hits, given, "macro")),
        "micro_f1": spread_interval(f1_of_sums(hits, given, "micro")),
        **{f"by_label.{name}.f1": spread_interval(each[:, place]) for place, name in enumerate(labels)},
    }


def of_numbers(gold: ArrayLike, said: ArrayLike, shared: Shared) -> Intervals:
    """Of Pearson's correlation, Lin's concordance, RMSE and MAE, from resampled moments. Args: gold, said: (n,)."""
    x, y = (np.asarray(each, dtype=np.float64) for each in (gold, said))
    groups = _groups(shared)
    n = len(x) if groups is None else int(groups.max()) + 1
    if n < 2:
        return {}
    scale = float(max(np.ptp(x), np.ptp(y), 1e-300))
    middle = float(x.mean())
    x, y = (x - middle) / scale, (y - middle) / scale
    off = x - y
    columns = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y, off * off, np.abs(off)], axis=1)
    sums = resampled_sums(columns, groups, SEED, resamples_for(n))
    mx, my, xx, yy, xy, square, distance = (sums[:, place] / sums[:, 0] for place in range(1, 8))
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy, cov = xx - mx**2, yy - my**2, xy - mx * my
        figures = {
            "pearson": cov / np.sqrt(vx * vy),
            "ccc": 2 * cov / (vx + vy + (mx - my) ** 2),
            "rmse": np.sqrt(square) * scale,
            "mae": distance * scale,
        }
    return {name: spread_interval(np.where(np.isfinite(each), each, np.nan)) for name, each in figures.items()}


def _groups(shared: Shared) -> Numbers | None:
    known = [one for one in shared if one is not None]
    return group_numbers(shared) if len(set(known)) < len(known) else None
