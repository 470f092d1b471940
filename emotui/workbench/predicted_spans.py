"""The spans of an answer with their places: those that it gave itself, else those where its words stand."""

from collections.abc import Sequence

from emotui.metrics.locating import locate
from emotui.metrics.span_scoring import SampleDetail
from emotui.records import Mark, SpanSample
from emotui.workbench.source import PredictedSpan


def predicted_spans(
    sample: SpanSample, spans: Sequence[str | Mark], detail: SampleDetail | None
) -> tuple[PredictedSpan, ...]:
    """The spans in their order.

    Args:
        detail: the score of just these spans, which knows the places of those that are strings.
    """
    words = [span if isinstance(span, str) else sample.text[span.start : span.end] for span in spans]
    fits = detail is not None and len(detail.located) == len(words)
    found = detail.located if detail is not None and fits else locate(sample.text, words)
    return tuple(
        PredictedSpan(said, place) if isinstance(span, str) else PredictedSpan(said, span.place, span.label, span.score)
        for said, span, place in zip(words, spans, found, strict=True)
    )
