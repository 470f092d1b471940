"""Which lines a text with several sets of spans is drawn in: pure geometry, no terminal.

Each line of text is followed by one thin row for each voice that has a span on that line. Notes stand in the margin,
one a line, beside the line on which their span begins, or as near below it as there is room.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence

import msgspec

from emotui.records import Span
from emotui.screens.widgets.cell_width import width, wrap

MOST_COLUMNS = 90
"""Text is never set wider than this."""

_DRIFT = 3
"""Notes that may wait for a free line below theirs; for more, lines are opened."""


class Tier(msgspec.Struct, frozen=True):
    """One source of spans over a text. `role`: gold, predicted or annotator; `inline`: drawn in the text itself.

    `dotted`: those of the spans whose bars are dotted, since they hold nothing but a keyword. `labels`: by span what
    stands in its bar. `bars`: whether it has rows under the text; None: where the text has any.
    """

    name: str
    role: str
    spans: tuple[Span, ...]
    inline: bool = True
    dotted: tuple[Span, ...] = ()
    labels: tuple[tuple[Span, str], ...] = ()
    bars: bool | None = None


class LineLabel(msgspec.Struct, frozen=True):
    """What stands at the left and at the right of the line on which offset `start` begins."""

    start: int
    label: str
    tail: str = ""
    strong: bool = False


class AnnotatedText(msgspec.Struct, frozen=True):
    """What tiered text draws: a text, its tiers, and chips that each begin a new line. `rows`: draw a row a tier."""

    text: str
    tiers: tuple[Tier, ...] = ()
    chips: tuple[LineLabel, ...] = ()
    rows: bool = False

    def has_row(self, tier: Tier) -> bool:
        """Whether this tier has rows of its own under the lines."""
        return self.rows if tier.bars is None else tier.bars


class Margin(msgspec.Struct, frozen=True):
    """What a layout leaves room for beside the text: notes in so many cells, each by where its span begins.

    `starts`: in the order of the text; those that begin behind it have a line each at its end. `airy`: an empty line
    between sentences.
    """

    cells: int = 0
    starts: tuple[int, ...] = ()
    airy: bool = False


NO_MARGIN = Margin()


class Row(msgspec.Struct, frozen=True):
    """One line on the screen: the part `[start, end)` of the text, or with `voice >= 0` that voice's bars under it.

    `note`: the note in the margin beside it, -1 where there is none.
    """

    start: int
    end: int
    voice: int = -1
    chip: int = -1
    note: int = -1


class Layout(msgspec.Struct, frozen=True):
    """The rows of a score at one width, and its columns in cells: gutter, text, tail."""

    rows: tuple[Row, ...]
    gutter: int
    columns: int
    tail: int


def lay_out(score: AnnotatedText, cells: int, margin: Margin = NO_MARGIN) -> Layout:
    """Fit a score into `cells` cells: a gutter for chips and names, then text of at most 90 columns, then tails.

    A margin stands in the place of the tails.
    """
    names = [voice.name for voice in score.tiers if score.has_row(voice)]
    labels = [chip.label for chip in score.chips]
    widest = max((width(label) for label in [*labels, *(f"  {name}" for name in names)]), default=0)
    gutter = min(widest, max(cells // 5, 6), 18) + 2 if widest else 0
    longest_tail = max((width(chip.tail) for chip in score.chips), default=0)
    tail = longest_tail + 2 if longest_tail and cells - gutter - longest_tail >= 40 else 0
    tail = margin.cells or tail
    columns = max(min(cells - gutter - tail, MOST_COLUMNS), 8)
    rows: list[Row] = []
    covers = [(number, _Cover(voice.spans)) for number, voice in enumerate(score.tiers) if score.has_row(voice)]
    notes = _Notes(margin.starts, rows)
    for chip, start, end in _segments(score):
        if margin.airy and rows:
            rows.append(Row(start, start))
        silent = _silent(score, covers, start, end)
        for number, (first, last) in enumerate(wrap(score.text, columns, start, end)):
            notes.reach(last)
            notes.add(Row(first, last, chip=chip if number == 0 else -1))
            for voice, cover in covers:
                if cover.meets(first, last) or (number == 0 and voice in silent):
                    notes.add(Row(first, last, voice))
            notes.open_lines(last, _DRIFT)
        notes.open_lines(end, 0)
    notes.reach(None)
    notes.open_lines(len(score.text), 0)
    return Layout(tuple(rows), gutter, columns, tail)


def _silent(score: AnnotatedText, covers: "Sequence[tuple[int, _Cover]]", start: int, end: int) -> frozenset[int]:
    """Of the people who mark nothing in a stretch where others do, the tier of each: it has a row without a bar."""
    people: dict[str, list[tuple[int, bool]]] = {}
    for number, cover in covers:
        if score.tiers[number].role == "annotator":
            people.setdefault(score.tiers[number].name, []).append((number, cover.meets(start, end)))
    marks = {name: any(meets for _, meets in each) for name, each in people.items()}
    return (
        frozenset(people[name][0][0] for name, some in marks.items() if not some)
        if any(marks.values())
        else frozenset()
    )


class _Notes:
    """Puts notes beside rows as these are added."""

    def __init__(self, starts: Sequence[int], rows: list[Row]) -> None:
        self._starts, self._rows = starts, rows
        self._next = 0
        self._waiting: deque[int] = deque()

    def reach(self, end: int | None) -> None:
        """The notes that begin before `end` have their line; None: all have."""
        while self._next < len(self._starts) and (end is None or self._starts[self._next] < end):
            self._waiting.append(self._next)
            self._next += 1

    def add(self, row: Row) -> None:
        """The row, with the first note that waits for one."""
        self._rows.append(msgspec.structs.replace(row, note=self._waiting.popleft()) if self._waiting else row)

    def open_lines(self, at: int, most: int) -> None:
        """Lines without text, until no more than `most` notes wait."""
        while len(self._waiting) > most:
            self.add(Row(at, at))


class _Cover:
    """Says quickly whether any of many spans meets a stretch."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._starts = sorted(start for start, _ in spans)
        self._ends = sorted(end for _, end in spans)

    def meets(self, start: int, end: int) -> bool:
        return bisect_left(self._starts, end) > bisect_right(self._ends, start)


def _segments(score: AnnotatedText) -> list[tuple[int, int, int]]:
    """`(chip, start, end)`: the text cut where chips begin; chip -1 for what comes before the first of them."""
    starts = {
        min(max(chip.start, 0), len(score.text)): number for number, chip in reversed(list(enumerate(score.chips)))
    }
    if 0 not in starts:
        starts[0] = -1
    places = sorted(starts)
    ends = [*places[1:], len(score.text)]
    cut = []
    for start, end in zip(places, ends, strict=True):
        # White space between sentences would open an empty line.
        while end > start and end < len(score.text) and score.text[end - 1] in " \n":
            end -= 1
        if end > start or starts[start] >= 0:
            cut.append((starts[start], start, end))
    return cut or [(-1, 0, 0)]
