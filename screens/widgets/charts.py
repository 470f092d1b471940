"""Shades and columns of charts."""

from collections.abc import Sequence

from emotui.screens.widgets.line import Part
from emotui.screens.widgets.page import Lines


def shade(value: float, most: float) -> str:
    """A glyph for a size, from nothing to a full block."""
    if value != value or not most:
        return " "
    return _SHADES[min(round(abs(value) / most * (len(_SHADES) - 1)), len(_SHADES) - 1)]


def side_by_side(blocks: Sequence[list[list[Part]]], widths: Sequence[int], cells: int) -> Lines:
    """Blocks beside each other as far as they fit, the others under them."""
    lines: list[list[Part]] = []
    row: list[int] = []
    used = 0
    for number, size in enumerate(widths):
        if row and used + size > cells:
            lines += [*_joined([blocks[n] for n in row], [widths[n] for n in row]), [Part("")]]
            row, used = [], 0
        row.append(number)
        used += size + 2
    return [*lines, *_joined([blocks[n] for n in row], [widths[n] for n in row])]


_SHADES = " ·░▒▓█"


def _joined(blocks: Sequence[list[list[Part]]], widths: Sequence[int]) -> list[list[Part]]:
    lines = []
    for at in range(max((len(block) for block in blocks), default=0)):
        line: list[Part] = []
        for block, size in zip(blocks, widths, strict=True):
            parts = block[at] if at < len(block) else []
            line += [*parts, Part(" " * (size + 2 - sum(len(part.text) for part in parts)))]
        lines.append(line)
    return lines
