"""The text of a comparison: gold underlined, what both sources mark in rows under the words."""

from typing import TYPE_CHECKING

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
