"""Spans that cost nothing: none, the whole text, and every emotion keyword."""

import re
from collections.abc import Mapping, Sequence

from emotui.metrics.span_scoring import keyword_tokens
from emotui.metrics.tokens import tokens
from emotui.records import SpanPrediction, SpanSample

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def keyword_spans(text: str, terms: frozenset[str]) -> tuple[str, ...]:
    """Each word of the text that is a keyword, a span of its own, in text order.

    Args:
        terms: keywords as single tokens (`keyword_tokens`).
    """
    return tuple(word for word in _WORD.findall(text) if not terms.isdisjoint(tokens(word)))


def span_baselines(golds: Sequence[SpanSample], keywords: frozenset[str]) -> Mapping[str, list[SpanPrediction]]:
    """A prediction for each sample by each baseline.

    `nothing`: no span; `everything`: one span, the whole text, of a passage too; `keywords`: a span for each keyword.

    Args:
        keywords: as for fixation (`emotui.lexicons.empath_keywords`).
    """
    terms = keyword_tokens(keywords)

    def said(spans_of: dict[str, tuple[str, ...]]) -> list[SpanPrediction]:
        return [SpanPrediction(id=key, spans=spans) for key, spans in spans_of.items()]

    return {
        "nothing": said({one.id: () for one in golds}),
        "everything": said({one.id: (one.text.strip(),) if one.text.strip() else () for one in golds}),
        "keywords": said({one.id: keyword_spans(one.text, terms) for one in golds}),
    }
