"""Tables as figures: intervals on axes, counts as shades, points in a plane. Drawn by matplotlib, an extra."""

import io
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from emotui.errors import BadInput
from emotui.installing import install
from emotui.tables import Cell, Column, Plot, ResultsTable, Row
from emotui.workbench.reports.escaping import one_line
from emotui.workbench.reports.values import DAGGER, Section, asked_only

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png")
_AXES = 6
"""Figures side by side, at most."""
_DPI = 200
_SHARES = ("share", "cosine", "fine-share")
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "text.parse_math": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "emotui",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_LONGEST = 40
_SIGNS = 13
"""Letters of a title to an inch."""
_SMALL_SIGNS = 16
"""Letters of what stands beneath to an inch."""
_FEW = 40
"""Points that are drawn large."""
_INK, _PALE = "#1b3a5c", "#9aa7b4"


def at_hand() -> bool:
    """Whether the extra is installed."""
    return find_spec("matplotlib") is not None


def check_at_hand() -> None:
    """Raises: BadInput where the extra is not installed."""
    if not at_hand():
        raise BadInput(f"figures are drawn by matplotlib, which is not installed: {install('figures')}")


def can_draw(table: ResultsTable) -> bool:
    """Whether there is anything in a table to draw: points, counts of a heatmap, or figures with intervals."""
    return table.plot is not None or _is_heat(table) or bool(_axes(table))


def first_drawn(sections: Sequence[Section]) -> ResultsTable:
    """The first table that can be drawn. Raises: BadInput where none can."""
    for section in sections:
        for table in section.tables:
            if can_draw(table):
                return asked_only(table)
    raise BadInput("none of these tables has points, counts or intervals to draw")


def drawn(table: ResultsTable, ending: str) -> bytes:
    """The figure of a table that `can_draw`, the same bytes for the same table.

    Args:
        ending: one of `ENDINGS`.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    table = asked_only(table)
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that its font lacks is a box
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        if table.plot is not None:
            _points(figure, table.plot)
        elif _is_heat(table):
            _shades(figure, table)
        else:
            _intervals(figure, table)
        figure.suptitle(_wrapped(table.title, int(figure.get_figwidth() * _SIGNS)), fontsize=10)
        written = io.BytesIO()
        about: dict[str, Any] = {"Date": None, "Creator": None} if ending == ".svg" else {"Software": None}
        figure.savefig(written, format=ending[1:], dpi=_DPI, metadata=about)
    return written.getvalue()


def _is_heat(table: ResultsTable) -> bool:
    return bool(table.rows) and all(row.kind == "gold" for row in table.rows) and len(table.columns) > 1


def _axes(table: ResultsTable) -> list[int]:
    """The places of the columns to draw: those with intervals."""
    return [
        at
        for at, column in enumerate(table.columns)
        if column.unit in _SHARES and any(row.cells[at].low is not None for row in table.rows)
    ]


def _intervals(figure: "Figure", table: ResultsTable) -> None:
    """A row a source and an axis a column: dot and 95% interval; published figures are hollow."""
    places = _axes(table)
    rows = [row for row in table.rows if any(_is_number(row.cells[at]) for at in places)]
    down = -(-len(places) // _AXES)
    across = -(-len(places) // down)
    inches = 2.4 + 1.9 * across
    known = {table.columns[at].title for at in places}
    cautions = [_wrapped(told, int(inches * _SMALL_SIGNS)) for title, told in table.cautions if title in known]
    figure.set_size_inches(
        inches, down * (1.1 + 0.24 * len(rows)) + 0.14 * sum(told.count("\n") + 1 for told in cautions)
    )
    if cautions:
        figure.supxlabel("\n".join(cautions), x=0.01, ha="left", fontsize=7)
    axes = list(figure.subplots(down, across, sharey=True, squeeze=False).flat)
    for spare in axes[len(places) :]:
        spare.remove()
    del axes[len(places) :]
    for axis, place in zip(axes, places, strict=True):
        for at, row in enumerate(rows):
            _dot(axis, at, row.cells[place], row)
        column = table.columns[place]
        axis.set_title(_wrapped(f"{column.group} {column.title}".strip(), 24), fontsize=9)
        axis.grid(axis="x", color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
    axes[0].set_yticks(range(len(rows)), [_row_name(row, table.columns) for row in rows])
    axes[0].set_ylim(len(rows) - 0.5, -0.5)
    for axis in axes:
        axis.tick_params(axis="y", length=0)


def _dot(axis: "Axes", at: int, cell: Cell, row: Row) -> None:
    if not _is_number(cell):
        return
    value = float(cell.value or 0)
    if cell.low is not None and cell.high is not None:
        axis.plot([cell.low, cell.high], [at, at], color=_INK, linewidth=1.4, solid_capstyle="butt")
    marker = {"run": "o", "people": "D", "baseline": "s"}.get(row.kind, "o")
    face = "white" if row.published or row.kind == "baseline" else _INK
    axis.plot([value], [at], marker, markerfacecolor=face, markeredgecolor=_INK, markersize=5)


def _shades(figure: "Figure", table: ResultsTable) -> None:
    """Counts, shaded by their share of the row."""
    import numpy as np

    counts = np.array(
        [[float(cell.value or 0) if _is_number(cell) else 0.0 for cell in row.cells] for row in table.rows]
    )
    total = counts.sum() if table.plane else counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=np.asarray(total) > 0)
    figure.set_size_inches(1.8 + 0.36 * counts.shape[1], 1.4 + 0.32 * counts.shape[0])
    axis = figure.subplots()
    axis.pcolormesh(shares, cmap="Blues", vmin=0, vmax=max(float(shares.max()), 1e-9))
    axis.invert_yaxis()
    axis.set_xticks(
        np.arange(counts.shape[1]) + 0.5, [_wrapped(column.title, 24) for column in table.columns], rotation=90
    )
    axis.set_yticks(np.arange(counts.shape[0]) + 0.5, [_wrapped(row.label, 24) for row in table.rows])
    for (at, place), count in np.ndenumerate(counts):
        if count:
            ink = "white" if shares[at, place] > 0.6 * shares.max() else "#333333"
            axis.text(place + 0.5, at + 0.5, f"{count:g}", ha="center", va="center", fontsize=6, color=ink)
    axis.spines[:].set_visible(False)


def _points(figure: "Figure", plot: Plot) -> None:
    """Points in a plane; with a diagonal where equal numbers lie."""
    figure.set_size_inches(4.2, 3.9)
    axis = figure.subplots()
    for x, y, to_x, to_y in plot.pairs:
        axis.plot([x, to_x], [y, to_y], color=_PALE, linewidth=0.6)
    if plot.diagonal:
        low, high = max(plot.x[0], plot.y[0]), min(plot.x[1], plot.y[1])
        axis.plot([low, high], [low, high], color=_PALE, linewidth=0.8, linestyle="--")
    across, up = [x for x, _ in plot.points], [y for _, y in plot.points]
    axis.plot(across, up, "o" if len(plot.points) <= _FEW else ".", color=_INK, markersize=4)
    axis.set_xlim(plot.x)
    axis.set_ylim(plot.y)
    axis.set_xlabel(_wrapped(plot.across, 48))
    axis.set_ylabel(_wrapped(plot.up, 40))


def _row_name(row: Row, columns: Sequence[Column]) -> str:
    """The row's label with what its columns of words say."""
    words = [
        str(cell.value)
        for cell, column in zip(row.cells, columns, strict=True)
        if column.unit == "words" and cell.value
    ]
    name = " ".join([f"{row.label} {DAGGER}" if row.published else row.label, *words])
    return _wrapped(name, _LONGEST)


def _wrapped(text: str, room: int) -> str:
    """All of a text, in lines of so many letters."""
    return "\n".join(wrap(one_line(text), room)) or " "


def _is_number(cell: Cell) -> bool:
    return isinstance(cell.value, int | float) and not isinstance(cell.value, bool)
