"""Whether an event fits its text and the scheme. What does not is refused in one line, and nothing is kept."""

from itertools import pairwise

from emotui.errors import BadInput
from emotui.records import PARTS, RELATIONS
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import SPANS
from emotui.workbench.annotate.answers import AnnotatedText, Answer, SentenceSaid, SpanMark
from emotui.workbench.annotate.events import (
    Accept,
    AddSpan,
    Adopt,
    Event,
    LabelSpan,
    MoveBorder,
    RemoveSpan,
    Reveal,
    SetAttribute,
    SetLabels,
    SetNumber,
    SetSentence,
    SetWord,
    SuggestionMended,
    SuggestionRefused,
    SuggestionTaken,
)
from emotui.workbench.annotate.marks import Said, apply
from emotui.workbench.annotate.scheme import MASK, SENTENCE, SPAN, TEXT, Group, Scheme


def check(scheme: Scheme, text: AnnotatedText, said: Said, event: Event) -> None:
    """Raises BadInput: the event does not fit."""
    why = _fault(scheme, text, said, event)
    if why is None and isinstance(event, Accept | SuggestionTaken | Adopt):
        why = _spans_fault(scheme, text, apply(said, event).answer)
    after = apply(said, event)
    if why is None and after.accepted and not after.skipped and (lacking := missing(scheme, text, after.answer)):
        why = f"{lacking[0]} is missing" + ("" if isinstance(event, Accept) else ": reopen the answer first")
    if why is not None:
        raise BadInput(why)


def missing(scheme: Scheme, text: AnnotatedText, answer: Answer) -> tuple[str, ...]:
    """What the scheme requires and the answer lacks, in words."""
    found: list[str] = []
    for group in scheme.groups:
        if group.required:
            found += _lacking(group, text, answer)
    return tuple(found)


def is_whole(scheme: Scheme, text: AnnotatedText, answer: Answer) -> bool:
    """Whether the answer says all that the scheme asks, so that nothing more could be said."""
    return not scheme.endless and not any(_lacking(group, text, answer) for group in scheme.groups)


def _lacking(group: Group, text: AnnotatedText, answer: Answer) -> list[str]:
    if group.of == SENTENCE:
        said = [answer.sentences.get(place, SentenceSaid()) for place in range(len(text.sentences))]
        return [f"{group.name} of sentence {n}" for n, one in enumerate(said, 1) if not getattr(one, group.name)]
    if group.of == MASK:
        return [f"the {group.name} for mask {n + 1}" for n in range(len(text.masks)) if not answer.words.get(n)]
    if group.of == SPAN:
        return [
            f"{group.name} of {text.text[span.start : span.end]!r}" for span in answer.spans if not _of(group, span)
        ]
    if group.scale is not None:
        return [] if group.name in answer.values else [group.name]
    return [] if set(answer.labels or ()) & set(group.names) else [group.name]


def _of(group: Group, span: SpanMark) -> object:
    return span.label in group.names or span.attributes.get(group.name)


def _fault(scheme: Scheme, text: AnnotatedText, said: Said, event: Event) -> str | None:
    match event:
        case AddSpan(span) | SuggestionMended(_, span):
            others = [one for one in said.spans if one.id != span.id]
            return _span_fault(scheme, text, others, span)
        case RemoveSpan(id) | MoveBorder(id) | LabelSpan(id) | SetAttribute(id):
            return _change_fault(scheme, text, said, event, id)
        case SetLabels(labels):
            return _labels_fault(scheme, labels or ())
        case SetNumber(name, value):
            group = scheme.group(name)
            if group is None or group.scale is None:
                return f"the scheme has no number {name!r}"
            scale = group.scale
            if value is None or scale.fits(value):
                return None
            return f"{name} is from {scale.minimum:g} to {scale.maximum:g} in steps of {scale.step:g}, not {value:g}"
        case SetSentence(place, one):
            return _sentence_fault(scheme, text, place, one)
        case SetWord(place, _):
            return None if scheme.of(MASK) and 0 <= place < len(text.masks) else f"there is no mask {place + 1}"
        case Reveal():
            given = said.accepted and not said.skipped
            return None if given else "accept the answer first: what others say is hidden until then"
        case SuggestionTaken(_, item) | SuggestionRefused(_, item):
            open = said.suggestion is not None and item in said.suggestion.open
            return None if open else "this suggestion is not open"
    return None


def _change_fault(scheme: Scheme, text: AnnotatedText, said: Said, event: Event, id: str) -> str | None:
    if said.answer.span(id) is None:
        return "the span is not there any more"
    if isinstance(event, SetAttribute) and event.name in (PARTS, RELATIONS):
        return _parts_fault(scheme, event) if event.name == PARTS else _relations_fault(scheme, said, event)
    if isinstance(event, SetAttribute):
        group = scheme.group(event.name)
        if group is None or group.of != SPAN:
            return f"the scheme has no {event.name!r} of spans"
        known = event.value is None or event.value in group.names
        return None if known else f"{event.name} has no label {event.value!r}"
    after = apply(said, event).answer
    changed = after.span(id)
    if changed is None:
        return None
    return _span_fault(scheme, text, [one for one in after.spans if one.id != id], changed)


def _parts_fault(scheme: Scheme, event: SetAttribute) -> str | None:
    if not scheme.parts:
        return "a span has one part in this scheme"
    parts = event.value or ()
    apart = all(first[1] <= second[0] for first, second in pairwise(parts)) and all(start < end for start, end in parts)
    return None if apart and len(parts) != 1 else "the parts of a span stand apart, in the order of the text"


def _relations_fault(scheme: Scheme, said: Said, event: SetAttribute) -> str | None:
    source = said.answer.span(event.id)
    for tie in event.value or ():
        relation = next((one for one in scheme.relations if one.name == tie["type"]), None)
        target = said.answer.span(tie["to"])
        if relation is None:
            return f"the scheme has no relation {tie['type']!r}"
        if source is None or target is None or source.id == target.id:
            return "a relation is between two spans that are there"
        if relation.source and source.label not in relation.source:
            return f"{relation.name} begins in {' or '.join(relation.source)}, not in {source.label or 'no label'}"
        if relation.target and target.label not in relation.target:
            return f"{relation.name} ends in {' or '.join(relation.target)}, not in {target.label or 'no label'}"
    return None


def _spans_fault(scheme: Scheme, text: AnnotatedText, answer: Answer) -> str | None:
    for place, span in enumerate(answer.spans):
        if (why := _span_fault(scheme, text, list(answer.spans[:place]), span)) is not None:
            return why
    return None


def _span_fault(scheme: Scheme, text: AnnotatedText, others: list[SpanMark], span: SpanMark) -> str | None:
    if not scheme.spans:
        return f"the scheme {scheme.name!r} marks no spans"
    if not 0 <= span.start < span.end <= len(text.text):
        return f"[{span.start}, {span.end}) is no span of the text, which has {len(text.text)} characters"
    group = scheme.span_labels
    if span.label is not None and group is not None and span.label not in group.names:
        return f"the scheme has no label {span.label!r} for spans"
    if any((one.parts, one.label) == (span.parts, span.label) for one in others):
        return "this span is marked already" + (f" with the label {span.label}" if span.label else "")
    stretches = [part for one in others for part in one.parts] if not scheme.overlap else []
    if any(start < last and first < end for start, end in stretches for first, last in span.parts):
        return "spans may not overlap in this scheme"
    return None


def _labels_fault(scheme: Scheme, labels: tuple[str, ...]) -> str | None:
    groups = [group for group in scheme.of(TEXT) if group.labels]
    known = {name for group in groups for name in group.names}
    strange = [label for label in labels if label not in known]
    if strange:
        return f"the scheme has no label {strange[0]!r} for texts"
    if len(set(labels)) < len(labels):
        return "a label is given twice"
    for group in groups:
        several = [label for label in labels if label in group.names]
        if group.exclusive and len(several) > 1:
            return f"{group.name} is one label, not {' and '.join(several)}"
    return None


def _sentence_fault(scheme: Scheme, text: AnnotatedText, place: int, said: SentenceSaid) -> str | None:
    if not 0 <= place < len(text.sentences):
        return f"there is no sentence {place + 1}"
    for name in ("emotion", "valence"):
        value = getattr(said, name)
        group = next((one for one in scheme.of(SENTENCE) if one.name == name), None)
        if value is not None and (group is None or value not in group.names):
            return f"the scheme has no {name} {value!r} for sentences"
    return None


def strange_labels(store: Store, dataset: Dataset, scheme: Scheme) -> tuple[str, ...]:
    """The emotions of a dataset of whole texts that the labels of its scheme of spans lack; none for other datasets."""
    if dataset.kept_as == SPANS or not scheme.spans or any(group.of != SPAN for group in scheme.groups):
        return ()
    ours = {label.name.casefold() for group in scheme.groups for label in group.labels}
    return tuple(name for name in store.samples.emotions(dataset.dataset) if name.casefold() not in ours)
