"""Bars by emotion or valence, a bar a run. Imported only when bars are looked at, since plotext takes its time."""

from typing import TYPE_CHECKING

from textual.color import Color
from textual_plotext import PlotextPlot

from emotui.screens.results.bars import COLOURS, GLYPHS, places, series_shown
from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.number_format import UNDEFINED, share

if TYPE_CHECKING:
    from emotui.tables import Bars, Cell

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
