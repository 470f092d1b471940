"""From logits to probabilities and thresholds, fitted on held-out training data alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

Floats = NDArray[np.float64]

SHIFT_COST = 1.0
TOP_WEIGHT = 30.0
ROUNDS = 6
TRUST = 0.25


def fit_probabilities(
    logits: Floats, gold: Floats, shift_cost: float = SHIFT_COST, top_weight: float = TOP_WEIGHT
) -> tuple[float, Floats]:
    """p = sigmoid(slope logit + shift): one slope (an inverse temperature), a shift a label, by penalised likelihood.

    The most probable label is chosen for being high, so its probability is too high more often than not. It is what
    people read as confidence: a text's most probable label therefore weighs `1 + top_weight` times another.

    Args: logits, gold: (n, k). shift_cost: charged for a shift's square, so that a rare label, whose few held-out
    examples say little, keeps the model's own level.
    Returns: slope and (k,) shifts.
    """
    n, k = logits.shape
    parameters = np.concatenate([[1.0], np.zeros(k)])
    weights = np.ones_like(logits)

    def cost(parameters: Floats) -> tuple[float, Floats]:
        slope, shifts = parameters[0], parameters[1:]
        scaled = slope * logits + shifts
        loss = (weights * (np.logaddexp(0, scaled) - gold * scaled)).sum() + shift_cost * (shifts**2).sum()
        error = weights * (expit(scaled) - gold)
        return float(loss), np.concatenate([[(error * logits).sum()], error.sum(0) + 2 * shift_cost * shifts])

    for _ in range(ROUNDS):  # which label is the most probable depends on the fit
        parameters = np.asarray(minimize(cost, parameters, jac=True, method="L-BFGS-B").x)
        weights = np.ones_like(logits)
        weights[np.arange(n), (parameters[0] * logits + parameters[1:]).argmax(1)] += top_weight
    return float(parameters[0]), parameters[1:]


def f1_thresholds(probabilities: Floats, expected: Floats, gold: Floats, trust: float = TRUST) -> Floats:
    """For each label the threshold with the best F1, by counts that mix what is seen with what is expected.

    With few positives the best threshold by the seen counts alone is chance; the expected counts take the calibrated
    probabilities at their word (true positives above t: the sum of p above t). Each example counts as
    `trust` gold + (1 - trust) expected.

    Args: probabilities: (n, k), what is compared with the threshold. expected: (n, k), the probabilities of a fit that
    gives no label more weight, so that their sums are right. gold: (n, k). trust: in [0, 1]. Returns: (k,).
    """
    weights = trust * gold + (1 - trust) * expected
    thresholds = np.empty(probabilities.shape[1])
    given = np.arange(1, len(probabilities) + 1)
    for label in range(probabilities.shape[1]):
        order = np.argsort(-probabilities[:, label], kind="stable")
        f1 = 2 * np.cumsum(weights[order, label]) / (given + weights[:, label].sum())
        best = int(np.argmax(f1))
        p = probabilities[order, label]
        thresholds[label] = (p[best] + p[best + 1]) / 2 if best + 1 < len(p) else p[best]
    return thresholds
