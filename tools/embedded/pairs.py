"""Fitting the weights of words and pairs of words: one logistic regression a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import expit
from torch import Tensor

from emotui.backends.embedded.weights import Doubles as Floats
from emotui.backends.embedded.weights import keys_and_counts, weighted

LEAST_TEXTS = 2
PENALTY = 0.5


def fit_pairs(ids: Sequence[Sequence[int]], gold: Tensor) -> dict[str, Tensor]:
    """Words and pairs that are in at least two texts: their keys in order (int32), rarities and weights (fp16).

    Nothing is drawn, so every run gives the same. The rarity is ln((1 + n) / (1 + texts with it)) + 1.

    Args: ids: token ids of n texts, with start and end. gold: (n, labels).
    """
    texts = [keys_and_counts(row) for row in ids]
    spread = Counter(key for keys, _ in texts for key in keys.tolist())
    common = sorted(key for key, count in spread.items() if count >= LEAST_TEXTS)
    known = np.array(common, dtype=np.int64)
    rarity: Floats = np.log((1 + len(texts)) / (1 + np.array([spread[key] for key in common]))) + 1
    rows = list(weighted(texts, known, rarity))
    ends = np.cumsum([0] + [len(places) for places, _ in rows])
    cells = (np.concatenate([values for _, values in rows]), np.concatenate([places for places, _ in rows]), ends)
    inputs = csr_matrix(cells, shape=(len(rows), len(known)))
    fitted = [_sparse_logistic(inputs, column) for column in gold.double().numpy().T]
    return {
        "pairs.keys": torch.tensor(known, dtype=torch.int32),
        "pairs.rarity": torch.tensor(rarity).half(),
        "pairs.weight": torch.tensor(np.stack([weight for weight, _ in fitted], 1)).half(),
        "pairs.bias": torch.tensor([bias for _, bias in fitted]).half(),
    }


def _sparse_logistic(inputs: csr_matrix, gold: Floats) -> tuple[Floats, float]:
    """Weights and bias of least cross-entropy + PENALTY / 2 |weights|². Args: (n, k) sparse, (n,) of 0 and 1."""

    def cost(parameters: Floats) -> tuple[float, Floats]:
        weight, bias = parameters[:-1], parameters[-1]
        logits = inputs @ weight + bias
        error = expit(logits) - gold
        loss = (np.logaddexp(0, logits) - gold * logits).sum() + PENALTY / 2 * (weight**2).sum()
        return float(loss), np.append(inputs.T @ error + PENALTY * weight, error.sum())

    parameters = np.asarray(minimize(cost, np.zeros(inputs.shape[1] + 1), jac=True, method="L-BFGS-B").x)
    return parameters[:-1], float(parameters[-1])
