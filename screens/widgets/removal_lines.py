"""What a model says of a text with and without a span of it, in lines: bars of labels, and the texts it was asked."""

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.workbench.why.removal import Removed

FORMS = ("masked", "deleted", "alone")
"""What is done to a span, in the order of `Removed.forms`."""

FEW = 4
"""Labels that have bars: the likeliest over all forms."""

_NAME, _FIGURE, _GAP = 13, 4, 2
_MOST_BAR = 16
_SEEN = 0.005
_LINES = 3
"""Lines of the text around what is taken away."""

_WIDEST = 90


def margin(found: "Removed | None") -> tuple[str, str]:
    """The drop in four cells and its kind: strong where no random stretch drops as much; blank while it is unknown."""
    if found is None:
        return " " * _FIGURE, "plain"
    return share(found.drop), "strong" if found.matters else "dim"


def verdict(found: "Removed") -> list[Part]:
    """The drop, and in the last part what it is beside random stretches."""
    drops = found.random_drops
    parts = [
        Part(f"{found.explains} "),
        Part(share(found.whole[found.explains]).strip(), "strong"),
        Part(" without it "),
    ]
    parts += [Part(share(found.masked[found.explains]).strip(), "strong"), Part(": ")]
    if not drops:
        return [*parts, Part("no other stretch as long fits into the text beside it", "dim")]
    n = len(drops)
    mean = share(fmean(drops)).strip()
    if found.matters:
        most = share(drops[-1]).strip()
        words = f"more is lost than without any of {n} others as long (mean {mean}, at most {most})"
        return [*parts, Part(words, "gold")]
    as_much = sum(drop >= found.drop for drop in drops)
    return [*parts, Part(f"{as_much} of {n} others as long lose as much (mean {mean})", "dim")]


def removal_lines(found: "Removed", cells: int) -> Lines:
    """The verdict, a line a label with a bar for each form, and the text with what was taken away."""
    cells = max(cells, 20)
    told = verdict(found)
    lines: list[list[Part]] = [[Part(" "), *told]]
    if taken(told) >= cells:
        lines = [[Part(" "), *told[:-1]], [Part(" "), told[-1]]]
    said = dict(zip(("whole", *FORMS), (found.whole, found.masked, found.deleted, found.alone), strict=True))
    bar = max(min((cells - 2 - _NAME) // len(said) - _FIGURE - 1 - _GAP, _MOST_BAR), 0)
    size = _FIGURE + 1 + bar + _GAP
    lines.append([Part(" " * (_NAME + 2)), *(Part(f"{name:<{size}}", "dim") for name in said)])
    for label in likeliest(found):
        explained = label == found.explains
        line = [Part("▸ " if explained else "  ", "said"), Part(fit(label, _NAME), "strong" if explained else "plain")]
        for probs in said.values():
            p = probs.get(label, 0.0)
            full = max(round(p * bar), int(p >= _SEEN and bar > 0))
            line += [Part(share(p), "strong" if explained else "plain"), Part(" ")]
            line += [Part("■" * full, "said"), Part("·" * (bar - full), "rest"), Part(" " * _GAP)]
        lines.append(line)
    lines.append([])
    lines += _passage(found, min(cells, _WIDEST))
    for name, text in zip(FORMS, found.forms, strict=True):
        lines.append([Part(f" {name:<8}", "dim"), Part(_around(text, found, cells - 10))])
    return lines


def likeliest(found: "Removed", most: int = FEW) -> list[str]:
    """The labels with the highest probability in any form, the explained one first."""
    every = (found.whole, found.masked, found.deleted, found.alone)
    by_most = sorted(found.whole, key=lambda label: -max(probs.get(label, 0.0) for probs in every))
    return [found.explains, *(label for label in by_most if label != found.explains)][:most]


def _passage(found: "Removed", cells: int) -> list[list[Part]]:
    """The lines of the text that hold the span, in which that is struck out."""
    start, end = found.place
    room = max(cells - 9, 8)
    broken = wrap(found.text, room)
    first = next((at for at, (_, stop) in enumerate(broken) if stop > start), 0)
    lines = []
    for at, (a, b) in enumerate(broken[first : first + _LINES]):
        cuts = sorted({a, b, min(max(start, a), b), min(max(end, a), b)})
        parts = [
            Part(shown(found.text, one, other), "gone" if start <= one < end else "plain")
            for one, other in pairwise(cuts)
        ]
        lines.append([Part(" taken   " if not at else " " * 9, "dim"), *parts])
    return lines


def _around(text: str, found: "Removed", cells: int) -> str:
    """As much of a form as fits on a line, from a little before where the span stood."""
    before = max(found.place[0] - cells // 3, 0)
    if before and width(text) > cells and before < len(text):
        space = text.find(" ", before)
        text = "…" + text[(space + 1 if 0 <= space < before + 20 else before) :]
    return fit(text, max(cells, 8)).rstrip()
