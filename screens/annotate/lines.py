"""Which lines a text with marks is drawn in: where lines break, in which lanes marks lie under each, how many rows.

Lines are broken once for a text and a width. Marks change with every key: only the lines that they meet are looked at.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, islice, takewhile
from operator import is_
from typing import Generic, TypeVar

import msgspec

from emotui.records import Span
from emotui.screens.widgets.cell_width import wrap

K = TypeVar("K")


class BrokenLines(msgspec.Struct, frozen=True):
    """The lines of a text at one width, `starts` beside for searching; `unit`: which sentence begins on the line."""

    lines: tuple[Span, ...]
    starts: tuple[int, ...]
    unit: tuple[int, ...]

    def line_of(self, at: int) -> int:
        """The line on which an offset stands."""
        return max(bisect_right(self.starts, at) - 1, 0)

    def met_by(self, start: int, end: int) -> range:
        """The lines that `[start, end)` meets."""
        return range(self.line_of(start), bisect_left(self.starts, end))


def break_lines(text: str, columns: int, sentences: Sequence[Span] = ()) -> BrokenLines:
    """Lines of at most so many cells; every sentence begins a line of its own."""
    edges = [start for start, _ in sentences if start < len(text)]
    lines: list[Span] = []
    unit: list[int] = []
    begins = [(-1, 0)] if not edges or edges[0] > 0 else []
    begins += list(enumerate(edges))
    ends = [start for _, start in begins[1:]] + [len(text)]
    for (number, start), end in zip(begins, ends, strict=True):
        stop = end
        # White space between sentences would open an empty line.
        while stop > start and end < len(text) and text[stop - 1] in " \n":
            stop -= 1
        if stop == start and number < 0 and edges:
            continue
        broken = wrap(text, columns, start, stop)
        lines += broken
        unit += [number] + [-1] * (len(broken) - 1)
    return BrokenLines(tuple(lines), tuple(start for start, _ in lines), tuple(unit))


def lanes(spans: Sequence[tuple[int, int, K]]) -> list[list[tuple[int, int, K]]]:
    """Spans in as few lanes as let none of a lane overlap another, longer ones above; within a lane in order."""
    found: list[list[tuple[int, int, K]]] = []
    for span in sorted(spans, key=lambda one: (one[0], -one[1])):
        for lane in found:
            if lane[-1][1] <= span[0]:
                lane.append(span)
                break
        else:
            found.append([span])
    return found


class Row(msgspec.Struct, frozen=True):
    """A row on the screen: a line of the text, or with `tier >= 0` a lane of a tier under it."""

    line: int
    tier: int = -1
    lane: int = 0


class Tiers(Generic[K]):
    """Marks of several tiers over broken lines, each with something that tells it apart from others."""

    def __init__(self, broken: BrokenLines) -> None:
        self.broken = broken
        self._marks: list[tuple[tuple[int, int, K], ...]] = []
        self._tiers: list[dict[int, list[tuple[int, int, K]]]] = []
        self._lanes: dict[tuple[int, int], list[list[tuple[int, int, K]]]] = {}
        self._rows = [1] * len(broken.lines)
        self._first = list(accumulate(self._rows, initial=0))

    def put(self, tiers: Sequence[Sequence[tuple[int, int, K]]]) -> frozenset[int]:
        """Have these marks from now on; the lines that other marks meet than before.

        Only those lines are looked at. A mark is the same where it is the same object.
        """
        while len(self._tiers) < len(tiers):
            self._tiers.append({})
            self._marks.append(())
        lines: set[int] = set()
        for number in range(len(self._tiers)):
            lines |= self._put(number, tuple(tiers[number]) if number < len(tiers) else ())
        del self._tiers[len(tiers) :], self._marks[len(tiers) :]
        for line in lines:
            self._rows[line] = 1 + sum(len(self.lanes(tier, line)) for tier in range(len(self._tiers)))
        if lines:
            self._first = list(accumulate(self._rows, initial=0))
        return frozenset(lines)

    def _put(self, number: int, new: tuple[tuple[int, int, K], ...]) -> set[int]:
        old, by_line = self._marks[number], self._tiers[number]
        same = sum(1 for _ in takewhile(bool, map(is_, old, new)))
        rest = min(len(old), len(new)) - same
        tail = sum(1 for _ in takewhile(bool, map(is_, islice(reversed(old), rest), islice(reversed(new), rest))))
        gone, come = old[same : len(old) - tail], new[same : len(new) - tail]
        self._marks[number] = new
        lines: set[int] = set()
        for mark in gone:
            for line in self.broken.met_by(mark[0], mark[1]):
                lines.add(line)
                there = by_line[line]
                place = next(place for place, one in enumerate(there) if one is mark)
                by_line[line] = there[:place] + there[place + 1 :]
        for mark in come:
            for line in self.broken.met_by(mark[0], mark[1]):
                lines.add(line)
                by_line.setdefault(line, []).append(mark)
        for line in lines:
            self._lanes.pop((number, line), None)
            if not by_line[line]:
                del by_line[line]
        return lines

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self._first[-1]

    def first_row(self, line: int) -> int:
        """The row of the text of a line."""
        return self._first[line]

    def after(self, line: int) -> int:
        """The row after the last of a line."""
        return self._first[line + 1]

    def lanes(self, tier: int, line: int) -> list[list[tuple[int, int, K]]]:
        """The lanes of a tier under a line."""
        if (tier, line) not in self._lanes:
            self._lanes[tier, line] = lanes(self._tiers[tier].get(line, ()))
        return self._lanes[tier, line]

    def marks(self, tier: int, line: int) -> Sequence[tuple[int, int, K]]:
        """All marks of a tier that meet a line."""
        return self._tiers[tier].get(line, ())

    def row(self, y: int) -> Row:
        """What stands in a row."""
        line = max(bisect_right(self._first, y) - 1, 0)
        below = y - self._first[line] - 1
        for tier in range(len(self._tiers)):
            if below < 0:
                break
            here = len(self.lanes(tier, line))
            if below < here:
                return Row(line, tier, below)
            below -= here
        return Row(line)
