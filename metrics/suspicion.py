"""Which gold is likely wrong, and which is a matter of view: votes beside suspicion.

Suspicion is 1 less the probability of the gold label given what the annotators said (`emotui.metrics.dawid_skene`,
estimated without gold). It never stands alone: a high one with all votes on another label is another thing than a high
one with votes divided.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.metrics.dawid_skene import DawidSkene

WRONG, VIEW, THIN, AGREED = "likely wrong", "matter of view", "one vote against", "agreed"
"""What a gold label is, in the order of concern.

`likely wrong`: nobody gave the gold label, and two annotators or more, and most of them, gave the same other one.
`matter of view`: some gave the gold label and at least as many another one, or nobody gave it and the others are
divided. `one vote against`: one annotator alone, who says something else. `agreed`: most gave the gold label.
"""

KINDS = (WRONG, VIEW, THIN, AGREED)


class Suspicion(msgspec.Struct, frozen=True):
    """About the gold label of one item.

    `votes`: how many annotators gave each label, most first. `for_gold`: how many gave gold's. `rival`: the other label
    that is most probable. `probability`: of the rival.
    """

    item: int
    gold: str
    kind: str
    suspicion: float
    votes: Sequence[tuple[str, int]]
    for_gold: int
    rival: str | None
    probability: float | None


def suspicions(
    gold: Sequence[str | None], counts: NDArray[np.float64], labels: Sequence[str], estimate: DawidSkene
) -> list[Suspicion]:
    """What of gold is suspicious: first what is likely wrong, then what is a matter of view, each by suspicion.

    Args:
        gold: a label for each item, None where there is none. One that no annotator ever gave has probability 0.
        counts: (items, annotators, classes), as for `dawid_skene`; items without a vote are left out.
        labels: of the classes.
    """
    votes = np.asarray(counts, dtype=np.float64).sum(axis=1)
    number = {label: at for at, label in enumerate(labels)}
    own = np.array([-1 if label is None else number.get(label, len(labels)) for label in gold], dtype=np.int64)
    asked = np.nonzero((own >= 0) & (votes.sum(axis=1) > 0))[0]
    # Votes and shares of gold's class (none of one that nobody gave), and of the others alone.
    given = np.pad(votes[asked], ((0, 0), (0, 1)))
    shares = np.pad(estimate.classes[asked], ((0, 0), (0, 1)))
    rows, at = np.arange(len(asked)), own[asked]
    for_gold, probable = given[rows, at], shares[rows, at]
    others, likely = given.copy(), shares.copy()
    others[rows, at] = likely[rows, at] = -1.0
    others[:, -1] = likely[:, -1] = -1.0
    most_other = others.max(axis=1)
    # The most probable other one, of equals the one with more votes, then the later one.
    rival = np.lexsort((np.broadcast_to(np.arange(len(labels) + 1), likely.shape), others, likely), axis=1)[:, -1]
    kinds = _kinds(for_gold, np.maximum(most_other, 0.0), given.sum(axis=1))
    found = []
    for row, item in enumerate(asked.tolist()):
        order = sorted((-int(n), name) for n, name in zip(votes[item].tolist(), labels, strict=True) if n)
        other = int(rival[row])
        there = likely[row, other] >= 0
        found.append(
            Suspicion(
                item,
                str(gold[item]),
                KINDS[kinds[row]],
                1 - float(probable[row]),
                [(name, -n) for n, name in order],
                int(for_gold[row]),
                labels[other] if there else None,
                float(likely[row, other]) if there else None,
            )
        )
    return sorted(found, key=lambda one: (KINDS.index(one.kind), -one.suspicion, one.item))


def _kinds(own: NDArray[np.float64], most_other: NDArray[np.float64], total: NDArray[np.float64]) -> list[int]:
    """The place in `KINDS` of each, by the votes for gold's label, for the other one that has most, and in all."""
    wrong = (own == 0) & (most_other > total / 2)
    found = np.where(wrong, KINDS.index(WRONG), KINDS.index(VIEW))
    found = np.where((own == 0) & (total == 1), KINDS.index(THIN), found)
    return list(np.where(own > most_other, KINDS.index(AGREED), found).tolist())
