"""A span as a bar under its words: where it begins and ends, and its label in it."""

from emotui.screens.widgets.cell_width import fit, width


class BarSigns:
    """The signs that bars of one kind are drawn with."""

    def __init__(self, line: str, opens: str, closes: str) -> None:
        self.line, self.opens, self.closes = line, opens, closes


OWN = BarSigns("─", "├", "┤")
SUGGESTED = BarSigns("┄", "┆", "┆")
THEIRS = BarSigns("━", "┝", "┥")


def bar(signs: BarSigns, cells: int, label: str, short: str, *, opens: bool, closes: bool) -> str:
    """A bar in so many cells.

    Args:
        label: as much of it as fits stands in the bar; where hardly any does, `short` does.
        opens: whether the span begins in this line.
        closes: whether it ends in it.
    """
    if cells <= 1:
        return fit(short, 1) if short else signs.line
    left = signs.opens if opens else signs.line
    right = signs.closes if closes else signs.line
    room = cells - 2
    if not room:
        return (fit(short, 1) if short and opens else left) + right
    said = label if width(label) <= room else fit(label, room) if room >= 4 else short if width(short) <= room else ""
    said = said if opens else ""
    return left + said + signs.line * (room - width(said)) + right
