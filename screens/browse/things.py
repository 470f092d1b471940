"""What met what in a sample: pairs of a gold and a predicted span, and those of either side that stand alone."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from emotui.records import Span
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, share

if TYPE_CHECKING:
    from emotui.metrics.nearest import Nearest
    from emotui.records import SpanSample
    from emotui.workbench.source import PredictedSpan, RepeatView

NEAR = 0.5
"""A passage at least as near as this to a hallucinated span is named; below, it shares little but small words."""

_WORDS = {
    "!": "invalid",
    "H": "not in the text",
    "F": "only the keyword",
    "N": "neutral sentence",
    "M": "missed",
    "X": "extra",
    "L": "wrong label",
}


class Near(msgspec.Struct, frozen=True):
    """The passage `[start, end)` of the text that comes nearest to a hallucinated span, and their token F1."""

    place: Span
    text: str
    f1: float


class Thing(msgspec.Struct, frozen=True):
    """One entry of a score's margin: a gold span, the predicted span that met it, or one of them alone.

    `gold_place` and `said_place`: where they stand in the text; None of a predicted one that is not in it. `f1` and
    `sim`: of a pair. `marks`: letters of what is wrong. `labels`: the gold span's and the predicted one's; `strength`:
    what the predicted one's source gave it. `near`: of a hallucinated span; None where nothing in the text is near.
    `drop`: how the live model's answer changes without it, with its kind, behind the label of that answer where it is
    not the one of the span; None where nobody asked.
    """

    gold: str | None = None
    said: str | None = None
    gold_place: Span | None = None
    said_place: Span | None = None
    f1: float | None = None
    sim: float | None = None
    marks: str = ""
    labels: tuple[str | None, str | None] = (None, None)
    strength: float | None = None
    near: Near | None = None
    drop: tuple[str, str] | None = None

    @property
    def places(self) -> tuple[Span, ...]:
        """Where it stands in the text, one or both sides of it; of a hallucinated span what is near it."""
        found = tuple(place for place in (self.gold_place, self.said_place) if place is not None)
        return found or (() if self.near is None else (self.near.place,))

    @property
    def start(self) -> int | None:
        """Where it begins in the text; None where it is not in it."""
        return min((place[0] for place in (self.gold_place, self.said_place) if place is not None), default=None)

    @property
    def words(self) -> str:
        """What is wrong, in words; empty where nothing is."""
        return ", ".join(_WORDS[mark] for mark in self.marks)


def things(
    sample: "SpanSample", said: "RepeatView | None", near: "Mapping[int, Nearest | None]" = MappingProxyType({})
) -> list[Thing]:
    """In the order of the text, and after them what is not in it; without an answer the gold spans alone.

    Args:
        near: by the place of a predicted span.
    """
    if said is None or said.detail is None:
        found = _alone(sample, () if said is None else said.spans)
    else:
        found = _met(sample, said, near)
    last = len(sample.text)
    return sorted(found, key=lambda one: last if one.start is None else one.start)


def _alone(sample: "SpanSample", said: "Sequence[PredictedSpan]") -> list[Thing]:
    """Spans that there is nothing to compare with."""
    found = [
        Thing(gold=sample.text[mark.start : mark.end], gold_place=mark.place, labels=(mark.label, None))
        for mark in sample.spans or ()
    ]
    return found + [
        Thing(said=span.text, said_place=span.place, labels=(None, span.label), strength=span.score) for span in said
    ]


def _met(sample: "SpanSample", said: "RepeatView", near: "Mapping[int, Nearest | None]") -> list[Thing]:
    """Pairs with words in common, and all others alone: two spans that share nothing have not met."""
    detail = said.detail
    assert detail is not None
    gold, pairs = sample.spans or (), [pair for pair in detail.pairs if pair.f1]
    wrong = set(detail.wrong_labels)
    by_mark = {"H": detail.hallucinated, "F": detail.fixated, "N": detail.neutral_hits, "X": detail.extra}
    members = {mark: frozenset(places) for mark, places in by_mark.items()}

    def marks(place: int) -> str:
        letters = "".join(mark for mark, there in members.items() if place in there)
        sharper = "H" in letters or "N" in letters
        return (letters.replace("X", "") if sharper else letters) + ("L" if place in wrong else "")

    def predicted(place: int) -> Thing:
        span = said.spans[place] if place < len(said.spans) else None
        return Thing(
            said=detail.predicted[place],
            said_place=detail.located[place] if span is None else span.place,
            marks=marks(place),
            labels=(None, None if span is None else span.label),
            strength=None if span is None else span.score,
            near=_near(sample, near.get(place)),
        )

    def of_gold(place: int) -> Thing:
        mark = gold[place] if place < len(gold) else None
        at, label = (None, None) if mark is None else (mark.place, mark.label)
        return Thing(gold=detail.gold[place], gold_place=at, marks="M", labels=(label, None))

    found = []
    for pair in pairs:
        mine, theirs = of_gold(pair.gold), predicted(pair.predicted)
        labels = mine.labels[0], theirs.labels[1]
        found.append(
            msgspec.structs.replace(
                theirs, gold=mine.gold, gold_place=mine.gold_place, f1=pair.f1, sim=pair.sim, labels=labels
            )
        )
    met_gold, met_said = {pair.gold for pair in pairs}, {pair.predicted for pair in pairs}
    found += [of_gold(place) for place in range(len(detail.gold)) if place not in met_gold]
    return found + [predicted(place) for place in range(len(detail.predicted)) if place not in met_said]


def _near(sample: "SpanSample", one: "Nearest | None") -> Near | None:
    if one is None or one.f1 < NEAR:
        return None
    return Near((one.start, one.end), sample.text[one.start : one.end], one.f1)


def first_wrong(found: Sequence[Thing], marks: str = "") -> int:
    """The place of the first with one of these letters, else of the first with any, else 0."""
    for wanted in (marks, "HFNMXL"):
        for place, one in enumerate(found):
            if set(wanted) & set(one.marks):
                return place
    return 0


# What stands in the margin beside each span of a score: F1, letters of what is wrong, labels.

LEGEND = (
    "marks: H not in the text, F only the keyword, N neutral sentence, M missed, X extra, L wrong label, ! invalid",
    "over the list: a letter is the worst mark of a few samples, small where most have none, · where all have none",
)
"""What the letters beside samples and spans say, and those in the line over the list."""

_SIGN = 3
_NARROW, _ROOMY = 62, 90
_LABEL, _LABEL_ROOMY = 14, 24
_LABEL_HEAD, _UNSCORED_HEAD, _DROP_HEAD = "label", "label unscored", "change"
_MOST_DROP = 12


class MarginShape(msgspec.Struct, frozen=True):
    """Widths in cells; 0 leaves a column out. `unscored`: F1 is of spans alone, and labels are in no figure."""

    f1: int = 0
    marks: int = 0
    label: int = 0
    drop: int = 0
    unscored: bool = False

    @property
    def cells(self) -> int:
        """Of the whole margin, with what parts it from the text."""
        columns = [size for size in (self.f1, self.drop, self.marks, self.label) if size]
        return _SIGN + sum(columns) + len(columns) - 1 if columns else 0


def margin_shape(things: Sequence[Thing], cells: int, *, unscored: bool = False) -> MarginShape:
    """The columns that these things need, beside a text in so many cells; labels go first where it is narrow.

    Args:
        unscored: there are labels, and gold has none to score them by.
    """
    if not things:
        return MarginShape()
    longest = max(sum(width(part.text) for part in label_parts(one)) for one in things)
    longest = max(longest, len(_UNSCORED_HEAD if unscored else _LABEL_HEAD)) if longest else 0
    room = 0 if cells < _NARROW else _LABEL if cells < _ROOMY else _LABEL_ROOMY
    drops = [width(one.drop[0]) for one in things if one.drop is not None]
    return MarginShape(
        4 if any(one.f1 is not None for one in things) else 0,
        max(len(one.marks) for one in things),
        min(longest, room) if min(longest, room) >= 4 or longest <= room else 0,
        min(max(*drops, len(_DROP_HEAD)), _MOST_DROP) if drops else 0,
        unscored,
    )


def heads(shape: MarginShape) -> list[Part]:
    """The names of the columns."""
    label = _UNSCORED_HEAD if shape.unscored and shape.label >= len(_UNSCORED_HEAD) else _LABEL_HEAD
    said = [(shape.f1, "  F1"), (shape.drop, f"{_DROP_HEAD:>{shape.drop}}"), (shape.marks, ""), (shape.label, label)]
    return [Part(" " * _SIGN), *_apart([[Part(fit(name, size), "dim")] for size, name in said if size])]


def note(one: Thing, shape: MarginShape, *, here: bool) -> list[Part]:
    """A thing's line of the margin; `here`: the cursor stands on it."""
    columns = []
    if shape.f1:
        columns.append([Part(share(one.f1) if one.f1 is not None else " " * shape.f1)])
    if shape.drop:
        columns.append([_figure(one.drop, shape.drop)])
    if shape.marks:
        columns.append([Part(fit(one.marks, shape.marks), "mark")])
    if shape.label:
        columns.append(cut_to(label_parts(one), shape.label))
    if not here:
        return [Part(" " * _SIGN), *_apart(columns)]
    # In one style, since a colour of its own would be a hole in what is reversed.
    return [Part(" "), Part("▸ " + "".join(part.text for part in _apart(columns)), "picked")]


def _figure(said: tuple[str, str] | None, cells: int) -> Part:
    text, kind = said or ("", "plain")
    return Part(f"{text:>{cells}}", kind)


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
    """The parts in exactly so many cells; an ellipsis ends what is cut, also where whole parts are left out."""
    kept: list[Part] = []
    room = cells
    left = sum(width(part.text) for part in parts)
    for part in parts:
        size = width(part.text)
        left -= size
        if size > room or (size == room and left):
            # One more sign than there is room for, so that the ellipsis comes even where this part ends at the edge.
            return [*kept, Part(fit(part.text + "…", room), part.kind, part.press)] if room > 0 else kept
        kept.append(Part(fit(part.text, size), part.kind, part.press))
        room -= size
    return [*kept, Part(" " * room)] if room else kept


def _apart(columns: Sequence[list[Part]]) -> list[Part]:
    found: list[Part] = []
    for column in columns:
        found += [*([Part(" ")] if found else []), *column]
    return found
