"""Two sources sample by sample: what a comparison comes to, the samples by their difference, and the text of one."""

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message

from emotui.screens.results.cells import (
    BOTH,
    bar,
    bare,
    between,
    counted,
    decimals_of,
    first_leads,
    p_value,
    sides,
    signed,
    told,
    word_of,
)
from emotui.screens.widgets import drawing as axis
from emotui.screens.widgets.cell_width import fit, shown
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import bars, so_many, value_of
from emotui.screens.widgets.page import Lines, Page, tell_end
from emotui.screens.widgets.tier_layout import AnnotatedText, Tier
from emotui.tables import reads_zero

if TYPE_CHECKING:
    from emotui.records import Mark
    from emotui.workbench.compare.pairs import Difference, Marks, Pair

# How a comparison is written: both means, their difference with its interval, tests, and how differences spread.

_RESAMPLES = re.compile(r"[\d,]+ resamples")
"""In the convention of an interval by bootstrap."""


def _ending(name: str, cells: int) -> str:
    """Of a longer name the end, where way and date tell two runs of one model apart."""
    return name if len(name) <= cells else f"…{name[1 - cells :]}"


def pair_lines(pair: "Pair", cells: int, picked_as: str = "") -> list[list[Part]]:
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
        Part(f" {between(report['ci95'], plus=True, n=3)}", "dim"),
        Part(tests),
    ]
    reach = bare(pair.reach, 2)
    spread = [
        Part(f" -{reach} ", "dim"),
        Part(bars(pair.bins), "said"),
        Part(f" +{reach}", "dim"),
        Part(f"   {counted(pair.metric, report)}"),
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


_SETTLING = 1000
"""So many of the greatest differences settle how many decimals all have."""


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
        self.decimals = 2
        """Of all figures of samples."""
        self._cells = 0
        """Of the widest of these figures."""
        self.cursor = self._first = 0

    @property
    def picked(self) -> "Difference | None":
        """The sample under the cursor."""
        return self.pair.rows[self.cursor] if self.pair is not None and self.pair.rows else None

    def show_pair(self, pair: "Pair", sample: int | None) -> None:
        """Show another comparison, the cursor on this sample where it has it."""
        self.pair = pair
        self.decimals = decimals_of((row.first, row.second, row.difference) for row in pair.rows[:_SETTLING])
        said = [value for row in pair.rows for value in (row.first, row.second)]
        self._cells = max((len(self._value(one)) for one in (min(said), max(said))), default=0) if said else 0
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

    def _value(self, value: float) -> str:
        """A figure of a sample, in a word where it is yes or no."""
        if self.pair is not None and self.pair.metric.yes_or_no:
            return value_of(self.pair.metric, value).strip()
        return bare(value, self.decimals)

    def _draw(self) -> None:
        if self.pair is not None:
            pair = self.pair
            self.show_for(lambda room: self._in_sight(pair, room))

    def _in_sight(self, pair: "Pair", room: Size) -> Lines:
        """A heading, and the rows around the cursor that there is room for.

        Columns are as wide as the figures of all rows need, so that none moves when others come into sight.
        """
        height = max(room.height - 1, 1)
        self._first = min(max(self._first, self.cursor - height + 1), self.cursor)
        self._first = max(min(self._first, len(pair.rows) - height), 0)
        if not pair.rows:
            return [[Part("  No sample has this figure by itself.", "dim")]]
        least, greatest = pair.rows[-1].difference, pair.rows[0].difference
        n = self.decimals
        cells = self._cells
        off = max(len(BOTH), max(len(signed(one, n)) for one in (least, greatest)))
        left, right = sides(least, greatest, min(max(room.width - _ID - 2 * cells - off - 13, 8), _WIDEST))
        # What is above 0 stands at the right, whichever of the two is better for it.
        above, below = (axis.OWN, axis.OTHER) if first_leads(pair.metric, 1.0) else (axis.OTHER, axis.OWN)
        better = word_of(pair.metric)
        figures = f"{axis.OWN:>{cells}}  {axis.OTHER:>{cells}}  {BOTH:>{off}}"
        head = f"  {'id':{_ID}}  {figures}  {f'{below} {better}':>{left}} │ {above} {better}"
        lines = [[Part(head, "dim")]]
        for at, row in enumerate(pair.rows[self._first : self._first + height], self._first):
            here = at == self.cursor
            kind = "picked" if here else "plain" if row.changed else "dim"
            values = f"{self._value(row.first):>{cells}}  {self._value(row.second):>{cells}}"
            text = f"{'▸' if here else ' '} {fit(row.id, _ID)}  {values}  {signed(row.difference, n):>{off}} "
            drawn = bar(row.difference, least, greatest, left, right, n)
            lines.append([Part(text, kind), Part(" "), Part(drawn, "said" if row.changed else "dim")])
        return lines


def told_difference(row: "Difference", pair: "Pair | None", n: int = 2) -> tuple[str, bool]:
    """How far the first is above the second in a text, and which of them is better; and is it the first that is worse?

    Of a figure of which neither end is better, one has more.

    Args:
        n: decimals.
    """
    said = f"{BOTH} {signed(row.difference, n)}"
    if pair is None or reads_zero(row.difference, n):
        return said, False
    first = first_leads(pair.metric, row.difference)
    who = axis.OWN if first else axis.OTHER
    return f"{said}  {who} {word_of(pair.metric)}", pair.metric.directed and not first


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


def said_lines(marks: "Marks", cells: int, *, told: bool = False) -> list[list[Part]]:
    """What gold, ● and ◇ say of each thing that is no span: in a line where it fits into one, else a line each.

    Args:
        told: the text stands behind it.
    """
    if not (marks.lines or marks.gold or marks.first or marks.second):
        return [[Part(f"gold, {axis.OWN} and {axis.OTHER}: nothing in this text", "dim")]]
    found: list[list[Part]] = []
    for name, *said in marks.lines:
        same = said[1] == said[2]
        words = [f"{who} {shown(one) or '–'}" for who, one in zip(("gold", axis.OWN, axis.OTHER), said, strict=True)]
        head, line = f"{shown(name.replace('_', ' '))}: ", ", ".join(words)
        kind = "dim" if same else "plain"
        if len(head) + len(line) <= cells:
            found.append([Part(head, "dim"), Part(line, kind)])
            continue
        found.append([Part(head.rstrip(), "dim")])
        for one in words:
            wrapped = textwrap.wrap(one, max(cells - 3, 20), subsequent_indent="  ")
            found += [[Part(f"  {part}", kind)] for part in wrapped]
    if told:
        found.append([Part("text:", "dim")])
        found += [[Part(f"  {line}")] for line in textwrap.wrap(shown(marks.text), max(min(cells - 3, 90), 20))]
    return found
