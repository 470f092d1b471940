"""Hint letters: one or two letters for each place that can be chosen, the shortest for the nearest."""

from collections.abc import Collection, Sequence
from itertools import pairwise

ROW = "asdfjklgheiruwotypqcvnmbxz"
"""Letters as they lie under the fingers: the home row first."""

_LEAST = 4
"""Letters without which digits come to help."""

_TIGHT = 2
"""Characters that a code of two letters takes from its start on, with nothing left before the next."""


def alphabet(taken: Collection[str]) -> str:
    """The letters that hints are made of: none that is a key of a label, in capitals or not."""
    avoided = {key.lower() for key in taken}
    letters = "".join(letter for letter in ROW if letter not in avoided)
    return letters if len(letters) >= _LEAST else letters + "1234567890"


def codes(n: int, letters: str) -> list[str]:
    """`n` codes of which none begins another, shortest first; of the same length those of earlier letters first."""
    if n <= 0:
        return []
    found = list(letters)
    while len(found) < n:
        # As few codes grow as give room for all: the last of the shortest, which are the hardest to reach.
        shortest = len(found[0])
        short = sum(len(code) == shortest for code in found)
        grown = min(-(-(n - len(found)) // (len(letters) - 1)), short)
        long = [code + letter for code in found[short - grown : short] for letter in letters]
        found = found[: short - grown] + found[short:] + long
    return found[:n]


def hints(starts: Sequence[int], near: int, letters: str) -> dict[str, int]:
    """A code for each of these offsets, which stand in text order.

    Those that the next one follows within two characters (the word `I`, say) have the shortest codes, so that two codes
    seldom touch; then those nearest to `near`.
    """
    tight = {start for start, following in pairwise(starts) if following - start <= _TIGHT}
    by_need = sorted(starts, key=lambda start: (start not in tight, abs(start - near), start))
    return dict(zip(codes(len(by_need), letters), by_need, strict=True))
