"""Parts of a dataset and rules that were found, as rows: figures, a bar from the middle, n and corrected p."""

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message

from emotui.screens.widgets import drawing as axis
from emotui.screens.widgets.cell_width import fit, shown
from emotui.screens.widgets.drawing import Dot
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import UNDEFINED, bars, count, so_many, value_of
from emotui.screens.widgets.page import Lines, Page, tell_end
from emotui.screens.widgets.tier_layout import AnnotatedText, Tier
from emotui.tables import FEW, reads_zero

if TYPE_CHECKING:
    from emotui.metrics.slice_rules import Rule
    from emotui.records import Mark
    from emotui.workbench.compare.pairs import Difference, Marks, Pair
    from emotui.workbench.compare.sources import Compared
    from emotui.workbench.slices.slicing import Findings, FoundRule, Parts, Sliced

BOTH = f"{axis.OWN} − {axis.OTHER}"
"""The difference of two sources, as it is headed."""

# How a comparison is written: both means, their difference with its interval, tests, and how differences spread.

Interval = Sequence[float] | None

_RESAMPLES = re.compile(r"[\d,]+ resamples")
"""In the convention of an interval by bootstrap."""


def bare(value: float, n: int = 3) -> str:
    """So many decimals without a zero before the point: `.571`, `-.020`, `1.000`."""
    written = f"{value:.{n}f}"
    return written.replace("0.", ".", 1) if written.lstrip("-").startswith("0.") else written


def signed(value: float, n: int = 2) -> str:
    """As `bare`, with its sign: `+.05`, `-.12`, `.00`."""
    written = bare(value, n)
    if not written.strip("-.0"):
        return "." + "0" * n
    return written if value < 0 else f"+{written}"


def between(interval: Interval, *, plus: bool = False) -> str:
    """`[.56, .64]`; with `plus` `[+.004, +.081]`, as a difference has it. Empty where there is none."""
    if interval is None:
        return ""
    if plus:
        return f"[{signed(interval[0], 3)}, {signed(interval[1], 3)}]"
    return f"[{bare(interval[0], 2)}, {bare(interval[1], 2)}]"


def p_value(p: float | None) -> str:
    """`p .012`, `p < .001`, or `p –` where there is none."""
    return f"p {p_under(p)}"


def p_under(p: float | None) -> str:
    """The same under a heading that says p: `.012`, `< .001`, `–`."""
    if p is None:
        return UNDEFINED
    return "< .001" if p < 0.001 else bare(p)


_P = 7
"""Cells of a p under its heading."""


_HEADING = 8
"""Cells of the words over a side of the bars."""


def sides(least: float, greatest: float, cells: int) -> tuple[int, int]:
    """How many of the cells lie left of 0 and right of it: as many as the differences need, but room for a heading."""
    below, above = max(-least, 0.0), max(greatest, 0.0)
    heading = min(_HEADING, cells // 2)
    wanted = cells // 2 if below + above == 0 else round(cells * below / (below + above))
    left = min(max(wanted, heading), cells - heading)
    return left, cells - left


def bar(value: float, least: float, greatest: float, left: int, right: int) -> str:
    """A bar from 0 to the left or to the right, both sides on one scale; none where the figure beside it reads .00.

    Args:
        left, right: cells at most.
    """
    scales = [cells / reach for cells, reach in ((left, -least), (right, greatest)) if reach > 0]
    cells = round(abs(value) * min(scales)) if scales else 0
    cells = 0 if reads_zero(value) else max(cells, 1)
    return f"{'■' * cells if value < 0 else '':>{left}} │ {'■' * cells if value > 0 else ''}"


def told(source: "Compared") -> str:
    """A source by its name and what tells it from others of that name."""
    return shown(f"{source.name} {source.told}".rstrip())


def _ending(name: str, cells: int) -> str:
    """Of a longer name the end, where way and date tell two runs of one model apart."""
    return name if len(name) <= cells else f"…{name[1 - cells :]}"


def lines(pair: "Pair", cells: int, picked_as: str = "") -> list[list[Part]]:
    """What a comparison comes to, in five lines, or more where notes do not fit into one.

    Args:
        picked_as: why the second is compared, where nobody chose it.
    """
    report = pair.report
    first, second = pair.intervals
    at = max(len(told(pair.first)), len(told(pair.second)), 8)
    at = min(at, max(cells - 33, 12))
    of_samples = "permutation_p" not in report
    rows = []
    for sign, source, mean, sure in (
        (axis.OWN, pair.first, report["mean_a"], first),
        (axis.OTHER, pair.second, report["mean_b"], second),
    ):
        rows.append(
            [
                Part(f" {sign} ", "key", "do('run')" if sign == axis.OWN else "do('compare_with')"),
                Part(f"{_ending(told(source), at):{at}}  ", "plain"),
                Part("mean " if of_samples else "", "dim"),
                Part("–" if mean is None else bare(mean), "strong"),
                Part(f" {between(sure)}", "dim"),
            ]
        )
    d, off = report["cohens_d"], report["mean_difference"]
    tests = f"   Wilcoxon {p_value(report['wilcoxon_p'])}" + ("" if d is None else f"   d {signed(d)}")
    if not of_samples:
        tests = f"   permutation {p_value(report['permutation_p'])}"
    if report.get("mcnemar_p") is not None:
        tests += f"   McNemar {p_value(report['mcnemar_p'])}"
    middle = [
        Part(f" {BOTH} ", "strong"),
        Part("–" if off is None else signed(off, 3), "strong"),
        Part(f" {between(report['ci95'], plus=True)}", "dim"),
        Part(tests),
    ]
    reach = bare(pair.reach, 2)
    spread = [
        Part(f" -{reach} ", "dim"),
        Part(bars(pair.bins), "said"),
        Part(f" +{reach}", "dim"),
        Part(f"   {axis.OWN} won {count(report['won'])}   lost {count(report['lost'])}   tied {count(report['tied'])}"),
    ]
    least = report["smallest_difference"]
    known = "" if not least else f" 80% power from a difference of {bare(least)} on."
    resampled = _RESAMPLES.search(report["conventions"].get("ci95", ""))
    known += "" if resampled is None or report["ci95"] is None else f" Interval of {BOTH}: {resampled[0]}."
    drawn = f" {report['groups']} groups ({shown(pair.shared or '')}) drawn whole." if "groups" in report else ""
    apart = (
        f" {so_many(pair.alone, 'text')} that one alone has a value of {'are' if pair.alone > 1 else 'is'} left out."
        if pair.alone
        else ""
    )
    of_labels = "".join(
        f" {name.capitalize()} F1 {signed(test['difference'], 3)} {p_value(test['p'])}."
        for name, test in report.get("f1", {}).items()
    )
    gold = f" {shown(note)}." if (note := report["notes"].get("gold")) else ""
    if picked_as and taken([*rows[1], Part(f"  {picked_as}")]) <= cells:
        rows[1].append(Part(f"  {picked_as}", "dim"))
    elif picked_as:
        gold = f" {axis.OTHER} is {picked_as}.{gold}"
    notes = textwrap.wrap(f"{of_labels}{known}{drawn}{apart}{gold}".strip(), max(cells - 2, 20)) or [""]
    return [*rows, middle, spread, *([Part(f" {line}", "dim")] for line in notes)]


# The samples of a comparison, the greatest difference first: only the rows in sight are drawn.

_ID = 16
_WIDEST = 80
"""Cells of the longest bars of both sides together."""


class DifferenceRows(Page, inherit_bindings=False):
    """Both scores of each sample and their difference as a bar; ↑ ↓ or the mouse move the cursor."""

    BINDINGS = [
        Binding("up", "pick(-1)", show=False),
        Binding("down", "pick(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "page(-10000)", show=False),
        Binding("end", "page(10000)", show=False),
    ]

    class Picked(Message):
        """The cursor stands on another sample."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.pair: Pair | None = None
        self.cursor = self._first = 0

    @property
    def picked(self) -> "Difference | None":
        """The sample under the cursor."""
        return self.pair.rows[self.cursor] if self.pair is not None and self.pair.rows else None

    def show_pair(self, pair: "Pair", sample: int | None) -> None:
        """Show another comparison, the cursor on this sample where it has it."""
        self.pair = pair
        self.cursor = min(self.cursor, max(len(pair.rows) - 1, 0))
        if sample is None or not self.put_on(sample):
            self._draw()

    def put_on(self, sample: int) -> bool:
        """Put the cursor on a sample; says whether it is there."""
        rows = () if self.pair is None else self.pair.rows
        found = next((at for at, row in enumerate(rows) if row.sample == sample), None)
        if found is not None:
            self.cursor = found
            self._draw()
        return found is not None

    def walk(self, step: int) -> bool:
        """Go to the next sample below (1) or above (-1) in which the two differ; says whether there is one."""
        rows = () if self.pair is None else self.pair.rows
        ahead = range(self.cursor + step, len(rows) if step > 0 else -1, step)
        found = next((at for at in ahead if rows[at].changed), None)
        if found is not None:
            self._pick(found)
        return found is not None

    def action_pick(self, step: int) -> None:
        before = self.cursor
        self._pick(self.cursor + step)
        if self.cursor == before:
            tell_end(self, step)

    def action_page(self, step: int) -> None:
        self.action_pick(step * max(self._height - 1, 1))

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no room at all."""
        self._draw()

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y > 0 and self.pair is not None:
            at = self._first + offset.y - 1
            if at < len(self.pair.rows):
                self._pick(at)

    def _pick(self, at: int) -> None:
        if self.pair is not None and self.pair.rows:
            self.cursor = min(max(at, 0), len(self.pair.rows) - 1)
            self._draw()
            self.post_message(self.Picked())

    @property
    def _height(self) -> int:
        return max(self.scrollable_content_region.height - 1, 1)

    def _draw(self) -> None:
        if self.pair is not None:
            pair = self.pair
            self.show_for(lambda room: self._in_sight(pair, room))

    def _in_sight(self, pair: "Pair", room: Size) -> Lines:
        """A heading, and the rows around the cursor that there is room for."""
        height = max(room.height - 1, 1)
        self._first = min(max(self._first, self.cursor - height + 1), self.cursor)
        self._first = max(min(self._first, len(pair.rows) - height), 0)
        if not pair.rows:
            return [[Part("  No sample has this figure by itself.", "dim")]]
        least, greatest = pair.rows[-1].difference, pair.rows[0].difference
        left, right = sides(least, greatest, min(max(room.width - _ID - 26, 8), _WIDEST))
        better = "better" if pair.metric.higher_is_better else "more"
        own, other = axis.OWN, axis.OTHER
        head = f"  {'id':{_ID}}     {own}     {other}  {BOTH}  {f'{other} {better}':>{left}} │ {own} {better}"
        lines = [[Part(head, "dim")]]
        for at, row in enumerate(pair.rows[self._first : self._first + height], self._first):
            here = at == self.cursor
            kind = "picked" if here else "plain" if row.changed else "dim"
            values = f"{value_of(pair.metric, row.first)}  {value_of(pair.metric, row.second)}"
            text = f"{'▸' if here else ' '} {fit(row.id, _ID)}  {values}  {signed(row.difference):>5} "
            drawn = bar(row.difference, least, greatest, left, right)
            lines.append([Part(text, kind), Part(" "), Part(drawn, "said" if row.changed else "dim")])
        return lines


def told_difference(row: "Difference", pair: "Pair | None") -> tuple[str, bool]:
    """How far the first is above the second in a text, and which of them is better; and is it the first that is worse?

    Of a figure of which neither end is better, one has more.
    """
    said = f"{BOTH} {signed(row.difference)}"
    if pair is None or reads_zero(row.difference):
        return said, False
    first, directed = row.difference > 0, pair.metric.directed
    first = first == pair.metric.higher_is_better if directed else first
    who, word = (axis.OWN if first else axis.OTHER), "better" if directed else "more"
    return f"{said}  {who} {word}", directed and not first


# The text of a comparison: gold underlined, what both sources mark in rows under the words.


def annotated(marks: "Marks") -> AnnotatedText:
    """The text with a row each for gold, ● and ◇; rows only where somebody marks something."""
    sides = (
        ("gold", "gold", marks.gold, True),
        (axis.OWN, "predicted", marks.first, False),
        (axis.OTHER, "annotator", marks.second, False),
    )
    drawn = tuple(_tier(name, role, said, inline=inline) for name, role, said, inline in sides if said)
    return AnnotatedText(marks.text, drawn, rows=bool(drawn))


def _tier(name: str, role: str, marks: "Sequence[Mark]", *, inline: bool) -> Tier:
    labels = tuple(((mark.start, mark.end), mark.label) for mark in marks if mark.label is not None)
    return Tier(name, role, tuple((mark.start, mark.end) for mark in marks), inline, labels=labels)


def said_lines(marks: "Marks", cells: int) -> list[list[Part]]:
    """What gold, ● and ◇ say of each thing that is no span: in a line where it fits into one, else a line each."""
    if not (marks.lines or marks.gold or marks.first or marks.second):
        return [[Part(f"gold, {axis.OWN} and {axis.OTHER}: nothing in this text", "dim")]]
    found: list[list[Part]] = []
    for name, *said in marks.lines:
        same = said[1] == said[2]
        words = [f"{who} {shown(one) or '–'}" for who, one in zip(("gold", axis.OWN, axis.OTHER), said, strict=True)]
        head, line = f"{shown(name)}: ", ", ".join(words)
        kind = "dim" if same else "plain"
        if len(head) + len(line) <= cells:
            found.append([Part(head, "dim"), Part(line, kind)])
            continue
        found.append([Part(head.rstrip(), "dim")])
        for one in words:
            wrapped = textwrap.wrap(one, max(cells - 3, 20), subsequent_indent="  ")
            found += [[Part(f"  {part}", kind)] for part in wrapped]
    return found


SURE = 0.05
_FIGURES = 28
"""Cells of n, difference and p, without the interval."""
_N, _DIFFERENCE = "n (test half)", "here − rest"
"""How n and the difference of a rule are headed where there is room: other texts than those of a group."""
_NAMED_FROM = 100
"""Cells from which on there is."""


_GAPS = 29
"""Cells of two figures, their difference and p, without the interval."""
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
    """A part by facet and value; of several facets `neutral: emotion, valence`.

    Args:
        rows: all parts that there are.
    """
    facets = facets_of(rows).get(_texts_of(row), [])
    return f"{row.value}: {', '.join(facets)}" if len(facets) > 1 else f"{row.facet} {row.value}"


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
    spread = max(map(len, map(between, sure)), default=0) if cells >= _SURE_FROM or not two else 0
    fixed = (_GAPS if two else _GAPS - 12) + (spread + 1 if spread else 0) + 10
    name = min(max(map(len, names)), max(cells - fixed - _LEAST_AXIS, 10))
    dots = [Dot(row.mean) if two else Dot(row.mean, row.low, row.high) for row in rows]
    aside = _stand_aside(rows)
    over = [dot for dot, few in zip(dots, aside, strict=True) if not few]
    over += [Dot(row.other) for row, few in zip(rows, aside, strict=True) if two and not few]
    values = [dot.value for dot in over if dot.value is not None]
    low, high = (0.0 if min(values, default=0) >= 0 else None), (1.0 if max(values, default=1) <= 1 else None)
    scale = axis.scaled(*axis.ends(over, None, low, high, _SPAN if high else 0), max(cells - name - fixed, 8))
    ticks = axis.headed(scale, axis.written(scale.ticks))
    figures = f"    {axis.OWN}     {axis.OTHER}    gap" if two else "   mean"
    head = (
        f"  {'part':{name}}     n  {ticks}  {figures}{' ' * bool(spread)}{'95%' if spread else '':{spread}} {'p':>{_P}}"
    )
    lines = [[Part(head, "dim")]]
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
                    f"  {_figures(row, two=two)}{' ' * bool(spread)}{between(ends) if spread else '':{spread}} ", kind
                ),
                Part(f"{p_under(row.adjusted):>{_P}}", "picked" if here else "strong" if known else "dim"),
            ]
        )
    return lines


def _figures(row: "Sliced", *, two: bool) -> str:
    def said(value: float | None, cells: int, *, signs: bool = False) -> str:
        return f"{UNDEFINED if value is None else signed(value) if signs else bare(value, 2):>{cells}}"

    if not two:
        return said(row.mean, 7)
    return f"{said(row.mean, 5)} {said(row.other, 5)} {said(row.difference, 6, signs=True)}"


def rule_lines(found: "Findings | None", rows: "Sequence[FoundRule]", cursor: int, cells: int) -> list[list[Part]]:
    """A heading and a line a rule: how far its samples are from the rest, on the half that did not find it."""
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
        lines.append(shape.line(row.conditions, rule.n, figure, ends, rule.adjusted, rule.difference, here=here))
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
        said.append(f"{BOTH} {signed(row.difference, 3)} {between(_ends(row), plus=True)} {p_value(row.adjusted)}")
    if row.apart is not None:
        what = f"{BOTH} here, minus {BOTH} in the rest:" if row.other is not None else "here, minus the rest:"
        sure = None if row.apart_low is None or row.apart_high is None else (row.apart_low, row.apart_high)
        said.append(f"{what} {signed(row.apart, 3)} {between(sure, plus=True)} {p_value(row.apart_adjusted)}")
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
        interval = max((len(between(one)) for one in sure), default=0)
        n, figure = (len(_N), len(_DIFFERENCE)) if cells >= _NAMED_FROM else (5, 6)
        fixed = _FIGURES + interval + n - 5 + figure - 6
        name = min(max(map(len, [*names, "x" * 10])), max(cells - fixed - 2 * _HEADING, 12))
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
        head = f"  {name:{self.name}} {n:>{self.n}}  {figure:>{self.figure}}  {'95%':{self.interval}} {'p':>{_P}} "
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
        figures = f"{count(n):>{self.n}}  {figure:>{self.figure}}  {between(sure):{self.interval}}"
        text = f"{'▸' if here else ' '} {name} {figures} "
        return [
            Part(text, kind),
            Part(f"{p_under(p):>{_P}}", "picked" if here else "strong" if known else "dim"),
            Part(" "),
            Part(bar(off, self.least, self.greatest, self.left, self.right), "said" if known else "dim"),
        ]


def _whole(words: str, cells: int) -> str:
    """As many of the words as have room, at least the first."""
    while len(words) > cells and " " in words:
        words = words.rpartition(" ")[0]
    return words
