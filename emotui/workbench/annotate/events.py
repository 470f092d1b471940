"""What can happen to an annotator's answer about a text. Each event is one entry of the log, with its moment."""

from collections.abc import Iterable
from typing import Any

import msgspec

from emotui.store.annotations import Entry
from emotui.workbench.annotate.answers import Answer, SentenceSaid, SpanMark


class AddSpan(msgspec.Struct, frozen=True, tag="add-span"):
    """A new span. Its id comes from `new_id`, so that a screen can show it before it is kept."""

    span: SpanMark


class RemoveSpan(msgspec.Struct, frozen=True, tag="remove-span"):
    """The span of this id goes."""

    id: str


class MoveBorder(msgspec.Struct, frozen=True, tag="move-border"):
    """The span of this id stands here now."""

    id: str
    start: int
    end: int


class LabelSpan(msgspec.Struct, frozen=True, tag="label-span"):
    """The span's label; None takes it away."""

    id: str
    label: str | None


class SetAttribute(msgspec.Struct, frozen=True, tag="set-attribute"):
    """What a further group of the scheme says of a span; None takes it away."""

    id: str
    name: str
    value: Any


class SetLabels(msgspec.Struct, frozen=True, tag="set-labels"):
    """All labels of the text; None: nothing is said of them any more."""

    labels: tuple[str, ...] | None


class SetNumber(msgspec.Struct, frozen=True, tag="set-number"):
    """A number of the text by its name; None takes it away."""

    name: str
    value: float | None


class SetSentence(msgspec.Struct, frozen=True, tag="set-sentence"):
    """All that is said of the sentence at this place, from 0."""

    place: int
    said: SentenceSaid


class SetWord(msgspec.Struct, frozen=True, tag="set-word"):
    """The word for the mask at this place, from 0; empty takes it away."""

    place: int
    word: str


class Adopt(msgspec.Struct, frozen=True, tag="adopt"):
    """A source's whole answer in place of one's own. Its spans have ids of their own."""

    source: str
    answer: Answer


class SetNote(msgspec.Struct, frozen=True, tag="note"):
    """A note about the text; empty takes it away."""

    text: str


class SetFlag(msgspec.Struct, frozen=True, tag="flag"):
    """Whether the text is flagged, to be looked at again."""

    on: bool


class SetUnsure(msgspec.Struct, frozen=True, tag="unsure"):
    """Whether the annotator is unsure of the answer."""

    on: bool


class Accept(msgspec.Struct, frozen=True, tag="accept"):
    """The answer is given: what is not marked is not there."""


class Settle(msgspec.Struct, frozen=True, tag="settle"):
    """The answer was given with those of these sources in sight, as what is true between them."""

    sources: tuple[str, ...]


SKIP, CANNOT_JUDGE = "skip", "cannot judge"
"""Why a text is passed over: for whatever reason, or because nobody could say of it what the scheme asks."""


class Skip(msgspec.Struct, frozen=True, tag="skip"):
    """The text is passed over, which is no answer: not that nothing is there. `why`: SKIP or CANNOT_JUDGE."""

    why: str = SKIP


class Reopen(msgspec.Struct, frozen=True, tag="reopen"):
    """The answer is open again."""


class Reveal(msgspec.Struct, frozen=True, tag="reveal"):
    """Gold, models and others are shown from now on; the answer so far stays as the first. It cannot be undone."""


class Present(msgspec.Struct, frozen=True, tag="present"):
    """The text came into sight, as the `place`-th of the annotator's. It cannot be undone."""

    place: int


class Retest(msgspec.Struct, frozen=True, tag="retest"):
    """The text comes back for a second answer, apart from the first. It cannot be undone."""


class SuggestionShown(msgspec.Struct, frozen=True, tag="suggestion-shown"):
    """What a source says was shown as a suggestion. It cannot be undone."""

    source: str
    answer: Answer


class SuggestionTaken(msgspec.Struct, frozen=True, tag="suggestion-taken"):
    """Something of the suggestion shown last is taken as it is.

    `item`: the id of a span, or `labels`, `values`, `sentences` or `words`.
    """

    source: str
    item: str


class SuggestionMended(msgspec.Struct, frozen=True, tag="suggestion-mended"):
    """A suggested span is taken with other borders, label or attributes. The span has the id that it was shown with."""

    source: str
    span: SpanMark


class SuggestionRefused(msgspec.Struct, frozen=True, tag="suggestion-refused"):
    """Something of the suggestion is refused; `item` as of `SuggestionTaken`."""

    source: str
    item: str


Event = (
    AddSpan
    | RemoveSpan
    | MoveBorder
    | LabelSpan
    | SetAttribute
    | SetLabels
    | SetNumber
    | SetSentence
    | SetWord
    | Adopt
    | SetNote
    | SetFlag
    | SetUnsure
    | Accept
    | Settle
    | Skip
    | Reopen
    | Reveal
    | Present
    | Retest
    | SuggestionShown
    | SuggestionTaken
    | SuggestionMended
    | SuggestionRefused
)

LASTING = (Reveal, Present, Retest, SuggestionShown)
"""What happened in the world and not to the answer: undo passes over it."""

KIND = "annotate"
"""How the kinds of these entries begin in the log; behind it a colon and the event's tag."""

UNDO = f"{KIND}:undo"

SETTLING = (f"{KIND}:{Adopt.__struct_config__.tag}", f"{KIND}:{Settle.__struct_config__.tag}")
"""Of entries that only adjudication makes: a whole answer is taken over, an answer settles what several said."""

CONSENT = f"{KIND}:consent"
"""Of an entry that is about no text: the annotator agreed to these words before the first one."""


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event as the log has it.

    `seconds`: since the text came into sight; None where nobody measured. `revealed`: it came after the reveal.
    `round`: 0 for the first answer, 1 for that of the retest.
    """

    event: Event
    seconds: float | None = None
    revealed: bool = False
    round: int = 0


TOGETHER = "&"
"""Ends the kind of an entry that undo and redo take together with the one before it: both were one keystroke."""


def kind_of(event: Event) -> str:
    """Under which kind an event stands in the log; of a switch also which way, so that it need not be decoded."""
    off = isinstance(event, SetFlag | SetUnsure) and not event.on
    return f"{KIND}:{event.__struct_config__.tag}" + ("-off" if off else "")


def as_one_keystroke(entries: Iterable[tuple[str, int | None, str, bytes]]) -> list[Entry]:
    """Entries to be made, marked as what undo and redo take together; what lasts is not among these."""
    found: list[Entry] = []
    begun = False
    for kind, sample, annotator, payload in entries:
        mark = TOGETHER * (begun and kind not in LASTING_KINDS)
        found.append((kind + mark, sample, annotator, payload, None))
        begun = begun or kind not in LASTING_KINDS
    return found


LASTING_KINDS = frozenset(f"{KIND}:{event.__struct_config__.tag}" for event in LASTING)
