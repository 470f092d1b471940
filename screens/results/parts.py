"""Parts of a dataset and rules that were found, as rows: figures, a bar from the middle, n and corrected p."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from emotui.screens.results.cells import (
    BOTH,
    HEADING,
    P_CELLS,
    Interval,
    bar,
    bare,
    between,
    decimals_of,
    p_under,
    p_value,
    sides,
    signed,
    told,
)
from emotui.screens.widgets import drawing as axis
from emotui.screens.widgets.cell_width import fit, shown, wrap
from emotui.screens.widgets.drawing import Dot
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, count
from emotui.tables import FEW

if TYPE_CHECKING:
    from emotui.metrics.slice_rules import Rule
    from emotui.workbench.compare.sources import Compared
    from emotui.workbench.slices.slicing import Findings, FoundRule, Parts, Sliced

SURE = 0.05
_WIDEST = 80
"""Cells of the longest bars of both sides together."""
_FIGURES = 28
"""Cells of n, difference and p, without the interval."""
_N, _DIFFERENCE = "n (test half)", "here − rest"
"""How n and the difference of a rule are headed where there is room: other texts than those of a group."""
_NAMED_FROM = 100
"""Cells from which on there is."""
_SHORT_HEADING = 5
"""Cells of a word over a side of the bars in fewer: names have the rest."""


_GAPS = 20
"""Cells of n and p and between columns, without figures and their interval."""
_FIGURE_HEADS = (axis.OWN, axis.OTHER, "gap")
_SURE_FROM = 92
"""Cells from which on the interval stands in the row too; the line under the rows has it at any width."""
_LEAST_AXIS = 16
_SPAN = 0.2
"""Of an axis of shares, at least."""


_ASIDE = f"under {FEW} texts"
"""What stands in place of the axis of a part that says too little to stand on it."""


def _stand_aside(rows: "Sequence[Sliced]") -> list[bool]:
    """Of each part whether it is of too few texts to stand on an axis with the others."""
    enough = any(row.n >= FEW for row in rows)
    return [enough and row.n < FEW for row in rows]


def facets_of(rows: "Sequence[Sliced]") -> "dict[tuple[object, ...], list[str]]":
    """By what tells parts apart, which facets have it: of two facets one value may be of the same texts."""
    found: dict[tuple[object, ...], list[str]] = {}
    for row in rows:
        facets = found.setdefault(_texts_of(row), [])
        facets += [row.facet] * (row.facet not in facets)
    return found


def _texts_of(row: "Sliced") -> tuple[object, ...]:
    """The value of a part and its figures: where they are the same, the texts are."""
    return row.value, row.n, row.mean, row.other, row.low, row.high


def named_in(row: "Sliced", rows: "Sequence[Sliced]") -> str:
    """A part by facet and value; of several facets `emotion/valence neutral`.

    Args:
        rows: all parts that there are.
    """
    facets = facets_of(rows).get(_texts_of(row), [])
    return f"{'/'.join(facets) or row.facet} {row.value}"


def in_order(rows: "Sequence[Sliced]") -> "list[Sliced]":
    """The parts as they stand under each other: in their order, behind them those that stand aside.

    One that a second facet has too stands there once, by the first.
    """
    every = facets_of(rows)
    rows = [row for row in rows if every[_texts_of(row)][0] == row.facet]
    aside = _stand_aside(rows)
    return [row for last in (False, True) for row, few in zip(rows, aside, strict=True) if few == last]


def part_lines(parts: "Parts | None", rows: "Sequence[Sliced]", cursor: int, cells: int) -> list[list[Part]]:
    """A heading and a line a part, all on one axis: the figure with its interval, or two sources joined by a line."""
    if parts is None or cells <= 0:
        return [[]]
    if not rows:
        return [[], [Part(" No facet parts these samples.", "strong")]]
    two = parts.second is not None
    names = [named_in(row, parts.rows) for row in rows]
    sure = [_ends(row) for row in rows]
    n = decimals_of((row.mean, row.other, row.difference) for row in rows) if two else 2
    spread = max((len(between(one, plus=two, n=n)) for one in sure), default=0) if cells >= _SURE_FROM or not two else 0
    figures = _widths(rows, n) if two else (7,)
    fixed = _GAPS + sum(figures) + len(figures) - 1 + (spread + 1 if spread else 0)
    name = min(max(map(len, names)), max(cells - fixed - _LEAST_AXIS, 10))
    dots = [Dot(row.mean) if two else Dot(row.mean, row.low, row.high) for row in rows]
    aside = _stand_aside(rows)
    over = [dot for dot, few in zip(dots, aside, strict=True) if not few]
    over += [Dot(row.other) for row, few in zip(rows, aside, strict=True) if two and not few]
    values = [dot.value for dot in over if dot.value is not None]
    low, high = (0.0 if min(values, default=0) >= 0 else None), (1.0 if max(values, default=1) <= 1 else None)
    scale = axis.scaled(*axis.ends(over, None, low, high, _SPAN if high else 0), max(cells - name - fixed, 8))
    ticks, by = axis.headed(scale, axis.written(scale.ticks)), shown(parts.metric.title)
    if not ticks[: len(by) + 1].strip():
        ticks = by + ticks[len(by) :]  # the metric over its axis, before the first tick
    heads = " ".join(f"{head:>{one}}" for head, one in zip(_FIGURE_HEADS if two else ("mean",), figures, strict=True))
    heads += f" {'95%':{spread}}" if spread else ""
    lines = [[Part(f"  {'part':{name}}     n  {ticks}  {heads} {'p':>{P_CELLS}}", "dim")]]
    for at, (row, ends) in enumerate(zip(rows, sure, strict=True)):
        here, known = at == cursor, row.adjusted is not None and row.adjusted < SURE
        kind = "picked" if here else "plain" if known else "dim"
        lines.append(
            [
                Part(f"{'▸' if here else ' '} {fit(shown(names[at]), name)} {count(row.n):>5}  ", kind),
                *(
                    [Part(fit(_ASIDE, scale.cells), "dim")]
                    if aside[at]
                    else axis.joined(row.mean, row.other, scale, strong=known)
                    if two
                    else axis.on_axis(dots[at], scale)
                ),
                Part(
                    f"  {_figures(row, figures, n)}{f' {between(ends, plus=two, n=n):{spread}}' if spread else ''} ",
                    kind,
                ),
                Part(f"{p_under(row.adjusted):>{P_CELLS}}", "picked" if here else "strong" if known else "dim"),
            ]
        )
    return lines


def _widths(rows: "Sequence[Sliced]", n: int) -> tuple[int, int, int]:
    """Cells of two figures and of their difference."""
    known = ((row.mean, row.other, row.difference) for row in rows)
    written = [[bare(one, n) for one in (a, b) if one is not None] + [signed(off or 0.0, n)] for a, b, off in known]
    figure = max((len(one) for line in written for one in line[:-1]), default=0)
    return max(figure, 5), max(figure, 5), max(6, *(len(line[-1]) for line in written))


def _figures(row: "Sliced", cells: Sequence[int], n: int) -> str:
    """The figure of a part, or of two sources both with their difference, in so many cells each."""
    said = [UNDEFINED if one is None else bare(one, n) for one in (row.mean, row.other)]
    said.append(UNDEFINED if row.difference is None else signed(row.difference, n))
    return " ".join(f"{one:>{room}}" for one, room in zip(said, cells, strict=False))


def rule_lines(
    found: "Findings | None", rows: "Sequence[FoundRule]", cursor: int, cells: int, *, airy: bool = False
) -> list[list[Part]]:
    """A heading and a line a rule: how far its samples are from the rest, on the half that did not find it.

    Args:
        airy: a second line a rule has what of its conditions has no room in the first.
    """
    if found is None or cells <= 0:
        return [[]]
    if not rows:
        why = f"No rule holds of enough of these {found.n} samples in either half."
        return [[], *([Part(f" {line}", "strong")] for line in textwrap.wrap(why, max(cells - 2, 20)))]
    rules = [row.rule for row in rows]
    sure = [_ends(rule) for rule in rules]
    shape = _Shape.of(cells, [row.conditions for row in rows], sure, [rule.difference for rule in rules])
    lines = [shape.heading("where", "below the rest", "above the rest")]
    for at, (row, ends) in enumerate(zip(rows, sure, strict=True)):
        rule, here = row.rule, at == cursor
        figure = signed(rule.difference)
        end = wrap(row.conditions, shape.name)[0][1] if airy else len(row.conditions)
        named, rest = row.conditions[:end].rstrip(), row.conditions[end:]
        lines.append(shape.line(named, rule.n, figure, ends, rule.adjusted, rule.difference, here=here))
        lines += [[Part(f"    {shown(rest)}", "dim")] if rest else []] * airy
    return lines


def name_cut(at: int, names: "Sequence[str]", sure: "Sequence[Interval]", cells: int) -> bool:
    """Is a name cut where it stands among these, beside these intervals?"""
    return len(names[at]) > _Shape.of(cells, names, sure, [0.0]).name


def title_of(first: "Compared", second: "Compared | None", *, dots: bool = False) -> str:
    """Whose figures they are; what else tells two apart stands there where both have one name.

    Args:
        dots: before each of two stands the sign that it has on an axis.
    """
    if second is None:
        return told(first)
    names = [told(one) if first.name == second.name else shown(one.name) for one in (first, second)]
    return f"{axis.OWN} {names[0]}  {axis.OTHER} {names[1]}" if dots else " − ".join(names)


def against_rest(row: "Sliced", rows: "Sequence[Sliced]" = ()) -> str:
    """How far a part is from the rest, in words: the figure, or the difference of two sources (the interaction).

    Args:
        rows: all parts that there are.
    """
    named = named_in(row, rows)
    said = []
    if row.difference is not None:
        sure = between(_ends(row), plus=True, n=3)
        said.append(f"{BOTH} {signed(row.difference, 3)} {sure} {p_value(row.adjusted)}")
    if row.apart is not None:
        what = f"{BOTH} here, minus {BOTH} in the rest:" if row.other is not None else "here, minus the rest:"
        ends = None if row.apart_low is None or row.apart_high is None else (row.apart_low, row.apart_high)
        sure = between(ends, plus=True, n=3)
        said.append(f"{what} {signed(row.apart, 3)} {sure} {p_value(row.apart_adjusted)}")
    return f"{named}: {'; '.join(said)}" if said else named


def _ends(row: "Sliced | Rule") -> Interval:
    return None if row.low is None or row.high is None else (row.low, row.high)


class _Shape(NamedTuple):
    """The cells of a name, of n, of the difference, of its interval, and of a bar to either side of the middle; and
    what the bars reach.
    """

    name: int
    n: int
    figure: int
    interval: int
    left: int
    right: int
    least: float
    greatest: float

    @classmethod
    def of(cls, cells: int, names: "Sequence[str]", sure: "Sequence[Interval]", offs: "Sequence[float]") -> "_Shape":
        interval = max((len(between(one, plus=True)) for one in sure), default=0)
        n, figure = (len(_N), len(_DIFFERENCE)) if cells >= _NAMED_FROM else (5, 6)
        fixed = _FIGURES + interval + n - 5 + figure - 6
        heading = HEADING if cells >= _NAMED_FROM else _SHORT_HEADING
        name = min(max(map(len, [*names, "x" * 10])), max(cells - fixed - 3 - 2 * heading, 12))
        least, greatest = min(0.0, *offs), max(0.0, *offs)
        return cls(
            name,
            n,
            figure,
            interval,
            *sides(least, greatest, min(max(cells - name - fixed - 3, 8), _WIDEST)),
            least,
            greatest,
        )

    def heading(self, name: str, below: str, above: str) -> list[Part]:
        """What stands over the columns; over a side of the bars as many words as have room."""
        n, figure = (_N, _DIFFERENCE) if self.n == len(_N) else ("n", "diff.")
        head = f"  {name:{self.name}} {n:>{self.n}}  {figure:>{self.figure}}  {'95%':{self.interval}} {'p':>{P_CELLS}} "
        return [
            Part(head, "dim"),
            Part(f"{_whole(below, self.left):>{self.left}} │ {_whole(above, self.right)}", "dim"),
        ]

    def line(
        self, named: str, n: int, figure: str, sure: Interval, p: float | None, off: float, *, here: bool
    ) -> list[Part]:
        """A row: bold where it is sure that it differs."""
        known = p is not None and p < SURE
        kind = "picked" if here else "plain" if known else "dim"
        name = fit(shown(named), self.name)
        figures = f"{count(n):>{self.n}}  {figure:>{self.figure}}  {between(sure, plus=True):{self.interval}}"
        text = f"{'▸' if here else ' '} {name} {figures} "
        return [
            Part(text, kind),
            Part(f"{p_under(p):>{P_CELLS}}", "picked" if here else "strong" if known else "dim"),
            Part(" "),
            Part(bar(off, self.least, self.greatest, self.left, self.right), "said" if known else "dim"),
        ]


def _whole(words: str, cells: int) -> str:
    """As many of the words as have room, at least the first."""
    while len(words) > cells and " " in words:
        words = words.rpartition(" ")[0]
    return words
