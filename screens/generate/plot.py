"""A metric against human F1, a letter a model, with the 95% interval of either as a cross."""

from collections.abc import Sequence

import msgspec

from emotui.screens.generate.people import briefly, number
from emotui.screens.widgets.cell_width import fit, shown
from emotui.screens.widgets.line import Part

_AXIS = 6
_MARGIN = 0.06
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Point(msgspec.Struct, frozen=True):
    """A model: `x` the metric, `y` human F1, each with the ends of its interval where it has one.

    `published`: as the paper prints it, of other texts.
    """

    name: str
    x: float
    y: float
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    published: bool = False


def lettered(points: Sequence[Point]) -> list[tuple[str, Point]]:
    """Each with a capital where it is a model of one's own, with a small letter where it is one of the paper's."""
    own, printed = iter(_LETTERS * (len(points) + 1)), iter(_LETTERS.lower() * (len(points) + 1))
    return [(next(printed if one.published else own), one) for one in points]


def plotted(points: Sequence[Point], across: str, cells: int, height: int, *, told: bool = False) -> list[list[Part]]:
    """The points in so many cells and lines, with both axes; `across`: what stands under the horizontal one.

    Args:
        told: which letter is which model stands over the plot.
    """
    columns, rows = max(cells - _AXIS - 1, 10), max(height - 3, 3)
    if not points:
        return [[Part("No model has both a human F1 and this metric.", "dim")]]
    left, right = _ends([(one.x, one.x_ends) for one in points])
    low, high = _ends([(one.y, one.y_ends) for one in points])
    low, high = max(low, 0.0), min(high, 1.0)

    def column(x: float) -> int:
        return min(max(round((x - left) / (right - left) * (columns - 1)), 0), columns - 1)

    def row(y: float) -> int:
        return min(max(round((high - y) / (high - low) * (rows - 1)), 0), rows - 1)

    canvas = [[(" ", "plain")] * columns for _ in range(rows)]
    for one in points:
        kind = "dim" if one.published else "said"
        if one.x_ends is not None:
            first, last = column(one.x_ends[0]), column(one.x_ends[1])
            for at in range(first, last + 1):
                canvas[row(one.y)][at] = ("├" if at == first else "┤" if at == last else "─", kind)
        if one.y_ends is not None:
            top, bottom = row(one.y_ends[1]), row(one.y_ends[0])
            for at in range(top, bottom + 1):
                sign = "┬" if at == top else "┴" if at == bottom else "│"
                canvas[at][column(one.x)] = (sign, kind)
    for letter, one in reversed(lettered(points)):
        canvas[row(one.y)][column(one.x)] = (letter, "dim" if one.published else "strong")
    names = [f"   {letter} {briefly(one.name)}" for letter, one in lettered(points)] if told else []
    lines = [[Part(fit("human F1" + "".join(names), cells - 1).rstrip(), "dim")]]
    ticks = {0: high, (rows - 1) // 2: high - (high - low) * ((rows - 1) // 2) / max(rows - 1, 1), rows - 1: low}
    for at, cells_of_row in enumerate(canvas):
        tick = f"{number(ticks[at]):>{_AXIS - 1}} ┤" if at in ticks else " " * _AXIS + "│"
        lines.append([Part(tick, "dim"), *(Part(sign, kind) for sign, kind in cells_of_row)])
    start, end = number(left), number(right)
    name = fit(across, max(columns - len(start) - len(end) - 4, 8)).strip()
    middle = name.center(max(columns - len(start) - len(end), 0))
    lines.append([Part(" " * _AXIS + "└" + "─" * columns, "dim")])
    lines.append([Part(" " * (_AXIS + 1) + start + middle + end, "dim")])
    return lines


def legend(points: Sequence[Point], cells: int) -> list[list[Part]]:
    """Which letter is which model, with both of its figures."""
    lines: list[list[Part]] = []
    for letter, one in lettered(points):
        name = shown(one.name) + (" †" if one.published else "")
        figures = f"  {number(one.x):>6}  F1 {number(one.y)}"
        kind = "dim" if one.published else "strong"
        lines.append(
            [Part(f"{letter} ", kind), Part(fit(name, max(cells - len(figures) - 2, 8))), Part(figures, "dim")]
        )
    return lines


def _ends(values: Sequence[tuple[float, tuple[float, float] | None]]) -> tuple[float, float]:
    """The least and the greatest that is drawn, with a little room."""
    known = [value for one, ends in values for value in (one, *(ends or ()))]
    low, high = min(known), max(known)
    room = (high - low) * _MARGIN or max(abs(high), 1.0) * _MARGIN
    return low - room, high + room
