"""What a label's key does: which group it means now, and which events follow from it."""

import time
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from emotui.records import PARTS, RELATIONS, Span
from emotui.screens.actions import Action
from emotui.screens.annotate.marking import Marking
from emotui.workbench.annotate.adjudicating import Standing as Adjudicated
from emotui.workbench.annotate.answers import AnnotatedText, SentenceSaid, SpanMark, new_id
from emotui.workbench.annotate.events import (
    AddSpan,
    Event,
    LabelSpan,
    MoveBorder,
    RemoveSpan,
    SetAttribute,
    SetLabels,
    SetSentence,
    SuggestionMended,
)
from emotui.workbench.annotate.marks import WHOLE, Said, apply
from emotui.workbench.annotate.others import OtherSaid
from emotui.workbench.annotate.scheme import SENTENCE, SPAN, TEXT, Group, Label, Relation, Scale, Scheme
from emotui.workbench.annotate.service import Progress

# The text at work: its answer as it is on the screen, the caret, what others say of it.


class Work(msgspec.Struct):
    """One text under a scheme.

    `annotator`: who annotates, or the name of what an adjudication comes to; `assigned`: whether texts were dealt out.
    `standing`: how far the adjudication is, where the answer settles what others disagree about. `shows_others`:
    whether what others say stands under the text. `number`, `typed`: the name of the number that is being typed, and
    its digits so far. `tie`: the kind of a relation that is begun, and the id of its first span. `role`: of a
    text whose answer is told afterwards (training, check). `place`: whose list the text is of, where that is not
    Browse's; `strange`: the emotions of that list that the scheme has no labels for. `since`: when the text came into
    sight, in seconds of the monotonic clock.
    """

    scheme: Scheme
    text: AnnotatedText
    said: Said
    marking: Marking
    progress: Progress
    annotator: str = ""
    assigned: bool = False
    others: tuple[OtherSaid, ...] = ()
    standing: "Adjudicated | None" = None
    shows_others: bool = True
    role: str = ""
    place: str = ""
    strange: tuple[str, ...] = ()
    tie: tuple[str, str] | None = None
    number: str = ""
    typed: str = ""
    since: float = msgspec.field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the text came into sight."""
        return round(time.monotonic() - self.since, 2)

    def take(self, said: Said) -> None:
        """The answer is this one now."""
        self.said = said
        theirs = [span for other in self.others for span in other.answer.spans] if self.standing is not None else []
        self.marking.take([*shown_spans(said), *theirs])

    def apply(self, events: Iterable[Event]) -> None:
        """What happened follows at once on the screen."""
        said = self.said
        for event in events:
            said = apply(said, event)
        self.take(said)

    @property
    def situation(self) -> tuple[object, ...]:
        """What decides which keys can be pressed."""
        marking, said = self.marking, self.said
        chosen = marking.chosen_span
        return (
            self.text.number,
            bool(marking.hints),
            marking.selecting,
            None if chosen is None else self.is_own(chosen),
            marking.under is None,
            bool(marking.spans),
            said.accepted,
            said.skipped,
            said.revealed,
            self.standing is not None,
            self.tie,
            self.offered,
        )

    def is_own(self, span: SpanMark) -> bool:
        """Is it a span of the answer, and not only a suggested one?"""
        return self.said.answer.span(span.id) is not None

    @property
    def suggested(self) -> SpanMark | None:
        """The chosen span, where it is one that is not of the answer: a suggested one, or one of a source."""
        span = self.marking.chosen_span
        return None if span is None or self.is_own(span) else span

    @property
    def offered(self) -> tuple[str, ...]:
        """What a suggestion says beside spans that is neither taken nor refused: labels, numbers, sentences, words."""
        shown = self.said.suggestion
        return () if shown is None or self.said.accepted else tuple(item for item in shown.open if item in WHOLE)


def shown_spans(said: Said) -> list[SpanMark]:
    """The spans of the answer, and those suggested that are neither taken nor refused."""
    shown = said.suggestion
    suggested = [] if shown is None else [span for span in shown.answer.spans if span.id in shown.open]
    return [*said.spans, *suggested]


class Pressed(msgspec.Struct, frozen=True):
    """A label that a key means, with its group."""

    group: Group
    label: Label


class Outcome(msgspec.Struct, frozen=True):
    """Events to keep. `made`: the id of the span that is new or is there already; `go`: where the caret goes on."""

    events: tuple[Event, ...] = ()
    made: str | None = None
    go: int | None = None


def meant(scheme: Scheme, key: str, *, on_span: bool, any_case: bool = False) -> Pressed | None:
    """The label that a key means: of spans first where a span is selected or chosen, else of sentences and texts first.

    Args:
        any_case: a small letter means the label of its capital too.
    """
    order = (SPAN, SENTENCE, TEXT) if on_span else (SENTENCE, TEXT, SPAN)
    for wanted in (key, key.upper()) if any_case else (key,):
        for unit in order:
            for group in scheme.of(unit):
                for label in group.labels:
                    if label.key == wanted:
                        return Pressed(group, label)
    return None


def number_meant(scheme: Scheme, key: str) -> Group | None:
    """The group of the number that a key begins."""
    return next((group for group in scheme.of(TEXT) if group.scale is not None and group.key == key), None)


def begins_number(work: Work, character: str) -> bool:
    """Whether a character is the first of a number that a new text asks for without a key."""
    first = next((group for group in work.scheme.groups), None)
    if not work.scheme.auto_accept or first is None or first.scale is None:
        return False
    return may_follow(first.scale, "", character)


def may_follow(scale: Scale, typed: str, character: str) -> bool:
    """Whether a character may go on with a number: a digit, a sign or a point where the scale has such numbers."""
    if character == "-":
        return not typed and scale.minimum < 0
    if character == ".":
        return "." not in typed and _decimals(scale) > 0
    return character in "0123456789"


def is_finished(scale: Scale, typed: str) -> bool:
    """Whether no number of the scale goes on with what is typed, so that it need not be ended."""
    digits = typed.removeprefix("-")
    if not digits:
        return False
    if decimals := _decimals(scale):
        return len(digits.partition(".")[2]) >= decimals
    farthest = -scale.minimum if typed.startswith("-") else scale.maximum
    return int(digits) * 10 > farthest or int(digits) == 0


def _decimals(scale: Scale) -> int:
    """How many digits behind the point the numbers of a scale have at most."""
    return max(len(f"{one:.6f}".rstrip("0").partition(".")[2]) for one in (scale.minimum, scale.step))


def next_number(work: Work, name: str = "") -> Group | None:
    """The first number behind the one of this name that nothing is said of; with no name of all."""
    numbers = [group for group in work.scheme.of(TEXT) if group.scale is not None]
    behind = next((place for place, group in enumerate(numbers, 1) if group.name == name), 0)
    return next((group for group in numbers[behind:] if group.name not in work.said.values), None)


def number_before(scheme: Scheme, name: str) -> Group | None:
    """The number that the scheme asks for before the one of this name."""
    numbers = [group for group in scheme.of(TEXT) if group.scale is not None]
    place = next((place for place, group in enumerate(numbers) if group.name == name), 0)
    return numbers[place - 1] if place else None


def keys_of(scheme: Scheme) -> frozenset[str]:
    """Every key of a scheme."""
    labels = (label.key for group in scheme.groups for label in group.labels)
    others = (*(group.key for group in scheme.groups), *(relation.key for relation in scheme.relations))
    return frozenset((*labels, *others)) - {""}


def all_labels(scheme: Scheme) -> list[Pressed]:
    """Every label of a scheme, in its order."""
    return [Pressed(group, label) for group in scheme.groups for label in group.labels]


def key_actions(scheme: Scheme) -> Iterator[Action]:
    """What the keys of a scheme do, for the help."""
    for group in scheme.groups:
        heading = f"Annotate: {group.name} of a {group.of}"
        if group.key:
            yield Action(group.name, (group.key,), group.key, group.name, f"Begin the number {group.name}", heading)
        for label in group.labels:
            if label.key:
                does = f"Label the {group.of} {label.name}" + (f": {label.about}" if label.about else "")
                yield Action(label.name, (label.key,), label.key, label.name, does, heading)
    for one in scheme.relations:
        does = f"From the chosen span; again, on another span, to that: {one.about or one.name}"
        yield Action(one.name, (one.key,), one.key, one.name, does, "Annotate: relations of spans")


def sentence_of(sentences: Sequence[Span], at: int) -> int | None:
    """The place of the sentence around an offset, or of the last one before it."""
    before = [place for place, (start, _) in enumerate(sentences) if start <= at]
    return before[-1] if before else (0 if sentences else None)


def outcome(work: Work, pressed: Pressed) -> Outcome:
    """What follows from a label's key."""
    match pressed.group.of:
        case "span":
            return _of_span(work, pressed)
        case "sentence":
            return _of_sentence(work, pressed)
    return Outcome((_of_text(pressed, work.said),))


def mark(work: Work, label: str | None) -> Outcome:
    """The selection, or the unit under the caret, becomes a span; where there is such a span it is chosen."""
    stretch, said = work.marking.stretch, work.said
    if stretch is None:
        return Outcome()
    same = [span for span in said.spans if (span.start, span.end, span.label) == (*stretch, label)]
    if same:
        return Outcome(made=same[0].id)
    span = SpanMark(id=new_id(), start=stretch[0], end=stretch[1], label=label)
    return Outcome((AddSpan(span),), made=span.id)


def relation_meant(scheme: Scheme, key: str) -> Relation | None:
    """The relation that a key begins or ends."""
    return next((relation for relation in scheme.relations if relation.key == key), None)


def related(work: Work, name: str, source: str, target: str) -> Event:
    """The relation from one span to another, or without it where it is there."""
    span = work.said.answer.span(source)
    there = () if span is None else span.relations
    ties = [one for one in there if one != (target, name)] if (target, name) in there else [*there, (target, name)]
    return SetAttribute(source, RELATIONS, [{"to": to, "type": kind} for to, kind in ties] or None)


def joined(work: Work) -> Outcome:
    """The span becomes one with the nearest of its label, as another part; one that has several parts falls apart."""
    span = work.marking.under
    if span is None or not work.is_own(span):
        return Outcome()
    if len(span.parts) > 1:
        (start, end), *rest = span.parts
        apart = [SpanMark(id=new_id(), start=first, end=last, label=span.label) for first, last in rest]
        whole = (SetAttribute(span.id, PARTS, None), MoveBorder(span.id, start, end))
        return Outcome((*whole, *map(AddSpan, apart)), made=span.id)
    alike = [
        one
        for one in work.said.spans
        if one.id != span.id and one.label == span.label and (one.end <= span.start or span.end <= one.start)
    ]
    if not alike:
        return Outcome()
    other = min(alike, key=lambda one: (max(one.start - span.end, span.start - one.end), one.start))
    parts = [list(part) for part in sorted((*other.parts, *span.parts))]
    return Outcome((RemoveSpan(span.id), SetAttribute(other.id, PARTS, parts)), made=other.id)


def _of_span(work: Work, pressed: Pressed) -> Outcome:
    scheme, marking, said = work.scheme, work.marking, work.said
    group, label = pressed.group, pressed.label.name
    chosen = None if marking.selecting else marking.chosen_span
    if group != scheme.span_labels:
        span = marking.under
        if span is None or said.answer.span(span.id) is None:
            return Outcome()
        value = None if span.attributes.get(group.name) == label else label
        return Outcome((SetAttribute(span.id, group.name, value),), made=span.id)
    if chosen is None:
        return mark(work, label)
    shown = said.suggestion
    if shown is not None and chosen.id in shown.open:
        return Outcome((SuggestionMended(shown.source, replace(chosen, label=label)),), made=chosen.id)
    if not work.is_own(chosen):
        span = replace(chosen, id=new_id(), label=label)
        return Outcome((AddSpan(span),), made=span.id)
    return Outcome((LabelSpan(chosen.id, label),) if chosen.label != label else (), made=chosen.id)


def _of_sentence(work: Work, pressed: Pressed) -> Outcome:
    sentences, said = work.text.sentences, work.said
    place = sentence_of(sentences, work.marking.at)
    if place is None:
        return Outcome()
    name, label = pressed.group.name, pressed.label.name
    now = said.sentences.get(place, SentenceSaid())
    chosen = None if getattr(now, name) == label else label
    after = SentenceSaid(
        emotion=chosen if name == "emotion" else now.emotion, valence=chosen if name == "valence" else now.valence
    )
    groups = work.scheme.of(SENTENCE)
    complete = all(getattr(after, group.name) for group in groups)
    # The next sentence is what one says something of next.
    go = sentences[place + 1][0] if complete and chosen is not None and place + 1 < len(sentences) else None
    return Outcome((SetSentence(place, after),), go=go)


def _of_text(pressed: Pressed, said: Said) -> Event:
    group, name = pressed.group, pressed.label.name
    now = list(said.labels or ())
    if name in now:
        now.remove(name)
        return SetLabels(tuple(now) if now or not group.exclusive else None)
    if group.exclusive:
        now = [one for one in now if one not in group.names]
    return SetLabels((*now, name))
