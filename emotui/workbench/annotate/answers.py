"""From records, predictions and stored answers of any task to an `Answer`, and back to the keys of records."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.records import LabelsGold, Mark, ScenesGold, SpanSample
from emotui.tasks.task import Task
from emotui.workbench.annotate.answer import Answer, SentenceSaid, SpanMark, in_order, new_id
from emotui.workbench.annotate.scheme import MASK, TEXT, Scheme


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
    """Marks as spans with identities of their own."""
    return in_order(
        SpanMark(id=new_id(), start=mark.start, end=mark.end, label=mark.label, attributes=mark.attributes)
        for mark in marks
    )


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
    return msgspec.structs.replace(found, sentences={})


def keys_of(sample: Any, answer: Answer, scheme: Scheme, sentences: Sequence[tuple[int, int]] = ()) -> dict[str, Any]:
    """An answer by the keys of records in files. What is not marked is said not to be there.

    Args:
        sentences: where the sentences stand.
    """
    keys: dict[str, Any] = {}
    if scheme.spans:
        keys["spans"] = [_item(span.mark) for span in answer.spans]
    if scheme.of(MASK):
        keys["labels"] = [answer.words.get(place, "") for place in range(1 + max(answer.words, default=-1))]
    elif any(group.labels for group in scheme.of(TEXT)):
        keys |= _label_keys(sample, answer.labels or ())
    if any(group.scale for group in scheme.of(TEXT)):
        keys["values"] = dict(answer.values)
    if answer.sentences:
        said = [(place, answer.sentences.get(place, SentenceSaid())) for place in range(len(sentences))]
        keys["sentences"] = [
            {"start": sentences[place][0], "end": sentences[place][1], "emotion": one.emotion, "valence": one.valence}
            for place, one in said
        ]
    return keys


def _item(mark: Mark) -> dict[str, Any] | list[Any]:
    if mark.attributes:
        return {"start": mark.start, "end": mark.end, "label": mark.label, "attributes": dict(mark.attributes)}
    return [mark.start, mark.end] if mark.label is None else [mark.start, mark.end, mark.label]


def _label_keys(sample: Any, labels: Sequence[str]) -> dict[str, Any]:
    if isinstance(sample, ScenesGold):
        return {"labels": {name: int(name in labels) for name in sample.labels}}
    if hasattr(sample, "labels"):
        return {"labels": list(labels)}
    return {"label": labels[0]} if labels else {}
