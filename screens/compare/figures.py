"""How a comparison is written: both means, their difference with its interval, tests, and how differences spread."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import bars, count
from emotui.tables import reads_zero

if TYPE_CHECKING:
    from emotui.workbench.compare.pairs import Pair
    from emotui.workbench.compare.sources import Compared

Interval = Sequence[float] | None


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
    if p is None:
        return "p –"
    return "p < .001" if p < 0.001 else f"p {bare(p)}"


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


def lines(pair: "Pair", cells: int) -> list[list[Part]]:
    """What a comparison comes to, in five lines, or more where notes do not fit into one."""
    report = pair.report
    first, second = pair.intervals
    at = max(len(told(pair.first)), len(told(pair.second)), 8)
    at = min(at, max(cells - 33, 12))
    of_samples = "permutation_p" not in report
    rows = []
    for letter, source, mean, sure in (
        ("A", pair.first, report["mean_a"], first),
        ("B", pair.second, report["mean_b"], second),
    ):
        rows.append(
            [
                Part(f" {letter} ", "key", "do('run')" if letter == "A" else "do('compare_with')"),
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
        Part(" A − B ", "strong"),
        Part("–" if off is None else signed(off, 3), "strong"),
        Part(f" {between(report['ci95'], plus=True)}", "dim"),
        Part(tests),
    ]
    reach = bare(pair.reach, 2)
    spread = [
        Part(f" -{reach} ", "dim"),
        Part(bars(pair.bins), "said"),
        Part(f" +{reach}", "dim"),
        Part(f"   won {count(report['won'])}   lost {count(report['lost'])}   tied {count(report['tied'])}"),
    ]
    least = report["smallest_difference"]
    known = "" if not least else f" A true difference of {bare(least)} would have shown in 4 of 5 such sets."
    drawn = f" {report['groups']} groups ({shown(pair.shared or '')}) drawn whole." if "groups" in report else ""
    apart = f" {count(pair.alone)} texts that one alone has a value of are left out." if pair.alone else ""
    of_labels = "".join(
        f" {name.capitalize()} F1 {signed(test['difference'], 3)} {p_value(test['p'])}."
        for name, test in report.get("f1", {}).items()
    )
    notes = textwrap.wrap(f"{of_labels}{known}{drawn}{apart}".strip(), max(cells - 2, 20)) or [""]
    return [*rows, middle, spread, *([Part(f" {line}", "dim")] for line in notes)]
