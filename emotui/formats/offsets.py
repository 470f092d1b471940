"""From offsets in UTF-16 units or UTF-8 bytes to code points, and back: tables of one text, each built in one pass."""

from collections.abc import Sequence
from itertools import accumulate

Places = Sequence[int]
"""By offset in one counting the offset in another; one entry more than there are offsets, for the end."""


def utf16_places(text: str) -> Places:
    """By code point the UTF-16 unit at which it begins."""
    if text.isascii() or max(text) <= "\uffff":
        return range(len(text) + 1)
    return list(accumulate((1 if sign <= "\uffff" else 2 for sign in text), initial=0))


def byte_places(text: str) -> Places:
    """By code point the byte of UTF-8 at which it begins."""
    if text.isascii():
        return range(len(text) + 1)
    return list(accumulate(map(_bytes, text), initial=0))


def inverse(places: Places) -> Places:
    """By unit the code point that begins there; -1 within one."""
    if isinstance(places, range):
        return places
    found = [-1] * (places[-1] + 1)
    for code_point, unit in enumerate(places):
        found[unit] = code_point
    return found


def moved(start: int, end: int, places: Places) -> tuple[int, int] | None:
    """A span in the other counting; None where it goes past the text or an end of it lies within a character."""
    if not 0 <= start <= end < len(places):
        return None
    span = places[start], places[end]
    return None if span[0] < 0 or span[1] < 0 else span


def _bytes(sign: str) -> int:
    return 1 if sign < "\x80" else 2 if sign < "\u0800" else 3 if sign <= "\uffff" else 4
