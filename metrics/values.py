"""Numbers about texts (valence, arousal, dominance, a scale of one's own): how far given ones agree with gold.

All by their formulas: scipy's correlations are the same (a test), and take 0.7 s to import.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.beside import Resampled, Shared, beside, drawn, fewer_of, intervals, numbers, with_beside
from emotui.metrics.repeats import known_mean, known_sd
from emotui.metrics.resampling import with_ties

FIGURES = ("pearson", "spearman", "ccc", "rmse", "mae")
"""What is computed of each name, beside `n`."""

Floats = NDArray[np.float64]
Numbers = Mapping[str, float]
"""What is said of one text, by name."""


def pearson(gold: ArrayLike, predicted: ArrayLike) -> float | None:
    """The linear correlation, in [-1, 1]; None where either side has no variance. Args: gold, predicted: (n,)."""
    x, y = _pair(gold, predicted)
    if _constant(x) or _constant(y):
        return None
    a, b = _centred(x), _centred(y)
    size = sqrt(float(a @ a) * float(b @ b))
    return max(-1.0, min(1.0, float(a @ b) / size)) if size > 0 else None


def spearman(gold: ArrayLike, predicted: ArrayLike) -> float | None:
    """The correlation of ranks, numbers that are equal but for rounding sharing their mean rank; as `pearson`."""
    return pearson(*map(_ranks, _pair(gold, predicted)))


def _centred(x: Floats) -> Floats:
    """The numbers less their mean, to a power of two of a size at which no square overflows or vanishes."""
    scaled = _near_1(x)
    return _near_1(scaled - scaled.mean())


def _near_1(x: Floats) -> Floats:
    _, power = np.frexp(np.abs(x).max())
    scaled: Floats = np.ldexp(x, -power)
    return scaled


def _ranks(x: Floats) -> Floats:
    _, place, times = np.unique(with_ties(x), return_inverse=True, return_counts=True)
    return (np.cumsum(times) - (times - 1) / 2)[place]


def concordance(gold: ArrayLike, predicted: ArrayLike) -> float | None:
    """Lin's concordance correlation coefficient, in [-1, 1], with moments over n.

    2 s_xy / (s_x² + s_y² + (mean x - mean y)²). It is 0 where one side alone has no variance, or both have none and
    differ; None where both have none and are equal, which leaves 0 over 0.

    Args: gold, predicted: (n,).

    Source: Lin 1989, section 2.
    """
    x, y = _pair(gold, predicted)
    if len(x) == 0 or (_constant(x) and _constant(y) and x[0] == y[0]):
        return None
    if _constant(x) or _constant(y):
        return 0.0
    # The coefficient is the same at any scale: at this one no square overflows or vanishes.
    middle, size = (x[0] + y[0]) / 2, float(max(np.ptp(x), np.ptp(y), abs(x[0] - y[0])))
    x, y = (x - middle) / size, (y - middle) / size
    apart = float(x.mean() - y.mean())
    shared = float(((x - x.mean()) * (y - y.mean())).mean())
    value = 2 * shared / (float(x.var()) + float(y.var()) + apart * apart)
    return max(-1.0, min(1.0, value)) if isfinite(value) else None


def rmse(gold: ArrayLike, predicted: ArrayLike) -> float | None:
    """The root of the mean squared difference; None of no pair. Args: gold, predicted: (n,)."""
    x, y = _pair(gold, predicted)
    if len(x) == 0:
        return None
    off = np.abs(x - y)
    largest = float(off.max())
    return largest and largest * float(np.sqrt(np.mean((off / largest) ** 2)))


def mae(gold: ArrayLike, predicted: ArrayLike) -> float | None:
    """The mean absolute difference; None of no pair. Args: gold, predicted: (n,)."""
    x, y = _pair(gold, predicted)
    return float(np.abs(x - y).mean()) if len(x) else None


def value_names(said: Iterable[Numbers]) -> list[str]:
    """The names of all numbers, in the order in which they first come."""
    return list(dict.fromkeys(name for one in said for name in one))


def values_report(
    gold: Sequence[Numbers], predicted: Sequence[Numbers], shared: Shared | None = None
) -> dict[str, Any]:
    """The figures of each name of gold, over the texts of which both sides give it.

    Args:
        gold, predicted: one for each text, in the same order.
        shared: of each text what it shares with others; where given, intervals stand beside (`ci95`).

    Returns:
        `n`, the texts; `by_name` with the `FIGURES`, `n` and, where gold has the name and the prediction has not,
        `without`; `notes` on what is undefined, left out, or not in gold.
    """
    names = value_names(gold)
    by, sure = drawn(shared or ()), Resampled()
    by_name: dict[str, dict[str, Any]] = {}
    notes: dict[str, str] = {}
    for name in names:
        both = [place for place, one in enumerate(gold) if name in one and name in predicted[place]]
        pairs = [(gold[place][name], predicted[place][name]) for place in both]
        wanted = sum(name in one for one in gold)
        x, y = (np.array([pair[side] for pair in pairs], dtype=np.float64) for side in (0, 1))
        figures = {
            "pearson": pearson(x, y),
            "spearman": spearman(x, y),
            "ccc": concordance(x, y),
            "rmse": rmse(x, y),
            "mae": mae(x, y),
        }
        by_name[name] = {**figures, "n": len(pairs)}
        if shared is not None:
            found = numbers(x, y, by.rows(both))
            sure |= {f"by_name.{name}.{key}": each for key, each in found.items() if figures[key] is not None}
        notes |= {f"by_name.{name}.{key}": _why(x, y) for key in FIGURES if figures[key] is None}
        if wanted > len(pairs):
            by_name[name]["without"] = wanted - len(pairs)
            notes[f"by_name.{name}.n"] = (
                f"{wanted - len(pairs)} of {wanted} texts have no number for it and are left out"
            )
    surplus = [name for name in value_names(predicted) if name not in by_name]
    if surplus:
        notes["by_name"] = f"not in gold and left out: {', '.join(surplus)}"
    told = beside(intervals([sure]), shared or (), fewer=fewer_of([sure], by.n))
    return with_beside({"n": len(gold), "by_name": by_name, "notes": notes}, told)


def values_over_repeats(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One report as it is. Of several: the mean of each figure, and its deviations (n-1) by name in `sd`."""
    if len(reports) == 1:
        return dict(reports[0])
    names = list(dict.fromkeys(name for report in reports for name in report["by_name"]))
    figures = {
        name: {key: [one["by_name"].get(name, {}).get(key) for one in reports] for key in FIGURES} for name in names
    }
    first: Mapping[str, Mapping[str, Any]] = {
        name: next(one["by_name"][name] for one in reports if name in one["by_name"]) for name in names
    }
    by_name = {
        name: {**first[name], **{key: known_mean(values) for key, values in each.items()}}
        for name, each in figures.items()
    }
    spread = {name: {key: known_sd(values) for key, values in each.items()} for name, each in figures.items()}
    return {**reports[0], "by_name": by_name, "sd": spread}


def _pair(gold: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(gold, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"gold {x.shape} and predicted {y.shape} numbers must both be (n,)")
    return x, y


def _constant(values: Floats) -> bool:
    return len(values) == 0 or bool(values.min() == values.max())


def _why(x: Floats, y: Floats) -> str:
    if len(x) == 0:
        return "no text has a number for it on both sides"
    if len(x) == 1:
        return "undefined: there is one text"
    sides = [side for side, values in (("gold", x), ("predicted", y)) if _constant(values)]
    return f"undefined: {' and '.join(sides)} numbers have no variance" if sides else "undefined: beyond floating point"
