"""The state of one text with one annotator, as the replay of the log gives it. Pure: no store, no clock."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from emotui.records import PARTS
from emotui.workbench.annotate.answers import Answer, SentenceSaid, SpanMark, in_order
from emotui.workbench.annotate.events import (
    Accept,
    AddSpan,
    Adopt,
    Event,
    LabelSpan,
    MoveBorder,
    Present,
    RemoveSpan,
    Reopen,
    Retest,
    Reveal,
    SetAttribute,
    SetFlag,
    SetLabels,
    SetNote,
    SetNumber,
    SetSentence,
    Settle,
    SetUnsure,
    SetWord,
    Skip,
    SuggestionMended,
    SuggestionRefused,
    SuggestionShown,
    SuggestionTaken,
)

WHOLE = LABELS, VALUES, SENTENCES, WORDS = "labels", "values", "sentences", "words"
"""What of a suggestion is taken or refused as a whole; its spans one by one, by their ids."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Suggested(msgspec.Struct, frozen=True):
    """The suggestion shown last. `open`: what of it is neither taken nor refused yet."""

    source: str
    answer: Answer
    open: tuple[str, ...]


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """An annotator's answer to a text, and how it stands.

    `accepted`: it is given, or the text passed over: `skipped` says why. `revealed`: gold, models and others were
    shown; `first` is then the answer before that.
    """

    answer: Answer = Answer()
    note: str = ""
    flag: bool = False
    unsure: bool = False
    accepted: bool = False
    skipped: str = ""
    revealed: bool = False
    first: Answer | None = None
    suggestion: Suggested | None = None

    @property
    def spans(self) -> tuple[SpanMark, ...]:
        """The spans of the answer, in the order of the text."""
        return self.answer.spans

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The labels of the text; None where nothing is said of them."""
        return self.answer.labels

    @property
    def values(self) -> Mapping[str, float]:
        """The numbers of the text, by name."""
        return self.answer.values

    @property
    def sentences(self) -> Mapping[int, SentenceSaid]:
        """What is said of sentences, by their place."""
        return self.answer.sentences

    @property
    def words(self) -> Mapping[int, str]:
        """The words for masks, by the mask's place."""
        return self.answer.words

    @property
    def blind(self) -> Answer:
        """The answer that nobody else's word had been seen before."""
        return self.answer if self.first is None else self.first

    @property
    def changed(self) -> bool:
        """Whether the answer is another one than before the reveal."""
        return self.first is not None and not self.first.same_as(self.answer)


@dataclass(frozen=True, slots=True)
class Step:
    """One entry about a text: an event, or with `undoes` the taking back of the entry of that number."""

    number: int
    event: Event | None
    undoes: int | None = None


def replay(steps: Iterable[Step]) -> Said:
    """The state after these entries, in their order.

    What stands is applied anew from the beginning, so an undo needs no inverse. The first answer is what stood when
    the reveal came, whatever is undone later.
    """
    events: dict[int, Event] = {}
    taken_back: set[int] = set()
    said = Said()
    first: Answer | None = None
    stale = False
    for step in steps:
        if step.event is None:
            if step.undoes in events:
                taken_back ^= {step.undoes}
                stale = True
            continue
        if stale:
            said, stale = _folded(events, taken_back, first), False
        events[step.number] = step.event
        said = apply(said, step.event)
        if isinstance(step.event, Reveal) and first is None:
            first = said.first
    return _folded(events, taken_back, first) if stale else said


def _folded(events: Mapping[int, Event], without: set[int], first: Answer | None) -> Said:
    said = Said()
    for number, event in events.items():
        if number not in without:
            said = apply(said, event)
    return said if first is None else replace(said, first=first)


def apply(said: Said, event: Event) -> Said:
    """The state after one more event. One that is about nothing that is there changes nothing."""
    match event:
        case Reveal():
            return said if said.revealed else replace(said, revealed=True, first=said.answer)
        case Accept():
            return replace(said, accepted=True, skipped="")
        case Skip(why):
            return replace(said, accepted=True, skipped=why)
        case Reopen():
            return replace(said, accepted=False, skipped="")
        case SetNote(text):
            return replace(said, note=text)
        case SetFlag(on):
            return replace(said, flag=on)
        case SetUnsure(on):
            return replace(said, unsure=on)
        case SuggestionShown(source, answer):
            return replace(said, suggestion=Suggested(source, answer, items(answer)))
        case SuggestionTaken(_, item):
            return _taken(said, item)
        case SuggestionMended(_, span):
            return _without_item(_with(said, spans=_added(said.answer.spans, span)), span.id)
        case SuggestionRefused(_, item):
            return _without_item(said, item)
        case Present() | Retest() | Settle():
            return said
        case _:
            return replace(said, answer=_answer(said.answer, event))


def _answer(answer: Answer, event: Event) -> Answer:
    match event:
        case AddSpan(span):
            return replace(answer, spans=_added(answer.spans, span))
        case RemoveSpan(id):
            return replace(answer, spans=tuple([_untied(span, id) for span in answer.spans if span.id != id]))
        case MoveBorder(id, start, end):
            moved = answer.span(id)
            parts = [] if moved is None else [part for part in moved.parts if part[0] < end and part[1] > start]
            if len(parts) < 2:
                return _with_span(answer, id, start=start, end=end, **_parted(moved, None))
            return _with_parts(answer, id, [(start, parts[0][1]), *parts[1:-1], (parts[-1][0], end)])
        case LabelSpan(id, label):
            return _with_span(answer, id, label=label)
        case SetAttribute(id, name, value):
            found = answer.span(id)
            if name == PARTS and value:
                return _with_parts(answer, id, value)
            return answer if found is None else _with_span(answer, id, attributes=_put(found.attributes, name, value))
        case SetLabels(labels):
            return replace(answer, labels=labels)
        case SetNumber(name, value):
            return replace(answer, values=_put(answer.values, name, value))
        case SetSentence(place, said):
            return replace(answer, sentences=_put(answer.sentences, place, None if said == SentenceSaid() else said))
        case SetWord(place, word):
            return replace(answer, words=_put(answer.words, place, word or None))
        case Adopt(_, adopted):
            return adopted
    return answer


def items(answer: Answer) -> tuple[str, ...]:
    """What of a suggestion can be taken or refused: the ids of its spans, and `labels`, `values` and so on."""
    whole = ((LABELS, answer.labels is not None), (VALUES, answer.values), (SENTENCES, answer.sentences))
    return (
        *(span.id for span in answer.spans),
        *(name for name, there in (*whole, (WORDS, answer.words)) if there),
    )


def _taken(said: Said, item: str) -> Said:
    if said.suggestion is None:
        return said
    theirs = said.suggestion.answer
    match item:
        case "labels":
            answer = replace(said.answer, labels=theirs.labels)
        case "values":
            answer = replace(said.answer, values={**said.answer.values, **theirs.values})
        case "sentences":
            answer = replace(said.answer, sentences={**said.answer.sentences, **theirs.sentences})
        case "words":
            answer = replace(said.answer, words={**said.answer.words, **theirs.words})
        case _:
            span = theirs.span(item)
            answer = said.answer if span is None else replace(said.answer, spans=_added(said.answer.spans, span))
    return _without_item(replace(said, answer=answer), item)


def _without_item(said: Said, item: str) -> Said:
    shown = said.suggestion
    if shown is None:
        return said
    return replace(said, suggestion=replace(shown, open=tuple([one for one in shown.open if one != item])))


def _with(said: Said, **changes: Any) -> Said:
    return replace(said, answer=replace(said.answer, **changes))


def _with_span(answer: Answer, id: str, **changes: Any) -> Answer:
    spans = [replace(span, **changes) if span.id == id else span for span in answer.spans]
    return replace(answer, spans=in_order(spans))


def _with_parts(answer: Answer, id: str, parts: Sequence[Sequence[int]]) -> Answer:
    """The span of this id stands in these parts, which are in the order of the text."""
    found = answer.span(id)
    return _with_span(answer, id, start=parts[0][0], end=parts[-1][1], **_parted(found, [list(part) for part in parts]))


def _parted(span: SpanMark | None, parts: list[list[int]] | None) -> dict[str, Any]:
    if span is None or (parts is None and PARTS not in span.attributes):
        return {}
    return {"attributes": _put(span.attributes, PARTS, parts)}


def _untied(span: SpanMark, id: str) -> SpanMark:
    """The span without its relations to one that goes."""
    if all(to != id for to, _ in span.relations):
        return span
    return span.with_relations((to, kind) for to, kind in span.relations if to != id)


def _added(spans: tuple[SpanMark, ...], span: SpanMark) -> tuple[SpanMark, ...]:
    return in_order([*(one for one in spans if one.id != span.id), span])


def _put(there: Mapping[_Key, _Value], key: _Key, value: _Value | None) -> dict[_Key, _Value]:
    """With this value under the key, or without the key where it is None."""
    rest = {name: old for name, old in there.items() if name != key}
    return rest if value is None else {**rest, key: value}
