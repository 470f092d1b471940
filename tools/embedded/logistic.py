"""Fitting the small heads over frozen features: logistic regression, with the features' own scales merged in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

Floats = NDArray[np.float64]


def logistic(features: Floats, gold: Floats, penalty: float) -> tuple[Floats, float]:
    """Weights and bias by penalised likelihood on standardised features; they apply to the features as they are.

    Args: features: (n, d). gold: (n,) in [0, 1]. penalty: charged for half the squared size of the weights, as 1 / C of
    scikit-learn's LogisticRegression.
    Returns: (d,) weights and the bias.
    """
    centre, scale = features.mean(0), features.std(0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    inputs = (features - centre) / scale

    def cost(parameters: Floats) -> tuple[float, Floats]:
        weights, bias = parameters[:-1], parameters[-1]
        odds = inputs @ weights + bias
        loss = (np.logaddexp(0, odds) - gold * odds).sum() + penalty / 2 * (weights**2).sum()
        error = expit(odds) - gold
        return float(loss), np.append(inputs.T @ error + penalty * weights, error.sum())

    found = minimize(cost, np.zeros(features.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    weights = found[:-1] / scale
    return weights, float(found[-1] - centre @ weights)
