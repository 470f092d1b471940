"""A text as an annotator sees it: without gold and without anybody's word."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from emotui.records import Span, SpanSample

MASK = re.compile(r"<mask>")


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
        masks=tuple(match.span() for match in MASK.finditer(text)),
        subject=getattr(sample, "subject", None),
        meta=getattr(sample, "meta", {}),
    )
