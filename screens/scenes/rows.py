"""The emotions of one scenario: what the model said, what the prior adds, and what is decided, a line each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.workbench.scenes.decoding import Row

REACH = 6.0
"""Nats at which a bar is full; what goes further ends in an arrow head."""

_NAME = 13


@dataclass(frozen=True, slots=True)
class _Shape:
    """Widths in cells: of a figure, of the gap on each side of a box, of the remark at the end, of half a bar."""

    figure: int
    gap: int
    note: int
    half: int


def _shape(cells: int) -> _Shape:
    figure, gap, note = (7, 2, 9) if cells >= 76 else (6, 1, 9) if cells >= 70 else (5, 1, 5)
    fixed = 2 + _NAME + 3 * figure + 2 + 7 + 2 * (2 * gap + 1) + 1 + 5 + note
    return _Shape(figure, gap, note, max(min((cells - fixed - 1) // 2, 18), 3))


def lines(rows: "Sequence[Row]", cursor: int, cells: int) -> Lines:
    """The heading, and a line an emotion in so many cells; the bars take what is left."""
    if not rows:
        return []
    shape = _shape(cells)
    box = 2 * shape.gap + 1
    head = (
        f"  {'':<{_NAME}}"
        + "".join(f"{name:>{shape.figure}}" for name in ("own", "bias", "others" if shape.figure > 6 else "rest"))
        + f"  {'no':>{shape.half}}│{'yes':<{shape.half}}{'P(yes)':>7}{'α0':^{box}} {'now':^{box}}{'gold':^5}"
    )
    return [[Part(head, "dim")], *(_line(row, number == cursor, shape) for number, row in enumerate(rows))]


def _line(row: "Row", here: bool, shape: _Shape) -> list[Part]:
    name = Part(("▸ " if here else "  ") + fit(row.label, _NAME), "picked" if here else "plain")
    figures = [
        Part(f"{_nats(value, 2 if shape.figure > 5 else 1):>{shape.figure}}")
        for value in (row.own, row.bias, row.neighbours)
    ]
    flipped, gap = row.before != row.now, " " * shape.gap
    return [
        name,
        *figures,
        Part("  "),
        *_bar(row, shape.half),
        Part(f"{share(row.posterior):>7}", "strong"),
        Part(f"{gap}{_box(row.before)}{gap}", "dim"),
        Part("→" if flipped else " ", "mark"),
        Part(f"{gap}{_box(row.now)}{gap}", "strong" if flipped else "plain"),
        Part(f"  {_box(row.gold)}  ", "gold"),
        _note(row, flipped, shape.note),
    ]


def _note(row: "Row", flipped: bool, cells: int) -> Part:
    if row.clamp is not None:
        return Part(f"{'clamp' if cells > 5 else 'c'} {'yes' if row.clamp else 'no'}", "key")
    if flipped:
        return Part("gain", "said") if row.now == row.gold else Part("loss", "mark")
    if row.now != row.gold:
        return Part(("M missed" if row.gold else "X extra")[: cells if cells > 5 else 1], "dim")
    return Part("")


def _bar(row: "Row", half: int) -> list[Part]:
    """A bar from the middle to the log-odds, with a ring where the model's own evidence stands."""
    cells = [" "] * (2 * half + 1)
    cells[half] = "│"
    reach = row.total / REACH * half
    size = min(round(abs(reach)), half)
    step = 1 if reach > 0 else -1
    for offset in range(1, size + 1):
        cells[half + step * offset] = "■"
    if abs(reach) > half:
        cells[half + step * half] = "▸" if step > 0 else "◂"
    own = max(-half, min(half, round(row.own / REACH * half)))
    if own:
        cells[half + own] = "○"
    drawn = "".join(cells)
    kinds = ("mark", "rest", "said")
    return [Part(text, kind) for text, kind in zip((drawn[:half], drawn[half], drawn[half + 1 :]), kinds, strict=True)]


def _nats(value: float, decimals: int) -> str:
    return "–" if value == 0 else f"{value:+.{decimals}f}"


def _box(value: int) -> str:
    return "■" if value else "·"
