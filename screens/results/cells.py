"""How the figures of results are written: three decimals as the papers print them, the spread behind the mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, count
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.tables import Bars, Cell, Column, Row, Series

# Where bars stand and what names them: shapes first, so that it reads without colour.

GLYPHS = "█▒░#=+"
"""A series each."""

KINDS = ("said", "gold", "mark", "plain", "dim", "key")
"""The kind of part that each glyph is drawn as."""

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
        [Part(f"{GLYPHS[number] * 2} ", KINDS[number]), Part(f"{shown(line.label)}   ")]
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


NOT_ASKED = "·"

_WORDS = {
    "P": "precision",
    "R": "recall",
    "Sim": "similarity",
    "Acc_l": "of labels",
    "Acc_v": "of all labels",
    "Acc_L": "the gold word",
    "Acc_V": "a word of its vector",
    "F1_V": "of the vectors",
}
"""What figures are that papers call by a letter or two."""


def decimals(value: float, *, signed: bool = False, n: int = 3) -> str:
    """A figure with `n` decimals and no leading zero: `.620`, `1.000`, `-.050`; `signed`: `+.012`."""
    written = f"{value:{'+' if signed else ''}.{n}f}"
    if not written.strip("+-0."):
        return "." + "0" * n
    return written.replace("0.", ".", 1) if written.lstrip("+-").startswith("0.") else written


def written(cell: "Cell", unit: str) -> tuple[str, str]:
    """A cell's mean, and its interval or else its spread; empty where there is none.

    An undefined figure is a dash, and a setting that was not asked a dot.
    """
    value = cell.value
    if value is None:
        return (UNDEFINED if cell.why else NOT_ASKED), ""
    if isinstance(value, bool):
        return ("yes" if value else "no"), ""
    if isinstance(value, str):
        return shown(value), ""
    if unit == "number":
        from emotui.tables import digits

        return digits(value), "" if cell.sd is None else f"±{digits(cell.sd)}"
    if unit == "count":
        spread = "" if cell.sd is None else f"±{cell.sd:.1f}"
        if cell.low is not None and cell.high is not None:
            spread = f"[{cell.low:.1f}, {cell.high:.1f}]"
        return (count(round(value)) if value == round(value) else f"{value:.1f}"), spread
    n = 4 if unit == "fine-share" else 3
    mean = decimals(value, signed=unit == "difference", n=n)
    if cell.low is not None and cell.high is not None:
        return mean, f"[{decimals(cell.low, n=n - 1)}, {decimals(cell.high, n=n - 1)}]"
    return mean, "" if cell.sd is None else f"±{decimals(cell.sd, n=n)}"


def label_of(row: "Row") -> str:
    """A row's name; a published one wears a dagger."""
    return shown(row.label) + (" †" if row.published else "")


def heading_of(column: "Column", *, whole: bool = False) -> str:
    """What stands over a column. Args: whole: its name as it is, however long."""
    return column.title if whole else column.short or column.title


def shortened(label: str, cells: int) -> str:
    """A label in so many cells; of a longer one the beginning and the end, since models differ in either."""
    if width(label) <= cells:
        return label
    head = tail = ""
    for sign in label:
        if width(head + sign) > (cells - 1) // 2:
            break
        head += sign
    for sign in reversed(label):
        if width(head + sign + tail) > cells - 1:
            break
        tail = sign + tail
    return f"{head}…{tail}"


def in_words(title: str) -> str:
    """The title of a figure, with a word to one that is a letter: `P precision`."""
    return f"{shown(title)} {_WORDS[title]}" if title in _WORDS else shown(title)


def said(row: "Row", column: "Column", cell: "Cell") -> str:
    """What a cell is, in one line: of what, how much, and whose."""
    mean, spread = written(cell, column.unit)
    title = in_words(column.title)
    what = f"{in_words(column.group)}: {title}" if column.group else title
    if cell.low is not None and cell.sd is not None:
        spread += f" ±{decimals(cell.sd)}"
    figure = f"{mean} {spread}".rstrip() if cell.asked else "not asked"
    return f"{what}   {figure}   {label_of(row)}"


def about(row: "Row", cell: "Cell") -> list[str]:
    """What has to be known of a cell: why it is undefined, of whom it is, and under which convention."""
    lines = []
    if cell.why and cell.value is None:
        lines.append(f"{UNDEFINED} undefined: {shown(cell.why)}")
    if cell.note and cell.value is not None:
        lines.append(shown(cell.note))
    if not cell.asked:
        lines.append("Nobody was asked this way here.")
    if row.remark:
        lines.append(shown(row.remark))
    if row.published:
        lines.append(f"† published: {shown(row.source)}")
    elif cell.convention:
        lines.append(shown(cell.convention))
    return lines
