"""How near two vectors lie: by cosine and by Manhattan distance, a row each."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cosine(a: Floats, b: Floats) -> Floats:
    """(n,): the cosine of each two rows, 0 where one of them has no length. Args: a, b: (n, d)."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = (a * b).sum(axis=1)
    cosines = np.divide(products, lengths, out=np.zeros(len(products)), where=lengths > 0)
    return np.asarray(np.clip(cosines, -1.0, 1.0))


def manhattan(a: Floats, b: Floats) -> Floats:
    """(n,): the Manhattan (L1) distance of each two rows, from 0 on. Args: a, b: (n, d)."""
    return np.asarray(np.abs(a - b).sum(axis=1))
