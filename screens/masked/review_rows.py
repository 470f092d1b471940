"""A review of masks as lines: the doubtful masks, the post of one with its masks, and how a border moves by a word."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.masked.text import CURSOR, WIDEST
from emotui.screens.widgets.cell_width import fit, wrap
from emotui.screens.widgets.line import Part

if TYPE_CHECKING:
    from emotui.workbench.masked.review import Doubt

Place = tuple[int, int]
Lines = list[list[Part]]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
OPEN, KEPT, DROPPED, MOVED = "·", "✓", "✗", "↔"


def state(doubt: "Doubt") -> str:
    """A sign for what was said of a doubtful mask."""
    if doubt.said is None:
        return OPEN
    return DROPPED if doubt.mask is None else KEPT if doubt.mask == doubt.place else MOVED


def doubt_lines(doubts: "Sequence[Doubt]", cursor: int, cells: int) -> Lines:
    """A heading, and a line a doubtful mask."""
    lines: Lines = [[Part(f"    {'word':16}{'pattern':9}{'doubt':24}post", "dim")]]
    for at, one in enumerate(doubts):
        word = one.decision.word if one.mask is None else one.text[slice(*one.mask)]
        why = " ".join(one.decision.review)
        text = f"{fit(word, 15)} {fit(one.decision.pattern, 8)} {fit(why, 23)} {one.post}"
        kind = "picked" if at == cursor else "dim" if one.said is not None else "plain"
        lines.append([Part(fit(f"{CURSOR if at == cursor else ' '} {state(one)} {text}", max(cells, 10)), kind)])
    return lines


def post_lines(doubt: "Doubt", cells: int) -> tuple[Lines, int]:
    """The post in so many cells: the doubtful mask with a sign before it, other masks underlined; and its line."""
    start, end = doubt.mask or doubt.place
    kind = "gone" if doubt.mask is None else "ground"
    stretches = sorted([(start, end, kind), *((*other, "gold-line") for other in doubt.others)])
    parts, lines, line_of = [], [], 0
    at = 0
    for first, last, kind_here in stretches:
        parts += [(at, first, "plain"), (first, last, kind_here)]
        at = last
    parts.append((at, len(doubt.text), "plain"))
    for number, (low, high) in enumerate(wrap(doubt.text, min(max(cells - 2, 10), WIDEST))):
        line = []
        for first, last, kind_here in parts:
            begin, stop = max(first, low), min(last, high)
            if begin < stop:
                if first == start and begin == first and kind_here == kind:
                    line.append(Part(CURSOR, "key"))
                    line_of = number
                line.append(Part(doubt.text[begin:stop].replace("\n", ""), kind_here))
        lines.append(line)
    return lines, line_of


def moved(text: str, place: Place, border: str, step: int) -> Place:
    """The place with its start or end (`border`) a word further back (-1) or on (1); the same where that cannot be."""
    words = [match.span() for match in _WORD.finditer(text)]
    start, end = place
    if border == "start":
        starts = [one for one, _ in words]
        found = [one for one in starts if (one - start) * step > 0 and one < end]
        return (found[-1] if step < 0 else found[0], end) if found else place
    ends = [one for _, one in words]
    found = [one for one in ends if (one - end) * step > 0 and one > start]
    return (start, found[-1] if step < 0 else found[0]) if found else place
