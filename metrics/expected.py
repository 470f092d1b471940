"""Decoding for a figure instead of for the one most probable vector: what maximises it in expectation.

Both start from the exact posterior marginals P(E_i = 1 | x) of each record; records are independent of each other.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from emotui.metrics.decoding import decode_map, posterior_marginals
from emotui.metrics.ising import Ising
from emotui.metrics.states import Bits, Floats

Objective = Literal["map", "hamming", "macro-f1"]
"""What a vector is decoded for: to be the most probable one, for the Hamming loss, or for the macro F1 of its set."""

OBJECTIVES: dict[Objective, str] = {
    "map": "the most probable vector",
    "hamming": "the least expected Hamming loss",
    "macro-f1": "the greatest expected macro F1 of the set",
}

EXACT_RECORDS = 400
"""Up to so many records the expectation of F1 is exact; it takes n^2 steps and n^2 numbers a label."""


def decode_for(log_odds: ArrayLike, prior: Ising, alphas: Sequence[float], objective: Objective = "map") -> Bits:
    """The vectors of a set of records under every alpha.

    Args:
        log_odds: (n, k), finite.
        prior: k labels.
        objective: what they are decoded for.

    Returns:
        (len(alphas), n, k) of 0 or 1.

    Raises:
        ValueError: as `decode_map`.
    """
    if objective == "map":
        return decode_map(log_odds, prior, alphas)
    decoded = [decode_marginals(posterior_marginals(log_odds, prior, alpha), objective) for alpha in alphas]
    return np.array(decoded, dtype=np.uint8).reshape(len(alphas), *np.shape(log_odds))


def decode_marginals(marginals: ArrayLike, objective: Objective) -> Bits:
    """The vectors of a set of records, from their marginals alone.

    Args:
        marginals: (n, k), in [0, 1].
        objective: not `map`, which marginals do not tell.

    Raises:
        ValueError: the objective is `map`.
    """
    if objective == "map":
        raise ValueError("the most probable vector does not follow from marginals")
    return decode_expected_hamming(marginals) if objective == "hamming" else decode_expected_macro_f1(marginals)


def decode_expected_hamming(marginals: ArrayLike) -> Bits:
    """The vectors with the least expected Hamming loss: every label whose marginal is above one half.

    Args:
        marginals: (n, k), in [0, 1].

    Returns:
        (n, k) of 0 or 1.
    """
    return (np.asarray(marginals, dtype=np.float64) > 0.5).astype(np.uint8)


def decode_expected_macro_f1(marginals: ArrayLike) -> Bits:
    """The vectors with the greatest expected macro F1 over this whole set of records.

    Macro F1 is a mean over labels, so each label is decoded alone. Given independent records, the best choice of m
    records is that of the m greatest marginals, so only m is left to choose (Lewis 1995; Ye et al. 2012). Of equal
    choices the smallest m; of equal marginals the record that comes first. What one record gets depends on the others:
    that is in the nature of F1, and the reason to keep the two decodings apart.

    Args:
        marginals: (n, k), in [0, 1].

    Returns:
        (n, k) of 0 or 1.
    """
    q = np.asarray(marginals, dtype=np.float64)
    decoded = np.zeros(q.shape, dtype=np.uint8)
    order = np.argsort(-q, axis=0, kind="stable")
    ranked = np.take_along_axis(q, order, axis=0)
    by_size = expected_f1_exact(ranked) if len(ranked) <= EXACT_RECORDS else expected_f1_plug_in(ranked)
    sizes = (by_size >= by_size.max(axis=0) - 1e-12).argmax(axis=0)
    for label, size in enumerate(sizes.tolist()):
        decoded[order[:size, label], label] = 1
    return decoded


def expected_f1_exact(ranked: Floats) -> Floats:
    """Expected F1 of predicting the first m records positive, for every m.

    F1 with nothing gold and nothing predicted is 0, as in the metrics. With K_m hits among the first m and R gold
    records among the rest, E[F1] = sum_j P(K_m = j) 2j E[1 / (m + j + R)]; the last factor is built from the end
    backwards.

    Args:
        ranked: (n, k), chances that each record is gold, a column a label, the greatest first.

    Returns:
        (n + 1, k).

    Source: Ye et al. 2012, algorithm 1.
    """
    n, k = ranked.shape
    # rest[c - 1] = E[1 / (c + gold records among those after the first m)], c from 1 to 2n.
    rest = np.repeat(1.0 / np.arange(1, 2 * n + 1)[:, None], k, axis=1)
    reciprocals = [rest]
    for q in ranked[::-1]:
        rest = q * rest[1:] + (1 - q) * rest[:-1]
        reciprocals.append(rest)
    reciprocals.reverse()
    none = np.zeros((1, k))
    hits = np.ones((1, k))
    expected = np.zeros((n + 1, k))
    for m in range(1, n + 1):
        q = ranked[m - 1]
        hits = np.concatenate([hits * (1 - q), none]) + np.concatenate([none, hits * q])
        counts = np.arange(1, m + 1)[:, None]
        expected[m] = (hits[1:] * 2 * counts * reciprocals[m][m : 2 * m]).sum(axis=0)
    return expected


def expected_f1_plug_in(ranked: Floats) -> Floats:
    """As `expected_f1_exact`, with the ratio of expectations in place of the expected ratio: 2 E[K_m] / (m + E[gold]).

    Their difference falls as 1 / n.

    Args:
        ranked: (n, k).

    Returns:
        (n + 1, k).
    """
    hits = np.concatenate([np.zeros((1, ranked.shape[1])), np.cumsum(ranked, axis=0)])
    size = np.arange(len(ranked) + 1)[:, None] + ranked.sum(axis=0)
    result: Floats = np.divide(2 * hits, size, out=np.zeros_like(size), where=size > 0)
    return result
