"""Many sources on one axis: a row a source, dot and interval; the annotators' range is shaded."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.compare.figures import bare, between, p_value
from emotui.screens.widgets.cell_width import fit, shown
from emotui.screens.widgets.line import Part

if TYPE_CHECKING:
    from emotui.workbench.compare.pairs import Axis, Standing

_FIGURES = 19
_P = 9
_LONGEST = 44


def axis_lines(axis: "Axis | None", rows: "Sequence[Standing]", cursor: int, cells: int) -> list[list[Part]]:
    """A heading with the ends of the axis, and a line a source."""
    if axis is None or not rows or cells <= 0:
        return [[]]
    longest = max(len(_name(row)) for row in rows)
    name = min(longest, _LONGEST, max(cells // 3, 14))
    room = max(cells - name - _FIGURES - _P - 8, 10)
    low, high = _ends(axis, rows)
    heading = f"  {axis.metric.title:{name}} {bare(low, 2):<{room // 2}}{bare(high, 2):>{room - room // 2}}"
    lines = [[Part(heading, "dim"), Part("  mean, 95%".ljust(_FIGURES + 2), "dim"), Part("p to A", "dim")]]
    for at, row in enumerate(rows):
        lines.append(_line(axis, row, name, room, (low, high), here=at == cursor))
    return lines


def _line(axis: "Axis", row: "Standing", name: int, room: int, ends: tuple[float, float], *, here: bool) -> list[Part]:
    low, high = ends
    drawn = drawn_on(row, axis.people, room, low, high)
    kind = "picked" if here else "dim" if row.published else "plain"
    first = row.key == axis.first and not row.published
    mean = "–" if row.mean is None else bare(row.mean)
    sure = between(None if row.low is None or row.high is None else (row.low, row.high))
    test = "A" if first else "†" if row.published else p_value(row.p)
    return [
        Part(f"{'▸' if here else ' '} {fit(_name(row), name)} ", kind),
        Part(drawn, "dim" if row.published else "gold" if row.kind == "person" else "said"),
        Part(f"  {f'{mean} {sure}':{_FIGURES}}", kind),
        Part(test, "strong" if first else "dim"),
    ]


def drawn_on(row: "Standing", people: tuple[float, float] | None, room: int, low: float, high: float) -> str:
    """Dot and interval in so many cells; shaded where the means of people lie."""

    def place(value: float) -> int:
        return min(max(round((value - low) / (high - low) * (room - 1)), 0), room - 1)

    cells = [" "] * room
    if people is not None:
        for at in range(place(people[0]), place(people[1]) + 1):
            cells[at] = "░"
    if row.low is not None and row.high is not None:
        left, right = place(row.low), place(row.high)
        for at in range(left, right + 1):
            cells[at] = "─"
        cells[left], cells[right] = "├", "┤"
    if row.mean is not None:
        cells[place(row.mean)] = "○" if row.published else "●"
    return "".join(cells)


def _name(row: "Standing") -> str:
    return shown(f"{row.name} {row.told}".rstrip()) + (" †" if row.published else "")


def _ends(axis: "Axis", rows: "Sequence[Standing]") -> tuple[float, float]:
    """The least and the greatest value that is drawn, with a little room; never the same."""
    values = [value for row in rows for value in (row.mean, row.low, row.high) if value is not None]
    values += list(axis.people or ())
    low, high = min(values), max(values)
    margin = (high - low) * 0.03 or 0.05
    floor, ceiling = axis.metric.range
    low, high = low - margin, high + margin
    return max(low, floor) if floor is not None else low, min(high, ceiling) if ceiling is not None else high
