"""What stands in the margin beside each span of a score: F1, letters of what is wrong, labels."""

from collections.abc import Sequence

import msgspec

from emotui.screens.browse.things import Thing
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, share

_SIGN = 3
_NARROW, _ROOMY = 62, 90
_LABEL, _LABEL_ROOMY = 12, 24
_LABEL_HEAD = "label"


class MarginShape(msgspec.Struct, frozen=True):
    """Widths in cells; 0 leaves a column out."""

    f1: int = 0
    marks: int = 0
    label: int = 0

    @property
    def cells(self) -> int:
        """Of the whole margin, with what parts it from the text."""
        columns = [size for size in (self.f1, self.marks, self.label) if size]
        return _SIGN + sum(columns) + len(columns) - 1 if columns else 0


def margin_shape(things: Sequence[Thing], cells: int) -> MarginShape:
    """The columns that these things need, beside a text in so many cells; labels go first where it is narrow."""
    if not things:
        return MarginShape()
    longest = max(sum(width(part.text) for part in label_parts(one)) for one in things)
    longest = max(longest, len(_LABEL_HEAD)) if longest else 0
    room = 0 if cells < _NARROW else _LABEL if cells < _ROOMY else _LABEL_ROOMY
    return MarginShape(
        4 if any(one.f1 is not None for one in things) else 0,
        max(len(one.marks) for one in things),
        min(longest, room) if min(longest, room) >= 4 or longest <= room else 0,
    )


def heads(shape: MarginShape) -> list[Part]:
    """The names of the columns."""
    said = [(shape.f1, "  F1"), (shape.marks, ""), (shape.label, _LABEL_HEAD)]
    return [Part(" " * _SIGN), *_apart([[Part(fit(name, size), "dim")] for size, name in said if size])]


def note(one: Thing, shape: MarginShape, *, here: bool) -> list[Part]:
    """A thing's line of the margin; `here`: the cursor stands on it."""
    columns = []
    if shape.f1:
        columns.append([Part(share(one.f1) if one.f1 is not None else " " * shape.f1)])
    if shape.marks:
        columns.append([Part(fit(one.marks, shape.marks), "mark")])
    if shape.label:
        columns.append(cut_to(label_parts(one), shape.label))
    if not here:
        return [Part(" " * _SIGN), *_apart(columns)]
    # In one style, since a colour of its own would be a hole in what is reversed.
    return [Part(" "), Part("▸ " + "".join(part.text for part in _apart(columns)), "picked")]


def label_parts(one: Thing) -> list[Part]:
    """One label where there is one span or they are the same, `gold≠predicted` where they differ."""
    gold, said = (None if label is None else shown(label) for label in one.labels)
    if gold is None and said is None:
        return []
    if one.gold is None or one.said is None or gold == said:
        return [Part(gold or said or "", "gold" if gold is not None else "said")]
    if gold is None or said is None:
        return [Part(gold, "gold") if gold is not None else Part(said or UNDEFINED, "said")]
    return [Part(gold, "gold"), Part("≠", "mark"), Part(said, "said")]


def cut_to(parts: Sequence[Part], cells: int) -> list[Part]:
    """The parts in exactly so many cells, of which each that is cut ends in an ellipsis."""
    kept, room = [], cells
    for part in parts:
        if room <= 0:
            break
        text = fit(part.text, min(width(part.text), room))
        kept.append(Part(text, part.kind, part.press))
        room -= width(text)
    return [*kept, Part(" " * room)] if room else kept


def _apart(columns: Sequence[list[Part]]) -> list[Part]:
    found: list[Part] = []
    for column in columns:
        found += [*([Part(" ")] if found else []), *column]
    return found
