"""Bars by emotion or valence, a bar a run. Imported only when bars are looked at, since plotext takes its time."""

from typing import TYPE_CHECKING, Literal

from textual.color import Color
from textual_plotext import PlotextPlot

from emotui.screens.results.cells import COLOURS, GLYPHS, decimals, places, series_shown
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, count, share
from emotui.screens.widgets.page import Lines
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


AXIS = 4
"""Cells that the vertical axis and its figures take."""

_VALUES_FROM = 4
"""Cells of a bar that has its figure over it."""

_TOP = 1.08


class ResultsPlot(PlotextPlot):
    """Draws `Bars`: groups by label, and in each group the series in their order, each with a glyph of its own.

    A unit of the horizontal axis is a cell, so that all bars are of one width.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._bars: Bars | None = None

    def show(self, bars: "Bars") -> None:
        """Draw other bars."""
        self._bars = bars
        self._plot_bars()

    def on_resize(self) -> None:
        self._plot_bars()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._plot_bars()

    def _plot_bars(self) -> None:
        bars, cells = self._bars, self.size.width - AXIS
        if bars is None or cells <= 0:
            return
        plot = self.plt
        plot.clear_figure()
        series = series_shown(bars, cells)
        where = places(len(bars.labels), len(series), cells)
        for number, line in enumerate(series):
            self._plot_series(number, [at[number] for at in where.first], line.cells, where.bar)
        middles = [float(at * where.group + where.group // 2) for at in range(len(bars.labels))]
        plot.xticks(middles, [fit(label, max(where.group - 1, 2)).rstrip() for label in bars.labels])
        plot.xlim(0, cells - 1)
        plot.ylim(0, _TOP)
        plot.yticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
        plot.xaxes(True, False)
        plot.yaxes(True, False)
        self.refresh()

    def _plot_series(self, number: int, first: list[int], cells: "tuple[Cell, ...]", bar: int) -> None:
        plot = self.plt
        page = Color.parse(self.app.theme_variables["background"]).rgb
        colour = Color.parse(self.app.theme_variables[COLOURS[number]]).rgb
        middles = [start + (bar - 1) / 2 for start in first]
        values = [float(cell.value) if isinstance(cell.value, int | float) else None for cell in cells]
        drawn = [(middle, value) for middle, value in zip(middles, values, strict=True) if value]
        if drawn:
            # plotext takes the width of a bar as a part of the mean distance between two.
            between = (drawn[-1][0] - drawn[0][0]) / (len(drawn) - 1) if len(drawn) > 1 else 1
            plot.bar(
                [middle for middle, _ in drawn],
                [value for _, value in drawn],
                marker=GLYPHS[number],
                color=colour,
                width=max(bar - 1, 0.5) / between,
                minimum=0,
            )
        for middle, value in zip(middles, values, strict=True):
            if value is None or bar >= _VALUES_FROM:
                text = UNDEFINED if value is None else share(value).strip()
                top = min((value or 0) + 0.04, _TOP)
                plot.text(text, x=middle, y=top, alignment="center", color=colour, background=page)
