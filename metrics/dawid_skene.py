"""Whose labels can be trusted, and what is the label of each item: the model of Dawid and Skene, by EM.

Each item has one true class; an annotator who sees class j says l with a probability of their own, the same for all
items. Both are estimated by the likelihood of all that was said, beginning with each item's share of votes. There is no
smoothing and no prior, as in the paper; a class that no one ever gives has probability 0.

Source: Dawid and Skene 1979, "Maximum likelihood estimation of observer error-rates using the EM algorithm", Applied
Statistics 28(1): 20-28, equations 2.3 to 2.5.
"""

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.figure import unique_rows

Floats = NDArray[np.float64]

MOST_STEPS = 5000
TOLERANCE = 1e-10
"""Of the log-likelihood between two steps, by its size."""

_NEVER = -1e6
"""In place of the logarithm of 0, so that 0 times it is 0."""


class DawidSkene(msgspec.Struct, frozen=True):
    """The estimate.

    `classes`: (items, classes), the probability of each class; rows of items that nobody labelled are the prior.
    `prior`: (classes,). `confusion`: (annotators, classes, classes), what an annotator says (column) of a class (row);
    NaN in a row of a class that the annotator saw nothing of. `converged`: whether the likelihood stood still before
    `steps` ran out; EM finds a maximum near its beginning, which need not be the greatest.
    """

    classes: Floats
    prior: Floats
    confusion: Floats
    log_likelihood: float
    steps: int
    converged: bool


def dawid_skene(counts: ArrayLike, steps: int = MOST_STEPS, tolerance: float = TOLERANCE) -> DawidSkene:
    """Estimate classes and annotators together.

    Args:
        counts: (items, annotators, classes), how often an annotator said the class of the item; mostly 0 or 1.

    Raises:
        ValueError: nobody said anything, or not three dimensions.
    """
    said = np.asarray(counts, dtype=np.float64)
    if said.ndim != 3:
        raise ValueError(f"counts {said.shape} must be (items, annotators, classes)")
    votes = said.sum(axis=1)
    known = votes.sum(axis=1) > 0
    if not known.any():
        raise ValueError("nobody said anything")
    # One product for all annotators, (items, annotators * classes); items of which all said the same count as one.
    flat, which, times = unique_rows(said[known].reshape(int(known.sum()), -1))
    of_kind = flat.reshape(len(flat), *said.shape[1:]).sum(axis=1)
    classes = of_kind / of_kind.sum(axis=1, keepdims=True)
    before, converged, step = -np.inf, False, 0
    while step < steps and not converged:
        step += 1
        prior, confusion = _rates(flat, classes * times[:, None], said.shape[1], said.shape[2])
        classes, likelihoods = _classes(flat, prior, confusion)
        likelihood = float(times @ likelihoods)
        converged = abs(likelihood - before) <= tolerance * max(1.0, abs(likelihood))
        before = likelihood
    whole = np.tile(prior, (len(said), 1))
    whole[known] = classes[which]
    return DawidSkene(whole, prior, _shown(confusion, flat, classes), before, step, converged)


def log_likelihood(counts: ArrayLike, prior: ArrayLike, confusion: ArrayLike) -> float:
    """Of what was said, given the rates; the constant for the order of repeated answers is left out.

    Args:
        counts: (items, annotators, classes). prior: (classes,). confusion: (annotators, classes, classes).
    """
    said = np.asarray(counts, dtype=np.float64)
    flat = said.reshape(len(said), -1)
    return float(_classes(flat, np.asarray(prior, float), np.asarray(confusion, float))[1].sum())


def _rates(flat: Floats, classes: Floats, annotators: int, k: int) -> tuple[Floats, Floats]:
    """(classes,) and (annotators, classes, classes). A row of which there is nothing is 0.

    Args:
        classes: (items, classes), the probability of each class, times how often there is such an item.
    """
    seen = (classes.T @ flat).reshape(k, annotators, k).transpose(1, 0, 2)
    total = seen.sum(axis=2, keepdims=True)
    return classes.sum(axis=0) / classes.sum(), np.divide(seen, total, out=np.zeros_like(seen), where=total > 0)


def _classes(flat: Floats, prior: Floats, confusion: Floats) -> tuple[Floats, Floats]:
    """(items, classes), and the log-likelihood of each item."""
    by_class = _log(confusion).transpose(1, 0, 2).reshape(len(prior), -1)
    logs = flat @ by_class.T + _log(prior)
    most = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - most)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total, (np.log(total) + most)[:, 0]


def _log(shares: Floats) -> Floats:
    return np.log(shares, out=np.full_like(shares, _NEVER), where=shares > 0)


def _shown(confusion: Floats, flat: Floats, classes: Floats) -> Floats:
    """The rates, with NaN where an annotator saw nothing of a class."""
    annotators, k, _ = confusion.shape
    seen = (classes.T @ flat).reshape(k, annotators, k).sum(axis=2).T
    return np.where((seen > 1e-9)[:, :, None], confusion, np.nan)
