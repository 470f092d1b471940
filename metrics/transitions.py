"""From one emotion to the next: transitions between adjacent sentences of a passage (SEER, appendix C)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SEER_ORDER = ("neutral", "happy", "surprise", "sad", "fear", "angry", "contempt", "disgust", "positive", "negative")
"""The order in which known labels stand; others follow by name. (The paper's figure is not in its text.)"""


@dataclass(slots=True)
class TransitionCounts:
    """Counted in one pass. `seen`: (from, to) to how often, and the numbers of the passages that have it, in order.

    A passage of n sentences has n - 1 pairs. A pair in which either sentence has no label is counted under `unlabelled`
    alone.
    """

    seen: dict[tuple[str, str], tuple[int, list[int]]] = field(default_factory=dict)
    unlabelled: int = 0

    def add(self, number: int, labels: Sequence[str | None]) -> None:
        """The labels of one passage's sentences, in order."""
        for one, other in pairwise(labels):
            if one is None or other is None:
                self.unlabelled += 1
                continue
            count, numbers = self.seen.get((one, other), (0, []))
            if not numbers or numbers[-1] != number:
                numbers.append(number)
            self.seen[one, other] = count + 1, numbers

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that occur in a pair, in the order of `SEER_ORDER` and then by name."""
        return ordered({label for pair in self.seen for label in pair})

    @property
    def pairs(self) -> int:
        return sum(count for count, _ in self.seen.values())

    def matrix(self) -> list[list[int]]:
        """(labels, labels): row from, column to."""
        labels = self.labels
        return [[self.seen.get((one, other), (0, []))[0] for other in labels] for one in labels]


def ordered(labels: Iterable[str]) -> tuple[str, ...]:
    """Labels in the order of `SEER_ORDER`, those that it does not have after them by name."""
    place = {label: at for at, label in enumerate(SEER_ORDER)}
    return tuple(sorted(labels, key=lambda label: (place.get(label, len(place)), label)))


def row_shares(counts: Sequence[Sequence[int]]) -> list[list[float | None]]:
    """Each count over its row's total; None in a row without counts."""
    return [[count / total if (total := sum(row)) else None for count in row] for row in counts]
