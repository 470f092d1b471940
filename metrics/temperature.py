"""Temperature scaling of log-odds (Guo et al. 2017): one number that makes a model as sure as it is right."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import expit

from emotui.metrics.decoding import checked_log_odds

COOLEST, HOTTEST = 0.02, 50.0


def fit_temperature(log_odds: ArrayLike, gold: ArrayLike) -> float:
    """The T that makes the gold labels most likely under P(E_i = 1 | x) = sigmoid(d_i / T), all labels pooled.

    For the best vector (MAP) dividing the evidence by T is the same as multiplying alpha by T; marginals, and decodings
    made from them, change in more than that.

    Args:
        log_odds: (n, k), n at least 1.
        gold: (n, k) of 0 or 1.

    Returns:
        T in [0.02, 50]; an end of that range where the labels are perfectly separated, or the evidence points the wrong
        way.

    Raises:
        ValueError: as `checked_log_odds`, other shapes, or no record.
    """
    d = checked_log_odds(log_odds)
    e = np.asarray(gold, dtype=np.float64)
    if d.shape != e.shape or len(d) == 0:
        raise ValueError(f"log-odds {d.shape} and gold {e.shape} must agree and hold a record")
    signed = np.where(e > 0, d, -d)

    def loss(coldness: float) -> float:
        return float(np.logaddexp(0.0, -signed * coldness).mean())

    # In 1 / T the loss is convex, so its derivative has one sign change at most; the ends are looked at first.
    def slope(coldness: float) -> float:
        return float(-(signed * expit(-signed * coldness)).mean())

    low, high = 1 / HOTTEST, 1 / COOLEST
    if slope(low) >= 0:
        return HOTTEST
    if slope(high) <= 0:
        return COOLEST
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
    return float(1 / found.x)
