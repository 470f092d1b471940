"""A table with a cursor on one cell: its names stay in sight, its columns scroll sideways, its notes stand below."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as with_other
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import events
from textual.binding import Binding
from textual.message import Message

from emotui.screens.keymaps import keyed
from emotui.screens.results.cells import heading_of, label_of, shortened, written
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.drawing import ground
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import shade
from emotui.screens.widgets.page import Page, tell_end
from emotui.workbench.results.span_tables import OVER

if TYPE_CHECKING:
    from emotui.tables import Cell, Column, ResultsTable, Row

_GAP = 2
_LONGEST_LABEL = 32
"""Cells for the names of rows, where a quarter of the place is not more."""

_MOST_NOTES = 110
_WIDEST = 24
_ON_ONE_LINE = 12
"""Cells of a heading that is not broken into lines."""
KINDS = {"run": "own runs", "baseline": "baselines", "people": "annotators", "published": "† published"}


@dataclass(frozen=True, slots=True)
class _Width:
    """Cells of a column: of its means, which stand to the right, and of its spreads, which stand to the left.

    Where intervals stand below, all three are one width. `title`: of what stands over it.
    """

    mean: int
    spread: int
    all: int
    title: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    """What stands on a line: a row by its number, or -1."""

    row: int
    parts: tuple[Part, ...]


class Grid(Page, inherit_bindings=False):
    """Arrow keys move the cursor; so does a click. `Moved` tells that it stands on another cell."""

    BINDINGS = [
        Binding("up", "move(-1, 0)", show=False),
        Binding("down", "move(1, 0)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "page(-1000)", show=False),
        Binding("end", "page(1000)", show=False),
    ]

    class Moved(Message):
        """The cursor stands on another cell."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.table: ResultsTable | None = None
        self.row = self.column = 0
        self._shades = self._plain = self._below = False
        self._grounds: tuple[tuple[float | None, ...], ...] | None = None
        self._gap = _GAP
        self._in_full = True
        self._people = KINDS["people"]
        self._wide = False
        self._under: tuple[tuple[str, ...], ...] | None = None
        self._first = 0
        self._wanted: tuple[str, str] | None = None
        self._widths: list[_Width] = []
        self._whole = False
        self._label = 0
        self._row_lines: dict[int, int] = {}
        self._rows_at: dict[int, int] = {}
        self._column_places: dict[int, tuple[int, int]] = {}

    @property
    def cell(self) -> "tuple[Row, Column, Cell] | None":
        """The row, the column and the cell under the cursor."""
        if self.table is None or not self.table.rows or not self.table.columns:
            return None
        row = self.table.rows[self.row]
        return row, self.table.columns[self.column], row.cells[self.column]

    def show_table(
        self,
        table: "ResultsTable",
        *,
        shades: bool = False,
        plain: bool = False,
        wide: bool = False,
        under: tuple[tuple[str, ...], ...] | None = None,
        run: str | None = None,
        in_full: bool = True,
        grounds: tuple[tuple[float | None, ...], ...] | None = None,
        people: str = KINDS["people"],
    ) -> None:
        """Show a table; the cursor keeps its place in the same one, else begins at the first figure of its own.

        Columns of groups that nobody was asked for are left out, and published figures stand beside one's own.

        Args:
            shades: draw figures as shades of the largest one.
            plain: without headings over own, annotators' and published rows.
            wide: columns take the room there is, and rows too.
            under: what stands under each figure of a table that is wide, where there are lines for it.
            in_full: all notes stand below it, and not the first line of them.
            run: whose first figure the cursor begins at, where it is in the table.
            grounds: figures of a square table stand on grounds that are the stronger the greater these are; those of
                a row and its own column have a sign.
            people: the heading over rows of people.
        """
        same, before = self.table is not None and self.table.key == table.key, self.cell
        table = side_by_side(without_unasked(table))
        self.table, self._shades, self._plain = table, shades, plain
        self._wide, self._under = wide or under is not None, under
        self._grounds, self._in_full, self._people = grounds, in_full, people
        if same and before is not None and self._wanted is None:
            self._wanted = before[0].label, before[1].key
        place, self._wanted = _place_of(table, self._wanted), None
        if place is not None:
            self._first = self._first if same else _group_from(table, place[1])
            self.row, self.column = place
        elif same:
            self.row = min(self.row, max(len(table.rows) - 1, 0))
            self.column = min(self.column, max(len(table.columns) - 1, 0))
        else:
            self.row, self.column = _first_figure(table, run)
            self._first = _group_from(table, self.column)
        self._draw()
        self._bring_into_sight()
        self.post_message(self.Moved())

    def begin_at(self, label: str, key: str) -> None:
        """The next table that has it is shown with the cursor on this figure, by its row's label and column's key."""
        self._wanted = label, key

    def on_resize(self) -> None:
        self._draw()

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no width at all."""
        self._draw()

    def action_move(self, rows: int, columns: int) -> None:
        if self.table is not None:
            before = self.row, self.column
            self.put(self.row + rows, self.column + columns)
            if (self.row, self.column) == before:
                tell_end(self, rows or columns, "row" if rows else "column")

    def action_page(self, direction: int) -> None:
        self.action_move(direction * max(self.size.height - self.heads - 1, 1), 0)

    def put(self, row: int, column: int) -> None:
        """Put the cursor on a cell, the nearest there is, and bring it into sight."""
        table = self.table
        if table is None or not table.rows:
            return
        self.row = min(max(row, 0), len(table.rows) - 1)
        self.column = min(max(column, 0), len(table.columns) - 1)
        self._draw()
        self._bring_into_sight()
        self.post_message(self.Moved())

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        row = self._rows_at.get(self.line_at(offset.y))
        columns = [column for column, (a, b) in self._column_places.items() if a <= offset.x < b]
        if row is not None:
            self.put(row, columns[0] if columns else self.column)

    # How it is drawn.

    def _draw(self) -> None:
        table, cells = self.table, self.scrollable_content_region.width
        if table is None or cells <= 0:
            return
        longest = max((width(label_of(row)) for row in table.rows), default=4)
        self._label = min(longest, max(_LONGEST_LABEL, cells // 4), max(cells // 3, 12))
        room = cells - self._label - 3
        # Names are short only where the whole ones would leave no room for all columns.
        for whole in (True, False):
            self._whole = whole
            columns = range(len(table.columns))
            self._widths = [_width(table, at, shades=self._shades, whole=whole) for at in columns]
            needed = sum(one.all for one in self._widths)
            if needed + _GAP * len(self._widths) <= room:
                break
        # A name that is cut takes what no column needs.
        self._label += min(max(room - needed - _GAP * len(self._widths), 0), longest - self._label)
        room = cells - self._label - 3
        self._gap = _GAP if needed + _GAP * len(self._widths) <= room else 1 if self._wide else _GAP
        wide = needed + self._gap * len(self._widths) > room
        self._below = wide and not self._shades and any(one.low is not None for row in table.rows for one in row.cells)
        if self._below:
            self._widths = [_narrow(one) for one in self._widths]
        if self._wide or self._shades:
            self._widths = _spread(self._widths, self._gap, room)
        seen = self._seen(table, cells)
        lines: list[_Line] = [_Line(-1, tuple(parts)) for parts in self._heads(table, seen)]
        self.heads = min(len(lines), max(self.size.height // 3, 1))
        self._row_lines = {}
        hints = list(table.hints)
        notes = [line for note in table.notes for line in _note_lines(shown(note), cells)]
        if len(notes) > 2 and self._in_full:
            notes += _note_lines(keyed("{method} tells it in a line"), cells)
        elif len(notes) > 2:
            first, *doubts = _in_short(table.notes)
            said = "; ".join([OVER if OVER in hints else first, *doubts])
            hints = [note for note in hints if note != OVER]
            notes = _note_lines(shown(f"{said}; ") + keyed("{method} tells how all was counted"), cells)
        notes += [line for note in hints for line in _note_lines(shown(note), cells)]
        kinds = 0 if self._plain else len({row.kind for row in table.rows})
        spaced = self._wide and len(lines) + 2 * len(table.rows) + kinds + 1 + len(notes) <= self.size.height
        kind = ""
        for number, row in enumerate(table.rows):
            if row.kind != kind and row.kind in KINDS and not self._plain:
                kind = row.kind
                lines.append(
                    _Line(-1, _kind_parts(self._heading(kind), [one for one in table.rows if one.kind == kind]))
                )
            self._row_lines[number] = len(lines)
            lines.append(_Line(number, tuple(self._row_parts(number, row, seen))))
            if self._below and (under := self._under_parts(row, seen)):
                lines.append(_Line(number, tuple(under)))
            elif spaced:
                lines.append(_Line(number, tuple(self._beneath(number, seen))))
        lines.append(_Line(-1, ()))
        lines += [_Line(-1, (Part(line, "dim"),)) for line in notes]
        self._rows_at = {at: line.row for at, line in enumerate(lines) if line.row >= 0}
        self.show([line.parts for line in lines])

    def _seen(self, table: "ResultsTable", cells: int) -> list[int]:
        """The columns that are shown, and where each begins and ends; the last one of a group is as wide as its name
        needs.
        """
        room = cells - self._label - 3
        seen = window([one.all + self._gap for one in self._widths], self._first, self.column, room)
        self._first = seen.start
        spare = room - sum(self._widths[at].all + self._gap for at in seen)
        for group in _groups(table, seen):
            name = shown(table.columns[group[0]].group)
            lacking = _longest_word(name) - sum(self._widths[at].all + self._gap for at in group) + self._gap
            if 0 < lacking <= spare:
                last = self._widths[group[-1]]
                self._widths[group[-1]] = with_other(last, all=last.all + lacking)
                spare -= lacking
        places, at = {}, self._label + 2
        for column in seen:
            places[column] = (at, at + self._widths[column].all + self._gap)
            at += self._widths[column].all + self._gap
        self._column_places = places
        return list(seen)

    def _heads(self, table: "ResultsTable", seen: Sequence[int]) -> list[list[Part]]:
        """Names of groups and columns, whole: on as many lines as they need."""
        blank = Part(" " * (self._label + 2))
        heads: list[list[Part]] = []
        if any(column.group for column in table.columns):
            named = []
            for group in _groups(table, seen):
                room = sum(self._widths[at].all + self._gap for at in group)
                named.append((wrapped(shown(table.columns[group[0]].group), room - 1), room))
            for line in range(max(len(words) for words, _ in named)):
                said = [Part(fit(words[line] if line < len(words) else "", room), "strong") for words, room in named]
                heads.append([blank, *said])
        left = "◂ " if seen and seen[0] > 0 else "  "
        right = " ▸" if seen and seen[-1] < len(table.columns) - 1 else ""
        titles = [wrapped(shown(heading_of(table.columns[at], whole=self._whole)), self._widths[at].all) for at in seen]
        deepest = max((len(words) for words in titles), default=1)
        for line in range(deepest):
            last = line == deepest - 1
            parts = [Part(" " * self._label + left, "key") if last else blank]
            for at, words in zip(seen, titles, strict=True):
                size, place = self._widths[at], line - (deepest - len(words))
                title = words[place] if place >= 0 else ""
                kind = "strong" if at == self.column else "dim"
                parts.append(Part(fit(title.rjust(size.mean), size.all) + " " * self._gap, kind))
            heads.append([*parts, Part(right, "key")] if last else parts)
        return heads

    def _heading(self, kind: str) -> str:
        return self._people if kind == "people" else KINDS.get(kind, kind)

    def _row_parts(self, number: int, row: "Row", seen: Sequence[int]) -> list[Part]:
        here = number == self.row
        kind = "strong" if here else "dim" if row.published else "plain"
        label = shortened(label_of(row), self._label) if row.kind == "run" else label_of(row)
        parts = [Part(fit(label, self._label) + "  ", kind)]
        for at in seen:
            picked = here and at == self.column
            if picked and self._gap > 1:
                # In the gap before the figure; a colour is not seen everywhere.
                parts[-1] = replace(parts[-1], text=parts[-1].text[:-1])
                parts.append(Part("▸", "key"))
            parts += self._cell_parts(row, at, here=picked)
        return parts

    def _under_parts(self, row: "Row", seen: Sequence[int]) -> list[Part]:
        """The intervals of a row, under its means; empty where it has none."""
        assert self.table is not None
        spreads = {at: written(row.cells[at], self.table.columns[at].unit)[1] for at in seen}
        if not any(spreads.values()):
            return []
        lead = Part(" " * (self._label + 2))
        return [lead, *(Part(spreads[at].rjust(self._widths[at].all) + " " * self._gap, "dim") for at in seen)]

    def _beneath(self, number: int, seen: Sequence[int]) -> list[Part]:
        """What stands under the figures of a row, or nothing."""
        if self._under is None:
            return []
        lead = Part(" " * (self._label + 2))
        said = ((self._under[number][at].rjust(self._widths[at].mean), self._widths[at].all) for at in seen)
        return [lead, *(Part(fit(text, cells) + " " * self._gap, "dim") for text, cells in said)]

    def _cell_parts(self, row: "Row", at: int, *, here: bool) -> list[Part]:
        table, size, cell = self.table, self._widths[at], row.cells[at]
        assert table is not None
        mean, spread = written(cell, table.columns[at].unit)
        if self._shades and isinstance(cell.value, int | float):
            whole = size.all + self._gap - 1
            if here:
                return [Part(mean.center(whole), "picked"), Part(" ")]
            most = _whole(row) if table.heat and not table.plane else _most(table)
            return [Part(shade(float(cell.value), most) * whole, "said"), Part(" ")]
        if table.columns[at].unit == "words":
            return [Part(fit(mean, size.all), "picked" if here else "plain"), Part(" " * self._gap)]
        if self._below:
            spread = ""
        stays = self._grounds is not None and table.rows.index(row) == at
        text = f"= {mean}".rjust(size.mean) if stays and width(mean) + 2 <= size.mean else mean.rjust(size.mean)
        if here:
            said = (text + (f" {spread}" if spread else "")).ljust(size.all)
            gap = Part(" " * self._gap)
            # Among grounds of figures the cursor has one that none of them has.
            picked = "picked" if self._grounds is None else "picked-heat"
            if self._gap > 1 or not said.startswith(" "):
                return [Part(said, picked), gap]
            # Where columns stand close, the mark is before the figure in its own cells.
            free = len(said) - len(said.lstrip()) - 1
            return [Part(" " * free), Part("▸", "key"), Part(said[free + 1 :], picked), gap]
        kind = "rest" if not cell.asked else "plain" if not row.published else "dim"
        if self._grounds is not None:
            most = max((share or 0.0 for shares in self._grounds for share in shares), default=0.0)
            kind = ground(self._grounds[table.rows.index(row)][at] or 0.0, most)
        tail = f" {spread}" if spread else ""
        return [Part(text, kind), Part(tail.ljust(size.all - size.mean + self._gap), "dim")]

    def _bring_into_sight(self) -> None:
        line = self._row_lines.get(self.row)
        if self.row == 0:
            self.scroll_home(animate=False)
        elif line is not None:
            self.bring_into_sight(line)


def without_unasked(table: "ResultsTable") -> "ResultsTable":
    """The table without the columns of groups in which nothing stands, where there are others."""
    asked = {at for at in range(len(table.columns)) if any(row.cells[at].asked for row in table.rows)}
    kept = [at for at, column in enumerate(table.columns) if not column.group or at in asked]
    return _columns_of(table, kept) if kept else table


def side_by_side(table: "ResultsTable") -> "ResultsTable":
    """The table figure by figure, where papers print a figure that one's own sources have under another group.

    Groups are settings then: F1 in one's own stands beside their F1, and not behind all that was asked in theirs.
    """
    own, printed = (
        {at for row in table.rows if row.published == side for at, cell in enumerate(row.cells) if cell.asked}
        for side in (False, True)
    )
    titles = [column.title for column in table.columns]
    both = {titles[at] for at in own} & {titles[at] for at in printed - own}
    if not both or not all(column.group for column in table.columns):
        return table
    named = list(dict.fromkeys([*(titles[at] for at in sorted(own)), *titles]))
    order = sorted(
        range(len(titles)), key=lambda at: (titles[at] not in both, named.index(titles[at]), at not in own, at)
    )
    return _columns_of(table, order)


def _columns_of(table: "ResultsTable", places: Sequence[int]) -> "ResultsTable":
    """The table with these columns, in this order."""
    if list(places) == list(range(len(table.columns))):
        return table
    rows = tuple(replace(row, cells=tuple(row.cells[at] for at in places)) for row in table.rows)
    return replace(table, columns=tuple(table.columns[at] for at in places), rows=rows)


def _kind_parts(heading: str, rows: "Sequence[Row]") -> tuple[Part, ...]:
    """The heading over rows of a kind: what they are, and of which gold, where that is not today's."""
    named = Part(heading, "dim")
    golds = [row.gold for row in rows if row.gold]
    if not golds:
        return (named,)
    whose = "" if len(golds) == len(rows) else f"{len(golds)} of {len(rows)} "
    return named, Part(f"   {whose}{'; '.join(dict.fromkeys(golds))}", "mark")


def wrapped(text: str, cells: int) -> list[str]:
    """A heading in lines of so many cells, without the spaces at which they break."""
    return [text[start:end].rstrip() for start, end in wrap(text, cells)] or [""]


def _longest_word(text: str) -> int:
    return max((width(word) for word in text.split()), default=0)


def _groups(table: "ResultsTable", seen: Sequence[int]) -> list[list[int]]:
    """Neighbouring columns of one group."""
    return [list(held) for _, held in groupby(seen, lambda at: table.columns[at].group)]


def _group_from(table: "ResultsTable", column: int) -> int:
    """The first column of the group of this one; of one without a group the first of all."""
    group = table.columns[column].group if table.columns else ""
    return next((at for at, one in enumerate(table.columns) if one.group == group), 0) if group else 0


def _place_of(table: "ResultsTable", wanted: tuple[str, str] | None) -> tuple[int, int] | None:
    """Row and column of a figure by its row's label and its column's key; None where it is not here."""
    if wanted is None:
        return None
    label, key = wanted
    rows = [number for number, row in enumerate(table.rows) if row.label == label]
    columns = [at for at, column in enumerate(table.columns) if column.key == key]
    return (rows[0], columns[0]) if rows and columns else None


def window(sizes: Sequence[int], first: int, cursor: int, room: int) -> range:
    """Which columns are shown in so much room: from `first` on if that can be, and always the cursor's.

    Where the last column is among them, as many as fit to its left.
    """
    first = min(first, cursor)
    while first < cursor and sum(sizes[first : cursor + 1]) > room:
        first += 1
    last = first + 1
    while last < len(sizes) and sum(sizes[first : last + 1]) <= room:
        last += 1
    while last >= len(sizes) and first > 0 and sum(sizes[first - 1 :]) <= room:
        first -= 1
    return range(first, min(last, len(sizes)))


def _width(table: "ResultsTable", at: int, *, shades: bool, whole: bool) -> _Width:
    """Args: whole: with the whole name over it."""
    column = table.columns[at]
    named = shown(heading_of(column, whole=whole))
    title = width(named) if width(named) <= _ON_ONE_LINE else max(_longest_word(named), _ON_ONE_LINE)
    beside = {one.group for one in (*table.columns[max(at - 1, 0) : at], *table.columns[at + 1 : at + 2])}
    if column.group not in beside:  # alone in its group: that is not broken within a word either
        title = max(title, _longest_word(shown(column.group)))
    if shades:
        return _Width(0, 0, max(_longest_word(shown(heading_of(one, whole=whole))) for one in table.columns))
    texts = [written(row.cells[at], column.unit) for row in table.rows]
    mean = max((width(text) for text, _ in texts), default=1)
    spread = max((width(text) for _, text in texts), default=0)
    cells = max(min(mean + (spread + 1 if spread else 0), _WIDEST), title)
    if column.unit == "words":
        return _Width(0, 0, cells, title)
    # Where there is no spread behind them, figures stand to the right under their title.
    return _Width(mean if spread else cells, spread, cells, title)


_MOST_CELLS = 16
"""Of a column that takes the room there is."""


def _spread(sizes: Sequence[_Width], gap: int, room: int) -> list[_Width]:
    """The columns of figures with the room that is left, each as much."""
    spare = room - sum(one.all + gap for one in sizes)
    each = max(spare // max(len(sizes), 1), 0)
    found = []
    for one in sizes:
        more = 0 if not one.mean and one.title else min(each, max(_MOST_CELLS - one.all, 0))
        found.append(with_other(one, mean=one.mean + more if one.mean else 0, all=one.all + more))
    return found


_DOUBTS = re.compile(
    r"\b(learnt from|left out|unlabelled|invented|illustration|may rest|may be too|not tested|no interval)\b", re.I
)
"""Words of a note that says what makes figures doubtful: it stands there unasked."""


def _in_short(notes: Sequence[str]) -> list[str]:
    """The first sentence of all notes, and those that make figures doubtful."""
    first, *others = [one for note in notes for one in re.split(r"(?<=\w)[;.] ", note.removesuffix("."))]
    return [first, *(one for one in others if _DOUBTS.search(one))]


def _note_lines(note: str, cells: int) -> list[str]:
    return [note[start:end] for start, end in wrap(note, min(cells - 2, _MOST_NOTES))]


def _narrow(size: _Width) -> _Width:
    """The width of a column whose intervals stand below."""
    if not size.spread:
        return size
    whole = max(size.mean, size.spread, size.title)
    return _Width(whole, 0, whole, size.title)


def _most(table: "ResultsTable") -> float:
    values = [cell.value for row in table.rows for cell in row.cells]
    return max((float(value) for value in values if isinstance(value, int | float)), default=0.0)


def _whole(row: "Row") -> float:
    """What all counts of a row come to."""
    return sum(float(cell.value) for cell in row.cells if isinstance(cell.value, int | float))


def _first_figure(table: "ResultsTable", run: str | None = None) -> tuple[int, int]:
    """The first figure with samples behind it, in the run's row before others; else the first cell that was asked."""
    asked = [
        (cell, number, at) for number, row in enumerate(table.rows) for at, cell in enumerate(row.cells) if cell.asked
    ]
    behind = [one for one in asked if one[0].samples]
    theirs = {number for cell, number, _ in behind if run is not None and cell.run == run}
    own = [one for one in behind if one[1] in theirs]
    return (own or behind or asked)[0][1:] if asked else (0, 0)
