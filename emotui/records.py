"""The frozen records that flow through emotui, one a kind of line in its files.

Offsets are Unicode code points into `text`, half open `[start, end)`. Reading, checking and writing: `emotui.formats`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

Span = tuple[int, int]
"""`(start, end)`, `0 <= start < end <= len(text)`."""


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """A span of a text with what is said of it. Marks may overlap, and one place may have several labels.

    `score`: how sure the source is of it, or how strong it is, on the source's own scale. `attributes`: columns of
    the source's own.
    """

    start: int
    end: int
    label: str | None = None
    score: float | None = None
    attributes: Mapping[str, Any] = {}

    def __hash__(self) -> int:
        return hash((self.start, self.end, self.label, self.score))

    @property
    def place(self) -> Span:
        """Its offsets."""
        return self.start, self.end

    @property
    def parts(self) -> tuple[Span, ...]:
        """Its offsets, one behind the other where it has several parts."""
        return parts_of(self.place, self.attributes)

    @property
    def plain(self) -> bool:
        """Whether nothing but its offsets is said."""
        return self.label is None and self.score is None and not self.attributes


PARTS, RELATIONS = "fragments", "relations"
"""Attributes of a span: the offsets of its parts; `{to, type}` for each span that it is tied to, by that one's `id`."""


def parts_of(place: Span, attributes: Mapping[str, Any]) -> tuple[Span, ...]:
    """The parts of a span that stands from the first to the last of them; the place itself where it has one."""
    found = attributes.get(PARTS)
    if not isinstance(found, list | tuple) or len(found) < 2:
        return (place,)
    return tuple((part[0], part[1]) for part in found)


def relations_of(attributes: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """(id of the other span, kind) of each relation that a span begins."""
    found = attributes.get(RELATIONS)
    if not isinstance(found, list | tuple):
        return ()
    ties = [one for one in found if isinstance(one, Mapping) and one.get("to") is not None]
    return tuple((str(one["to"]), str(one.get("type") or "")) for one in ties)


Tie = tuple[tuple[Span, ...], tuple[Span, ...], str]
"""The parts of the span that a relation begins in, those of the one that it ends in, and its kind."""


def ties(marks: Iterable[Mark]) -> frozenset[Tie]:
    """The relations between marks by where their ends stand; one to a mark that is not among them is left out."""
    there = list(marks)
    by_id = {str(mark.attributes["id"]): mark for mark in there if "id" in mark.attributes}
    return frozenset(
        (mark.parts, by_id[to].parts, kind)
        for mark in there
        for to, kind in relations_of(mark.attributes)
        if to in by_id
    )


def places(marks: Iterable[Mark] | None) -> tuple[Span, ...]:
    """The offsets of marks, in their order; none where nothing is said."""
    return tuple([(mark.start, mark.end) for mark in marks or ()])


def marks_at(spans: Iterable[Span]) -> tuple[Mark, ...]:
    """Marks of which nothing is said but where they are."""
    return tuple([Mark(start, end) for start, end in spans])


SEER_EMOTIONS = ("happy", "sad", "disgust", "contempt", "fear", "angry", "surprise")
"""SEER section 5.2, without `neutral`."""

MASKED = "<mask>"
"""What stands in a text for a word that is to be filled in."""

PLUTCHIK = ("joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation")
"""Plutchik's eight, in the order of EmoScene."""

VALENCES = ("positive", "negative", "neutral")

ALL_SENTENCES = "all_sentences"
"""In `meta` of a passage: the labels of all its sentences, in order, where some have no place in the text."""


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence of a passage, with its own gold emotion and valence."""

    start: int
    end: int
    emotion: str | None = None
    valence: str | None = None


class SpanSample(msgspec.Struct, frozen=True, kw_only=True):
    """A text with gold emotion-evidence spans (SEER); `spans, gold` in the file formats.

    `spans`: None where nobody has said what is gold (the text is unlabelled); empty where there is nothing to mark.
    """

    id: str
    text: str
    spans: tuple[Mark, ...] | None = None
    emotion: str | None = None
    valence: str | None = None
    sentences: tuple[Sentence, ...] = ()
    annotators: Mapping[str, tuple[Mark, ...]] = {}
    subject: str | None = None
    meta: Mapping[str, Any] = {}

    @property
    def places(self) -> tuple[Span, ...]:
        """The offsets of its gold spans; none where it is unlabelled."""
        return places(self.spans)


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text to ask a model about, gold or not: what `emotui predict` reads from records of any kind."""

    id: str
    text: str
    subject: str | None = None
    meta: Mapping[str, Any] = {}


class SpanPrediction(msgspec.Struct, frozen=True, kw_only=True):
    """What a model said about one sample: its spans, or its raw output with the style it was asked in.

    A span is a mark where the model gave its place, and a string where it wrote it. `sentences`: what is said of the
    sentences too.
    """

    id: str
    spans: tuple[str | Mark, ...] | None = None
    sentences: tuple[Sentence, ...] = ()
    output: str | None = None
    style: str | None = None
    repeat: int = 0
    cot: bool = False


class ScenesGold(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario's gold vector over named labels (EmoScene).

    `unknown`: labels that are asked about though gold does not say whether they are there; their value means nothing.
    """

    id: str
    labels: Mapping[str, int]
    text: str | None = None
    subject: str | None = None
    annotators: Mapping[str, Mapping[str, int]] = {}
    meta: Mapping[str, Any] = {}
    unknown: tuple[str, ...] = ()

    @property
    def gold(self) -> Mapping[str, int] | None:
        """The vector; None where gold does not say all of it."""
        return None if self.unknown else self.labels


class ScenesPrediction(msgspec.Struct, frozen=True, kw_only=True):
    """Predicted labels, or `[logit_yes, logit_no]` a label.

    `hard`: `labels` are what a model said in words; no probability is known, and they are no gold beside scores.
    `censored`: labels of which a server kept back one side (`yes`, `no`) or `both`: its score is the highest possible.
    `little_mass`: labels of which a model's first token is likelier something else than yes or no. `unanswered`: those
    about which it came to no answer; even scores stand for it, or a 0 where it answers in words.
    """

    id: str
    labels: Mapping[str, int] | None = None
    scores: Mapping[str, tuple[float, float]] | None = None
    hard: bool = False
    confidence: Mapping[str, int] = {}
    censored: Mapping[str, str] = {}
    little_mass: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()


class MaskedGold(msgspec.Struct, frozen=True, kw_only=True):
    """The masked emotion words of a text, in order (EXPRESS)."""

    id: str
    labels: tuple[str, ...]
    text: str | None = None
    subject: str | None = None
    meta: Mapping[str, Any] = {}


class MaskedPrediction(msgspec.Struct, frozen=True, kw_only=True):
    """A model's words, one a mask; a short or long list is compared position by position."""

    id: str
    labels: tuple[str, ...]
    setting: str | None = None


class ClassGold(msgspec.Struct, frozen=True, kw_only=True):
    """A text with one gold label. Without `label` nothing is said about the text: it is unlabelled."""

    id: str
    text: str
    label: str | None = None
    subject: str | None = None
    meta: Mapping[str, Any] = {}

    @property
    def gold(self) -> str:
        """The label of a text that is known to be labelled."""
        assert self.label is not None
        return self.label


class ClassPrediction(msgspec.Struct, frozen=True, kw_only=True):
    """A predicted label, or probabilities over labels.

    `little_mass`: labels of which a model's first token is likelier something else than yes or no.
    """

    id: str
    label: str | None = None
    probs: Mapping[str, float] | None = None
    little_mass: tuple[str, ...] = ()


class LabelsGold(msgspec.Struct, frozen=True, kw_only=True):
    """A text with any number of gold labels: a list, or 0 or 1 by label; or one of them in `label`.

    Without `labels` and `label` nothing is said about the text: it is unlabelled, not without labels.
    `annotators`: the labels that each of them gives.
    """

    id: str
    text: str | None = None
    labels: tuple[str, ...] | Mapping[str, int] | None = None
    label: str | None = None
    annotators: Mapping[str, tuple[str, ...]] = {}
    subject: str | None = None
    meta: Mapping[str, Any] = {}

    @property
    def said(self) -> tuple[str, ...] | Mapping[str, int] | None:
        """The gold labels in whichever field they stand; None where the text is unlabelled."""
        return self.labels if self.label is None else (self.label,)


class LabelsPrediction(msgspec.Struct, frozen=True, kw_only=True):
    """Predicted labels as a list, or 0 or 1, or a probability, by label. An empty object: there is no answer.

    `given`: beside probabilities the labels that the model itself gives, where these are not those from 0.5 on.
    `little_mass`: labels of which a model's first token is likelier something else than yes or no.
    `unanswered`: beside a list, labels that it lacks because a model that was asked yes or no in words said neither.
    """

    id: str
    labels: tuple[str, ...] | Mapping[str, float]
    given: tuple[str, ...] | None = None
    little_mass: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()


class ValuesGold(msgspec.Struct, frozen=True, kw_only=True):
    """A text with gold numbers by name: valence, arousal, dominance, or a scale of one's own.

    Without `values` nothing is said about the text: it is unlabelled. `annotators`: `{"values": {name: number}}` each.
    """

    id: str
    text: str | None = None
    values: Mapping[str, float] | None = None
    subject: str | None = None
    annotators: Mapping[str, Mapping[str, Mapping[str, float]]] = {}
    meta: Mapping[str, Any] = {}


class ValuesPrediction(msgspec.Struct, frozen=True, kw_only=True):
    """Predicted numbers by name. An empty object: there is no answer."""

    id: str
    values: Mapping[str, float]


LONGEST_REPHRASING = 20_000
"""Characters that a rephrasing may have: what is longer was pasted by mistake."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One rephrasing and what the classifier said to it.

    `confidence`: the classifier's, in the gold label. `suggested`: a model wrote the text. `similarity`: cosine with
    the original.
    """

    text: str
    predicted: str
    confidence: float | None = None
    suggested: bool = False
    similarity: float | None = None


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """An original and the rephrasings of it, in order (hard emotion test sets).

    `predicted`: the classifier's label for the original. `model`, `identity`: which classifier, as a SPEC and as a hash
    of all that can change what it says.
    """

    id: str
    text: str
    label: str
    attempts: tuple[Attempt, ...]
    predicted: str | None = None
    skipped: bool = False
    annotator: str | None = None
    model: str | None = None
    identity: str | None = None


class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """A text neutralised and re-injected with an emotion by a model.

    `human`, `human_neutral`: the labels that raters gave the emotional and the neutral version. `failed`: the model did
    not answer, or refused; a version may be empty then.
    """

    id: str
    model: str
    target: str
    original: str
    neutral: str
    emotional: str
    human: tuple[str, ...] = ()
    human_neutral: tuple[str, ...] = ()
    failed: bool = False


class GenerationGold(msgspec.Struct, frozen=True, kw_only=True):
    """A text to be neutralised and re-injected; `label` is the emotion that it is to show then."""

    id: str
    text: str
    label: str
    subject: str | None = None
    meta: Mapping[str, Any] = {}


class Rewriting(msgspec.Struct, frozen=True, kw_only=True):
    """What one source made of a text, without the text itself. Both versions are empty where it failed."""

    id: str
    neutral: str
    emotional: str
    human: tuple[str, ...] = ()
    human_neutral: tuple[str, ...] = ()


class Rating(msgspec.Struct, frozen=True, kw_only=True):
    """One rater's label of one item. `seconds`: how long it took, where that is known."""

    item: str
    rater: str
    label: str
    seconds: float | None = None


class SampleNote(msgspec.Struct, frozen=True, kw_only=True):
    """What a person noted about a sample, and the codes that stand for it. `made`: when, UTC, ISO 8601."""

    id: str
    annotator: str | None = None
    note: str = ""
    codes: tuple[str, ...] = ()
    made: str | None = None


class SampleScore(msgspec.Struct, frozen=True, kw_only=True):
    """One sample's score, for paired comparison. `group`: what it shares with other samples, such as a passage."""

    id: str
    score: float
    group: str | None = None
    repeat: int = 0
