"""A masked text as lines of parts: each mask hidden, or filled by a word, and a sign before the chosen one."""

from collections.abc import Sequence

import msgspec

from emotui.screens.widgets.cell_width import wrap
from emotui.screens.widgets.line import Part

WIDEST = 90
"""Cells of a line of text."""

CURSOR, DIFFERS = "▸", "≠"


class Filling(msgspec.Struct, frozen=True):
    """What stands in place of a mask: its words, the kind of its part, and a sign behind it."""

    word: str
    kind: str
    sign: str = ""


def hidden(number: int, guessed: str = "") -> Filling:
    """A mask whose word is not shown: its number, or what the person guessed."""
    return Filling(f"[{number} {guessed or '____'}]", "strong")


def text_lines(
    pieces: Sequence[str], fillings: Sequence[Filling], chosen: int | None, cells: int
) -> tuple[list[list[Part]], int]:
    """The lines of a text in so many cells, and on which of them the chosen mask stands."""
    text, stretches, at_chosen = _laid_out(pieces, fillings, chosen)
    lines: list[list[Part]] = []
    line_of_chosen = 0
    for number, (start, end) in enumerate(wrap(text, min(max(cells, 10), WIDEST))):
        parts: list[Part] = []
        for first, last, kind, press in stretches:
            low, high = max(first, start), min(last, end)
            if low < high:
                parts.append(Part(text[low:high].replace("\n", ""), kind, press))
        if start <= at_chosen < end:
            line_of_chosen = number
        lines.append(parts)
    return lines, line_of_chosen


def _laid_out(
    pieces: Sequence[str], fillings: Sequence[Filling], chosen: int | None
) -> tuple[str, list[tuple[int, int, str, str]], int]:
    """The text with its fillings; stretches of one kind as (start, end, kind, press); where the chosen one stands."""
    parts: list[str] = []
    stretches: list[tuple[int, int, str, str]] = []
    length, at_chosen = 0, 0

    def put(text: str, kind: str, press: str = "") -> None:
        nonlocal length
        if text:
            parts.append(text)
            stretches.append((length, length + len(text), kind, press))
            length += len(text)

    for number, piece in enumerate(pieces):
        put(piece, "plain")
        if number < len(fillings):
            filling, press = fillings[number], f"tell('mask', {number})"
            if number == chosen:
                at_chosen = length
                put(CURSOR, "key", press)
            put(filling.word, filling.kind, press)
            put(filling.sign, "mark", press)
    return "".join(parts), stretches, at_chosen
