"""Two systems on the same samples: the document of `emotui compare`."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata, wilcoxon

from emotui.errors import BadInput
from emotui.metrics.resampling import (
    RESAMPLES,
    Numbers,
    convention,
    drawn_by,
    group_numbers,
    interval_of,
    mean_replicates,
    score_differences,
    snapped,
    standard_error,
    told_of_t,
)
from emotui.metrics.significance import mcnemar_p, smallest_difference
from emotui.metrics.states import Floats

__all__ = [
    "Alternative",
    "cohens_d",
    "compared",
    "group_means",
    "paired_report",
    "wilcoxon_p",
]

Alternative = Literal["two-sided", "greater", "less"]

EXACT = 50
"""Differences up to which the signed-rank test tries all signs."""


def wilcoxon_p(differences: ArrayLike, alternative: Alternative = "two-sided") -> float | None:
    """p-value of the signed-rank test; zeros are dropped (Wilcoxon's own treatment).

    Differences are `snapped` first: those of equal scores are 0, and equal ones have one rank.

    Exact for up to `EXACT` differences, with ties too, else by the normal approximation.

    Args:
        alternative: `greater`: that differences are above 0.

    Returns:
        in [0, 1]; None where no difference is left.

    Source: Wilcoxon 1945; the distribution over all signs by adding up one rank after the other, with mean ranks.
    """
    d = snapped(differences)
    known = d[d != 0]
    if not len(known):
        return None
    if len(known) > EXACT:
        return float(wilcoxon(known, alternative=alternative, method="asymptotic").pvalue)
    doubled = (2 * rankdata(np.abs(known))).astype(np.int64)  # mean ranks have halves
    of_sum = np.zeros(int(doubled.sum()) + 1)
    of_sum[0] = 1.0
    for rank in doubled.tolist():
        of_sum[rank:] = of_sum[rank:] + of_sum[:-rank]
        of_sum /= 2
    observed = int(doubled[known > 0].sum())
    below, above = float(of_sum[: observed + 1].sum()), float(of_sum[observed:].sum())
    return min(1.0, {"less": below, "greater": above, "two-sided": 2 * min(below, above)}[alternative])


def cohens_d(differences: ArrayLike) -> float | None:
    """Mean of the differences over their standard deviation (n - 1).

    Returns:
        None for fewer than two differences, or where all are equal but for rounding.
    """
    d = np.asarray(differences, dtype=np.float64)
    if len(d) < 2 or np.ptp(d) <= 1e-9 * np.abs(d).max():
        return None
    value = float(d.mean() / d.std(ddof=1))
    return value if math.isfinite(value) else None


def paired_report(
    a: Mapping[str, float],
    b: Mapping[str, float],
    inner: bool = False,
    seed: int = 0,
    resamples: int = RESAMPLES,
    groups: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The document of `emotui compare`. A difference is a minus b.

    Args:
        a, b: id to score; of repeats their mean.
        inner: compare the ids that both have, instead of refusing ids in one only.
        seed: of the bootstrap. Pairs are taken in the order of their ids, so the order of the files does not matter.
        groups: id to the passage, post or original that samples share; one without is a group of its own.

    Returns:
        `n`, `mean_a`, `mean_b`, `mean_difference`, `ci95` `[low, high]`, `wilcoxon_p`, `cohens_d`; `won`, `lost` and
        `tied` (samples in which a is above, below, and neither); `smallest_difference` (that the set would have shown
        with a power of 0.8); `mcnemar_p` where every score is 0 or 1; `groups` (how many) where samples share some;
        `conventions` in words, `notes` on what is undefined.

    Raises:
        BadInput: an id in one of the two only (without `inner`), or a score that is not finite; one line each,
            beginning with the id.
    """
    problems = [] if inner else [f"{key}: only in the first file" for key in a if key not in b]
    problems += [] if inner else [f"{key}: only in the second file" for key in b if key not in a]
    for scores in (a, b):
        problems += [f"{key}: the score is {score}" for key, score in scores.items() if not math.isfinite(score)]
    if problems:
        raise BadInput(*problems)
    ids = sorted(key for key in a if key in b)
    if not ids:
        names = ("mean_a", "mean_b", "mean_difference", "ci95", "wilcoxon_p", "cohens_d", "smallest_difference")
        nothing = dict.fromkeys(names, "there is no pair to compare")
        return {"n": 0} | dict.fromkeys(names) | {"won": 0, "lost": 0, "tied": 0, "notes": nothing}
    first, second = np.array([a[key] for key in ids], dtype=float), np.array([b[key] for key in ids], dtype=float)
    numbers = None if not groups else group_numbers([groups.get(key) for key in ids])
    return compared(first, second, numbers, seed=seed, resamples=resamples)


def compared(
    first: Floats, second: Floats, groups: Numbers | None = None, *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """The figures of `paired_report`. Args: first, second: (n,), finite, n at least 1; groups: (n,)."""
    differences = score_differences(first, second)
    n = len(differences)
    if groups is not None and int(groups.max()) + 1 == n:
        groups = None
    drawn = n if groups is None else int(groups.max()) + 1
    few = "there is one pair only" if n == 1 else "all pairs are of one group" if drawn == 1 else ""
    notes: dict[str, str] = {}
    each = group_means(differences, groups)
    p, d = wilcoxon_p(each), cohens_d(differences)
    error = standard_error(differences, groups)
    least = smallest_difference(error, drawn)
    if p is None:
        notes["wilcoxon_p"] = "all differences are 0"
    if d is None:
        notes["cohens_d"] = "there is one pair only" if n == 1 else "all differences are equal"
    (made,) = mean_replicates(
        differences[:, None], drawn_by(groups, n), seed=seed, resamples=resamples, bounds=(-np.inf, np.inf)
    )
    interval = interval_of(made)
    if few:
        notes |= dict.fromkeys(("ci95", "smallest_difference"), few)
    elif interval.note:
        notes["ci95"] = interval.note
    won, lost = int((differences > 0).sum()), int((differences < 0).sum())
    document: dict[str, Any] = {
        "n": n,
        "mean_a": float(first.mean()),
        "mean_b": float(second.mean()),
        "mean_difference": float(differences.mean()),
        "ci95": None if interval.ends is None else list(interval.ends),
        "wilcoxon_p": p,
        "cohens_d": d,
        "won": won,
        "lost": lost,
        "tied": n - won - lost,
        "smallest_difference": least,
    }
    if groups is not None:
        document["groups"] = drawn
    of = "groups" if groups is not None else "pairs"
    told = {
        "ci95": f"95% {told_of_t(drawn, groups is not None)}" if interval.t else convention(drawn, of, resamples, seed),
        "wilcoxon_p": f"two-sided signed-rank over {of}" + _zeros(each),
        "cohens_d": "mean difference over the standard deviation of differences (n - 1), d_z",
        "smallest_difference": "true mean difference found with a power of 0.8 at 5% (two-sided paired t-test)",
    }
    if groups is None and _binary(first) and _binary(second):
        document["mcnemar_p"] = mcnemar_p(won, lost)
        told["mcnemar_p"] = "exact (binomial), two-sided"
        if document["mcnemar_p"] is None:
            notes["mcnemar_p"] = "both have the same samples right"
    return document | {"conventions": told, "notes": notes}


def group_means(values: Floats, groups: Numbers | None) -> Floats:
    """The mean of each group that is there, snapped; the values themselves without groups. Args: values: (n,)."""
    if groups is None or not len(values):
        return values
    here = np.unique(groups, return_inverse=True)[1]
    return snapped(np.bincount(here, values) / np.bincount(here))


def _zeros(differences: Floats) -> str:
    zeros = int((differences == 0).sum())
    return f"; {zeros} differences of 0 are left out (Wilcoxon's own treatment)" if zeros else ""


def _binary(scores: Floats) -> bool:
    return bool(((scores == 0) | (scores == 1)).all())
