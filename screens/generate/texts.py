"""Original, neutral and emotional text beside each other or stacked, the words that differ marked by sign and style."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.metrics.rephrasings import word_diff
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.charts import side_by_side
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.workbench.generation.versions import Version, Versions

BESIDE = 84
"""Cells from which on the three texts stand beside each other."""

WIDEST = 90
_WORD = re.compile(r"\S+")

Places = Sequence[tuple[int, int]]
"""Offsets `[start, end)` into a text."""


def differing(before: str, after: str) -> tuple[Places, Places]:
    """Where `before` has words that `after` lacks, and where `after` has words that `before` lacks."""
    changes = word_diff(before, after)
    gone = [(one.start, one.end) for one in changes if one.kind == "removed"]
    new = [(one.start, one.end) for one in changes if one.kind == "added"]
    return gone, new


def marked(text: str, places: Places, sign: str, kind: str, cells: int) -> list[list[Part]]:
    """The text in lines of so many cells; each run of words at `places` stands in brackets after its sign."""
    starts, ends = {start for start, _ in places}, {end for _, end in places}
    lines: list[list[Part]] = [[]]
    used, inside = 0, False
    for word in _WORD.finditer(text):
        inside = inside or word.start() in starts
        said = shown(word.group())
        if word.start() in starts:
            said = f"{sign}[{said}"
        closes = inside and word.end() in ends
        if closes:
            said += "]"
        size = width(said)
        if used and used + 1 + size > cells:
            lines.append([])
            used = 0
        if used:
            lines[-1].append(Part(" "))
            used += 1
        lines[-1].append(Part(said, kind if inside else "plain"))
        used += size
        inside = inside and not closes
    return lines


def three_texts(found: "Versions", version: "Version | None", cells: int, *, against_original: bool) -> Lines:
    """The texts in so many cells, each under a heading that says what its marks are of."""
    neutral = "" if version is None else version.neutral
    emotional = "" if version is None else version.emotional
    beside = cells >= BESIDE
    room = (cells - 4) // 3 if beside else min(cells, WIDEST)
    gone, new = differing(found.original, neutral) if neutral else ([], [])
    first = found.original if against_original else neutral
    injected = differing(first, emotional)[1] if emotional and first else []
    of = "original" if against_original else "neutral"
    blocks = [
        _block("original", "−[ ] left out" if gone else "", found.original, gone, "−", "gone", room),
        _block("neutral", _about_neutral(neutral, gone, new), neutral, new, "+", "new", room),
        _block(
            f"emotional: {found.target}",
            f"+[ ] not in {of}" if injected else _same(emotional, f"as the {of}"),
            emotional,
            injected,
            "+",
            "new",
            room,
        ),
    ]
    if version is not None and version.silent:
        blocks[1 if not version.neutral else 2].append([Part(_why_silent(version), "mark")])
    if beside:
        return side_by_side(blocks, [room] * 3, cells)
    return [line for block in blocks for line in block]


def _about_neutral(neutral: str, gone: Places, new: Places) -> str:
    if new:
        return "+[ ] not in original"
    return _same(neutral, "nothing new" if gone else "as the original")


def _same(text: str, words: str) -> str:
    return words if text else ""


def _why_silent(version: "Version") -> str:
    if version.refused:
        return f"! refused to {version.refused[0]}"
    return f"! {shown(version.error)}" if version.error else "! there is no such version"


def _block(name: str, about: str, text: str, places: Places, sign: str, kind: str, cells: int) -> list[list[Part]]:
    head = fit(name, min(cells, len(name) + 2)) + fit(about, max(cells - len(name) - 2, 0))
    lines = [[Part(head[: len(name)], "strong"), Part(head[len(name) :].rstrip(), "dim")]]
    return [*lines, *marked(text, places, sign, kind, cells)]
