"""What the values of a record must be beyond their types. Each check gives the first fault, or None."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Any

import msgspec

from emotui.formats.rows import shown
from emotui.records import (
    LONGEST_REPHRASING,
    Attempt,
    Chain,
    ClassGold,
    ClassPrediction,
    Generation,
    GenerationGold,
    LabelsGold,
    LabelsPrediction,
    Mark,
    MaskedGold,
    Rating,
    SampleNote,
    SampleScore,
    ScenesGold,
    ScenesPrediction,
    SpanPrediction,
    SpanSample,
    ValuesGold,
    ValuesPrediction,
)

STYLES = ("retrieve", "highlight")
MOST_REPEATS = 2**31 - 1
# A float32 softmax may overshoot 1 by its rounding.
PROBABILITY_ROUNDING = 1e-6

_KEYS: dict[type[msgspec.Struct], tuple[str, ...]] = {
    SpanPrediction: ("id", "repeat"),
    Generation: ("id", "model"),
    Rating: ("item", "rater"),
    SampleNote: ("id", "annotator"),
    SampleScore: ("id", "repeat"),
}


def key_fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields that together may occur once in a file: `id`, except where a file holds several records of one id."""
    return _KEYS.get(kind, ("id",))


@cache
def fault_of(kind: type[msgspec.Struct]) -> Callable[[Any], str | None]:
    """What says of a record of this kind what is wrong with it by itself, in words for a person; None if nothing is."""
    check = _CHECKS.get(kind)
    return check or (lambda record: _empty(record, *_name_fields(kind)))


def _name_fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(field for field in key_fields(kind) if field != "repeat")


def fault(record: msgspec.Struct) -> str | None:
    """What is wrong with a record by itself, in words for a person; None if nothing is."""
    return fault_of(type(record))(record)


VECTORS = (ScenesGold, ScenesPrediction)
"""Records that have the same labels throughout a file."""


def label_set(record: msgspec.Struct) -> Mapping[str, object] | None:
    """The labels of a vector record (scenes), which must be the same ones throughout a file.

    Returns: None for other kinds, and for a prediction without any label: a model that gave no answer.
    """
    if isinstance(record, ScenesGold):
        return record.labels
    if isinstance(record, ScenesPrediction):
        return record.labels or record.scores
    return None


def label_set_fault(labels: Iterable[str], expected: Iterable[str], of: str) -> str | None:
    """How `labels` differ from the `expected` ones `of` somewhere, in any order; None if they do not."""
    labels, expected = set(labels), set(expected)
    if missing := sorted(expected - labels):
        return f"label {shown(missing[0])} is missing (it is among those {of})"
    if surplus := sorted(labels - expected):
        return f"label {shown(surplus[0])} is not among those {of}"
    return None


def _span(start: int, end: int, length: int, name: str) -> str | None:
    where = f"{name} {shown([start, end])}"
    if start < 0:
        return f"{where} starts before the text"
    if start == end:
        return f"{where} is empty"
    if start > end:
        return f"{where} ends before it starts"
    if end > length:
        return f"{where} ends past the text, which has {length} characters"
    return None


def _marks(marks: Sequence[Mark], length: int, name: str = "span") -> str | None:
    for mark in marks:
        if not 0 <= mark.start < mark.end <= length:
            return _span(mark.start, mark.end, length, name)
        if not mark.plain and (wrong := _said(mark, name)):
            return wrong
    if len(marks) > 1 and (twice := _twice((mark.start, mark.end, mark.label) for mark in marks)):
        start, end, label = twice
        return f"{name} {[start, end]} stands twice" + (f" with the label {shown(label)}" if label else "")
    return None


def _said(mark: Mark, name: str) -> str | None:
    where = f"{name} {shown([mark.start, mark.end])}"
    if mark.label is not None and not mark.label.strip():
        return f"{where} has an empty label: leave it out"
    if mark.score is not None and not isfinite(mark.score):
        return f"{where} has a score that is not finite"
    return None


def _twice(marks: Iterable[tuple[int, int, str | None]]) -> tuple[int, int, str | None] | None:
    seen = set()
    for mark in marks:
        if mark in seen:
            return mark
        seen.add(mark)
    return None


def _empty(record: Any, *names: str) -> str | None:
    for name in names:
        if not getattr(record, name):
            return f"`{name}` is empty"
    return None


def _span_sample(record: SpanSample) -> str | None:
    length = len(record.text)
    wrong = _empty(record, "id") or _marks(record.spans or (), length)
    if wrong is None and record.sentences:
        wrong = _sentences(record, length)
    if wrong is None:
        for name, spans in record.annotators.items():
            wrong = wrong or _marks(spans, length, f"annotator {shown(name)}: span")
    return wrong


def _sentences(record: SpanSample, length: int) -> str | None:
    reached = 0
    for sentence in record.sentences:
        start, end = sentence.start, sentence.end
        if wrong := _span(start, end, length, "sentence"):
            return wrong
        if start < reached:
            return f"sentence [{start}, {end}] starts before the one ahead of it ends, at {reached}"
        reached = end
    return None


def _span_prediction(record: SpanPrediction) -> str | None:
    if record.spans is None and record.output is None:
        return "needs `spans` (a list of strings or of spans), or `output` with `style`"
    if record.spans is not None and record.output is not None:
        return "has both `spans` and `output`: leave one out"
    if record.output is not None and record.style is None:
        return "`output` needs `style`: retrieve or highlight"
    if record.style is not None and record.style not in STYLES:
        return f"`style` must be retrieve or highlight, not {shown(record.style)}"
    if not 0 <= record.repeat <= MOST_REPEATS:
        return f"`repeat` must be from 0 to {MOST_REPEATS}, not {shown(record.repeat)}"
    for span in record.spans or ():
        if type(span) is Mark and (wrong := _span(span.start, span.end, span.end, "span") or _said(span, "span")):
            return wrong
    return _empty(record, "id")


def _binary(labels: Mapping[str, int], name: str = "`labels`") -> str | None:
    if not labels:
        return f"{name} has no label"
    for label, value in labels.items():
        if value != 0 and value != 1:
            return f"{name}: {shown(label)} must be 0 or 1, not {shown(value)}"
    return None


def _scenes_gold(record: ScenesGold) -> str | None:
    wrong = _empty(record, "id") or _binary(record.labels)
    for annotator, labels in record.annotators.items():
        place = f"annotator {shown(annotator)}"
        wrong = wrong or _binary(labels, place)
        if not wrong and (differs := label_set_fault(labels, record.labels, "of `labels`")):
            wrong = f"{place}: {differs}"
    return wrong


def _scenes_prediction(record: ScenesPrediction) -> str | None:
    labels, scores = record.labels, record.scores
    known = scores if labels is None else labels
    if known is None:
        return "needs `labels` or `scores`"
    wrong = _empty(record, "id") or (None if not labels else _binary(labels))
    if record.hard:
        given = ("scores", scores is not None), ("censored", record.censored), ("little_mass", record.little_mass)
        beside = [name for name, there in given if there]
        wrong = wrong or (f"`hard`: an answer in words has no `{beside[0]}`" if beside else None)
    if wrong is None and scores is not None:
        wrong = _scores(scores)
        if wrong is None and labels is not None and (differs := label_set_fault(scores, labels, "of `labels`")):
            wrong = f"`scores`: {differs}"
    for label, confidence in record.confidence.items():
        if not 1 <= confidence <= 5:
            wrong = wrong or f"`confidence`: {shown(label)} must be from 1 to 5, not {shown(confidence)}"
        if label not in known:
            wrong = wrong or f"`confidence`: {shown(label)} is not among the labels"
    for label, side in record.censored.items():
        if side not in ("yes", "no", "both"):
            wrong = wrong or f"`censored`: {shown(label)} must be yes, no or both, not {shown(side)}"
        if label not in known:
            wrong = wrong or f"`censored`: {shown(label)} is not among the labels"
    strays = [label for label in record.unanswered if label not in known]
    if strays:
        wrong = wrong or f"`unanswered`: {shown(strays[0])} is not among the labels"
    return wrong


def _scores(scores: Mapping[str, tuple[float, float]]) -> str | None:
    if not scores:
        return "`scores` has no label"
    for label, pair in scores.items():
        if not (isfinite(pair[0]) and isfinite(pair[1])):
            return f"`scores`: {shown(label)} holds a number that is not finite"
    return None


def _masked_gold(record: MaskedGold) -> str | None:
    if any(not label.strip() for label in record.labels):
        return "`labels` holds an empty word"
    return _empty(record, "id")


def _class_prediction(record: ClassPrediction) -> str | None:
    if record.label is None and record.probs is None:
        return "needs `label` or `probs`"
    if record.probs is not None:
        if not record.probs:
            return "`probs` has no label"
        for label, p in record.probs.items():
            if not 0 <= p <= 1 + PROBABILITY_ROUNDING:
                return f"`probs`: {shown(label)} must be from 0 to 1, not {shown(p)}"
        if record.label == "":
            return "`label` is empty beside `probs`: leave it out"
    return _empty(record, "id")


def _names(labels: Collection[str], field: str = "labels") -> str | None:
    # The usual case first: a file has a million of these.
    if len(set(labels)) == len(labels) and all(map(str.strip, labels)):
        return None
    seen: set[str] = set()
    for label in labels:
        if not label.strip():
            return f"`{field}` holds an empty label"
        if label in seen:
            return f"`{field}`: {shown(label)} stands twice"
        seen.add(label)
    return None


def _labels_gold(record: LabelsGold) -> str | None:
    if record.labels is not None and record.label is not None:
        return "has both `labels` and `label`: leave one out"
    wrong = _empty(record, "id")
    if record.labels is not None and not isinstance(record.labels, tuple):
        wrong = wrong or _binary(record.labels)
    wrong = wrong or _names(record.said or ())
    for name, labels in record.annotators.items():
        if wrong is None and (differs := _names(labels)) is not None:
            wrong = f"annotator {shown(name)}: {differs}"
    return wrong


def _labels_prediction(record: LabelsPrediction) -> str | None:
    listed = isinstance(record.labels, tuple)
    if listed and record.given is None and not record.unanswered:
        return _empty(record, "id") or _names(record.labels)
    if not listed and isinstance(record.labels, Mapping):
        for label, p in record.labels.items():
            if not 0 <= p <= 1 + PROBABILITY_ROUNDING:
                return f"`labels`: {shown(label)} must be from 0 to 1, not {shown(p)}"
    if record.given is not None:
        if not isinstance(record.labels, Mapping):
            return "`given` stands beside probabilities: write the list as `labels`"
        for label in record.given:
            if label not in record.labels:
                return f"`given`: {shown(label)} is not among the labels"
    if record.unanswered and not listed and isinstance(record.labels, Mapping):
        return "`unanswered` stands beside a list: there is a number for each of the labels"
    both = [label for label in record.unanswered if label in record.labels] if record.unanswered else None
    if both:
        return f"`unanswered`: {shown(both[0])} is among the labels given"
    return _empty(record, "id") or _names(record.labels) or _names(record.given or (), "given")


def _numbers(values: Mapping[str, float], name: str = "`values`") -> str | None:
    for key, value in values.items():
        if not key.strip():
            return f"{name} holds an empty name"
        if not isfinite(value):
            return f"{name}: {shown(key)} is not finite"
    return None


def _values_gold(record: ValuesGold) -> str | None:
    if record.values is not None and not record.values:
        return "`values` has no number: leave it out where nothing is said"
    wrong = _empty(record, "id") or _numbers(record.values or {})
    for person, said in record.annotators.items():
        place = f"annotator {shown(person)}"
        if list(said) != ["values"]:
            return wrong or f"{place}: should say `values` and nothing else"
        wrong = wrong or _numbers(said["values"], place)
    return wrong


def _chain(record: Chain) -> str | None:
    for number, attempt in enumerate(record.attempts, start=1):
        if wrong := _attempt(number, attempt):
            return wrong
    if not record.text.strip():
        return "the original's text is empty"
    return _empty(record, "id", "label")


def _attempt(number: int, attempt: Attempt) -> str | None:
    if not attempt.text.strip():
        return f"the text of attempt {number} is empty"
    if len(attempt.text) > LONGEST_REPHRASING:
        many = f"{len(attempt.text):,} characters"
        return f"attempt {number} has {many}; a rephrasing has at most {LONGEST_REPHRASING:,}"
    if not attempt.predicted.strip():
        return f"`predicted` of attempt {number} is empty"
    for name, least in (("confidence", 0), ("similarity", -1)):
        value = getattr(attempt, name)
        if value is None:
            continue
        if not isfinite(value):
            return f"`{name}` of attempt {number} is not finite"
        if not least - PROBABILITY_ROUNDING <= value <= 1 + PROBABILITY_ROUNDING:
            return f"`{name}` of attempt {number} must be from {least} to 1, not {shown(value)}"
    return None


def _sample_note(record: SampleNote) -> str | None:
    wrong = _empty(record, "id") or _names(record.codes, "codes")
    if wrong is None and record.annotator is not None and not record.annotator.strip():
        return "`annotator` is blank"
    return wrong


def _sample_score(record: SampleScore) -> str | None:
    if not 0 <= record.repeat <= MOST_REPEATS:
        return f"`repeat` must be from 0 to {MOST_REPEATS}, not {shown(record.repeat)}"
    return _empty(record, "id") or (None if isfinite(record.score) else "`score` is not finite")


def _generation(record: Generation) -> str | None:
    if wrong := _empty(record, "id", "model", "target"):
        return wrong
    versions = ("original",) if record.failed else ("original", "neutral", "emotional")
    blank = [name for name in versions if not getattr(record, name).strip()]
    if blank:
        return f"`{blank[0]}` is empty"
    strange = [name for name in ("human", "human_neutral") if not all(map(str.strip, getattr(record, name)))]
    return f"a label in `{strange[0]}` is empty" if strange else None


_CHECKS: dict[type[msgspec.Struct], Callable[[Any], str | None]] = {
    SpanSample: _span_sample,
    SpanPrediction: _span_prediction,
    ScenesGold: _scenes_gold,
    ScenesPrediction: _scenes_prediction,
    MaskedGold: _masked_gold,
    ClassGold: lambda record: _empty(record, *(("id",) if record.label is None else ("id", "label"))),
    ClassPrediction: _class_prediction,
    LabelsGold: _labels_gold,
    LabelsPrediction: _labels_prediction,
    ValuesGold: _values_gold,
    ValuesPrediction: lambda record: _empty(record, "id") or _numbers(record.values),
    Chain: _chain,
    Generation: _generation,
    GenerationGold: lambda record: _empty(record, "id", "text", "label"),
    Rating: lambda record: _empty(record, "item", "rater", "label"),
    SampleNote: _sample_note,
    SampleScore: _sample_score,
}
