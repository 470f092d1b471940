"""Joint decoding of label vectors: a model's log-odds plus alpha times an Ising prior (EmoScene, section 4.2.2).

    log P(E | x) = sum_i d_i E_i + alpha (sum_i theta_i E_i + sum_{i<j} theta_ij E_i E_j) + constant   (equation 6)

d_i is log p(yes) - log p(no). With p the softmax over a yes and a no logit its normaliser cancels, so d_i is the
difference of the two logits. Alpha weighs the whole prior and never the evidence; alpha 0 is the model alone.
Every sum over vectors is exact.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from emotui.metrics.ising import Ising
from emotui.metrics.states import Bits, Floats, check_label_count, label_moments, state_sums, vectors_of

PAPER_ALPHAS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 2.0, 5.0)
"""EmoScene, section 5."""

_BLOCK = 1 << 16  # sums held at once: half a megabyte, which stays in the processor's cache


def log_odds_of(logits: ArrayLike) -> Floats:
    """Evidence for each label, in nats.

    Args:
        logits: (n, k, 2), yes then no.

    Returns:
        (n, k), yes minus no.

    Raises:
        ValueError: another shape, or naming the first row with a NaN, an infinity, or a difference that overflows.
    """
    given = np.asarray(logits, dtype=np.float64)
    if given.ndim != 3 or given.shape[2] != 2:
        raise ValueError(f"logits are (records, labels, 2), got {given.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        return checked_log_odds(given[:, :, 0] - given[:, :, 1])


def checked_log_odds(log_odds: ArrayLike) -> Floats:
    """Log-odds that can be decoded.

    Args:
        log_odds: (n, k).

    Raises:
        ValueError: another shape, k not in 1..20, or the first row with a value that is not finite.
    """
    given = np.asarray(log_odds, dtype=np.float64)
    if given.ndim != 2:
        raise ValueError(f"log-odds are (records, labels), got {given.ndim} axes")
    check_label_count(given.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(np.abs(given).sum(axis=1))
    if not finite.all():
        raise ValueError(f"row {int(np.argmin(finite))}: a logit is NaN or infinite")
    return given


def decode_map(log_odds: ArrayLike, prior: Ising, alphas: Sequence[float]) -> Bits:
    """The most probable vector of every record under every alpha, by enumeration of all 2^k.

    Of equal scores the vector that is smallest as a binary number (first label highest) wins, so at alpha 0 a label is
    1 exactly where its log-odds are above 0. Scores count as equal when they differ by less than the rounding of their
    sum (a few units in the last place of the terms' total size), so rounding never decides between tied vectors.

    Args:
        log_odds: (n, k), finite.
        prior: k labels.
        alphas: finite numbers; the paper's are `PAPER_ALPHAS`.

    Returns:
        (len(alphas), n, k) of 0 or 1.

    Raises:
        ValueError: as `checked_log_odds`, a prior of another k, or an alpha that is not finite.
    """
    evidence = checked_log_odds(log_odds)
    n, k = evidence.shape
    _check_prior(prior, k, alphas)
    energy = prior.energies()
    numbers = np.zeros((len(alphas), n), dtype=np.int64)
    size = np.abs(evidence).sum(axis=1)
    prior_size = float(np.abs(prior.theta).sum() + np.abs(prior.pairs).sum())
    sums_room, scores_room = np.empty((2, _rows_at_once(n, k), 1 << k))
    for rows in _row_blocks(n, k):
        sums = state_sums(evidence[rows], out=sums_room)
        scores = scores_room[: len(sums)]
        for a, alpha in enumerate(alphas):
            if alpha == 0:
                continue
            np.add(sums, alpha * energy, out=scores)
            slack = 4 * np.finfo(np.float64).eps * (size[rows] + abs(alpha) * prior_size)
            best = scores.argmax(axis=1)
            least = np.take_along_axis(scores, best[:, None], axis=1) - slack[:, None]
            tied = scores >= least
            if np.count_nonzero(tied) > len(best):  # some row has rivals: the first of them is the smallest number
                best = tied.argmax(axis=1)
            numbers[a, rows] = best
    decoded = vectors_of(numbers, k)
    for a, alpha in enumerate(alphas):
        if alpha == 0:  # no sum is needed, so nothing can be lost to rounding
            decoded[a] = evidence > 0
    return decoded


def posterior_marginals(
    log_odds: ArrayLike, prior: Ising, alpha: float, clamps: Mapping[int, int] | None = None
) -> Floats:
    """P(E_i = 1 | x), exactly; with clamps, given that some labels are known to be 1 or 0 (what-if).

    Args:
        log_odds: (n, k).
        clamps: label index to 0 or 1; a clamped label's own probability is that number.

    Returns:
        (n, k), in [0, 1].

    Raises:
        ValueError: as `decode_map`, or a clamp on no label or to another value.
    """
    evidence = checked_log_odds(log_odds)
    _check_prior(prior, evidence.shape[1], (alpha,))
    if clamps:
        return _clamped_marginals(evidence, prior, alpha, clamps)
    n, k = evidence.shape
    energy = alpha * prior.energies()
    marginals = np.empty((n, k))
    room = np.empty((_rows_at_once(n, k), 1 << k))
    for rows in _row_blocks(n, k):
        scores = state_sums(evidence[rows], out=room)
        scores += energy
        scores -= scores.max(axis=1, keepdims=True)
        weights = np.exp(scores, out=scores)
        marginals[rows] = label_moments(weights) / weights.sum(axis=1, keepdims=True)
    return np.clip(marginals, 0.0, 1.0)


def marginals_over_alphas(log_odds: ArrayLike, prior: Ising, alphas: Sequence[float]) -> Floats:
    """P(E_i = 1 | x) of one record under every alpha, exactly: `posterior_marginals` with alphas for rows.

    Args:
        log_odds: (k,), one record's.

    Returns:
        (len(alphas), k), in [0, 1].

    Raises:
        ValueError: as `decode_map`.
    """
    evidence = checked_log_odds(np.asarray(log_odds, dtype=np.float64)[None, :])
    k = evidence.shape[1]
    _check_prior(prior, k, alphas)
    weighed = np.asarray(alphas, dtype=np.float64)
    energy, sums = prior.energies(), state_sums(evidence)
    marginals = np.empty((len(weighed), k))
    for rows in _row_blocks(len(weighed), k):
        scores = sums + weighed[rows, None] * energy
        scores -= scores.max(axis=1, keepdims=True)
        weights = np.exp(scores, out=scores)
        marginals[rows] = label_moments(weights) / weights.sum(axis=1, keepdims=True)
    return np.clip(marginals, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a label's log-odds, in nats: its own evidence, the prior's bias, the pull of another label."""

    source: Literal["evidence", "bias", "neighbour"]
    neighbour: int | None
    value: float


def explain_label(log_odds: ArrayLike, prior: Ising, alpha: float, vector: ArrayLike, label: int) -> list[Term]:
    """Why a label is on or off: the terms that add up to its log-odds given the other labels of `vector`.

    log P(E_i = 1 | rest, x) - log P(E_i = 0 | rest, x) = d_i + alpha theta_i + alpha sum_{j on} theta_ij.

    Args:
        log_odds: (k,), one record's.
        vector: (k,) of 0 or 1; the label's own entry is not read.
        label: its index.

    Returns:
        evidence, bias and one neighbour for each other label that is on, largest first.

    Raises:
        ValueError: as `decode_map`.
    """
    evidence = checked_log_odds(np.asarray(log_odds, dtype=np.float64)[None, :])[0]
    _check_prior(prior, len(evidence), (alpha,))
    terms = [
        Term("evidence", None, float(evidence[label])),
        Term("bias", None, alpha * float(prior.theta[label])),
    ]
    pulls = prior.couplings[label]
    on = np.flatnonzero(np.asarray(vector))
    terms += [Term("neighbour", int(j), alpha * float(pulls[j])) for j in on if j != label]
    return sorted(terms, key=lambda term: -abs(term.value))


def _clamped_marginals(evidence: Floats, prior: Ising, alpha: float, clamps: Mapping[int, int]) -> Floats:
    """Conditioning leaves an Ising model over the free labels, with the clamped ones' pulls as evidence."""
    k = evidence.shape[1]
    for label, value in clamps.items():
        if not 0 <= label < k or value not in (0, 1):
            raise ValueError(f"cannot clamp label {label} of {k} to {value}")
    free = [i for i in range(k) if i not in clamps]
    on = [i for i, value in clamps.items() if value == 1]
    marginals = np.empty_like(evidence)
    for label, value in clamps.items():
        marginals[:, label] = value
    if free:
        pulled = evidence[:, free] + alpha * prior.couplings[np.ix_(free, on)].sum(axis=1)
        rest = Ising(prior.theta[free], prior.pairs[np.ix_(free, free)])
        marginals[:, free] = posterior_marginals(pulled, rest, alpha)
    return marginals


def _check_prior(prior: Ising, k: int, alphas: Sequence[float]) -> None:
    if prior.k != k:
        raise ValueError(f"the prior has {prior.k} labels, the log-odds have {k}")
    largest = float(np.abs(prior.theta).sum() + np.abs(prior.pairs).sum())
    for alpha in alphas:
        if not np.isfinite(alpha * max(largest, 1.0)):
            raise ValueError(f"alpha {alpha} is not a finite weight")


def _rows_at_once(n: int, k: int) -> int:
    return min(n, max(1, _BLOCK >> k))


def _row_blocks(n: int, k: int) -> Iterator[slice]:
    rows = max(1, _rows_at_once(n, k))
    return (slice(start, min(start + rows, n)) for start in range(0, n, rows))
