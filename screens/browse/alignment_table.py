"""The alignment as a table: gold ↔ predicted, F1, Sim, and a letter with words for what went wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from emotui.screens.browse.alignment import Row, sharp
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.number_format import UNDEFINED, share

_FIGURES = 12
_MARKED = 20
_ROOMY = 100
_BETWEEN = 5
_MOST = 150
_MOST_LINES = 4
"""A span longer than so many lines of its column is cut; the text above has all of it."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """Widths in cells; `words` is 0 where beside figures only the letters of the marks have room.

    `predicted` is 0 where there is nothing but gold.
    """

    gold: int
    predicted: int
    tail: int
    words: int
    left: int


@dataclass(frozen=True, slots=True)
class _Line:
    """One line on the screen: of which row, and its part of both sides; or a note, or the passage nearest to it."""

    row: int
    gold: str
    predicted: str
    first: bool
    note: bool = False
    near: bool = False


class AlignmentTable(ScrollView, can_focus=True):
    """Shows rows, and under them notes in words (why an output is invalid, what the labels were)."""

    COMPONENT_CLASSES = {"table--dim", "table--mark", "table--gone", "table--gold", "table--predicted"}
    DEFAULT_CSS = """
    AlignmentTable {
        height: 1fr;
        padding: 0 1;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .table--dim { color: $text-muted; }
        & > .table--mark { color: $mark; }
        & > .table--gone { color: $mark; text-style: strike; }
        & > .table--gold { color: $gold; }
        & > .table--predicted { color: $predicted-bar; }
        &.-stale { opacity: 50%; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: tuple[Row, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._columns = _Columns(8, 8, _FIGURES, 0, 0)
        self._lines: list[_Line] = []

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    @property
    def after_figures(self) -> int:
        """Cells between the end of the figures and the right edge of the pane: where a heading for them has to end."""
        columns = self._columns
        used = columns.left + columns.gold + _BETWEEN + columns.predicted + _FIGURES
        return max(self.size.width - 1 - used, 0)

    def show(self, rows: Sequence[Row], notes: Sequence[str] = ()) -> None:
        """Show another alignment, from its top."""
        if (tuple(rows), tuple(notes)) == (self._rows, self._notes):
            return
        self._rows, self._notes = tuple(rows), tuple(notes)
        self._lay_out()
        self.scroll_home(animate=False)

    def reveal(self, mark: str) -> None:
        """Scroll so that the first row with this letter is in sight."""
        lines = [at for at, line in enumerate(self._lines) if line.row >= 0 and mark in self._rows[line.row].marks]
        height = max(self.scrollable_content_region.height, 1)
        if lines and lines[0] >= self.scroll_offset.y + height - 1:
            self.scroll_to(y=lines[0], animate=False, force=True)

    def on_resize(self) -> None:
        """Follow the width of the pane."""
        self._lay_out()

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no width at all."""
        self.on_resize()

    def notify_style_update(self) -> None:
        """Draw again in another theme."""
        super().notify_style_update()
        self.refresh()

    def _lay_out(self) -> None:
        cells = self.scrollable_content_region.width
        used = min(cells, _MOST)
        longest = max((width(row.words) for row in self._rows), default=0)
        tail = _MARKED if any(row.marks for row in self._rows) else _FIGURES
        words = longest + 1 if used - tail - longest >= _ROOMY else 0
        texts = max(used - tail - _BETWEEN - words, 8)
        left = (cells - used) // 2
        if any(row.predicted is not None or row.marks for row in self._rows):
            self._columns = _Columns(texts // 2, texts - texts // 2, tail, words, left)
        else:
            self._columns = _Columns(used, 0, 0, 0, left)
        self._lines = []
        for number, row in enumerate(self._rows):
            sides = _lines(row.gold, self._columns.gold), _lines(row.predicted, self._columns.predicted)
            for at in range(max(len(side) for side in sides)):
                gold, predicted = (side[at] if at < len(side) else "" for side in sides)
                self._lines.append(_Line(number, gold, predicted, at == 0))
            if "H" in row.marks:
                self._lines += self._near(number, row)
        self._lines += [_Line(-1, note, "", True, note=True) for note in self._notes]
        self.virtual_size = Size(cells, len(self._lines))
        self.refresh()

    def _near(self, number: int, row: Row) -> list[_Line]:
        """Under a span that is not in the text the passage that comes nearest to it."""
        if row.near is None:
            return [_Line(number, "", "≈ nothing near it", False, near=True)]
        lines = _lines(f"≈ {row.near.text}", self._columns.predicted)
        return [_Line(number, "", line, at == 0, near=True) for at, line in enumerate(lines)]

    def render_line(self, y: int) -> Strip:
        """One line of a row, or one note."""
        at = y + self.scroll_offset.y
        cells, base = self.scrollable_content_region.width, self.rich_style
        if at >= len(self._lines):
            return Strip.blank(cells, base)
        line = self._lines[at]
        segments = [Segment(" " * self._columns.left, base)]
        if line.note:
            segments.append(Segment(fit(line.gold, min(cells, _MOST)), self._style(base, "table--dim")))
        else:
            segments += self._row(line, base)
        return Strip(segments).crop(0, cells).extend_cell_length(cells, base)

    def _row(self, line: _Line, base: Style) -> list[Segment]:
        row, columns = self._rows[line.row], self._columns
        if line.near:
            return self._near_line(line, base)
        dim, mark = self._style(base, "table--dim"), self._style(base, "table--mark")
        said = self._style(base, "table--gone" if "H" in row.marks else "table--predicted")
        segments = _side(line.gold, columns.gold, dim if row.gold is None else self._style(base, "table--gold"), base)
        if not columns.predicted:
            return segments
        segments.append(Segment("  ↔  " if line.first else " " * _BETWEEN, dim))
        segments += _side(line.predicted, columns.predicted, dim if row.predicted is None else said, base)
        if line.first and row.scored:
            segments.append(Segment(f"  {share(row.f1)}  {share(row.sim)}", base))
            words = row.words if columns.words else ""
            segments.append(Segment(fit(f"  {row.marks:<4}  {words}", columns.tail - _FIGURES + columns.words), mark))
        elif line.first:
            segments.append(Segment(fit(f"  {sharp(row.marks)} {row.words}", columns.tail + columns.words), mark))
        return segments

    def _near_line(self, line: _Line, base: Style) -> list[Segment]:
        near, columns, dim = self._rows[line.row].near, self._columns, self._style(base, "table--dim")
        segments = [Segment(" " * (columns.gold + _BETWEEN), base)]
        segments += _side(line.predicted, columns.predicted, dim, base)
        if line.first and near is not None:
            segments.append(Segment(fit(f"  {share(near.f1)}  near", columns.tail + columns.words), dim))
        return segments

    def _style(self, base: Style, kind: str) -> Style:
        return base + self.get_component_rich_style(kind, partial=True)


def _lines(text: str | None, cells: int) -> list[str]:
    if text is None:
        return [UNDEFINED]
    lines = [shown(text, start, end) for start, end in wrap(text, cells)]
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 1], "…"]


def _side(text: str, cells: int, style: Style, base: Style) -> list[Segment]:
    kept = fit(text.rstrip(" "), cells).rstrip(" ")
    return [Segment(kept, style), Segment(" " * (cells - width(kept)), base)]
