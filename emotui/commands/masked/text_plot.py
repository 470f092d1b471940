"""Points of a plane in plain text, for terminals and files: the same `Plot` that Results draws."""

from collections.abc import Sequence

from emotui.tables import Plot, digits

OWN, PRINTED = "●", "○"
DAGGER = "†"
"""At the end of the name of a published point."""

_LEFT = 7


def text_plot(plot: Plot, width: int = 79, height: int = 18) -> list[str]:
    """Lines of a frame with the points and as many of their names as have room, own ones first."""
    across, down = max(width - _LEFT - 2, 20), max(height, 6)
    field = [[" "] * across for _ in range(down)]
    names = plot.names or ("",) * len(plot.points)
    order = sorted(range(len(plot.points)), key=lambda at: names[at].endswith(DAGGER))
    places = [
        (_cell(plot.points[at][0], plot.x, across), down - 1 - _cell(plot.points[at][1], plot.y, down)) for at in order
    ]
    for at, (column, row) in reversed(list(zip(order, places, strict=True))):
        field[row][column] = PRINTED if names[at].endswith(DAGGER) else OWN
    for at, (column, row) in zip(order, places, strict=True):
        _name(field[row], column, names[at])
    lines = [f"{plot.up}"]
    for row, cells in enumerate(field):
        value = plot.y[1] - (plot.y[1] - plot.y[0]) * row / (down - 1)
        tick = digits(round(value, 3)) if row % 4 == 0 or row == down - 1 else ""
        lines.append(f"{tick:>{_LEFT - 1}} │{''.join(cells).rstrip()}")
    lines.append(f"{' ' * _LEFT}└{'─' * across}")
    ends = [digits(10**end if plot.powers else end) for end in plot.x]
    lines.append(f"{' ' * (_LEFT + 1)}{ends[0]}{plot.across:^{across - len(ends[0]) - len(ends[1])}}{ends[1]}")
    return lines


def _cell(value: float, ends: tuple[float, float], cells: int) -> int:
    low, high = ends
    return min(max(round((value - low) / ((high - low) or 1) * (cells - 1)), 0), cells - 1)


def _name(line: list[str], column: int, name: str) -> None:
    """Write a name behind its point, else before it, where nothing stands there yet."""
    if not name:
        return
    for start in (column + 2, column - 1 - len(name)):
        around = line[max(start - 1, 0) : start + len(name) + 1]
        beside = [cell for at, cell in enumerate(around, max(start - 1, 0)) if at != column]
        if start >= 0 and start + len(name) <= len(line) and set(beside) <= {" "}:
            line[start : start + len(name)] = name
            return


def bar(value: float, most: float, cells: int) -> str:
    """A bar of as many cells as the value's share of the greatest."""
    return "█" * (round(cells * value / most) if most else 0)


def bars(values: Sequence[float], most: float, cells: int) -> list[str]:
    """Each value with its bar behind it, figures aligned."""
    wide = max((len(digits(value)) for value in values), default=0)
    return [f"{digits(value):>{wide}} {bar(value, most, cells)}" for value in values]
