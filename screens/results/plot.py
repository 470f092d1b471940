"""Bars by emotion or valence, and points. Imported only when these are looked at, since plotext takes its time."""

from math import ceil
from typing import TYPE_CHECKING, Literal

from textual.color import Color
from textual_plotext import PlotextPlot

from emotui.screens.results.cells import GLYPHS, KINDS, decimals, places, series_shown
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, count, share
from emotui.screens.widgets.page import Lines, Page
from emotui.tables import digits

if TYPE_CHECKING:
    from emotui.tables import Bars, Cell, Plot

# Points of a plane: gold against given, or gold and given valence and arousal. Imported when they are looked at.

GOLD, GIVEN, EQUAL = "○", "●", "·"
_TICKS = 5
_FEW = 150
"""So many points or fewer are drawn a cell each; more as finer dots."""
_FRAME = 6
"""Cells of the axes."""
_MARGIN = 0.04
"""Of a side: so that points at its ends are not drawn on the axes."""


class ScatterPlot(PlotextPlot):
    """Draws a `Plot`. Shapes tell what colours tell too: points are dots, gold is a ring, what is given is filled."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shape: Plot | None = None

    def show(self, plot: "Plot") -> None:
        """Draw other points."""
        self._shape = plot
        self._draw_points()

    def on_resize(self) -> None:
        self._draw_points()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._draw_points()

    def _draw_points(self) -> None:
        shape = self._shape
        if shape is None or self.size.width <= 0:
            return
        plot = self.plt
        plot.clear_figure()
        (left, right), (low, high) = _wider(shape.x), _wider(shape.y)
        plot.xlim(left, right)
        plot.ylim(low, high)
        dots = "braille" if len(shape.points) > _FEW or shape.pairs else GIVEN
        if shape.diagonal:
            # A line of the same grain as the points: plotext rounds the two to cells in different ways.
            plot.plot(
                [left, right], [left, right], marker=dots if dots != GIVEN else EQUAL, color=self._colour("text-muted")
            )
        for x, y, to_x, to_y in shape.pairs:
            plot.plot([x, to_x], [y, to_y], marker=EQUAL, color=self._colour("text-muted"))
        if shape.points:
            xs, ys = zip(*shape.points, strict=True)
            plot.scatter(list(xs), list(ys), marker=dots, color=self._colour("predicted-bar"))
        if shape.pairs:
            golds, given = [pair[:2] for pair in shape.pairs], [pair[2:] for pair in shape.pairs]
            for ends, marker, colour in ((golds, GOLD, "gold"), (given, GIVEN, "predicted-bar")):
                plot.scatter([x for x, _ in ends], [y for _, y in ends], marker=marker, color=self._colour(colour))
        for word, x, y, side in _named(shape, (left, right), (low, high), (self.size.width, self.size.height)):
            plot.text(word, x=x, y=y, alignment=side, color=self._colour("foreground"))
        for ticks, (start, end), powers in ((plot.xticks, shape.x, shape.powers), (plot.yticks, shape.y, False)):
            places = [start + (end - start) * step / (_TICKS - 1) for step in range(_TICKS)]
            ticks(places, [digits(10**place if powers else place) for place in places])
        plot.xlabel(f"{shown(shape.across)}   (up: {shown(shape.up)})")
        self.refresh()

    def _colour(self, name: str) -> tuple[int, int, int]:
        return Color.parse(self.app.theme_variables[name]).rgb


def _named(
    shape: "Plot", across: tuple[float, float], up: tuple[float, float], cells: tuple[int, int]
) -> "list[tuple[str, float, float, Literal['left', 'right']]]":
    """Points with their names, where those have room, and on which side: own ones first, none over another."""
    found: list[tuple[str, float, float, Literal["left", "right"]]] = []
    taken: list[tuple[int, int, int]] = []
    there = [(x, y, name) for (x, y), name in zip(shape.points, shape.names, strict=False) if name]
    for x, y, name in sorted(there, key=lambda one: _printed(one[2])):
        point, inside = (GOLD if _printed(name) else GIVEN), 2 * x < sum(across)
        word = f"{point} {shown(name)}" if inside else f"{shown(name)} {point}"
        column, row = (
            round((value - ends[0]) / (ends[1] - ends[0]) * (n - _FRAME))
            for value, ends, n in ((x, across, cells[0]), (y, up, cells[1]))
        )
        start, end = (column, column + width(word)) if inside else (column - width(word), column)
        if any(abs(row - line) < 1 and start <= last and first <= end for line, first, last in taken):
            word = point
        else:
            taken.append((row, start, end))
        found.append((word, x, y, "left" if inside else "right"))
    # Those without room first, so that no bare point stands in a name.
    return sorted(found, key=lambda one: len(one[0]) > 1)


def _printed(name: str) -> bool:
    """Whether a point is a published one: its name wears a dagger."""
    return name.endswith("†")


def _wider(ends: tuple[float, float]) -> tuple[float, float]:
    start, end = ends
    room = (end - start or 1) * _MARGIN
    return start - room, end + room


def beside(plot: "Plot") -> Lines:
    """What stands beside the points: figures, what the shapes mean, and how many texts are drawn."""
    lines: list[list[Part]] = [
        [Part(f"{name:<15}", "dim"), Part(decimals(value) if isinstance(value, float) else UNDEFINED, "strong")]
        for name, value in plot.figures
    ]
    drawn = len(plot.points) + len(plot.pairs)
    lines += [[Part(f"{'n':<15}", "dim"), Part(count(plot.n), "strong")], []]
    if plot.diagonal:
        fine = len(plot.points) > _FEW
        lines += [[Part(f"dots: {plot.of}s" if fine else f"{GIVEN} a {plot.of}", "said")]]
        equal = "given = gold" if plot.of == "text" else "as often"
        lines += [[Part(f"line: {equal}" if fine else f"{EQUAL * 3} {equal}", "dim")]]
    if any(map(_printed, plot.names)):
        lines += [[Part(f"{GIVEN} yours", "said")], [Part(f"{GOLD} † as printed", "dim")]]
    if plot.pairs:
        lines += [[Part(f"{GOLD} gold", "gold")], [Part(f"{GIVEN} given", "said")]]
    if plot.points and plot.pairs:
        lines += [[Part("dots: given, of the", "dim")], [Part("rest; the pairs are", "dim")]]
        lines += [[Part("those farthest apart", "dim")]]
    if drawn < plot.n:
        lines += [[Part(f"{count(drawn)} are drawn", "dim")]]
    return lines


AXIS = 5
"""Cells that the vertical axis and its figures take."""

_VALUES_FROM = 4
"""Cells of a bar that has its figure over it."""

_SURE_FROM = 3
"""Cells of a bar that its interval is drawn over."""

_STEP = 0.25
"""Between two ticks."""

_EIGHTHS = " ▁▂▃▄▅▆▇"


class ResultsPlot(Page):
    """Draws `Bars`: groups by label, and in each group the series in their order, each with a glyph of its own."""

    can_focus = False

    def draw(self, bars: "Bars") -> None:
        """Draw other bars."""
        self.show_for(lambda room: bar_lines(bars, room.width, room.height))


def bar_lines(bars: "Bars", cells: int, height: int) -> Lines:
    """So many lines of bars, with the axis at the left and the labels under it.

    Ticks are as many lines apart everywhere, and what a bar has above whole lines is drawn in eighths of one.
    """
    series, rows = series_shown(bars, cells - AXIS), max(height - 3, 4)
    where = places(len(bars.labels), len(series), cells - AXIS)
    tops = [end for one in series for cell in one.cells for end in (_number(cell), cell.high) if end is not None]
    ticks = max(ceil(min(max(tops, default=1.0), 1.0) / _STEP - 1e-9), 1)
    tall = max(rows // ticks, 1)
    drawing = _Drawing(cells - AXIS, ticks * tall, tall)
    for number, one in enumerate(series):
        for first, cell in zip([at[number] for at in where.first], one.cells, strict=True):
            drawing.bar(first, where.bar, cell, number)
    lines: list[list[Part]] = []
    for row in range(drawing.rows, -1, -1):
        # A tick stands at the line that a bar of its value fills.
        tick = share((row + 1) / tall * _STEP).strip() if (row + 1) % tall == 0 else ""
        axis = [Part(f"{tick:>4}┤" if tick and row < drawing.rows else "    │", "dim")]
        lines.append([*axis, *drawing.line(row)])
    width_of, middle = where.group, where.group // 2
    feet, labels = ["─"] * (cells - AXIS), [" "] * (cells - AXIS)
    for at, label in enumerate(bars.labels):
        feet[at * width_of + middle] = "┬"
        name = fit(shown(label), max(width_of - 1, 2)).rstrip()
        start = at * width_of + max(middle - width(name) // 2, 0)
        labels[start : start + width(name)] = [name, *[""] * (width(name) - 1)]
    return [*lines, [Part(f"   0└{''.join(feet)}", "dim")], [Part(" " * AXIS + "".join(labels))]]


class _Drawing:
    """The cells over the axis, line by line from below; `tall`: lines from one tick to the next."""

    def __init__(self, cells: int, rows: int, tall: int) -> None:
        self.rows, self._tall = rows, tall
        # One line more than the highest tick, for the figure over a bar that reaches it.
        self._signs = [[" "] * cells for _ in range(rows + 1)]
        self._kinds = [["plain"] * cells for _ in range(rows + 1)]

    def bar(self, first: int, cells: int, cell: "Cell", series: int) -> None:
        """A bar of so many cells from `first` on, with its interval and its figure."""
        value, kind = _number(cell), KINDS[series]
        eighths = round(max(min(value or 0.0, 1.0), 0.0) / _STEP * self._tall * 8)
        whole, rest = divmod(eighths, 8)
        for row in range(whole):
            self._put(row, first, GLYPHS[series] * cells, kind)
        if rest:
            self._put(whole, first, _EIGHTHS[rest] * cells, kind)
        top = whole + bool(rest)
        if cell.low is not None and cell.high is not None and cells >= _SURE_FROM:
            low, high = (self._line(end) for end in (cell.low, cell.high))
            for row in range(low, high + 1):
                sign = "│" if low < row < high else "┴" if row == low else "┬"
                self._put(row, first + cells // 2, sign, "plain")
            top = max(top, high + 1)
        if value is None or cells >= _VALUES_FROM:
            text = UNDEFINED if value is None else share(value).strip()
            self._put(min(top, self.rows), first + max(cells - len(text), 0) // 2, text[:cells], "strong")

    def _line(self, value: float) -> int:
        return min(max(ceil(value / _STEP * self._tall - 1e-9) - 1, 0), self.rows)

    def _put(self, row: int, first: int, text: str, kind: str) -> None:
        self._signs[row][first : first + len(text)] = text
        self._kinds[row][first : first + len(text)] = [kind] * len(text)

    def line(self, row: int) -> list[Part]:
        """The cells of a line."""
        return [Part(sign, kind) for sign, kind in zip(self._signs[row], self._kinds[row], strict=True)]


def _number(cell: "Cell") -> float | None:
    return float(cell.value) if isinstance(cell.value, int | float) else None
