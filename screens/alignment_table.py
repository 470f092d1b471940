"""The alignment as a table: gold ↔ predicted, F1, Sim, and a letter with words for what went wrong."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from emotui.screens.alignment import Row
from emotui.screens.cells import fit, width
from emotui.screens.figures import UNDEFINED, share

_FIGURES = 12
_MOST = 150


class AlignmentTable(ScrollView, can_focus=True):
    """Shows rows, and under them notes in words (why an output is invalid, what the labels were)."""

    COMPONENT_CLASSES = {"table--dim", "table--mark", "table--gone", "table--gold", "table--predicted"}
    DEFAULT_CSS = """
    AlignmentTable {
        height: 1fr;
        padding: 0 1;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
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

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    def show(self, rows: Sequence[Row], notes: Sequence[str] = ()) -> None:
        """Show another alignment, from its top."""
        if (tuple(rows), tuple(notes)) == (self._rows, self._notes):
            return
        self._rows, self._notes = tuple(rows), tuple(notes)
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows) + len(self._notes))
        self.scroll_home(animate=False)
        self.refresh()

    def on_resize(self) -> None:
        """Follow the width of the pane."""
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows) + len(self._notes))

    def notify_style_update(self) -> None:
        """Draw again in another theme."""
        super().notify_style_update()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row, or one note."""
        at = y + self.scroll_offset.y
        cells, base = self.scrollable_content_region.width, self.rich_style
        used = min(cells, _MOST)
        left = (cells - used) // 2
        segments = [Segment(" " * left, base)]
        if at < len(self._rows):
            segments += self._row(self._rows[at], used, base)
        elif at < len(self._rows) + len(self._notes):
            segments.append(Segment(fit(self._notes[at - len(self._rows)], used), self._style(base, "table--dim")))
        return Strip(segments).crop(0, cells).extend_cell_length(cells, base)

    def _row(self, row: Row, cells: int, base: Style) -> list[Segment]:
        words = max((width(other.words) for other in self._rows), default=0)
        tail = words + 5 if words and cells - _FIGURES - words >= 50 else 5 if words else 0
        texts = max(cells - _FIGURES - tail - 5, 8)
        gold, predicted = texts // 2, texts - texts // 2
        dim, mark = self._style(base, "table--dim"), self._style(base, "table--mark")
        said = self._style(base, "table--gone" if "H" in row.marks else "table--predicted")
        segments = _side(row.gold, gold, self._style(base, "table--gold"), dim)
        segments.append(Segment("  ↔  ", dim))
        segments += _side(row.predicted, predicted, said, dim)
        figures = f"  {share(row.f1)}  {share(row.sim)}" if row.scored else " " * _FIGURES
        segments.append(Segment(figures, base))
        if tail:
            letters = row.marks.rjust(min(tail, 4))
            segments.append(Segment(fit(f" {letters}" if tail == 5 else f" {letters:>3} {row.words}", tail), mark))
        return segments

    def _style(self, base: Style, kind: str) -> Style:
        return base + self.get_component_rich_style(kind, partial=True)


def _side(text: str | None, cells: int, style: Style, dim: Style) -> list[Segment]:
    if text is None:
        return [Segment(fit(UNDEFINED, cells), dim)]
    drawn = fit(text, cells)
    kept = drawn.rstrip(" ")
    return [Segment(kept, style), Segment(" " * (cells - width(kept)), dim)]
