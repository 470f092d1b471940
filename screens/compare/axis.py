"""Many sources on one axis: a row a source, dot and interval; the annotators' range is shaded."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.compare.figures import bare, between, p_value
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.drawing import forest
from emotui.screens.widgets.drawing.forest import Dot, Scale
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
    name = min(longest, _LONGEST, max(cells * 2 // 5, 14))
    room = max(cells - name - _FIGURES - _P - 8, 10)
    scale = Scale(*forest.ends(map(_dot, rows), axis.people, *axis.metric.range), room, shaded=axis.people)
    ends = f"{bare(scale.low, 2):<{room // 2}}{bare(scale.high, 2):>{room - room // 2}}"
    heading = f"  {axis.metric.title:{name}} {ends}"
    lines = [[Part(heading, "dim"), Part("  mean, 95%".ljust(_FIGURES + 2), "dim"), Part("p to A", "dim")]]
    for at, row in enumerate(rows):
        lines.append(_line(axis, row, name, scale, here=at == cursor))
    return lines


def _line(axis: "Axis", row: "Standing", name: int, scale: Scale, *, here: bool) -> list[Part]:
    kind = "picked" if here else "dim" if row.published else "plain"
    first = row.key == axis.first and not row.published
    mean = "–" if row.mean is None else bare(row.mean)
    sure = between(None if row.low is None or row.high is None else (row.low, row.high))
    test = "A" if first else "†" if row.published else p_value(row.p)
    return [
        Part(f"{'▸' if here else ' '} {_fitted(row, name)} ", kind),
        *forest.on_axis(_dot(row), scale),
        Part(f"  {f'{mean} {sure}':{_FIGURES}}", kind),
        Part(test, "strong" if first else "dim"),
    ]


def _dot(row: "Standing") -> Dot:
    sign = forest.PRINTED if row.published else forest.PERSON if row.kind == "person" else forest.OWN
    return Dot(row.mean, row.low, row.high, sign)


def _fitted(row: "Standing", cells: int) -> str:
    """Its name in so many cells; of what is published the dagger stays where the name is cut."""
    name = _name(row)
    return fit(name, cells) if width(name) <= cells or not row.published else f"{fit(name[:-2], cells - 2)} †"


def _name(row: "Standing") -> str:
    return shown(f"{row.name} {row.told}".rstrip()) + (" †" if row.published else "")
