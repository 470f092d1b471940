"""Two systems on the same samples: the document of `emotui compare`."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import wilcoxon

from emotui.errors import BadInput
from emotui.metrics.states import Floats

RESAMPLES = 10_000
_BLOCK = 1 << 20  # drawn differences held at once


def bootstrap_means(differences: ArrayLike, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Means of samples drawn with replacement from paired differences, so that the pairing is kept.

    Args:
        differences: (n,), n at least 1.

    Returns:
        (resamples,); the same for the same seed.
    """
    d = np.asarray(differences, dtype=np.float64)
    draw = np.random.default_rng(seed)
    means = np.empty(resamples)
    rows = max(1, _BLOCK // len(d))
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        means[start:stop] = d[draw.integers(0, len(d), (stop - start, len(d)))].mean(axis=1)
    return means


def percentile_interval(means: Floats, level: float = 0.95) -> tuple[float, float]:
    """The middle `level` of bootstrap means (percentile method, Efron 1979)."""
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def wilcoxon_p(differences: ArrayLike) -> float | None:
    """Two-sided p-value of the signed-rank test; zeros are dropped (Wilcoxon's own treatment).

    Exact for up to 50 differences without ties, else by the normal approximation (as scipy decides).

    Returns:
        in [0, 1]; None where no difference is left.
    """
    d = np.asarray(differences, dtype=np.float64)
    if not d.any():
        return None
    return float(wilcoxon(d, zero_method="wilcox", alternative="two-sided").pvalue)


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
    a: Mapping[str, float], b: Mapping[str, float], inner: bool = False, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """The document of `emotui compare`. A difference is a minus b.

    Args:
        a, b: id to score.
        inner: compare the ids that both have, instead of refusing ids in one only.
        seed: of the bootstrap. Pairs are taken in the order of their ids, so the order of the files does not matter.

    Returns:
        `n`, `mean_a`, `mean_b`, `mean_difference`, `ci95` `[low, high]`, `wilcoxon_p`, `cohens_d`, `notes`.

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
    n = len(ids)
    if not n:
        names = ("mean_a", "mean_b", "mean_difference", "ci95", "wilcoxon_p", "cohens_d")
        return {"n": 0} | dict.fromkeys(names) | {"notes": dict.fromkeys(names, "there is no pair to compare")}

    first, second = np.array([a[key] for key in ids], dtype=float), np.array([b[key] for key in ids], dtype=float)
    differences = first - second
    notes: dict[str, str] = {}
    p, d = wilcoxon_p(differences), cohens_d(differences)
    if p is None:
        notes["wilcoxon_p"] = "all differences are 0"
    if d is None:
        notes["cohens_d"] = "there is one pair only" if n == 1 else "all differences are equal"
    interval: list[float] | None = None
    if n > 1:
        interval = list(percentile_interval(bootstrap_means(differences, seed, resamples)))
    else:
        notes["ci95"] = "there is one pair only"
    return {
        "n": n,
        "mean_a": float(first.mean()),
        "mean_b": float(second.mean()),
        "mean_difference": float(differences.mean()),
        "ci95": interval,
        "wilcoxon_p": p,
        "cohens_d": d,
        "notes": notes,
    }
