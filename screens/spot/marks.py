"""The text that is tried: which stretches of it are marked, also while it is being edited."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from emotui.records import Span
from emotui.screens.spot.blocks import carrying
from emotui.screens.widgets.tier_layout import AnnotatedText, Tier

if TYPE_CHECKING:
    from emotui.screens.spot.answers import Column


def moved(spans: Sequence[Span], before: str, after: str) -> list[Span]:
    """Where spans of a text stand once it was edited in one stretch; those that the edit touches are left out."""
    if before == after:
        return list(spans)
    most = min(len(before), len(after))
    same = _most(most, lambda size: before[:size] == after[:size])
    tail = _most(most - same, lambda size: not size or before[-size:] == after[-size:])
    shift, behind = len(after) - len(before), len(before) - tail
    kept = [(start, end) for start, end in spans if end <= same]
    return kept + [(start + shift, end + shift) for start, end in spans if start >= behind and end > same]


def _most(size: int, holds: Callable[[int], bool]) -> int:
    """The largest size up to this one that holds, where all smaller ones do. By halves: slices compare fast."""
    low, high = 0, size
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def evidence(column: "Column | None", text: str) -> list[Span]:
    """What the model marked, in the text as it is now."""
    answer = column.answers.get("spans") if column is not None else None
    if answer is None or answer.probe.spans is None:
        return []
    return moved([(span.start, span.end) for span in answer.probe.spans], answer.text, text)


def carried(column: "Column | None", text: str) -> list[Span]:
    """The words that carry the model's label, in the text as it is now."""
    answer = column.answers.get("words") if column is not None else None
    if answer is None:
        return []
    return moved([(start, end) for start, end, _ in carrying(answer.probe.words)], answer.text, text)


def who_marked_what(columns: Sequence["Column"], text: str) -> AnnotatedText:
    """The text with a row for each model's evidence and one for the words that carry its label."""
    tiers = []
    for number, column in enumerate(columns):
        letter = "AB"[number] + " " if len(columns) > 1 else ""
        role = "predicted" if number == 0 else "annotator"
        tiers.append(Tier(f"{letter}evidence", role, tuple(evidence(column, text)), inline=number == 0))
        words = tuple(carried(column, text))
        tiers.append(Tier(f"{letter}carries", "annotator", words, inline=False, dotted=words))
    return AnnotatedText(text, tuple(tiers), rows=True)
