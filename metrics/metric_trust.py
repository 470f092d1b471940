"""Which automatic metric to trust: each one's correlation with people over models (Table 11), and how sure that is."""

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emotui.metrics.values import pearson, spearman

Floats = NDArray[np.float64]

LOWER_IS_BETTER = frozenset({"eps_emotionless", "eps_neutral", "r1_m", "r2_m", "r3_m", "ppl"})
"""Metrics that are turned to be oriented. Sections 5.1 and 5.4 say so of these; perplexity is this project's."""

EXACT_UP_TO = 8
"""Points whose orders are all looked at (40,320 of 8); of more, `RESAMPLES` are drawn."""

RESAMPLES = 9_999
LEVEL = 0.95
_ROUNDING = 1e-12
_LEAST_MODELS = 3


def interval(r: float | None, n: int, *, of_ranks: bool = False) -> tuple[float, float] | None:
    """The 95% interval of a correlation by Fisher's z; for ranks with the variance of Bonett and Wright (2000).

    Over five models it is as wide as it looks: r = 0.976 is anything from 0.68 to 0.998.

    Returns:
        None for fewer than four points, and where all lie on a line: the method then knows no spread.
    """
    if r is None or n < 4 or abs(r) >= 1 - _ROUNDING:
        return None
    from scipy.stats import norm

    spread = math.sqrt((1 + r * r / 2 if of_ranks else 1) / (n - 3)) * float(norm.ppf((1 + LEVEL) / 2))
    return math.tanh(math.atanh(r) - spread), math.tanh(math.atanh(r) + spread)


def permutation_p(x: Sequence[float], y: Sequence[float], seed: int = 0) -> float | None:
    """Two-sided p of Pearson's r: the share of orders of `y` whose r is as far from 0.

    Exact up to eight points. Of five points all 120 orders are looked at, so no p is below 1/120, and where r is the
    largest of all orders and no order mirrors it, it is just that.

    Returns:
        None where `pearson` is.
    """
    r = pearson(x, y)
    n = len(x)
    if r is None:
        return None
    a, b = _centred(x), _centred(y)
    size = float(np.sqrt((a @ a) * (b @ b)))
    if n <= EXACT_UP_TO:
        found = b[np.array(list(permutations(range(n))))] @ a / size
        return float((np.abs(found) >= abs(r) - 1e-9).mean())
    draw = np.random.default_rng(seed)
    found = draw.permuted(np.tile(b, (RESAMPLES, 1)), axis=1) @ a / size
    return float((1 + (np.abs(found) >= abs(r) - 1e-9).sum()) / (1 + RESAMPLES))


def trust(
    human: Mapping[str, float], metrics: Mapping[str, Mapping[str, float | None]], seed: int = 0
) -> dict[str, dict[str, Any]]:
    """Table 11's last row, with how sure it is.

    Args:
        human: the human F1 of each model.
        metrics: metric to model to value; None where the model has none.

    Returns:
        metric to `{pearson, spearman, oriented_pearson, oriented_spearman, n, ci, ci_spearman, p, p_holm, p_bh, why}`.
        `oriented` is turned where a lower value is better, so that it is positive where the metric goes with people;
        `ci` and `p` are those of the raw Pearson. `p_holm` and `p_bh` are corrected over all metrics that have a p.
        `why`: the reason where something is None.

    Source: section 7.1. The paper correlates five points and gives neither interval nor p.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, by_model in metrics.items():
        pairs = [(human[model], value) for model, value in by_model.items() if model in human and value is not None]
        x, y = [one for one, _ in pairs], [one for _, one in pairs]
        # Any two points lie on a line: their correlation is 1 or -1 whatever they are.
        r, rho = (pearson(x, y), spearman(x, y)) if len(pairs) >= _LEAST_MODELS else (None, None)
        turned = -1.0 if name in LOWER_IS_BETTER else 1.0
        found[name] = {
            "pearson": r,
            "spearman": rho,
            "oriented_pearson": None if r is None else turned * r,
            "oriented_spearman": None if rho is None else turned * rho,
            "n": len(pairs),
            "ci": _listed(interval(r, len(pairs))),
            "ci_spearman": _listed(interval(rho, len(pairs), of_ranks=True)),
            "p": None if r is None else permutation_p(x, y, seed),
            "why": _why(r, len(pairs)),
        }
    from emotui.metrics.significance import adjusted_known

    ps = [one["p"] for one in found.values()]
    corrected = zip(found.values(), adjusted_known(ps), adjusted_known(ps, "benjamini-hochberg"), strict=True)
    for one, strict, lenient in corrected:
        one["p_holm"], one["p_bh"] = strict, lenient
    return found


def _why(r: float | None, n: int) -> str | None:
    if n < _LEAST_MODELS:
        return f"a correlation over models needs at least three with a human F1 and this metric; there are {n}"
    if r is None:
        return "one of the two sides is the same for all models"
    if n < 4:
        return f"an interval needs at least four models; there are {n}"
    return None


def _listed(pair: tuple[float, float] | None) -> list[float] | None:
    return None if pair is None else list(pair)


def _centred(values: Sequence[float] | Floats) -> Floats:
    """Values less their mean; exactly 0 where all are the same."""
    given = np.asarray(values, dtype=np.float64)
    if len(given) == 0 or (given == given[0]).all():
        return np.zeros(len(given))
    return np.asarray(given - given.mean())
