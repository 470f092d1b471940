"""Tests of a difference between two sources of the same samples, and what many tests at once do to them.

scipy has the tests of pairs and the control of false discoveries; Holm's steps it has not.
"""

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import binomtest, false_discovery_control, nct
from scipy.stats import t as student

from emotui.metrics.states import Floats

POWER = 0.8
ALPHA = 0.05

Correction = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli"]

CORRECTIONS: dict[Correction, str] = {
    "holm": "Holm (1979): the chance of any false positive in the family",
    "benjamini-hochberg": "Benjamini and Hochberg (1995): the expected share of false ones among the positives",
    "benjamini-yekutieli": "Benjamini and Yekutieli (2001): the same share, whatever the dependence of the tests",
}
"""What a correction over a family of tests controls."""


def mcnemar_p(only_first: int, only_second: int) -> float | None:
    """Two-sided exact p-value that two sources are right equally often, of what just one of them has right.

    Returns:
        None where there is no such sample.

    Source: McNemar 1947, with the binomial distribution in place of chi-square.
    """
    if only_first + only_second == 0:
        return None
    return float(binomtest(only_first, only_first + only_second).pvalue)


def adjusted(p: ArrayLike, by: Correction = "holm") -> Floats:
    """p-values of a family of tests, such that each is significant where it is below the level of the whole family.

    Args:
        p: (m,) in [0, 1].

    Returns:
        (m,), never below `p`.
    """
    raw = np.asarray(p, dtype=np.float64)
    if not len(raw):
        return raw
    if by != "holm":
        method: Literal["bh", "by"] = "bh" if by == "benjamini-hochberg" else "by"
        return np.asarray(false_discovery_control(raw, method=method), dtype=np.float64)
    order = np.argsort(raw, kind="stable")
    steps = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    found = np.empty_like(raw)
    found[order] = np.minimum(steps, 1.0)
    return found


def adjusted_known(
    p: Sequence[float | None], by: Correction = "holm", same: Sequence[Hashable] | None = None
) -> list[float | None]:
    """As `adjusted`, where a test that could not be made (None) is none of the family.

    Args:
        same: what each test is of. Those of the same are one test, and count once: a part against the rest is the rest
            against that part.
    """
    keys = range(len(p)) if same is None else same
    once = {key: value for key, value in zip(keys, p, strict=True) if value is not None}
    found = dict(zip(once, adjusted(list(once.values()), by).tolist(), strict=True))
    return [None if value is None else found[key] for key, value in zip(keys, p, strict=True)]


def smallest_difference(error: float | None, n: int, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """The true mean difference that a set of this size would have shown with this power (two-sided paired t-test).

    Args:
        error: the standard error of the mean difference.
        n: how many pairs, or groups of pairs.

    Returns:
        at least 0; None for fewer than two pairs.
    """
    if error is None or n < 2:
        return None
    edge = float(student.ppf(1 - alpha / 2, n - 1))

    def lacking(shift: float) -> float:
        return float(nct.sf(edge, n - 1, shift)) - power  # the other tail is below a millionth

    return error * float(brentq(lacking, 0.0, 1.5 * edge + 3))
