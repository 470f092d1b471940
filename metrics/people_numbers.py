"""A source's numbers against the spread of the numbers that people give, in place of one gold number.

People are a distribution: of n answers each has the weight 1/n. So is a source: of its repeats each has the weight
1/repeats, and a single number has all of it.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import jensenshannon
from scipy.special import xlogy
from scipy.stats import wasserstein_distance

from emotui.metrics.people_spread import FLOOR
from emotui.metrics.states import Floats

MOST_LEVELS = 21
"""Numbers that differ more often are no levels, of which a share could be taken."""


def wasserstein(answers: ArrayLike, numbers: ArrayLike) -> Floats:
    """How far a source's numbers have to be moved in the mean to be spread as people's answers, of each text.

    0 where both are spread alike; for a single number it is its mean distance to an answer.

    Args:
        answers: (n, people); NaN where somebody gives none, each row at least one.
        numbers: (n, repeats); likewise.

    Returns:
        (n,), at least 0, in points of the scale.

    Source: Vaserstein 1969; scipy's `wasserstein_distance`.
    """
    a, s = np.asarray(answers, dtype=np.float64), np.asarray(numbers, dtype=np.float64)
    single = (~np.isnan(s)).sum(axis=1) == 1
    off = np.abs(a - np.nanmin(s, axis=1, keepdims=True))
    found: Floats = np.nanmean(off, axis=1)
    for at in np.flatnonzero(~single):
        found[at] = wasserstein_distance(a[at][~np.isnan(a[at])], s[at][~np.isnan(s[at])])
    return found


def levels_of(answers: ArrayLike) -> Floats | None:
    """The different numbers that people give, in order; None where they are more than `MOST_LEVELS`."""
    given = np.asarray(answers, dtype=np.float64)
    levels: Floats = np.unique(given[~np.isnan(given)])
    return levels if len(levels) <= MOST_LEVELS else None


def level_shares(numbers: ArrayLike, levels: ArrayLike) -> Floats:
    """The share of numbers that are nearest to each level; of one just between two the lower one counts.

    Args:
        numbers: (n, k); NaN where there is none, each row at least one.
        levels: (m,), in order.

    Returns:
        (n, m), rows add up to 1.
    """
    x, at = np.asarray(numbers, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    places = np.searchsorted((at[1:] + at[:-1]) / 2, x, side="left")
    there = ~np.isnan(x)
    found = np.zeros((len(x), len(at)))
    rows = np.broadcast_to(np.arange(len(x))[:, None], x.shape)
    np.add.at(found, (rows[there], places[there]), 1.0)
    shares: Floats = found / there.sum(axis=1, keepdims=True)
    return shares


def levels_cross_entropy(people: ArrayLike, source: ArrayLike, floor: float = FLOOR) -> Floats:
    """-sum over levels of q log p, in nats, of each text; where p is q it is the entropy of people.

    Args:
        people, source: (n, m) shares; those of the source count as `floor` at least, and then add up to 1 again.

    Source: Peterson et al. 2019; Uma et al. 2021, section 4.2.
    """
    q, p = np.asarray(people, dtype=np.float64), np.maximum(np.asarray(source, dtype=np.float64), floor)
    found: Floats = -xlogy(q, p / p.sum(axis=1, keepdims=True)).sum(axis=1)
    return found


def levels_divergence(people: ArrayLike, source: ArrayLike) -> Floats:
    """The Jensen-Shannon divergence, base 2, of each text: in [0, 1]. Args: people, source: (n, m) shares.

    Source: Lin 1991; Uma et al. 2021, section 4.2.
    """
    q, p = np.asarray(people, dtype=np.float64), np.asarray(source, dtype=np.float64)
    distance = jensenshannon(q, p, base=2, axis=1)
    found: Floats = np.nan_to_num(np.asarray(distance, dtype=np.float64)) ** 2  # rounding below 0 under the root
    return found


def inside(answers: ArrayLike, numbers: ArrayLike) -> Floats:
    """1 where the mean of a source's numbers lies from the least to the greatest answer of people, else 0.

    Args:
        answers, numbers: (n, k), as of `wasserstein`.
    """
    a, s = np.asarray(answers, dtype=np.float64), np.nanmean(np.asarray(numbers, dtype=np.float64), axis=1)
    within = (np.nanmin(a, axis=1) <= s) & (s <= np.nanmax(a, axis=1))
    found: Floats = within.astype(np.float64)
    return found
