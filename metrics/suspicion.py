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
    number = {label: at for at, label in enumerate(labels)}
    votes = np.asarray(counts, dtype=np.float64).sum(axis=1)
    found = []
    for item, label in enumerate(gold):
        given = votes[item]
        if label is None or given.sum() == 0:
            continue
        at = number.get(label)
        own = 0.0 if at is None else float(given[at])
        shares = estimate.classes[item]
        others = [(float(shares[k]), float(given[k]), k) for k in range(len(labels)) if k != at]
        probability, _, rival = max(others) if others else (None, 0.0, None)
        most_other = max((n for _, n, _ in others), default=0.0)
        suspicion = 1.0 if at is None else 1 - float(shares[at])
        order = sorted((-int(n), name) for n, name in zip(given, labels, strict=True) if n)
        found.append(
            Suspicion(
                item,
                label,
                _kind(own, most_other, float(given.sum())),
                suspicion,
                [(name, -n) for n, name in order],
                int(own),
                None if rival is None else labels[rival],
                probability,
            )
        )
    return sorted(found, key=lambda one: (KINDS.index(one.kind), -one.suspicion, one.item))


def _kind(own: float, most_other: float, total: float) -> str:
    if own > most_other:
        return AGREED
    if own == 0 and total == 1:
        return THIN
    return WRONG if own == 0 and most_other > total / 2 else VIEW
