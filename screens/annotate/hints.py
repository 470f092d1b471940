"""Hint letters: one or two letters for each place that can be chosen, the shortest for the nearest."""

from collections.abc import Collection, Sequence

ROW = "asdfjklgheiruwotypqcvnmbxz"
"""Letters as they lie under the fingers: the home row first."""

_LEAST = 4
"""Letters without which digits come to help."""


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
    """A code for each of these offsets; those nearest to `near` have the shortest."""
    by_distance = sorted(starts, key=lambda start: (abs(start - near), start))
    return dict(zip(codes(len(by_distance), letters), by_distance, strict=True))
