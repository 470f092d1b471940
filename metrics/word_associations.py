"""What a word is tied to, by what several people said of it: EmoLex's questions, as EXPRESS asked them anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from emotui.metrics.masked import DIMENSIONS

LEVELS = ("not at all", "weakly", "moderately", "strongly")
"""How far a word is tied to a dimension, from 0."""

TIED = 2
"""The least level that counts as tied: moderately."""


@dataclass(frozen=True, slots=True)
class Associations:
    """What came of one word.

    Attributes:
        vector: ten 0s and 1s over `DIMENSIONS`.
        people: whose answers count.
        halved: the dimensions to which exactly half of them tie the word; these are 0.
    """

    vector: tuple[int, ...]
    people: int
    halved: tuple[str, ...]


def associations(ratings: Sequence[Mapping[str, float]]) -> Associations:
    """The vector of a word: 1 where more than half of the people tie it moderately or strongly.

    Args:
        ratings: a level for each of `DIMENSIONS`, of each person whose word-choice check is right.

    Raises:
        ValueError: there is no rating, or one lacks a dimension.

    Source: EXPRESS, Figure A.2, after Mohammad and Turney 2013, section 4.
    """
    if not ratings:
        raise ValueError("nobody rated this word")
    if lacking := [name for one in ratings for name in DIMENSIONS if name not in one]:
        raise ValueError(f"a rating lacks {lacking[0]}")
    votes = {name: sum(one[name] >= TIED for one in ratings) for name in DIMENSIONS}
    return Associations(
        vector=tuple(int(2 * votes[name] > len(ratings)) for name in DIMENSIONS),
        people=len(ratings),
        halved=tuple(name for name in DIMENSIONS if 2 * votes[name] == len(ratings)),
    )
