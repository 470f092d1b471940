"""From records, predictions and stored answers of any task to an `Answer`, and back to the keys of records."""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.records import RELATIONS, LabelsGold, Mark, ScenesGold, Span, SpanSample, parts_of, relations_of
from emotui.tasks.task import Task
from emotui.workbench.annotate.scheme import MASK, SENTENCE, TEXT, Scheme

# A text as an annotator sees it: without gold and without anybody's word.

_MASKED = re.compile(r"<mask>")


class AnnotatedText(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be annotated.

    `sentences`: where each stands; the whole text where the record has none. `masks`: where each `<mask>` stands.
    """

    number: int
    id: str
    text: str
    sentences: tuple[Span, ...]
    masks: tuple[Span, ...] = ()
    subject: str | None = None
    meta: Mapping[str, Any] = {}


def text_of(number: int, sample: Any) -> AnnotatedText:
    """The text of a sample of any task."""
    text = getattr(sample, "text", None) or ""
    found = sample.sentences if isinstance(sample, SpanSample) else ()
    return AnnotatedText(
        number=number,
        id=sample.id,
        text=text,
        sentences=tuple((one.start, one.end) for one in found) or ((0, len(text)),),
        masks=tuple(match.span() for match in _MASKED.finditer(text)),
        subject=getattr(sample, "subject", None),
        meta=getattr(sample, "meta", {}),
    )


# What anybody says about one text: spans, labels, numbers, sentences, words for masks. Gold has the same shape.


class SpanMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A span with an identity that it keeps while its borders and labels change.

    `attributes`: what further groups of the scheme say of it, by the name of the group.
    """

    id: str
    start: int
    end: int
    label: str | None = None
    attributes: Mapping[str, Any] = {}

    @property
    def mark(self) -> Mark:
        """The span as records have it; what it is tied to by the identities of spans."""
        return Mark(self.start, self.end, self.label, None, self.attributes)

    @property
    def parts(self) -> tuple[Span, ...]:
        """Where it stands: one stretch, or several in the order of the text."""
        return parts_of((self.start, self.end), self.attributes)

    @property
    def relations(self) -> tuple[tuple[str, str], ...]:
        """(identity of the other span, kind) of each relation that begins in it."""
        return relations_of(self.attributes)

    def with_relations(self, relations: Iterable[tuple[str, str]]) -> "SpanMark":
        """The span with these relations and no others."""
        rest = {name: value for name, value in self.attributes.items() if name != RELATIONS}
        ties = [{"to": to, "type": kind} for to, kind in relations]
        return replace(self, attributes={**rest, RELATIONS: ties} if ties else rest)

    def __hash__(self) -> int:
        return hash((self.id, self.start, self.end, self.label))


Placed = tuple[tuple[Span, ...], str | None]
"""The parts of a span, and its label."""


class SentenceSaid(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is said of one sentence."""

    emotion: str | None = None
    valence: str | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that one source says about one text.

    `spans` in the order of the text. `labels`: None where nothing is said of them, empty where there are none.
    `values`: numbers by name. `sentences` and `words` (for masks): by the place of the sentence or mask, from 0.
    """

    spans: tuple[SpanMark, ...] = ()
    labels: tuple[str, ...] | None = None
    values: Mapping[str, float] = {}
    sentences: Mapping[int, SentenceSaid] = {}
    words: Mapping[int, str] = {}

    @property
    def silent(self) -> bool:
        """Whether nothing is said."""
        return not (self.spans or self.labels is not None or self.values or self.sentences or self.words)

    @property
    def places(self) -> frozenset[Placed]:
        """(parts, label) of each span: what two answers are compared by, whatever the spans' identities."""
        return frozenset((span.parts, span.label) for span in self.spans)

    def span(self, id: str) -> SpanMark | None:
        """The span of this identity."""
        return next((span for span in self.spans if span.id == id), None)

    @property
    def ties(self) -> frozenset[tuple[Placed, Placed, str]]:
        """The relations between spans by where these stand and what they are called, whatever their identities."""
        placed = {span.id: (span.parts, span.label) for span in self.spans}
        return frozenset(
            (placed[span.id], placed[to], kind) for span in self.spans for to, kind in span.relations if to in placed
        )

    def same_as(self, other: "Answer") -> bool:
        """Whether both say the same, whatever the identities of the spans and the order of the labels."""
        return (
            sorted(map(_content, self.spans)) == sorted(map(_content, other.spans))
            and self.ties == other.ties
            and (None if self.labels is None else set(self.labels))
            == (None if other.labels is None else set(other.labels))
            and (self.values, self.sentences, self.words) == (other.values, other.sentences, other.words)
        )


def _content(span: SpanMark) -> tuple[int, int, str, bytes]:
    own = {name: value for name, value in span.attributes.items() if name not in ("id", RELATIONS)}
    return span.start, span.end, span.label or "", msgspec.json.encode(own, order="sorted")


def new_id() -> str:
    """An identity for a new span: eight hexadecimal digits, left to chance."""
    return secrets.token_hex(4)


def in_order(spans: Iterable[SpanMark]) -> tuple[SpanMark, ...]:
    """Spans in the order of the text; of those that start together the longer one first."""
    return tuple(sorted(spans, key=lambda span: (span.start, -span.end, span.label or "", span.id)))


def gold_answer(sample: Any, *, words: bool = False) -> Answer | None:
    """What gold says of a sample of any task; None where it says nothing, of a passage nothing of spans.

    Args:
        words: its labels are words for masks.
    """
    marks: Sequence[Mark] | None = getattr(sample, "spans", None)
    labels = _labels(sample)
    values = getattr(sample, "values", None)
    # A text that is one sentence has its emotion and valence itself.
    parts = getattr(sample, "sentences", ()) or ((sample,) if isinstance(sample, SpanSample) else ())
    sentences = {
        place: SentenceSaid(emotion=one.emotion, valence=one.valence)
        for place, one in enumerate(parts)
        if one.emotion or one.valence
    }
    if marks is None and labels is None and values is None:
        return None
    return Answer(
        spans=spans_of(marks or ()),
        labels=None if words else labels,
        values=dict(values or {}),
        sentences=sentences,
        words=dict(enumerate(labels or ())) if words else {},
    )


def _labels(sample: Any) -> tuple[str, ...] | None:
    if isinstance(sample, LabelsGold):
        return _present(sample.said)
    if hasattr(sample, "labels"):
        return _present(sample.labels)
    label = getattr(sample, "label", None)
    return (str(label),) if label else None


def _present(labels: Any) -> tuple[str, ...] | None:
    if isinstance(labels, Mapping):
        return tuple(str(name) for name, there in labels.items() if there)
    return None if labels is None else tuple(map(str, labels))


def spans_of(marks: Sequence[Mark]) -> tuple[SpanMark, ...]:
    """Marks as spans with identities of their own, by which they are tied to each other."""
    spans = [
        SpanMark(id=new_id(), start=mark.start, end=mark.end, label=mark.label, attributes=mark.attributes)
        for mark in marks
    ]
    identities = {
        str(mark.attributes["id"]): span.id for mark, span in zip(marks, spans, strict=True) if "id" in mark.attributes
    }
    return in_order(_tied_by(span, identities) for span in spans)


def fresh_spans(spans: Iterable[SpanMark]) -> tuple[SpanMark, ...]:
    """The same spans with other identities, tied to each other as before."""
    there = list(spans)
    identities = {span.id: new_id() for span in there}
    return in_order(replace(_tied_by(span, identities), id=identities[span.id]) for span in there)


def _tied_by(span: SpanMark, identities: Mapping[str, str]) -> SpanMark:
    if not span.relations:
        return span
    ties = [
        {**tie, "to": identities.get(str(tie["to"]), tie["to"])} for tie in span.attributes[RELATIONS] if "to" in tie
    ]
    return replace(span, attributes={**span.attributes, RELATIONS: ties})


def _marks(spans: Sequence[SpanMark]) -> list[Mark]:
    """Spans as records have them: those that are tied have an `id` among their attributes, `T1` and so on."""
    ends = {to for span in spans for to, _ in span.relations}
    taken = {str(span.attributes["id"]) for span in spans if "id" in span.attributes}
    free = (name for n in count(1) if (name := f"T{n}") not in taken)
    ids = {
        span.id: str(span.attributes["id"]) if "id" in span.attributes else next(free)
        for span in spans
        if span.id in ends or "id" in span.attributes
    }
    marks = []
    for span in spans:
        named = {"id": ids[span.id]} if span.id in ends else {}
        mark = _tied_by(span, ids).mark
        marks.append(replace(mark, attributes={**mark.attributes, **named}))
    return marks


def predicted_answer(task: Task, sample: Any, prediction: Any, *, words: bool = False) -> Answer | None:
    """What a prediction says, as gold would say it: its spans where they stand, its labels as decided.

    None where it cannot be said so.
    """
    try:
        found = gold_answer(task.as_gold(sample, prediction), words=words)
    except BadInput:
        return None
    if found is None or (hasattr(prediction, "sentences") and prediction.sentences):
        return found
    # What gold says of the sentences, the prediction has not said.
    return replace(found, sentences={})


def keys_of(sample: Any, answer: Answer, scheme: Scheme, sentences: Sequence[tuple[int, int]] = ()) -> dict[str, Any]:
    """An answer by the keys of records in files. What is not marked is said not to be there.

    Args:
        sentences: where the sentences stand.
    """
    keys: dict[str, Any] = {}
    if scheme.spans:
        keys["spans"] = [_item(mark) for mark in _marks(answer.spans)]
    if scheme.of(MASK):
        keys["labels"] = [answer.words.get(place, "") for place in range(1 + max(answer.words, default=-1))]
    elif any(group.labels for group in scheme.of(TEXT)):
        keys |= _label_keys(sample, answer.labels or (), several=_several(scheme))
    if any(group.scale for group in scheme.of(TEXT)):
        keys["values"] = dict(answer.values)
    if answer.sentences:
        said = [(place, answer.sentences.get(place, SentenceSaid())) for place in range(len(sentences))]
        keys["sentences"] = [
            {"start": sentences[place][0], "end": sentences[place][1], "emotion": one.emotion, "valence": one.valence}
            for place, one in said
        ]
    return keys


def as_asked(answer: Answer, scheme: Scheme) -> Answer:
    """An answer without what a scheme does not ask for."""
    scales = {group.name for group in scheme.of(TEXT) if group.scale}
    return Answer(
        spans=answer.spans if scheme.spans else (),
        labels=answer.labels if any(group.labels for group in scheme.of(TEXT)) else None,
        values={name: value for name, value in answer.values.items() if name in scales},
        sentences=answer.sentences if scheme.of(SENTENCE) else {},
        words=answer.words if scheme.of(MASK) else {},
    )


def _item(mark: Mark) -> dict[str, Any] | list[Any]:
    if mark.attributes:
        return {"start": mark.start, "end": mark.end, "label": mark.label, "attributes": dict(mark.attributes)}
    return [mark.start, mark.end] if mark.label is None else [mark.start, mark.end, mark.label]


def _several(scheme: Scheme) -> bool:
    """Whether a text may have several labels by this scheme."""
    of_texts = [group for group in scheme.of(TEXT) if group.labels]
    return len(of_texts) > 1 or any(not group.exclusive for group in of_texts)


def _label_keys(sample: Any, labels: Sequence[str], *, several: bool) -> dict[str, Any]:
    if isinstance(sample, ScenesGold):
        return {"labels": {name: int(name in labels) for name in sample.labels}}
    if hasattr(sample, "labels") or (several and not hasattr(sample, "label")):
        return {"labels": list(labels)}
    return {"label": labels[0]} if labels else {}
