"""One scenario at every alpha: which emotions are on, how likely each is, and what its log-odds are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from emotui.metrics.decoding import decode_map, marginals_over_alphas
from emotui.metrics.ising import Ising
from emotui.metrics.states import Bits, Floats


@dataclass(frozen=True, slots=True)
class Row:
    """One emotion of one scenario, in nats: own evidence, the prior's bias and its neighbours' pull, all as weighed.

    `posterior` is the exact P(yes), given what is clamped. `before` is the model alone.
    """

    label: str
    own: float
    bias: float
    neighbours: float
    posterior: float
    before: int
    now: int
    gold: int
    clamp: int | None

    @property
    def total(self) -> float:
        """The log-odds, given the other emotions as decoded."""
        return self.own + self.bias + self.neighbours


@dataclass(frozen=True, slots=True, eq=False)
class Ribbons:
    """What a scenario is decoded to at each alpha, in arrays.

    on: (a, k) of 0 or 1. posterior, bias, pulls: (a, k); the last two in nats, as weighed. own: (k,). gold, before (the
    model alone): (k,) of 0 or 1.
    """

    labels: tuple[str, ...]
    alphas: tuple[float, ...]
    on: Bits
    posterior: Floats
    own: Floats
    bias: Floats
    pulls: Floats
    before: Bits
    gold: Bits
    clamps: Mapping[int, int]

    @property
    def wrong(self) -> "np.ndarray":
        """(a,): how many emotions are not as in gold, at each alpha."""
        counts: np.ndarray = (self.on != self.gold).sum(axis=1)
        return counts

    def flips(self, label: int) -> list[tuple[float, bool]]:
        """The alphas from which on an emotion is another than at the alpha before; true: it is on from there."""
        column = self.on[:, label].tolist()
        return [(self.alphas[at], bool(now)) for at, (before, now) in enumerate(pairwise(column), 1) if before != now]

    def rows(self, step: int) -> list[Row]:
        """The emotions at one of the alphas."""
        return [
            Row(
                label=label,
                own=float(self.own[i]),
                bias=float(self.bias[step, i]),
                neighbours=float(self.pulls[step, i]),
                posterior=float(self.posterior[step, i]),
                before=int(self.before[i]),
                now=int(self.on[step, i]),
                gold=int(self.gold[i]),
                clamp=self.clamps.get(i),
            )
            for i, label in enumerate(self.labels)
        ]


def given_clamps(prior: Ising, clamps: Mapping[int, int]) -> tuple[list[int], Ising]:
    """The labels that are free, and the prior over them given the clamped ones: what pulls them becomes their bias."""
    free = [i for i in range(prior.k) if i not in clamps]
    on = [i for i, value in clamps.items() if value]
    pull = prior.couplings[np.ix_(free, on)].sum(axis=1)
    return free, Ising(prior.theta[free] + pull, prior.pairs[np.ix_(free, free)])


def marginals_path(log_odds: Floats, prior: Ising, alphas: Sequence[float], clamps: Mapping[int, int]) -> Floats:
    """(a, k): P(yes) of every emotion of one scenario at every alpha, given the clamps."""
    found = np.empty((len(alphas), prior.k))
    for label, value in clamps.items():
        found[:, label] = value
    free, rest = given_clamps(prior, clamps)
    if free:
        found[:, free] = marginals_over_alphas(log_odds[free], rest, alphas)
    return found


def best_vectors(log_odds: Floats, prior: Ising, alphas: Sequence[float], clamps: Mapping[int, int]) -> Bits:
    """(a, k): the most probable vector of one scenario at every alpha, among those that hold what is clamped."""
    found = np.empty((len(alphas), prior.k), dtype=np.uint8)
    for label, value in clamps.items():
        found[:, label] = value
    free, rest = given_clamps(prior, clamps)
    if free:
        found[:, free] = decode_map(log_odds[free][None], rest, alphas)[:, 0]
    return found
