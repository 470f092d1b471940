"""The list of samples: only the rows in sight are asked for and drawn, so a million rows are as quick as ten."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from emotui.metrics.metric import Metric
from emotui.records import MASKED, PLUTCHIK
from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import extracted, selectable
from emotui.screens.widgets.number_format import RIGHT, WRONG, value_of
from emotui.screens.widgets.textual_private import forget_part_styles, part_style
from emotui.store.query import MARKS, ListQuery, ListRow
from emotui.tables import short_names

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.source import BrowseSource

PAGE = 256
_PAGES_KEPT = 24


_LONGEST_NAME = 15
"""Cells of a name at most."""

ERRORS = "errors"
"""What stands over the letters of a run's errors."""

_NOTE, _NOTED = "note", "yes"
"""What stands over the column that says which samples have a note, and what it says of them."""

_LETTERS = "jtfusdra"
"""Of Plutchik's eight in their order."""


class Columns(msgspec.Struct, frozen=True):
    """Widths in cells; 0 leaves a column out."""

    id: int
    value: int
    marks: int
    emotion: int
    text: int
    note: int = 0


SLOTS = len(MARKS) - 2


def slots_of(marks: str) -> str:
    """Each mark in its place. The last three share one: an output in words has no labels, and numbers have none."""
    *letters, invalid, wrong, off = ((letter if letter in marks else " ") for letter in MARKS)
    return "".join(letters) + next((mark for mark in (invalid, wrong, off) if mark != " "), " ")


def columns(
    cells: int, longest_id: int, figure: str, tag: str = "", longest_name: int = 0, *, noted: bool = False
) -> Columns:
    """Share out the width of the list. Emotion goes first where it gets narrow, then the text.

    Args:
        figure: what a sample's figure is called; empty where there is no run to give one.
        tag: what stands over the letters of errors, or a place's own signs; empty: there are none.
        longest_name: cells of the longest name of an emotion; names have up to half of what both have.
        noted: whether there are notes on samples.
    """
    identity = min(max(longest_id, 2), 16 if cells >= 70 else 10)
    value, marks = max(len(figure) + 1, 5) if figure else 0, max(SLOTS, width(tag)) + 1 if tag else 0
    note = len(_NOTE) + 1 if noted else 0
    left = cells - 2 - identity - 1 - value - marks - note
    emotion = 16 if left >= 46 else 12 if left >= 30 else 10 if left >= 26 else 9 if left >= 20 else 0
    if emotion:
        emotion = max(emotion, min(longest_name, (left - 1) // 2, _LONGEST_NAME) + 1)
    return Columns(identity, value, marks, emotion, max(left - emotion, 0), note)


def feelings(said: str, cells: int, labels: Sequence[str] = ()) -> str:
    """One emotion, or several in so many cells: by their first letters where their names do not fit.

    Args:
        labels: all that samples may have, from which the letters tell each.
    """
    names = _of_letters(said) or said.split(", ")
    said = " ".join(names)
    if len(names) == 1 or width(said) <= cells:
        return fit(said, cells)
    every = list(dict.fromkeys([*labels, *names]))
    letters = dict(zip(every, short_names(every), strict=True))
    short = [letters[name] for name in names]
    for kept in range(len(names), 0, -1):
        more = [f"+{len(names) - kept}"] if kept < len(names) else []
        told = " ".join([*short[:kept], *more])
        if width(told) <= cells:
            break
    return fit(told, cells)


def _of_letters(said: str) -> list[str]:
    """The emotions of a scenario as older stores have them: a letter or a dot a place of Plutchik's eight."""
    if len(said) != len(_LETTERS) or any(
        sign not in ("·", letter) for sign, letter in zip(said, _LETTERS, strict=True)
    ):
        return []
    return [name for sign, name in zip(said, PLUTCHIK, strict=True) if sign != "·"] or ["·"]


class ListHead(Widget):
    """The names of the list's columns."""

    DEFAULT_CSS = "ListHead { height: 1; padding: 0 1 0 0; color: $text-muted; }"
    columns: Columns | None = None
    marks, figure = ERRORS, "F1"

    def show(self, shape: Columns, marks: str = ERRORS, figure: str = "F1") -> None:
        """Name the columns of this shape; `marks`: what the column of marks says now; `figure`: what figures are."""
        self.columns, self.marks, self.figure = shape, marks, figure
        self.refresh()

    def render_line(self, y: int) -> Strip:
        cells, style = self.size.width, self.rich_style
        shape = self.columns
        if shape is None:
            return Strip.blank(cells, style)
        line = "  " + fit("id", shape.id) + " "
        if shape.value:
            line += fit(self.figure.rjust(shape.value - 1), shape.value)
        if shape.marks:
            line += fit(self.marks, shape.marks)
        if shape.note:
            line += fit(_NOTE, shape.note)
        if shape.emotion:
            line += fit("emotion", shape.emotion)
        line += fit("text", shape.text)
        return Strip([Segment(line, style)]).adjust_cell_length(cells, style)


class SampleList(ScrollView, can_focus=True, inherit_bindings=False):
    """Positions 0 to n - 1 with a cursor; asks for the pages it has to draw and shows them when they come."""

    DEFAULT_CSS = """
    SampleList {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .list--cursor { color: $field; background: $foreground; text-style: bold reverse; }
        &:focus > .list--cursor { color: $primary; background: $background; text-style: bold reverse; }
        &:nocolor:blur > .list--cursor { text-style: bold; }
        & > .list--dim { color: $text-muted; }
        & > .list--marks { color: $mark; }
        & > .list--better { color: $predicted-bar; }
        & > .list--waiting { color: $text-disabled; }
        &.-stale, &.-stale > .list--dim, &.-stale > .list--marks, &.-stale > .list--better { color: $text-disabled; }
        &.-stale:nocolor { text-style: dim; }
    }
    """

    class Chosen(Message):
        """The cursor was put on a row with the mouse."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

    class Wanted(Message):
        """Pages that have to be drawn and are not here, or are here but may be out of date."""

        def __init__(self, pages: tuple[int, ...]) -> None:
            super().__init__()
            self.pages = pages

    class Shaped(Message):
        """The columns have changed."""

        def __init__(self, shape: Columns, marks: str, figure: str) -> None:
            super().__init__()
            self.shape, self.marks, self.figure = shape, marks, figure

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._n = 0
        self._cursor = 0
        self.metric: Metric | None = None
        self.labels: tuple[str, ...] = ()
        """All emotions that samples may have."""
        self._pages: dict[int, list[ListRow]] = {}
        self._old: set[int] = set()
        self._asked: set[int] = set()
        self._shape = columns(40, 6, "")
        self._longest_id = 6
        self._shaped_for = 0
        self._tags: Mapping[int, str] | None = None
        self._tag_name = ERRORS
        self._figure_of = ""
        self._blind = self._blank = False
        self._noted: frozenset[int] = frozenset()
        self._marks_errors, self._awaited = True, False
        self._drawn: tuple[Region, Offset, list[Strip]] | None = None

    @property
    def cursor(self) -> int:
        """The position that is selected; 0 in an empty list."""
        return self._cursor

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self._n

    @property
    def tagged(self) -> bool:
        """Does a place say something of its own beside the samples?"""
        return self._tags is not None

    @property
    def heads(self) -> tuple[Columns, str, str]:
        """The columns, and what stands over the marks and over the values."""
        return self._shape, self._tag_name, self._figure

    @property
    def waiting(self) -> bool:
        """Are pages on their way?"""
        return bool(self._asked)

    def row(self, position: int) -> ListRow | None:
        """The row at a position, where its page is here."""
        page = self._pages.get(position // PAGE, [])
        return page[position % PAGE] if position % PAGE < len(page) else None

    def show_order(
        self, n: int, cursor: int, metric: Metric | None, *, marks_errors: bool = True, awaited: bool = False
    ) -> None:
        """Begin another list of `n` rows with the cursor at `cursor`; `metric`: whose values of a run are shown.

        Args:
            marks_errors: whether letters of errors stand beside samples.
            awaited: no run has said anything yet, and one is about to: its columns are there, and empty.
        """
        renamed = metric != self.metric
        self._n, self.metric = n, metric
        self._marks_errors, self._awaited = marks_errors, awaited
        self._pages.clear()
        self._old.clear()
        self._asked.clear()
        self.virtual_size = Size(1, n)
        self._reshape()
        if renamed:
            self.post_message(self.Shaped(self._shape, self._tag_name, self._figure))
        self.move_to(cursor)
        self.refresh()

    def show_tags(self, name: str, tags: Mapping[int, str] | None, of: str = "") -> None:
        """Say this beside each sample in place of its marks, under this name; None: the marks again.

        Args:
            of: what the figures in the list are of.
        """
        name = ERRORS if tags is None else name
        if (name, of) != (self._tag_name, self._figure_of):
            self._tag_name, self._figure_of = name, of
            self._reshape()
            self.post_message(self.Shaped(self._shape, name, self._figure))
        before, self._tags = self._tags, tags
        if before is None or tags is None:
            self._reshape()
            self.refresh()
            return
        top = self.scroll_offset.y
        for position in range(top, min(top + self.size.height, self._n)):
            row = self.row(position)
            if row is not None and before.get(row.sample) != tags.get(row.sample):
                self.refresh_lines(position, 1)

    @property
    def blind(self) -> bool:
        """Is what gold and runs say of the samples left out?"""
        return self._blind

    @blind.setter
    def blind(self, blind: bool) -> None:
        if blind != self._blind:
            self._blind = blind
            self._reshape()
            self.refresh()

    @property
    def blank(self) -> bool:
        """Are the rows kept blank, since it is still to come in which order they stand?"""
        return self._blank

    @blank.setter
    def blank(self, blank: bool) -> None:
        if blank != self._blank:
            self._blank = blank
            self.refresh()

    def show_noted(self, noted: frozenset[int]) -> None:
        """Say of these samples that there is a note on them."""
        if noted != self._noted:
            self._noted = noted
            self._reshape()
            self.refresh()

    def outdate(self) -> None:
        """Show what is here, but ask for it again: something may have changed."""
        self._old = set(self._pages)
        self._asked.clear()
        self.refresh()

    def put_page(self, page: int, rows: Sequence[ListRow]) -> None:
        """The rows of one page have come."""
        self._pages.pop(page, None)
        self._pages[page] = list(rows)
        self._old.discard(page)
        self._asked.discard(page)
        while len(self._pages) > _PAGES_KEPT:
            self._pages.pop(next(iter(self._pages)))
        longest = max((width(row.id) for row in rows), default=0)
        marked = self._marks_errors or any(row.marks for row in rows)
        if longest > self._longest_id or marked != self._marks_errors:
            self._longest_id, self._marks_errors = max(longest, self._longest_id), marked
            self._reshape()
        self.refresh()

    def give_up(self) -> None:
        """What was asked for will not come."""
        self._asked.clear()

    def move_to(self, position: int) -> None:
        """Put the cursor on a row and bring it into sight."""
        self._cursor = min(max(position, 0), max(self._n - 1, 0))
        height, top = self.size.height, self.scroll_offset.y
        if not height:
            # While the list is hidden nothing is in sight; it looks after its cursor when it is shown.
            pass
        elif self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, force=True)
        elif self._cursor >= top + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False, force=True)
        self.refresh()

    def on_resize(self) -> None:
        self._reshape()
        self.move_to(self._cursor)

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no width at all."""
        self.on_resize()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        forget_part_styles(self)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        position = event.y + self.scroll_offset.y
        if position < self._n and self.text_selection is None and not self._blank:
            self.post_message(self.Chosen(position))

    def text_select_all(self) -> None:
        """A double click chooses a row, as one click does."""

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is selected of the rows, as they are drawn."""
        first = 0 if selection.start is None else min(selection.start.y, self._n)
        after = self._n if selection.end is None else min(selection.end.y + 1, self._n)
        start, end = (None if one is None else one - Offset(0, first) for one in (selection.start, selection.end))
        moved = Selection(start, end)
        return extracted(moved, [self._row(position).text for position in range(first, after)])

    @property
    def _figure(self) -> str:
        """What stands over the values; empty where there are none."""
        return "" if self.metric is None or self._blind else f"{self.metric.title} {self._figure_of}".rstrip()

    def _reshape(self) -> None:
        cells = self._shaped_for = self.scrollable_content_region.width
        longest = max(map(width, self.labels), default=0)
        figure, noted = self._figure, bool(self._noted)
        tag = self._tag_name if self._tags is not None else ERRORS if figure and self._marks_errors else ""
        shape = columns(cells, self._longest_id, figure, tag, longest, noted=noted)
        if self._blind:
            shape = msgspec.structs.replace(shape, emotion=0, text=shape.text + shape.emotion)
        if shape != self._shape:
            self._shape = shape
            self.post_message(self.Shaped(shape, self._tag_name, self._figure))

    def _want(self, page: int) -> None:
        if page not in self._asked:
            self._asked.add(page)
            self.post_message(self.Wanted(tuple(sorted(self._asked))))

    def want_in_sight(self) -> None:
        """Fit the columns, and ask for the rows in sight that are not here: whenever rows are drawn."""
        if self._shaped_for != self.scrollable_content_region.width:
            self._reshape()
        top = self.scroll_offset.y
        for position in range(top, min(top + self.size.height, self._n)):
            if self.row(position) is None or position // PAGE in self._old:
                self._want(position // PAGE)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> "SampleList":
        """Draw the rows anew when it is next painted."""
        self._drawn = None
        super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows in sight, from the first time on in the columns that fit: it is drawn before it is told its size.

        What is painted again because something beside it has changed is not drawn again.
        """
        if self._shaped_for != self.scrollable_content_region.width:
            self._drawn = None
        offset = self.scroll_offset
        if self._drawn is None or self._drawn[:2] != (crop, offset):
            self.want_in_sight()
            self._drawn = None
            strips = super().render_lines(crop)
            self._drawn = (crop, offset, strips)
        return list(self._drawn[2])

    def render_line(self, y: int) -> Strip:
        cells, base = self.size.width, self.rich_style
        position = y + self.scroll_offset.y
        if position >= self._n or self._blank:
            return Strip.blank(cells, base)
        return selectable(self, self._row(position), position)

    def _row(self, position: int) -> Strip:
        """The row at a position, as it is drawn."""
        row, base, here = self.row(position), self.rich_style, position == self._cursor
        if here:
            base += part_style(self, "list--cursor")
        segments = [Segment("▸ " if here else "  ", base)]
        if row is None:
            segments.append(Segment("…", self._style(base, "list--waiting")))
        else:
            segments += self._cells(row, base, plain=here)
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _cells(self, row: ListRow, base: Style, *, plain: bool) -> list[Segment]:
        """The row's columns; `plain`: in one style, since a colour of its own would be a hole in a reversed row."""
        shape, dim = self._shape, base if plain else self._style(base, "list--dim")
        marked = base if plain else self._style(base, "list--marks")
        segments = [Segment(fit(row.id, shape.id) + " ", base)]
        if shape.value and self.metric is not None:
            value = row.values.get(self.metric.name)
            said = "" if self._awaited else value_of(self.metric, value)
            said = said.rjust(shape.value - 1) + " "
            segments.append(Segment(said, dim if value is None else base))
        if shape.marks:
            tag = "" if self._tags is None else self._tags.get(row.sample, "")
            slots = fit(slots_of(row.marks) if self._tags is None else tag, shape.marks - 1)
            if not plain and _CHANGE.fullmatch(tag):
                drawn = {WRONG: dim, "·": dim, "▴": self._style(base, "list--better"), "▾": marked}
                segments += [Segment(sign, drawn.get(sign, base)) for sign in slots + " "]
            else:
                wrong = self._tags is None or any(sign in tag for sign in _AMISS)
                segments.append(Segment(slots + " ", marked if wrong else base))
        if shape.note:
            segments.append(Segment(fit(_NOTED if row.sample in self._noted else "", shape.note), base))
        if shape.emotion:
            segments.append(Segment(feelings(row.emotion or "", shape.emotion - 1, self.labels) + " ", dim))
        segments.append(Segment(fit(row.preview.replace(MASKED, "____"), shape.text), base))
        return segments

    def _style(self, base: Style, kind: str) -> Style:
        return base + part_style(self, kind)


# What the list asks a source for: its order, pages of rows, where the errors are.

_AMISS = f"≠{WRONG}"
"""What a place's sign of a sample has where something is wrong with it; all others are drawn as words are."""

_CHANGE = re.compile(f"[{RIGHT}{WRONG}] [▴▾~·] [{RIGHT}{WRONG}]")
"""A place's sign of a sample that was right or not, how that changed, and now: what has the colour is the change."""

WORST = -2
"""In place of a sample: the first of the list in which the run did something wrong, and not merely nothing."""

_SILENT = ("", "M")


class Order(msgspec.Struct, frozen=True):
    """A list as it was asked for: sample numbers in order, the cursor's place in it, and the rows of the page there."""

    query: ListQuery
    only: tuple[int, ...]
    numbers: "np.ndarray | range"
    cursor: int
    rows: Sequence[ListRow] = ()

    @property
    def page(self) -> int:
        """The page that the cursor is on."""
        return self.cursor // PAGE


def order(source: "BrowseSource", query: ListQuery, only: Sequence[int], sample: int | None) -> Order:
    """The list, of no other samples than `only` where there are any, with the cursor on `sample` if it is there.

    Where the list is in the order of the file, `only` stand in their own: those behind a figure worst first.
    """
    with source.together():
        numbers = source.order(query)
        if only:
            import numpy as np

            numbers, chosen = _array(numbers), np.array(only)
            in_order = query.sort == "file" and not query.descending
            numbers = chosen[np.isin(chosen, numbers)] if in_order else numbers[np.isin(numbers, chosen)]
        found = Order(query, tuple(only), numbers, 0 if sample is None else _place(numbers, sample))
        found = msgspec.structs.replace(found, rows=pages(source, found, [found.page])[found.page])
        return msgspec.structs.replace(found, cursor=telling(found.rows, query.sort)) if sample == WORST else found


def telling(rows: Sequence[ListRow], metric: str) -> int:
    """The first of these with an error that shows in the text, 0 where there is none.

    One that has a value of the metric above 0 comes first: there gold and predicted stand beside each other.
    """
    wrong = [place for place, row in enumerate(rows) if row.marks not in _SILENT]
    return next((place for place in wrong if rows[place].values.get(metric)), next(iter(wrong), 0))


def _place(numbers: "np.ndarray | range", sample: int) -> int:
    """Where a sample stands; 0 where it is not among them."""
    if isinstance(numbers, range):
        return numbers.index(sample) if sample in numbers else 0
    here = (numbers == sample).nonzero()[0].tolist()
    return here[0] if here else 0


def _array(numbers: "np.ndarray | range") -> "np.ndarray":
    import numpy as np

    return np.arange(numbers.start, numbers.stop) if isinstance(numbers, range) else numbers


def plain(numbers: "np.ndarray | range") -> list[int]:
    """As Python integers."""
    return list(numbers) if isinstance(numbers, range) else numbers.tolist()


def pages(source: "BrowseSource", asked: Order, wanted: Sequence[int]) -> dict[int, list[ListRow]]:
    """The rows of these pages."""
    return {
        page: source.page(plain(asked.numbers[page * PAGE : (page + 1) * PAGE]), asked.query.run) for page in wanted
    }


def errors(source: "BrowseSource", asked: Order, kind: str) -> list[int]:
    """The places in the list of samples with an error of a kind; an empty kind: of those that the list is kept to."""
    import numpy as np

    marks = kind or asked.query.marks or "".join(MARKS)
    wrong = source.order(replace(asked.query, marks=marks))
    return [int(place) for place in np.isin(_array(asked.numbers), _array(wrong)).nonzero()[0]]
