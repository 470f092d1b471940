"""A prior over the label vectors of a conversation: an Ising model in each turn, and couplings from turn to turn.

    log P(E_1 … E_T) = sum_t [theta E_t + sum_{i<j} pairs_ij E_ti E_tj] + sum_{t<T} E_t' W E_{t+1} - log Z_T

Within a turn it is EmoScene's prior (section 4.2.1, equation 3); W_ij is what label i in one turn adds to label j in
the next. It is a chain of 2^k states, so marginals (forward and backward) and the best path (Viterbi) are exact, in
time T 4^k, whatever T is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from emotui.metrics.decoding import checked_log_odds
from emotui.metrics.states import (
    Bits,
    Floats,
    all_vectors,
    energies,
    label_moments,
    pair_moments,
    state_sums,
    vectors_of,
)

MOST_LABELS = 8
"""A step from turn to turn goes over all pairs of states: 256 by 256 of them."""

PENALTY = 1.0
"""Of half the squared couplings, in nats: one pseudo-observation or so, which keeps them finite."""

_WIDEST = 600.0
"""Nats between the likeliest and the least likely step; beyond, its exponentials leave the range of doubles."""

_TOGETHER = 64
"""Conversations that are decoded side by side."""


@dataclass(frozen=True, slots=True, eq=False)
class TurnPrior:
    """theta: (k,) biases. pairs: (k, k), 0 on and below the diagonal. turns: (k, k), from a turn to the next. In nats.

    `fit_turn_prior` makes it.
    """

    theta: Floats
    pairs: Floats
    turns: Floats

    @property
    def k(self) -> int:
        """How many labels."""
        return len(self.theta)

    def steps(self, weight: float = 1.0) -> Floats:
        """(2^k, 2^k): what going from one vector to another adds, weighed.

        Raises:
            ValueError: the couplings are too large to be decoded with.
        """
        vectors = all_vectors(self.k).astype(np.float64)
        found: Floats = weight * (vectors @ self.turns @ vectors.T)
        if not np.isfinite(found).all() or found.max() - found.min() > _WIDEST:
            raise ValueError(f"couplings from turn to turn span more than {_WIDEST:g} nats")
        return found


def fit_turn_prior(conversations: Sequence[ArrayLike], penalty: float = PENALTY) -> TurnPrior:
    """Maximum likelihood with a penalty on what is no bias: exact, convex, by L-BFGS.

    The normaliser of a conversation depends on its length alone, so one pass over the longest one serves all of them.

    Args:
        conversations: (T, k) of 0 or 1 each, T at least 1, k the same everywhere.
        penalty: of half the sum of squared couplings, within turns and between them; more than 0.

    Raises:
        ValueError: no conversation, another shape or value, or k not in 1..8.
    """
    golds = checked_conversations(conversations)
    if not (np.isfinite(penalty) and penalty > 0):
        raise ValueError(f"the penalty is {penalty}: it must be more than 0")
    k = golds[0].shape[1]
    upper = np.triu_indices(k, 1)
    n, n_pairs = sum(map(len, golds)), len(upper[0])
    counts = sum(vectors.T @ vectors for vectors in golds)
    moves = sum(vectors[:-1].T @ vectors[1:] for vectors in golds)
    seen = np.concatenate([np.diagonal(counts), np.asarray(counts)[upper], np.asarray(moves).ravel()])
    lengths = np.bincount([len(vectors) for vectors in golds])
    held = np.concatenate([np.zeros(k), np.full(n_pairs + k * k, penalty)])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        prior = _unpacked(parameters, k)
        log_z, expected = _expected(prior, lengths)
        gap = log_z - parameters @ seen + 0.5 * float(held @ parameters**2)
        return gap / n, (expected - seen + held * parameters) / n

    rates = (np.diagonal(counts) + 0.5) / (n + 1)
    start = np.concatenate([np.log(rates / (1 - rates)), np.zeros(n_pairs + k * k)])
    options = {"maxiter": 2000, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-9}
    return _unpacked(np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x), k)


def _unpacked(parameters: Floats, k: int) -> TurnPrior:
    n_pairs = k * (k - 1) // 2
    pairs = np.zeros((k, k))
    pairs[np.triu_indices(k, 1)] = parameters[k : k + n_pairs]
    return TurnPrior(parameters[:k].copy(), pairs, parameters[k + n_pairs :].reshape(k, k).copy())


def _expected(prior: TurnPrior, lengths: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> tuple[float, Floats]:
    """Log Z and the expected counts (labels, pairs, moves) of all conversations. `lengths`: how many of each."""
    k, longest = prior.k, len(lengths) - 1
    step = np.exp(prior.steps())
    own = energies(prior.theta, prior.pairs)
    top = own.max()
    node = np.exp(own - top)
    # ahead[t]: weight of the vectors of turn t over all that comes before it; behind[s]: of all s turns after it.
    ahead, behind = np.empty((longest, len(node))), np.empty((longest, len(node)))
    log_ahead, log_behind = np.empty(longest), np.empty(longest)
    ahead[0], behind[0] = node, 1.0
    for t in range(longest):
        if t:
            ahead[t] = (ahead[t - 1] @ step) * node
            behind[t] = step @ (behind[t - 1] * node)
        totals = ahead[t].sum(), behind[t].max()
        log_ahead[t] = np.log(totals[0]) + (log_ahead[t - 1] if t else 0.0)
        log_behind[t] = np.log(totals[1]) + (log_behind[t - 1] if t else 0.0)
        ahead[t] /= totals[0]
        behind[t] /= totals[1]
    there = np.flatnonzero(lengths)
    here = np.zeros(len(node))
    after = np.zeros_like(behind)
    for t in range(longest):
        longer = there[there > t]
        rest = longer - 1 - t
        # Each length's own normaliser; ahead and behind were scaled apart.
        scale = lengths[longer] * np.exp(log_ahead[t] + log_behind[rest] - log_ahead[longer - 1])
        here += ahead[t] * (scale @ behind[rest])
        goes_on = longer > t + 1
        if goes_on.any():
            next_rest = rest[goes_on] - 1
            ratio = scale[goes_on] * np.exp(log_behind[next_rest] - log_behind[rest[goes_on]])
            after[t] = node * (ratio @ behind[next_rest])
    moves = step * (ahead.T @ after)
    vectors = all_vectors(k).astype(np.float64)
    single_and_pairs = pair_moments(here)
    expected = np.concatenate(
        [
            np.diagonal(single_and_pairs),
            single_and_pairs[np.triu_indices(k, 1)],
            (vectors.T @ moves @ vectors).ravel(),
        ]
    )
    return float(lengths[there] @ (log_ahead[there - 1] + top * there)), expected


class _Step:
    """`row @ step` in little memory, where log step is a sum over the labels that are on in the state gone from.

    Such a state is one of the first labels (f, 0) and one of the others (0, o) together, so that step[(f, o)] is
    step[(f, 0)] * step[(0, o)], and the product over the others is one with a part of `step` that stays in a core's
    cache: half the time of all of it at 256 states.
    """

    def __init__(self, step: Floats) -> None:
        states = len(step)
        self._others = max(states // 4, 1)
        self._of_first = np.ascontiguousarray(step[:: self._others])
        self._of_others = np.ascontiguousarray(step[: self._others])

    def __call__(self, row: Floats) -> Floats:
        """(conversations, states) to the same shape."""
        n, first = len(row), len(self._of_first)
        each = (row.reshape(n * first, self._others) @ self._of_others).reshape(n, first, -1)
        each *= self._of_first
        return np.asarray(np.add.reduce(each, axis=1))


def forward(nodes: Floats, step: Floats) -> Floats:
    """What each turn's states weigh over all turns before it: the pass forward.

    Args:
        nodes: (T, conversations, states), each state's own weight.
        step: (states, states), the weight of going from one to another: e to the sum of the couplings (`_Step`).

    Returns:
        (T, conversations, states), each turn's summing to 1.
    """
    weights, through = nodes.copy(), _Step(step)
    weights[0] /= weights[0].sum(axis=1, keepdims=True)
    for t in range(1, len(nodes)):
        row = through(weights[t - 1])
        row *= nodes[t]
        row /= np.add.reduce(row, axis=1, keepdims=True)
        weights[t] = row
    return weights


def turn_marginals(log_odds: Sequence[ArrayLike], prior: TurnPrior, alpha: float, weight: float) -> list[Floats]:
    """P(E_ti = 1 | x) for every turn of every conversation, exactly, by going forward and backward.

    Args:
        log_odds: (T, k) each, the model's own evidence in nats.
        alpha: weight of the prior within a turn.
        weight: of the couplings from turn to turn.

    Returns:
        (T, k) each, in [0, 1].

    Raises:
        ValueError: log-odds that are not finite, another k, or weights that are no finite numbers.
    """
    given, own = _checked(log_odds, prior, alpha, weight)
    step = np.exp(prior.steps(weight))
    found: list[Floats] = [np.empty(0)] * len(given)
    for places in _batches(given):
        lengths = np.array([len(given[place]) for place in places])
        longest = int(lengths.max())
        # What is no step from turn to turn is done for all turns together: the loops are two small products each.
        here = np.stack([given[place][np.minimum(np.arange(longest), len(given[place]) - 1)] for place in places], 1)
        nodes = state_sums(here.reshape(-1, prior.k)) + own
        nodes -= nodes.max(axis=1, keepdims=True)
        nodes = np.exp(nodes, out=nodes).reshape(longest, len(places), len(own))
        weights = forward(nodes, step)
        behind = np.ones((len(places), len(own)))
        back, inside = _Step(step.T), np.arange(longest)[:, None] < lengths - 1
        for t in range(longest - 2, -1, -1):
            row = back(behind * nodes[t + 1])
            row /= np.maximum.reduce(row, axis=1, keepdims=True)
            behind = row if inside[t].all() else np.where(inside[t][:, None], row, 1.0)
            weights[t] *= behind
        flat = weights.reshape(-1, len(own))
        moments = np.clip(label_moments(flat) / flat.sum(axis=1, keepdims=True), 0.0, 1.0)
        by_turn = moments.reshape(longest, len(places), prior.k)
        for at, place in enumerate(places):
            found[place] = by_turn[: len(given[place]), at].copy()
    return found


def best_path(log_odds: Sequence[ArrayLike], prior: TurnPrior, alpha: float, weight: float) -> list[Bits]:
    """The most probable vectors of each conversation together, by Viterbi's recursion.

    Of equal scores the vector that is smallest as a binary number is taken, from the last turn back; with both weights
    0 a label is there exactly where its log-odds are above 0.

    Args:
        log_odds, alpha, weight: as of `turn_marginals`.

    Returns:
        (T, k) of 0 or 1 each.

    Raises:
        ValueError: as `turn_marginals`.
    """
    given, own = _checked(log_odds, prior, alpha, weight)
    if alpha == 0 and weight == 0:
        return [(odds > 0).astype(np.uint8) for odds in given]
    # A row a vector that is stepped to: the greatest of what stands in one row is found several times as quickly.
    back = np.ascontiguousarray(prior.steps(weight).T)
    ways, every = np.empty_like(back), np.arange(len(own))
    found = []
    for odds in given:
        scores = state_sums(odds) + own
        came_from = np.zeros(scores.shape, dtype=np.int64)
        best = scores[0]
        for t in range(1, len(odds)):
            if weight == 0:
                came_from[t], best = best.argmax(), best.max() + scores[t]
                continue
            np.add(back, best, out=ways)
            came_from[t] = ways.argmax(axis=1)
            best = ways[every, came_from[t]] + scores[t]
        path = np.empty(len(odds), dtype=np.int64)
        path[-1] = best.argmax()
        for t in range(len(odds) - 1, 0, -1):
            path[t - 1] = came_from[t][path[t]]
        found.append(vectors_of(path, prior.k))
    return found


def _checked(
    log_odds: Sequence[ArrayLike], prior: TurnPrior, alpha: float, weight: float
) -> tuple[list[Floats], Floats]:
    """The log-odds, and the weighed prior of every vector within a turn."""
    given = [checked_log_odds(odds) for odds in log_odds]
    if any(not len(odds) or odds.shape[1] != prior.k for odds in given):
        raise ValueError(f"log-odds are (turns, {prior.k}), with a turn at least")
    if not (np.isfinite(alpha) and np.isfinite(weight)):
        raise ValueError(f"weights {alpha} and {weight} are not finite")
    return given, alpha * energies(prior.theta, prior.pairs)


def checked_conversations(conversations: Sequence[ArrayLike]) -> list[Floats]:
    """Gold vectors of conversations, as numbers. Raises ValueError as `fit_turn_prior`."""
    golds = [np.asarray(vectors, dtype=np.float64) for vectors in conversations]
    if not golds:
        raise ValueError("a prior needs at least one conversation")
    k = golds[0].shape[-1]
    if not 1 <= k <= MOST_LABELS:
        raise ValueError(f"{k} labels: decoding over turns works for 1 to {MOST_LABELS}")
    for vectors in golds:
        if vectors.ndim != 2 or vectors.shape[1] != k or not len(vectors):
            raise ValueError(f"label vectors are (turns, {k}), with a turn at least, got {vectors.shape}")
        if not np.isin(vectors, (0, 1)).all():
            raise ValueError("label vectors hold only 0 and 1")
    return golds


def _batches(given: Sequence[Floats]) -> list[list[int]]:
    """Places of conversations of like length, to go through side by side."""
    order = sorted(range(len(given)), key=lambda place: len(given[place]))
    return [order[start : start + _TOGETHER] for start in range(0, len(order), _TOGETHER)]
