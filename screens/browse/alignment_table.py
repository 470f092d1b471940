"""The alignment as a table: gold ↔ predicted, F1, Sim, and a letter with words for what went wrong."""

from collections.abc import Sequence

import msgspec
from textual.containers import ScrollableContainer
from textual.geometry import Size

from emotui.screens.browse.alignment import Row, sharp
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, share
from emotui.screens.widgets.page import Lines, Page

_FIGURES = 12
_MARKED = 20
_ROOMY, _STRENGTHS = 100, 90
_BETWEEN = 5
_MOST = 150
_MOST_LABELS, _MOST_LABELS_NARROW = 32, 17
_MOST_LINES = 4
"""A span longer than so many lines of its column is cut; the text above has all of it."""


class _Columns(msgspec.Struct, frozen=True):
    """Widths in cells; `words` is 0 where beside figures only the letters of the marks have room.

    `predicted` is 0 where there is nothing but gold, `labels` where no span has a label;
    `strengths`: whether these stand behind them.
    """

    gold: int = 8
    predicted: int = 8
    tail: int = _FIGURES
    words: int = 0
    left: int = 0
    labels: int = 0
    strengths: bool = False


class AlignmentTable(Page):
    """Shows rows, and under them notes in words (why an output is invalid, what the labels were)."""

    BINDINGS = ScrollableContainer.BINDINGS
    DEFAULT_CSS = "AlignmentTable { scrollbar-gutter: stable; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: tuple[Row, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._columns = _Columns()
        self._marks: list[str] = []

    @property
    def after_figures(self) -> int:
        """Cells between the end of the figures and the right edge of the pane: where a heading for them has to end."""
        columns = _columns(self.rows, self.scrollable_content_region.width)
        used = columns.left + columns.gold + _BETWEEN + columns.predicted + columns.labels + _FIGURES
        return max(self.outer_size.width - 1 - used, 0)

    def show_rows(self, rows: Sequence[Row], notes: Sequence[str] = ()) -> None:
        """Show another alignment, from its top."""
        if (tuple(rows), tuple(notes)) != (self.rows, self._notes):
            self.rows, self._notes = tuple(rows), tuple(notes)
            self.show_for(self._drawn)
            self.scroll_home(animate=False)

    def reveal(self, mark: str) -> None:
        """Scroll so that the first row with this letter is in sight."""
        lines = [at for at, marks in enumerate(self._marks) if mark in marks]
        height = max(self.scrollable_content_region.height, 1)
        if lines and lines[0] >= self.scroll_offset.y + height - 1:
            self.scroll_to(y=lines[0], animate=False, force=True)

    def _drawn(self, room: Size) -> Lines:
        self._columns = _columns(self.rows, room.width)
        lines: list[list[Part]] = []
        self._marks = []
        for row in self.rows:
            drawn = [*_row(row, self._columns), *_near(row, self._columns)]
            lines += drawn
            self._marks += [row.marks] * len(drawn)
        lines += [[Part(fit(note, min(room.width, _MOST)), "dim")] for note in self._notes]
        return [[Part(" " * self._columns.left), *line] for line in lines]


def _columns(rows: Sequence[Row], cells: int) -> _Columns:
    used = min(cells, _MOST)
    left = (cells - used) // 2
    labels = max((width(_label_text(row, strengths=used >= _STRENGTHS)) for row in rows), default=0)
    labels = min(labels, _MOST_LABELS if used >= _STRENGTHS else _MOST_LABELS_NARROW) + 2 if labels else 0
    if not any(row.predicted is not None or row.marks for row in rows):
        return _Columns(used - labels, 0, 0, 0, left, labels, used >= _STRENGTHS)
    longest = max((width(row.words) for row in rows), default=0)
    tail = _MARKED if any(row.marks for row in rows) else _FIGURES
    words = longest + 1 if used - tail - longest - labels >= _ROOMY else 0
    texts = max(used - tail - _BETWEEN - words - labels, 8)
    return _Columns(texts // 2, texts - texts // 2, tail, words, left, labels, used >= _STRENGTHS)


def _row(row: Row, columns: _Columns) -> list[list[Part]]:
    """The two sides on as many lines as the longer one takes, and the figures on the first."""
    sides = _lines(row.gold, columns.gold), _lines(row.predicted, columns.predicted)
    said = "gone" if "H" in row.marks else "said"
    lines = []
    for at in range(max(map(len, sides))):
        gold, predicted = (side[at] if at < len(side) else "" for side in sides)
        line = _side(gold, columns.gold, "dim" if row.gold is None else "gold")
        if columns.predicted:
            line.append(Part("  ↔  " if at == 0 else " " * _BETWEEN, "dim"))
            line += _side(predicted, columns.predicted, "dim" if row.predicted is None else said)
        if columns.labels:
            blank = [Part(" " * columns.labels)]
            line += _labels(row, columns.labels, strengths=columns.strengths) if at == 0 else blank
        if columns.predicted and at == 0:
            line += _figures(row, columns)
        lines.append(line)
    return lines


def _label_text(row: Row, *, strengths: bool) -> str:
    return "".join(part.text for part in _said_of(row, strengths=strengths))


def _said_of(row: Row, *, strengths: bool) -> list[Part]:
    """The labels of a row, and where there is room the strength of the predicted span."""
    parts = _label_parts(row)
    if strengths and row.strength is not None:
        given = share(row.strength).strip() if abs(row.strength) <= 1 else f"{row.strength:.3g}"
        parts.append(Part(f"  {given}", "dim"))
    return parts


def _label_parts(row: Row) -> list[Part]:
    """One label where there is one span or they are the same, `gold ≠ predicted` where they differ."""
    gold, said = (None if label is None else shown(label) for label in row.labels)
    if gold is None and said is None:
        return []
    if row.gold is None or row.predicted is None or gold == said:
        return [Part(gold or said or "", "gold" if gold is not None else "said")]
    sign = " ≠ " if gold is not None and said is not None else "   "
    return [Part(gold or UNDEFINED, "gold" if gold else "dim"), Part(sign, "dim"), Part(said or UNDEFINED, "said")]


def _labels(row: Row, cells: int, *, strengths: bool) -> list[Part]:
    """The labels behind two blanks, cut where they are longer than the column."""
    parts, room = [Part("  ")], cells - 2
    for part in _said_of(row, strengths=strengths):
        kept = fit(part.text, min(width(part.text), room))
        room -= width(kept)
        parts.append(Part(kept, part.kind))
    return [*parts, Part(" " * room)]


def _figures(row: Row, columns: _Columns) -> list[Part]:
    if not row.scored:
        return [Part(fit(f"  {sharp(row.marks)} {row.words}", columns.tail + columns.words), "mark")]
    words = row.words if columns.words else ""
    marks = fit(f"  {row.marks:<4}  {words}", columns.tail - _FIGURES + columns.words)
    return [Part(f"  {share(row.f1)}  {share(row.sim)}"), Part(marks, "mark")]


def _near(row: Row, columns: _Columns) -> list[list[Part]]:
    """Under a span that is not in the text the passage that comes nearest to it."""
    if "H" not in row.marks:
        return []
    near, cells = row.near, columns.predicted
    texts = ["≈ nothing near it"] if near is None else _lines(f"≈ {near.text}", cells)
    lines = [[Part(" " * (columns.gold + _BETWEEN)), *_side(text, cells, "dim")] for text in texts]
    if near is not None and columns.labels:
        lines[0].append(Part(" " * columns.labels))
    if near is not None:
        lines[0].append(Part(fit(f"  {share(near.f1)}  near", columns.tail + columns.words), "dim"))
    return lines


def _lines(text: str | None, cells: int) -> list[str]:
    if text is None:
        return [UNDEFINED]
    lines = [shown(text, start, end) for start, end in wrap(text, cells)]
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 1], "…"]


def _side(text: str, cells: int, kind: str) -> list[Part]:
    kept = fit(text.rstrip(" "), cells).rstrip(" ")
    return [Part(kept, kind), Part(" " * (cells - width(kept)))]
