"""Where bars stand and what names them: shapes first, so that it reads without colour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.tables import Bars, Series

GLYPHS = "█▒░#=+"
"""A series each."""

COLOURS = ("predicted-bar", "gold", "mark", "foreground", "text-muted", "primary")
"""The theme's variable for each glyph, and the kind of part in that colour."""
_KINDS = ("said", "gold", "mark", "plain", "dim", "key")

_WIDEST = 8
_BETWEEN = 2
"""Cells between two groups, at least."""


@dataclass(frozen=True, slots=True)
class Places:
    """Geometry in whole cells: `first[group][series]` is the first cell of a bar, each `bar` cells wide."""

    first: tuple[tuple[int, ...], ...]
    bar: int
    group: int


def series_shown(bars: "Bars", cells: int) -> "Sequence[Series]":
    """As many series as have room in so many cells, the first first; each bar takes two cells at least."""
    room = (cells // max(len(bars.labels), 1) - _BETWEEN) // 2
    return bars.series[: max(min(room, len(GLYPHS)), 1)]


def places(groups: int, series: int, cells: int) -> Places:
    """Where each bar stands: groups of one width over all of the cells, the bars of a group side by side."""
    group = max(cells // max(groups, 1), series + 1)
    bar = max(min((group - _BETWEEN) // series, _WIDEST), 1)
    left = (group - bar * series) // 2
    first = tuple(tuple(at * group + left + one * bar for one in range(series)) for at in range(groups))
    return Places(first, bar, group)


def legend(bars: "Bars", drawn: "Sequence[Series]", cells: int) -> Lines:
    """A name for each glyph, on as many lines as they need; and how many series found no room."""
    entries = [
        [Part(f"{GLYPHS[number] * 2} ", _KINDS[number]), Part(f"{shown(line.label)}   ")]
        for number, line in enumerate(drawn)
    ]
    left_out = len(bars.series) - len(drawn)
    if left_out:
        entries.append([Part(f"and {left_out} more than fit", "dim")])
    lines: list[list[Part]] = [[Part(" ")]]
    used = 1
    for entry in entries:
        size = sum(width(part.text) for part in entry)
        if used + size > cells and used > 1:
            lines.append([Part(" ")])
            used = 1
        lines[-1] += entry
        used += size
    return lines
