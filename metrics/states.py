"""All 2^k label vectors at once: sums over them and moments of them, without ever building the table of vectors.

A vector is numbered by reading it as a binary number with the first label as the highest bit. Every function doubles or
halves an array label by label, so the cost is a few passes over 2^k numbers whatever k is.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bits = NDArray[np.uint8]

MAX_LABELS = 20
"""Exact enumeration stops here: 2^20 vectors are 8 MB of doubles."""


def check_label_count(k: int) -> None:
    """Refuse what cannot be enumerated.

    Raises:
        ValueError: k is not in 1..20.
    """
    if not 1 <= k <= MAX_LABELS:
        raise ValueError(f"{k} labels: exact decoding works for 1 to {MAX_LABELS}")


def vectors_of(numbers: NDArray[np.int64], k: int) -> Bits:
    """The label vectors with these numbers.

    Args:
        numbers: any shape, each in 0..2^k - 1.

    Returns:
        the same shape with a last axis of k, of 0 or 1.
    """
    octets = numbers[..., None].astype(">u4").view(np.uint8)
    return np.ascontiguousarray(np.unpackbits(octets, axis=-1)[..., 32 - k :])


def all_vectors(k: int) -> Bits:
    """(2^k, k): every label vector, in order of its number."""
    return vectors_of(np.arange(1 << k), k)


def state_sums(terms: Floats, out: Floats | None = None) -> Floats:
    """For every vector, the sum of the terms of the labels that it holds.

    Args:
        terms: (n, k).
        out: (at least n, 2^k), to write into: fresh memory costs more than the sums do.

    Returns:
        (n, 2^k). Each sum is added from the last label to the first, in every row and for every vector alike.
    """
    n, k = terms.shape
    sums = np.empty((n, 1 << k)) if out is None else out[:n]
    sums[:, 0] = 0.0
    for i in range(k - 1, -1, -1):
        half = 1 << (k - 1 - i)
        np.add(sums[:, :half], terms[:, i : i + 1], out=sums[:, half : 2 * half])
    return sums


def energies(theta: Floats, pairs: Floats) -> Floats:
    """sum_i theta_i E_i + sum_{i<j} theta_ij E_i E_j for every vector E; each pair counts once.

    Args:
        theta: (k,).
        pairs: (k, k); only what is above the diagonal is read.

    Returns:
        (2^k,).
    """
    k = len(theta)
    energy = np.zeros(1 << k)
    for i in range(k - 1, -1, -1):
        half = 1 << (k - 1 - i)
        np.add(energy[:half], theta[i] + state_sums(pairs[i : i + 1, i + 1 :])[0], out=energy[half : 2 * half])
    return energy


def label_moments(weights: Floats) -> Floats:
    """For each label, the total weight of the vectors that hold it.

    Args:
        weights: (n, 2^k).

    Returns:
        (n, k); not divided by the total weight.
    """
    k = weights.shape[1].bit_length() - 1
    moments = np.empty((weights.shape[0], k))
    for i in range(k):
        half = weights.shape[1] // 2
        moments[:, i] = weights[:, half:].sum(axis=1)
        weights = weights[:, :half] + weights[:, half:]
    return moments


def pair_moments(weights: Floats) -> Floats:
    """For each pair of labels, the total weight of the vectors that hold both.

    Args:
        weights: (2^k,).

    Returns:
        (k, k), symmetric; the diagonal holds the single labels' moments.
    """
    k = len(weights).bit_length() - 1
    moments = np.empty((k, k))
    for i in range(k):
        half = len(weights) // 2
        held = weights[half:]
        moments[i, i] = held.sum()
        moments[i, i + 1 :] = moments[i + 1 :, i] = label_moments(held[None, :])[0]
        weights = weights[:half] + held
    return moments
