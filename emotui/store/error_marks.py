"""Marks as the store keeps them: a bit for each kind of error, so that a union over repeats is one `or`."""

from emotui.store.query import MARKS

_LETTERS = tuple(MARKS)


def marks_to_bits(marks: str) -> int:
    """Letters of `MARKS` as a number, a bit each. Raises ValueError for any other letter."""
    bits = 0
    for letter in marks:
        if letter not in MARKS:
            raise ValueError(f"no kind of error has the letter {letter!r}: use some of {''.join(MARKS)}")
        bits |= 1 << _LETTERS.index(letter)
    return bits


def bits_to_marks(bits: int) -> str:
    """The letters of a number from `marks_to_bits`, in the order of `MARKS`."""
    return "".join(letter for place, letter in enumerate(_LETTERS) if bits >> place & 1)
