"""Points of a plane: gold against given, or gold and given valence and arousal. Imported when they are looked at."""

from typing import TYPE_CHECKING

from textual.color import Color
from textual_plotext import PlotextPlot

from emotui.screens.results.cells import decimals
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, count
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.tables import Plot

GOLD, GIVEN, EQUAL = "○", "●", "·"
_TICKS = 5
_FEW = 150
"""So many points or fewer are drawn a cell each; more as finer dots."""
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
        for ticks, (start, end) in ((plot.xticks, shape.x), (plot.yticks, shape.y)):
            places = [start + (end - start) * step / (_TICKS - 1) for step in range(_TICKS)]
            ticks(places, [f"{place:.3g}" for place in places])
        plot.xlabel(f"{shown(shape.across)}   (up: {shown(shape.up)})")
        self.refresh()

    def _colour(self, name: str) -> tuple[int, int, int]:
        return Color.parse(self.app.theme_variables[name]).rgb


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
        lines += [[Part("dots: texts" if fine else f"{GIVEN} a text", "said")]]
        lines += [[Part("line: given = gold" if fine else f"{EQUAL * 3} given = gold", "dim")]]
    if plot.pairs:
        lines += [[Part(f"{GOLD} gold", "gold")], [Part(f"{GIVEN} given", "said")]]
    if plot.points and plot.pairs:
        lines += [[Part("dots: given, of the", "dim")], [Part("rest; the pairs are", "dim")]]
        lines += [[Part("those farthest apart", "dim")]]
    if drawn < plot.n:
        lines += [[Part(f"{count(drawn)} are drawn", "dim")]]
    return lines
