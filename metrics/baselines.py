"""What predicts without a model: the most frequent gold answer, and one drawn at random."""

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Answer = TypeVar("Answer")
Name = TypeVar("Name", bound=Hashable)

SEED = 0


def drawn_golds(golds: Sequence[Answer], seed: int = SEED) -> list[Answer]:
    """For each record the gold answer of one of them, drawn at random with replacement."""
    source = random.Random(seed)
    return [source.choice(golds) for _ in golds]


def most_frequent(golds: Sequence[Name]) -> Name:
    """The most frequent gold answer; of several the first. Raises ValueError without any."""
    if not golds:
        raise ValueError("there is no gold answer")
    return Counter(golds).most_common(1)[0][0]


def majority(rows: Sequence[Sequence[int]]) -> list[int]:
    """For each of k labels 1 where it is gold in more than half of the records.

    Args:
        rows: (n, k) of 0 or 1.
    """
    return [int(2 * sum(column) > len(rows)) for column in zip(*rows, strict=True)]
