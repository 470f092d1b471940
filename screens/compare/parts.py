"""Parts of a dataset and rules that were found, as rows: figures, a bar from the middle, n and corrected p."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.compare.figures import bar, bare, between, p_value, signed, told
from emotui.screens.widgets.cell_width import fit, shown
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import count

if TYPE_CHECKING:
    from emotui.workbench.slices.slicing import Findings, FoundRule, Parts, Sliced

SURE = 0.05
_FIGURES = 43
"""Cells of n, difference, interval and p."""


def part_lines(parts: "Parts | None", rows: "Sequence[Sliced]", cursor: int, cells: int) -> list[list[Part]]:
    """A heading and a line a part: how far it is from the whole, or the first source from the second."""
    if parts is None or not rows or cells <= 0:
        return [[]]
    two, whole = parts.second is not None, parts.whole
    offs = [_off(row, whole) for row in rows]
    name, side = _room(cells, max(len(_named(row)) for row in rows))
    middle = "A − B" if two else "mean"
    heading = f"  {'part':{name}}     n   {middle}  {'95%':15} {'p':8}"
    better = "better" if parts.metric.higher_is_better else "more"
    of_bar = f"{f'B {better}':>{side}} │ A {better}" if two else f"{'below all':>{side}} │ above all"
    lines = [[Part(heading, "dim"), Part(of_bar, "dim")]]
    reach = max((abs(off) for off in offs if off is not None), default=0.0)
    for at, (row, off) in enumerate(zip(rows, offs, strict=True)):
        figure = "–" if row.mean is None or off is None else signed(off) if two else bare(row.mean, 2)
        sure = None if row.low is None or row.high is None else (row.low, row.high)
        lines.append(
            _line(_named(row), name, row.n, figure, sure, row.adjusted, off or 0.0, (reach, side), at == cursor)
        )
    return lines


def rule_lines(found: "Findings | None", rows: "Sequence[FoundRule]", cursor: int, cells: int) -> list[list[Part]]:
    """A heading and a line a rule: how far its samples are from the rest, on the half that did not find it."""
    if found is None or not rows or cells <= 0:
        return [[]]
    name, side = _room(cells, max(len(row.conditions) for row in rows))
    heading = f"  {'where':{name}}     n   diff.  {'95%':15} {'p':8}"
    lines = [[Part(heading, "dim"), Part(f"{'below':>{side}} │ above{' the rest' if side > 13 else ''}", "dim")]]
    reach = max(abs(row.rule.difference) for row in rows)
    for at, row in enumerate(rows):
        rule = row.rule
        sure = None if rule.low is None or rule.high is None else (rule.low, rule.high)
        figure = signed(rule.difference)
        here = at == cursor
        lines.append(
            _line(row.conditions, name, rule.n, figure, sure, rule.adjusted, rule.difference, (reach, side), here)
        )
    return lines


def name_cut(named: str, longest: int, cells: int) -> bool:
    """Is a name cut where the longest has so many letters?"""
    return len(named) > _room(cells, longest)[0]


def title_of(first: object, second: object) -> str:
    """Whose figures they are."""
    names = [told(one) for one in (first, second) if one is not None]  # type: ignore[arg-type]
    return " − ".join(names)


def against_rest(row: "Sliced") -> str:
    """How far a part is from the rest, in words: the figure, or the difference of two sources (the interaction)."""
    if row.apart is None:
        return ""
    what = "A − B here less A − B in the rest" if row.other is not None else "here less the rest"
    sure = None if row.apart_low is None or row.apart_high is None else (row.apart_low, row.apart_high)
    return f"{_named(row)}: {what} {signed(row.apart, 3)} {between(sure, plus=True)} {p_value(row.apart_adjusted)}"


def _off(row: "Sliced", whole: "Sliced") -> float | None:
    """How far the first source is from the second, or the part from the whole; None where a figure is undefined."""
    if row.other is not None or row.mean is None or whole.mean is None:
        return row.difference
    return row.mean - whole.mean


def _named(row: "Sliced") -> str:
    return f"{row.facet} {row.value}"


def _room(cells: int, longest: int) -> tuple[int, int]:
    """The cells of a name, and of a side of the bar."""
    name = min(max(longest, 10), max(cells - _FIGURES - 12, 12))
    return name, min(max((cells - name - _FIGURES - 3) // 2, 3), 18)


def _line(
    named: str,
    name: int,
    n: int,
    figure: str,
    sure: tuple[float, float] | None,
    p: float | None,
    off: float,
    scale: tuple[float, int],
    here: bool,
) -> list[Part]:
    known = p is not None and p < SURE
    kind = "picked" if here else "plain" if known else "dim"
    text = f"{'▸' if here else ' '} {fit(shown(named), name)} {count(n):>5}  {figure:>6}  {between(sure):15} "
    reach, side = scale
    return [
        Part(text, kind),
        Part(f"{p_value(p):8}", "strong" if known else "dim"),
        Part(bar(off, -reach, reach, side, side), "said" if known else "rest"),
    ]
