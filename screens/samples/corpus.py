"""The corpus in one line over the list: a tick a sample by what is wrong with it, or a tick for a few of them."""

from bisect import bisect_right
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from emotui.screens.widgets.line import Part, drawn
from emotui.screens.widgets.number_format import count
from emotui.screens.widgets.textual_private import forget_part_styles, part_style
from emotui.store.query import MARKS

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
    from emotui.screens.samples.table import Order
    from emotui.workbench.source import BrowseSource

WORST_FIRST = "!HMFNXLD"
"""The kinds of error, of which a sample counts with its worst."""

RIGHT, UNKNOWN = "·", " "
_PARTS, _ALIKE = 30, 0.8
"""Of so many parts of a corpus, the share that may have the same letter before the line says nothing."""
_MOST = 0.5
_NAME = "errors"
_NAMED_FROM, _TOLD_FROM = 30, 40
"""Cells from which on the line has room for its name too, and for how many samples a tick stands for."""


class Corpus(msgspec.Struct, frozen=True):
    """All samples of a dataset in the order of the list, those too that a filter leaves out; arrays are (n,).

    `severity`: 0 where nothing is wrong, -1 where nothing is known, else the more the worse; None: nothing is known of
    any of them, and all are in the list. `position`: in the list, -1 where it is not in it. `index`: by the number of a
    sample less `first`, its place here.
    """

    severity: "Numbers | None"
    position: "Numbers | range"
    index: "Numbers | range"
    first: int

    @property
    def is_whole(self) -> bool:
        """Does the list leave none of them out?"""
        return isinstance(self.position, range) or bool(self.position.min() >= 0)

    @property
    def tells(self) -> bool:
        """Do samples differ in what is wrong with them, and where there are many, parts of the corpus too?"""
        if self.severity is None or bool(self.severity.min() == self.severity.max()):
            return False
        if len(self.position) <= _PARTS:
            return True
        parts = [tick.letter for tick in ticks(self, _PARTS) if tick.share >= _MOST]
        most = max(map(parts.count, set(parts)), default=0)
        return most <= _ALIKE * _PARTS


class Tick(msgspec.Struct, frozen=True):
    """One cell: its letter, the share of its samples that are wrong, whether the list has any of them."""

    letter: str
    share: float
    listed: bool


def corpus(source: "BrowseSource", order: "Order") -> Corpus | None:
    """Where what is wrong, over the whole dataset. None where there are no samples."""
    query = order.query
    if query.run is None and query.whole and not order.only:
        # Nothing to count, and so no numpy, which takes as long to load as the rows to come.
        every = range(len(order.numbers))
        return Corpus(None, every, every, int(order.numbers[0])) if every else None
    import numpy as np

    from emotui.store.query import ListQuery

    with source.together():
        plain = ListQuery(query.dataset, query.run, sort=query.sort, descending=query.descending)
        whole = np.asarray(order.numbers if query == plain and not order.only else source.order(plain), dtype=np.int64)
        bits = None if query.run is None else source.marks(query.dataset, query.run)
    if not len(whole):
        return None
    first = int(whole.min())
    place = whole - first
    index = np.zeros(int(place.max()) + 1, dtype=np.int64)
    index[place] = np.arange(len(whole))
    position = np.full(len(index), -1, dtype=np.int64)
    listed = np.asarray(order.numbers, dtype=np.int64) - first
    position[listed] = np.arange(len(listed))
    return Corpus(_severity(bits, place), position[place], index, first)


def _severity(bits: "Numbers | None", place: "Numbers") -> "Numbers":
    import numpy as np

    if bits is None:
        return np.full(len(place), -1, dtype=np.int64)
    mine = bits[place]
    worst = np.zeros(len(place), dtype=np.int64)
    for rank, letter in enumerate(reversed(WORST_FIRST), 1):
        worst[(mine & 1 << list(MARKS).index(letter)) != 0] = rank
    worst[mine < 0] = -1
    return worst


def ticks(shown: Corpus, cells: int) -> list[Tick]:
    """A tick a sample where there is room for all, else each for as many as it takes.

    Of several it has the letter that most of them have as their worst, and of two that as many have the worse one; of
    those that a filter leaves in, where there are some.
    """
    n = len(shown.position)
    edges = _edges(n, cells)
    if shown.severity is None:
        return [Tick(UNKNOWN, 0.0, True)] * len(edges)
    import numpy as np

    listed = np.asarray(shown.position) >= 0
    some = np.add.reduceat(listed, edges) > 0
    counted = np.where(np.repeat(some, np.diff([*edges, n])), listed, True)
    known = counted & (shown.severity >= 0)
    ranks = range(len(WORST_FIRST), 0, -1)
    of_kind = np.stack([np.add.reduceat(known & (shown.severity == rank), edges) for rank in ranks])
    most, wrong, asked = of_kind.argmax(axis=0), of_kind.sum(axis=0), np.add.reduceat(known, edges)
    return [
        Tick((WORST_FIRST[at] if bad else RIGHT) if all_ else UNKNOWN, bad / all_ if all_ else 0.0, there)
        for at, bad, all_, there in zip(most.tolist(), wrong.tolist(), asked.tolist(), some.tolist(), strict=True)
    ]


def _edges(n: int, cells: int) -> list[int]:
    """Where each tick begins."""
    many = min(n, max(cells, 1))
    return [tick * n // many for tick in range(many)]


def _kind(letter: str) -> str:
    """Errors look as the marks in the rows under the line do."""
    return "dim" if letter in (RIGHT, UNKNOWN) else "mark"


class CorpusLine(Widget):
    """Shows ticks and where the cursor of the list is among them; a click tells where in the list it leads.

    A letter names what is wrong with most of the samples of a tick that are wrong. It is a capital where half of them
    or more are, else a small one. Where all samples are equal, or nobody may see what is wrong, there is no line, nor
    where a place says something else of them.
    """

    DEFAULT_CSS = """
    CorpusLine { height: 1; padding: 0 2; }
    CorpusLine:nocolor > .part--picked { text-style: bold reverse !important; }
    """

    class Pressed(Message):
        """This position of the list is to be selected."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: Corpus | None = None
        self._sample: int | None = None
        self._blind = self._away = self._awaited = False
        self.ticks: list[Tick] = []

    @property
    def text(self) -> str:
        """The letters that are shown."""
        return "".join(tick.letter for tick in self.ticks)

    @property
    def name_shown(self) -> str:
        """What stands before the ticks: what they are of, and how many samples one of them is, where it is several."""
        cells = self.content_size.width
        if cells < _NAMED_FROM:
            return ""
        n = 0 if self._shown is None else len(self._shown.position)
        if n <= cells - len(_NAME) - 1 or cells < _TOLD_FROM:
            return f"{_NAME} "
        # The name takes cells of the ticks, and so says itself how many a tick is.
        told = f"{_NAME} "
        whole = "" if self._shown is None or self._shown.is_whole else f" of all {count(n)}"
        for _ in range(3):
            many = max(cells - len(told), 1)
            few, more = n // many, -(-n // many)
            told = f"{_NAME}{whole}, {few if few == more else f'{few}–{more}'} a cell: "
        return told

    @property
    def _named(self) -> int:
        """The cells of the line's name."""
        return len(self.name_shown)

    @property
    def here(self) -> int | None:
        """The tick of the sample that is selected."""
        shown, sample = self._shown, self._sample
        if shown is None or sample is None or not 0 <= sample - shown.first < len(shown.index):
            return None
        at = int(shown.index[sample - shown.first])
        return bisect_right(_edges(len(shown.position), len(self.ticks)), at) - 1

    def show(self, shown: Corpus | None) -> None:
        """Show another corpus, or none: until the next one comes the line is there or not, as it was."""
        self._shown = shown
        self._come_or_go()
        self._count()

    def _come_or_go(self) -> None:
        if self._shown is not None:
            tells = self._shown.tells or (self._awaited and len(self._shown.position) > 0)
            self.display = tells and not self._blind and not self._away

    def point_at(self, sample: int | None, *, blind: bool) -> None:
        """This sample is selected; `blind`: what is wrong is not to be seen."""
        if (sample, blind) != (self._sample, self._blind):
            self._sample, self._blind = sample, blind
            self._come_or_go()
            self.refresh()

    def wait(self, awaited: bool) -> None:
        """`awaited`: the first runs go on, which tell what is wrong: the line is there before they have."""
        self._awaited = awaited
        if awaited and not self._blind and not self._away:
            self.display = True

    def give_way(self, away: bool) -> None:
        """`away`: a place says something else of the samples than what is wrong with them."""
        if away != self._away:
            self._away = away
            self.display = self.display and not away
            self._come_or_go()

    def on_resize(self) -> None:
        self._count()

    def _count(self) -> None:
        cells = self.content_size.width - self._named
        self.ticks = [] if self._shown is None or cells <= 0 else ticks(self._shown, cells)
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        forget_part_styles(self)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        base, here = self.rich_style, self.here
        single = [self._part(tick, at == here) for at, tick in enumerate(self.ticks)]
        runs = groupby(single, key=lambda part: part.kind)
        parts = [
            Part(self.name_shown, "dim"),
            *(Part("".join(part.text for part in same), kind) for kind, same in runs),
        ]

        def style(kind: str) -> Style:
            return base if kind == "plain" else base + part_style(self, f"part--{kind}")

        return Strip(drawn(parts, style)[0]).adjust_cell_length(self.size.width, base)

    def _part(self, tick: Tick, here: bool) -> Part:
        letter = RIGHT if self._blind else tick.letter
        text = letter.lower() if tick.share < _MOST else letter
        return Part(text, "picked" if here else _kind(letter) if tick.listed else "stale")

    def on_click(self, event: events.Click) -> None:
        offset, shown = event.get_content_offset(self), self._shown
        at = -1 if offset is None else offset.x - self._named
        if shown is None or not 0 <= at < len(self.ticks):
            return
        edges = [*_edges(len(shown.position), len(self.ticks)), len(shown.position)]
        first, last = edges[at], edges[at + 1]
        listed = [at for at in range(first, last) if shown.position[at] >= 0]
        if listed:
            ranks, letter = shown.severity, self.ticks[at].letter
            rank = len(WORST_FIRST) - WORST_FIRST.find(letter) if letter in WORST_FIRST else 0
            first = listed[0] if ranks is None else next((one for one in listed if ranks[one] == rank), listed[0])
            event.stop()
            self.post_message(self.Pressed(int(shown.position[first])))
