"""How the figures of results are written: decimals, signs, spreads, p, and bars; and which of two sources is better."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emotui.screens.widgets import drawing as axis
from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, count
from emotui.screens.widgets.page import Lines
from emotui.tables import reads_zero

if TYPE_CHECKING:
    from emotui.metrics.metric import Metric
    from emotui.tables import Bars, Cell, Column, Row, Series
    from emotui.workbench.compare.sources import Compared

# Where bars stand and what names them: shapes first, so that it reads without colour.

GLYPHS = "█▒░#=+"
"""A series each."""

KINDS = ("said", "gold", "mark", "plain", "dim", "key")
"""The kind of part that each glyph is drawn as."""

_WIDEST = 8
_BETWEEN = 2
"""Cells between two groups, at least."""


@dataclass(frozen=True, slots=True)
class Places:
    """Geometry in whole cells: `first[group][series]` is the first cell of a bar, each `bar` cells wide."""

    first: tuple[tuple[int, ...], ...]
    bar: int
    group: int


def series_shown(bars: "Bars", cells: int) -> "Sequence[Series]":
    """As many series as have room in so many cells, the first first; each bar takes two cells at least."""
    room = (cells // max(len(bars.labels), 1) - _BETWEEN) // 2
    return bars.series[: max(min(room, len(GLYPHS)), 1)]


def places(groups: int, series: int, cells: int) -> Places:
    """Where each bar stands: groups of one width over all of the cells, the bars of a group side by side."""
    group = max(cells // max(groups, 1), series + 1)
    bar = max(min((group - _BETWEEN) // series, _WIDEST), 1)
    left = (group - bar * series) // 2
    first = tuple(tuple(at * group + left + one * bar for one in range(series)) for at in range(groups))
    return Places(first, bar, group)


def legend(bars: "Bars", drawn: "Sequence[Series]", cells: int) -> Lines:
    """A name for each glyph, on as many lines as they need; and how many series found no room."""
    entries = [
        [Part(f"{GLYPHS[number] * 2} ", KINDS[number]), Part(f"{shown(line.label)}   ")]
        for number, line in enumerate(drawn)
    ]
    left_out = len(bars.series) - len(drawn)
    if left_out:
        entries.append([Part(f"and {left_out} more than fit", "dim")])
    lines: list[list[Part]] = [[Part(" ")]]
    used = 1
    for entry in entries:
        size = sum(width(part.text) for part in entry)
        if used + size > cells and used > 1:
            lines.append([Part(" ")])
            used = 1
        lines[-1] += entry
        used += size
    return lines


NOT_ASKED = "·"

_WORDS = {
    "P": "precision",
    "R": "recall",
    "Sim": "similarity",
    "Acc_l": "of labels",
    "Acc_v": "of all labels",
    "Acc_L": "the gold word",
    "Acc_V": "a word of its vector",
    "F1_V": "of the vectors",
}
"""What figures are that papers call by a letter or two."""


def decimals(value: float, *, signed: bool = False, n: int = 3) -> str:
    """A figure with `n` decimals and no leading zero: `.620`, `1.000`, `-.050`; `signed`: `+.012`."""
    written = f"{value:{'+' if signed else ''}.{n}f}"
    if not written.strip("+-0."):
        return "." + "0" * n
    return written.replace("0.", ".", 1) if written.lstrip("+-").startswith("0.") else written


def written(cell: "Cell", unit: str) -> tuple[str, str]:
    """A cell's mean, and its interval or else its spread; empty where there is none.

    An undefined figure is a dash, and a setting that was not asked a dot.
    """
    value = cell.value
    if value is None:
        return (UNDEFINED if cell.why else NOT_ASKED), ""
    if isinstance(value, bool):
        return ("yes" if value else "no"), ""
    if isinstance(value, str):
        return shown(value), ""
    if unit == "number":
        from emotui.tables import digits

        return digits(value), "" if cell.sd is None else f"±{digits(cell.sd)}"
    if unit == "count":
        spread = "" if cell.sd is None else f"±{cell.sd:.1f}"
        if cell.low is not None and cell.high is not None:
            spread = f"[{cell.low:.1f}, {cell.high:.1f}]"
        return (count(round(value)) if value == round(value) else f"{value:.1f}"), spread
    n = 4 if unit == "fine-share" else 3
    mean = decimals(value, signed=unit == "difference", n=n)
    if cell.low is not None and cell.high is not None:
        return mean, f"[{decimals(cell.low, n=n - 1)}, {decimals(cell.high, n=n - 1)}]"
    return mean, "" if cell.sd is None else f"±{decimals(cell.sd, n=n)}"


def label_of(row: "Row") -> str:
    """A row's name; a published one wears a dagger."""
    return shown(row.label) + (" †" if row.published else "")


def heading_of(column: "Column", *, whole: bool = False) -> str:
    """What stands over a column. Args: whole: its name as it is, however long."""
    return column.title if whole else column.short or column.title


def shortened(label: str, cells: int) -> str:
    """A label in so many cells; of a longer one the beginning and the end, since models differ in either."""
    if width(label) <= cells:
        return label
    head = tail = ""
    for sign in label:
        if width(head + sign) > (cells - 1) // 2:
            break
        head += sign
    for sign in reversed(label):
        if width(head + sign + tail) > cells - 1:
            break
        tail = sign + tail
    return f"{head}…{tail}"


def in_words(title: str) -> str:
    """The title of a figure, with a word to one that is a letter: `P precision`."""
    return f"{shown(title)} {_WORDS[title]}" if title in _WORDS else shown(title)


def said(row: "Row", column: "Column", cell: "Cell") -> str:
    """What a cell is, in one line: of what, how much, and whose."""
    mean, spread = written(cell, column.unit)
    title = in_words(column.title)
    what = f"{in_words(column.group)}: {title}" if column.group else title
    if cell.low is not None and cell.sd is not None:
        spread += f" ±{decimals(cell.sd)}"
    figure = f"{mean} {spread}".rstrip() if cell.asked else "not asked"
    return f"{what}   {figure}   {label_of(row)}"


def about(row: "Row", cell: "Cell") -> list[str]:
    """What has to be known of a cell: why it is undefined, of whom it is, and under which convention."""
    lines = []
    if cell.why and cell.value is None:
        lines.append(f"{UNDEFINED} undefined: {shown(cell.why)}")
    if cell.note and cell.value is not None:
        lines.append(shown(cell.note))
    if not cell.asked:
        lines.append("Nobody was asked this way here.")
    if row.remark:
        lines.append(shown(row.remark))
    if row.published:
        lines.append(f"† published: {shown(row.source)}")
    elif cell.convention:
        lines.append(shown(_RULE.sub(r"counting rule \1, version \2: ", cell.convention)))
    return lines


_RULE = re.compile(r"(?:^|(?<=samples: ))(\w+) (\d+): ")
"""How a convention begins that has a number, or one of other samples behind it."""

# Differences of two sources: decimals, signs, intervals and p, bars from the middle, and who is better.

BOTH = f"{axis.OWN} − {axis.OTHER}"
"""The difference of two sources, as it is headed."""

Interval = Sequence[float] | None


def bare(value: float, n: int = 3) -> str:
    """So many decimals without a zero before the point: `.571`, `-.020`, `1.000`; what reads 0 has no sign."""
    written = f"{value:.{n}f}"
    if reads_zero(value, n):
        written = written.lstrip("-")
    return written.replace("0.", ".", 1) if written.lstrip("-").startswith("0.") else written


def signed(value: float, n: int = 2) -> str:
    """As `bare`, with its sign: `+.05`, `-.12`, `.00`."""
    written = bare(value, n)
    return written if value < 0 or reads_zero(value, n) else f"+{written}"


_WHOLE = 1e-9
"""What a number is off a whole one at most, to be written without decimals."""
_LARGE = 100
"""Figures from which on decimals would say no more."""


def decimals_of(lines: Iterable[tuple[float | None, float | None, float | None]]) -> int:
    """How many decimals the figures of a column have, so that points stand under each other and differences are right.

    None where all are whole numbers above 1; else two, or three where a difference with two is not that of the figures
    beside it.

    Args:
        lines: of each line the first figure, the second, and the first less the second.
    """
    known = [(a, b, off) for a, b, off in lines if a is not None and b is not None and off is not None]
    most = max((max(abs(a), abs(b)) for a, b, _ in known), default=0.0)
    if most > 1 and all(abs(one - round(one)) < _WHOLE for a, b, _ in known for one in (a, b)):
        return 0
    if most >= _LARGE:
        return 1
    right = all(abs(round(a, 2) - round(b, 2) - round(off, 2)) < _WHOLE for a, b, off in known)
    return 2 if right else 3


def between(interval: Interval, *, plus: bool = False, n: int = 2) -> str:
    """`[.56, .64]`; with `plus` `[+.04, +.08]`, as a difference has it. Empty where there is none."""
    if interval is None:
        return ""
    said = signed if plus else bare
    return f"[{said(interval[0], n)}, {said(interval[1], n)}]"


def p_value(p: float | None) -> str:
    """`p .012`, `p < .001`, or `p –` where there is none."""
    return f"p {p_under(p)}"


def p_under(p: float | None) -> str:
    """The same under a heading that says p: `.012`, `< .001`, `–`."""
    if p is None:
        return UNDEFINED
    return "< .001" if p < 0.001 else bare(p)


P_CELLS = 7
"""Cells of a p under its heading."""


HEADING = 8
"""Cells of the words over a side of the bars."""


def sides(least: float, greatest: float, cells: int) -> tuple[int, int]:
    """How many of the cells lie left of 0 and right of it: as many as the differences need, but room for a heading."""
    below, above = max(-least, 0.0), max(greatest, 0.0)
    heading = min(HEADING, cells // 2)
    wanted = cells // 2 if below + above == 0 else round(cells * below / (below + above))
    left = min(max(wanted, heading), cells - heading)
    return left, cells - left


def bar(value: float, least: float, greatest: float, left: int, right: int, n: int = 2) -> str:
    """A bar from 0 to the left or to the right, both sides on one scale; none where the figure beside it reads .00.

    Args:
        left, right: cells at most.
        n: decimals of the figure beside it.
    """
    scales = [cells / reach for cells, reach in ((left, -least), (right, greatest)) if reach > 0]
    cells = round(abs(value) * min(scales)) if scales else 0
    cells = 0 if reads_zero(value, n) else max(cells, 1)
    return f"{'■' * cells if value < 0 else '':>{left}} │ {'■' * cells if value > 0 else ''}"


def word_of(metric: "Metric") -> str:
    """What one of two is in a sample: better, or, of a figure of which neither end is better, more."""
    return "better" if metric.directed else "more"


def first_leads(metric: "Metric", difference: float) -> bool:
    """Whether the first of two is `word_of` in a sample, by how far it is above the second."""
    return (difference > 0) == (metric.higher_is_better or not metric.directed)


def counted(metric: "Metric", report: "Mapping[str, Any]") -> str:
    """In how many samples either of two is better, or more.

    Args:
        report: the document of `emotui compare`, whose `won` and `lost` are the samples in which the first is above
            and below, whichever end is better.
    """
    first, second = report["won"], report["lost"]
    if not first_leads(metric, 1.0):
        first, second = second, first
    word = word_of(metric)
    return f"{word} {axis.OWN} {count(first)}  {axis.OTHER} {count(second)}  equal {count(report['tied'])}"


def told(source: "Compared") -> str:
    """A source by its name and what tells it from others of that name."""
    return shown(f"{source.name} {source.told}".rstrip())
