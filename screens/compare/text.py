"""The text of a comparison: gold underlined, what both sources mark in rows under the words."""

import textwrap
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.tier_layout import AnnotatedText, Tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emotui.records import Mark
    from emotui.workbench.compare.pairs import Marks


def annotated(marks: "Marks") -> AnnotatedText:
    """The text with a row each for gold, A and B; rows only where somebody marks something."""
    sides = (
        ("gold", "gold", marks.gold, True),
        ("A", "predicted", marks.first, False),
        ("B", "annotator", marks.second, False),
    )
    drawn = tuple(_tier(name, role, said, inline=inline) for name, role, said, inline in sides if said)
    return AnnotatedText(marks.text, drawn, rows=bool(drawn))


def _tier(name: str, role: str, marks: "Sequence[Mark]", *, inline: bool) -> Tier:
    labels = tuple(((mark.start, mark.end), mark.label) for mark in marks if mark.label is not None)
    return Tier(name, role, tuple((mark.start, mark.end) for mark in marks), inline, labels=labels)


def said_lines(marks: "Marks", cells: int) -> list[list[Part]]:
    """What gold, A and B say of each thing that is no span: in a line where it fits into one, else a line each."""
    if not (marks.lines or marks.gold or marks.first or marks.second):
        return [[Part("gold, A and B: nothing in this text", "dim")]]
    found: list[list[Part]] = []
    for name, *said in marks.lines:
        same = said[1] == said[2]
        words = [f"{who} {shown(one) or '–'}" for who, one in zip(("gold", "A", "B"), said, strict=True)]
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
