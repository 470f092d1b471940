"""Decoding for a figure instead of for the one most probable vector: what maximises it in expectation.

Both start from the exact posterior marginals P(E_i = 1 | x) of each record; records are independent of each other.
"""

import numpy as np
from numpy.typing import ArrayLike

from emotui.metrics.states import Bits, Floats

EXACT_RECORDS = 1000
"""Up to so many records the expectation of F1 is exact; it takes n^2 steps."""


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
    for label in range(q.shape[1]):
        order = np.argsort(-q[:, label], kind="stable")
        ranked = q[order, label]
        by_size = expected_f1_exact(ranked) if len(ranked) <= EXACT_RECORDS else expected_f1_plug_in(ranked)
        best = int(np.argmax(by_size >= by_size.max() - 1e-12))
        decoded[order[:best], label] = 1
    return decoded


def expected_f1_exact(ranked: Floats) -> Floats:
    """Expected F1 of predicting the first m records positive, for every m.

    F1 with nothing gold and nothing predicted is 0, as in the metrics. With K_m hits among the first m and R gold
    records among the rest, E[F1] = sum_j P(K_m = j) 2j E[1 / (m + j + R)]; the last factor is built from the end
    backwards.

    Args:
        ranked: (n,), chances that each record is gold.

    Returns:
        (n + 1,).

    Source: Ye et al. 2012, algorithm 1.
    """
    n = len(ranked)
    # rest[c - 1] = E[1 / (c + gold records among those after the first m)], c from 1 to 2n.
    rest = 1.0 / np.arange(1, 2 * n + 1)
    reciprocals = [rest]
    for q in ranked[::-1]:
        rest = q * rest[1:] + (1 - q) * rest[:-1]
        reciprocals.append(rest)
    reciprocals.reverse()
    hits = np.ones(1)
    expected = np.zeros(n + 1)
    for m in range(1, n + 1):
        q = ranked[m - 1]
        hits = np.append(hits * (1 - q), 0.0) + np.append(0.0, hits * q)
        counts = np.arange(1, m + 1)
        expected[m] = float((hits[1:] * 2 * counts * reciprocals[m][m : 2 * m]).sum())
    return expected


def expected_f1_plug_in(ranked: Floats) -> Floats:
    """As `expected_f1_exact`, with the ratio of expectations in place of the expected ratio: 2 E[K_m] / (m + E[gold]).

    Their difference falls as 1 / n.

    Args:
        ranked: (n,).

    Returns:
        (n + 1,).
    """
    hits = np.concatenate([[0.0], np.cumsum(ranked)])
    size = np.arange(len(ranked) + 1) + ranked.sum()
    result: Floats = np.divide(2 * hits, size, out=np.zeros_like(size), where=size > 0)
    return result
