"""One span as files have it: its words, or its offsets with a label, a strength or neither."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emotui.records import Span


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """`place`: its offsets, where they are known."""

    words: str
    place: Span | None = None
    label: str | None = None
    score: float | None = None
    attributes: Mapping[str, Any] | None = None


def marked_span(text: str, item: Any) -> MarkedSpan:
    """From words, `[start, end]`, `[start, end, label]` or `{start, end, label?, score?, attributes?}`.

    Raises:
        ValueError: it is none of these, or lies outside the text.
    """
    if isinstance(item, str):
        return MarkedSpan(item)
    label, score, attributes = None, None, None
    if isinstance(item, dict):
        start, end, label, score = item.get("start"), item.get("end"), item.get("label"), item.get("score")
        attributes = item.get("attributes")
    elif isinstance(item, list | tuple) and len(item) in (2, 3):
        start, end = item[:2]
        label = item[2] if len(item) == 3 else None
    else:
        raise ValueError(f"a span must be words, [start, end] or an object, not {item!r}")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(text):
        raise ValueError(f"span [{start}, {end}] lies outside the text, which has {len(text)} characters")
    return MarkedSpan(text[start:end], (start, end), label, score, attributes)
