"""The Ising prior over label vectors, and three ways to fit it to gold vectors (EmoScene, section 4.2.1).

    P(E) = exp(sum_i theta_i E_i + sum_{i<j} theta_ij E_i E_j) / Z,   E_i in {0, 1}, each pair once (equation 3).

Where the paper disagrees with itself: it calls equation 4 the "maximum-entropy solution", that is, parameters whose
model marginals match the data's. The formula that it prints is not that: a label's log-odds and a pair's pointwise
mutual information give a model whose marginals are off as soon as any coupling is not 0. `fit_paper` is the formula as
printed, `fit_exact` is the reading by name.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from emotui.metrics.states import Bits, Floats, all_vectors, check_label_count, energies, pair_moments

LEAST_MASS = 1e-6
"""Pseudo-records (as in `smoothing`) that make a maximum exist where the data alone has none."""

_TABLE_LABELS = 10
_RUNAWAY = 15.0  # nats: no couplings that data with all its cells filled calls for are near this
_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Ising:
    """theta: (k,) biases. pairs: (k, k) couplings, 0 on and below the diagonal. Both in nats."""

    theta: Floats
    pairs: Floats

    @property
    def k(self) -> int:
        """How many labels."""
        return len(self.theta)

    @property
    def couplings(self) -> Floats:
        """(k, k), symmetric, 0 on the diagonal: theta_ij whichever way round it is asked for."""
        return self.pairs + self.pairs.T

    def energies(self) -> Floats:
        """(2^k,): log P(E) + log Z of every vector, in binary order with the first label highest."""
        return energies(self.theta, self.pairs)

    def moments(self) -> Floats:
        """(k, k): the model's own P(E_i = 1, E_j = 1), with P(E_i = 1) on the diagonal."""
        energy = self.energies()
        weights = np.exp(energy - energy.max())
        return pair_moments(weights / weights.sum())


def label_vectors(labels: ArrayLike) -> Bits:
    """Check gold vectors.

    Args:
        labels: (n, k) of 0 or 1, n at least 1.

    Raises:
        ValueError: another shape, no record, a value other than 0 and 1, or k not in 1..20.
    """
    given = np.asarray(labels)
    if given.ndim != 2:
        raise ValueError(f"label vectors are (records, labels), got {given.ndim} axes")
    check_label_count(given.shape[1])
    if len(given) == 0:
        raise ValueError("a prior needs at least one training record")
    if not np.isin(given, (0, 1)).all():
        raise ValueError("label vectors hold only 0 and 1")
    return given.astype(np.uint8)


def smoothed_moments(labels: ArrayLike, smoothing: float) -> Floats:
    """Label and pair frequencies: p_i = (n_i + s) / (N + 2s), p_ij = (n_ij + s/2) / (N + 2s).

    The same as adding 2s records spread evenly over all vectors, so with s > 0 these are always the moments of some
    distribution with no empty cell.

    Args:
        labels: (n, k) of 0 or 1.
        smoothing: s, at least 0.

    Returns:
        (k, k), symmetric; p_i on the diagonal.

    Raises:
        ValueError: as `label_vectors`, or a smoothing that is negative or not finite.
    """
    vectors = label_vectors(labels).astype(np.float64)
    if not (np.isfinite(smoothing) and smoothing >= 0):
        raise ValueError(f"smoothing is {smoothing}: it must be 0 or more")
    counts = vectors.T @ vectors
    extra = np.full(counts.shape, smoothing / 2)
    np.fill_diagonal(extra, smoothing)
    result: Floats = (counts + extra) / (len(vectors) + 2 * smoothing)
    return result


def fit_paper(labels: ArrayLike, smoothing: float = 0.5) -> Ising:
    """The closed form: theta_i = log(p_i / (1 - p_i)), theta_ij = log(p_ij / (p_i p_j)).

    The paper prints no smoothing; without it a label or a pair that never occurs has a parameter of minus infinity.

    Args:
        labels: (n, k) of 0 or 1.
        smoothing: s of `smoothed_moments`.

    Raises:
        ValueError: as `smoothed_moments`, or smoothing 0 where a parameter would be infinite.

    Source: EmoScene, equation 4.
    """
    moments = smoothed_moments(labels, smoothing)
    p = moments.diagonal()
    upper = np.triu_indices(len(p), 1)
    if ((p <= 0) | (p >= 1)).any() or (moments[upper] <= 0).any():
        raise ValueError("a label or pair of labels is never or always there: the closed form needs smoothing above 0")
    pairs = np.zeros_like(moments)
    pairs[upper] = np.log(moments / np.outer(p, p))[upper]
    return Ising(np.log(p / (1 - p)), pairs)


def has_empty_cell(labels: ArrayLike) -> bool:
    """Whether some pair of labels never shows one of its four combinations; then no finite maximum exists."""
    vectors = label_vectors(labels).astype(np.int64)
    both = vectors.T @ vectors
    single = both.diagonal()
    only_first = single[:, None] - both
    neither = len(vectors) - single[:, None] - single[None, :] + both
    off = ~np.eye(len(single), dtype=bool)
    no_variation = bool(((single == 0) | (single == len(vectors))).any())
    return no_variation or bool(((both == 0) | (only_first == 0) | (neither == 0))[off].any())


def fit_exact(labels: ArrayLike, smoothing: float = 0.0) -> Ising:
    """Maximum likelihood: the one Ising model whose label and pair marginals match the data's.

    All 2^k vectors are summed exactly; the negative log-likelihood is convex. Up to 10 labels by Newton's steps, and
    L-BFGS where they get nowhere, until the marginals match within 1e-10; beyond by L-BFGS, within about 1e-7.

    Where the data has no finite maximum (a pair never or always together, a label that never varies), `LEAST_MASS`
    pseudo-records stand in: the marginals then match within 2e-6 / N and the couplings are large but finite.

    Args:
        labels: (n, k) of 0 or 1, k up to 20.
        smoothing: s of `smoothed_moments`; the marginals matched are then the smoothed ones.

    Raises:
        ValueError: as `smoothed_moments`.
    """
    if has_empty_cell(labels):
        smoothing = max(smoothing, LEAST_MASS)
    fitted, gap = fit_moments(smoothed_moments(labels, smoothing))
    if smoothing < LEAST_MASS and (gap > 1e-6 or np.abs(fitted.pairs).max() > _RUNAWAY):
        # The maximum can be infinite though every pair shows all four combinations: three labels are needed to see it.
        fitted, _ = fit_moments(smoothed_moments(labels, LEAST_MASS))
    return fitted


def fit_moments(moments: Floats) -> tuple[Ising, float]:
    """The Ising model with these label and pair marginals, and the largest gap that is left between the two.

    Args:
        moments: (k, k), symmetric, P(E_i = 1) on the diagonal.
    """
    k = len(moments)
    target = np.concatenate([moments.diagonal(), moments[np.triu_indices(k, 1)]])
    evaluate = _by_table if k <= _TABLE_LABELS else _by_folding

    def loss(parameters: Floats) -> tuple[float, Floats]:
        log_z, own = evaluate(parameters, k)
        return log_z - float(parameters @ target), own - target

    p = np.clip(moments.diagonal(), 1e-12, 1 - 1e-12)
    parameters = np.concatenate([np.log(p / (1 - p)), np.zeros(k * (k - 1) // 2)])
    gap = np.inf
    # Newton's steps are few, but get nowhere far from the maximum where cells are all but empty: then L-BFGS goes on.
    for near in (None, 1e-3, 1e-6, 1e-9) if k <= _TABLE_LABELS else (1e-9,):
        if near is not None:
            options = {"maxiter": 3000, "maxfun": 6000, "maxcor": 20, "ftol": 1e-16, "gtol": near}
            parameters = np.asarray(minimize(loss, parameters, jac=True, method="L-BFGS-B", options=options).x)
        if k <= _TABLE_LABELS:
            parameters = _newton(parameters, target, k)
        gap = float(np.abs(evaluate(parameters, k)[1] - target).max())
        if gap < _TOLERANCE:
            break
    return _unpack(parameters, k), gap


def couplings_only(prior: Ising) -> Ising:
    """The prior without its biases.

    A language model's log-odds already hold how common each label is to it; adding theta_i counts that twice.
    """
    return Ising(np.zeros_like(prior.theta), prior.pairs)


def dependence_only(prior: Ising) -> Ising:
    """P(E) / prod_i P(E_i): what the prior says about labels together, beyond what each says alone.

    Meant for an exact fit. There theta_i is a label's log-odds given that no other is present, so that dropping it
    (`couplings_only`) leaves a bias behind; in the closed form theta_i is the label's base rate itself.
    """
    p = np.clip(prior.moments().diagonal(), 1e-12, 1 - 1e-12)
    return Ising(prior.theta - np.log(p / (1 - p)), prior.pairs)


def _unpack(parameters: Floats, k: int) -> Ising:
    pairs = np.zeros((k, k))
    pairs[np.triu_indices(k, 1)] = parameters[k:]
    return Ising(parameters[:k].copy(), pairs)


def _by_folding(parameters: Floats, k: int) -> tuple[float, Floats]:
    """Log Z and the model's moments (biases' first), in a few passes over 2^k numbers."""
    energy = _unpack(parameters, k).energies()
    peak = energy.max()
    weights = np.exp(energy - peak)
    total = weights.sum()
    own = pair_moments(weights / total)
    return float(peak + np.log(total)), np.concatenate([own.diagonal(), own[np.triu_indices(k, 1)]])


def _by_table(parameters: Floats, k: int) -> tuple[float, Floats]:
    """The same from a table of what every vector holds: faster for few labels."""
    log_z, probabilities = _distribution(parameters, k)
    return log_z, probabilities @ _features(k)


def _distribution(parameters: Floats, k: int) -> tuple[float, Floats]:
    energy = _features(k) @ parameters
    peak = energy.max()
    weights = np.exp(energy - peak)
    total = weights.sum()
    return float(peak + np.log(total)), weights / total


@lru_cache(maxsize=_TABLE_LABELS)
def _features(k: int) -> Floats:
    """(2^k, k (k + 1) / 2): which labels, then which pairs of labels, every vector holds."""
    vectors = all_vectors(k).astype(np.float64)
    first, second = np.triu_indices(k, 1)
    return np.hstack([vectors, vectors[:, first] * vectors[:, second]])


def _newton(parameters: Floats, target: Floats, k: int) -> Floats:
    """Damped Newton steps on the convex loss; its Hessian is the covariance of the sufficient statistics."""
    features = _features(k)
    for _ in range(50):
        log_z, probabilities = _distribution(parameters, k)
        own = probabilities @ features
        gradient = own - target
        if np.abs(gradient).max() < _TOLERANCE:
            break
        centred = features - own
        hessian = centred.T @ (centred * probabilities[:, None])
        # The least of ridges keeps the system solvable where a cell is all but empty; the line search checks the step.
        ridge = 1e-15 * hessian.diagonal().max() * np.eye(len(gradient))
        step = np.linalg.solve(hessian + ridge, gradient)
        loss, slope, size = log_z - parameters @ target, gradient @ step, 1.0
        while size > 1e-6:
            trial = parameters - size * step
            if _distribution(trial, k)[0] - trial @ target <= loss - 1e-4 * size * slope + 1e-15:
                break
            size /= 2
        else:
            break
        parameters = trial
    return parameters
