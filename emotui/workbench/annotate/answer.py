"""What anybody says about one text: spans, labels, numbers, sentences, words for masks. Gold has the same shape."""

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from emotui.records import Mark


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
        """The span as records have it."""
        return Mark(self.start, self.end, self.label, None, self.attributes)

    def __hash__(self) -> int:
        return hash((self.id, self.start, self.end, self.label))


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
    def places(self) -> frozenset[tuple[int, int, str | None]]:
        """(start, end, label) of each span: what two answers are compared by, whatever the spans' identities."""
        return frozenset((span.start, span.end, span.label) for span in self.spans)

    def span(self, id: str) -> SpanMark | None:
        """The span of this identity."""
        return next((span for span in self.spans if span.id == id), None)

    def same_as(self, other: "Answer") -> bool:
        """Whether both say the same, whatever the identities of the spans and the order of the labels."""
        return (
            sorted(map(_content, self.spans)) == sorted(map(_content, other.spans))
            and (None if self.labels is None else set(self.labels))
            == (None if other.labels is None else set(other.labels))
            and (self.values, self.sentences, self.words) == (other.values, other.sentences, other.words)
        )


def _content(span: SpanMark) -> tuple[int, int, str, bytes]:
    return span.start, span.end, span.label or "", msgspec.json.encode(span.attributes, order="sorted")


def new_id() -> str:
    """An identity for a new span: eight hexadecimal digits, left to chance."""
    return secrets.token_hex(4)


def in_order(spans: Iterable[SpanMark]) -> tuple[SpanMark, ...]:
    """Spans in the order of the text; of those that start together the longer one first."""
    return tuple(sorted(spans, key=lambda span: (span.start, -span.end, span.label or "", span.id)))
