"""From code points to terminal cells: what is drawn for each, how wide it is, and where lines break.

Offsets of spans count code points, so drawing may never merge or drop one silently. Control characters, zero-width
characters and direction marks become one-cell symbols; combining marks stay on their letter. What is left has no
joining sequences, so that the width of a text is the sum of the widths of its code points. Lines are broken and cut
between graphemes only.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from emotui.controls import CONTROLS

# The last thing before the terminal: no cell of any widget holds what a terminal would act on.


class PlainCells(LineFilter):
    """Leaves controls out of every line that is drawn.

    Widgets show what comes from data by `cell_width.shown`, with a symbol for each control; nothing passes here that
    was not. Controls have no width, so the columns stay.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [
            segment if segment.control else Segment(CONTROLS.sub("", segment.text), segment.style)
            for segment in segments
        ]


ZERO_WIDTH = "◦"
TO_RIGHT = "▸"
TO_LEFT = "◂"
UNPRINTABLE = "�"

_TO_RIGHT = frozenset("\u200e\u202a\u202d\u2066")
_TO_LEFT = frozenset("\u200f\u202b\u202e\u2067\u061c")
_JOINER = "\u200d"
_JOINING = frozenset([_JOINER, *map(chr, range(0x1F3FB, 0x1F400)), *map(chr, range(0xE0020, 0xE0080))])
"""What belongs to the emoji before it: the joiner, tones of skin, tags of flags."""
_VIRAMA = 9
"""The combining class of signs that take a letter's vowel away."""
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
NOT_TURNED = "Right-to-left letters stand in reverse: this terminal does not turn them."
_PLAIN = re.compile(r"[\x20-\x7e]*")


@lru_cache(8192)
def symbol(character: str) -> str | None:
    """What stands for a character that would be invisible or would act on the terminal; None for one drawn as it is."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if character in _TO_RIGHT:
        return TO_RIGHT
    if character in _TO_LEFT:
        return TO_LEFT
    category = unicodedata.category(character)
    if category in ("Cc", "Cs"):
        return UNPRINTABLE
    if category in ("Cf", "Zl", "Zp"):
        return ZERO_WIDTH
    if code == 0xFE0F:
        # Terminals disagree whether this selector widens the character before it; without it they agree.
        return ""
    return None


@lru_cache(8192)
def _width(character: str) -> int:
    stand_in = symbol(character)
    if stand_in is None:
        return get_character_cell_size(character)
    return len(stand_in)


def shown(text: str, start: int = 0, end: int | None = None) -> str:
    """The part `[start, end)` as it is drawn, without anything that a terminal or a markup parser would act on."""
    part = text[start:end]
    if _PLAIN.fullmatch(part):
        return part
    drawn = []
    for character in part:
        stand_in = symbol(character)
        drawn.append(character if stand_in is None else stand_in)
    if drawn and needs_carrier(text, start):
        drawn.insert(0, "◌")
    return "".join(drawn)


def needs_carrier(text: str, at: int) -> bool:
    """Is the character at `at` a combining mark with no letter before it on its line?"""
    if not 0 <= at < len(text) or get_character_cell_size(text[at]) or symbol(text[at]) is not None:
        return False
    return at == 0 or symbol(text[at - 1]) is not None


def width(text: str, start: int = 0, end: int | None = None) -> int:
    """Cells that the part `[start, end)` takes when drawn."""
    part = text[start:end]
    if _PLAIN.fullmatch(part):
        return len(part)
    return sum(map(_width, part)) + (needs_carrier(text, start) if part else 0)


def fit(text: str, cells: int) -> str:
    """One line of text drawn in exactly `cells` cells: padded, or cut with an ellipsis between two graphemes."""
    line = " ".join(text[: 4 * cells + 8].split("\n"))
    size = width(line)
    if size <= cells and len(text) <= 4 * cells + 8:
        return shown(line) + " " * (cells - size)
    if cells <= 0:
        return ""
    end = _fitting(line, 0, len(line), cells - 1)
    return shown(line, 0, end) + "…" + " " * (cells - 1 - width(line, 0, end))


def joined(text: str, at: int) -> bool:
    """Do the characters before and at `at` belong to one grapheme: an emoji, a letter with its marks, a conjunct?"""
    if not 0 < at < len(text) or text[at].isascii():
        return False
    here, before = text[at], text[at - 1]
    if before == "\n":
        return False
    if before == _JOINER:
        return unicodedata.category(here) == "So" or (at > 1 and _conjoins(text[at - 2], here))
    if _conjoins(before, here):
        return True
    if here in _JOINING or unicodedata.category(here) in ("Mn", "Me", "Mc"):
        return True
    if here in _FLAG_LETTERS:
        first = at
        while first > 0 and text[first - 1] in _FLAG_LETTERS:
            first -= 1
        return (at - first) % 2 == 1
    return False


def _conjoins(before: str, here: str) -> bool:
    """Is a letter drawn as one with the one before it, as a virama between them asks for (Devanagari and its kin)?"""
    return unicodedata.combining(before) == _VIRAMA and unicodedata.category(here) == "Lo"


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """The least stretch of whole graphemes around `[start, end)`."""
    while joined(text, start):
        start -= 1
    while joined(text, end):
        end += 1
    return start, end


def turns(environment: Mapping[str, str]) -> bool:
    """Does this terminal show right-to-left letters from the right to the left?"""
    version = environment.get("VTE_VERSION", "")
    return (
        (version.isdigit() and int(version) >= 5800)
        or "KONSOLE_VERSION" in environment
        or environment.get("TERM_PROGRAM") == "Apple_Terminal"
        or environment.get("TERM", "").startswith("mlterm")
    )


def right_to_left(text: str) -> bool:
    """Are there letters that are written from the right to the left?"""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def _fitting(text: str, start: int, end: int, cells: int) -> int:
    """The furthest `stop` in `[start, end]` such that `[start, stop)` fits into `cells` cells."""
    guess = min(end, start + max(cells, 0))
    if _PLAIN.fullmatch(text, start, guess):
        used, stop = guess - start, guess
    else:
        used, stop = int(needs_carrier(text, start)), start
    while stop < end:
        size = _width(text[stop])
        if used + size > cells:
            break
        used += size
        stop += 1
    between = stop
    while between > start and joined(text, between):
        between -= 1
    return between if between > start else stop


def wrap(text: str, cells: int, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Lines of at most `cells` cells as offsets `[start, end)`, broken at spaces and at line feeds.

    Every code point but the line feeds is on exactly one line; the space at which a line breaks stays at its end,
    where it may hang over by one cell. A line feed at the very end opens no line of its own.
    """
    stop = len(text) if end is None else end
    cells = max(cells, 2)
    lines: list[tuple[int, int]] = []
    at = start
    while at < stop:
        feed = text.find("\n", at, stop)
        paragraph = stop if feed < 0 else feed
        if at == paragraph:
            lines.append((at, at))
        while at < paragraph:
            cut = max(_fitting(text, at, paragraph, cells), at + 1)
            if cut < paragraph:
                cut = _break_before(text, at, cut)
            lines.append((at, cut))
            at = cut
        at = paragraph + 1
    return lines or [(start, start)]


def _break_before(text: str, start: int, cut: int) -> int:
    if text[cut] == " ":
        return cut + 1
    space = text.rfind(" ", start + 1, cut)
    return space + 1 if space > 0 else cut
