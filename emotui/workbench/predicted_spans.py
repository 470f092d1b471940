"""The spans of an answer with their places: those that it gave itself, else those where its words stand."""

from collections.abc import Sequence

from emotui.metrics.locating import locate
from emotui.metrics.span_scoring import SampleDetail
from emotui.records import Mark, SpanSample
from emotui.tasks.spans.task import Prediction
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


def spans_of(prediction: Prediction) -> Sequence[str | Mark]:
    """What was parsed from an answer: marks where the model gave places, else its words."""
    if not prediction.offsets:
        return prediction.spans
    labels = prediction.labels or [None] * len(prediction.offsets)
    strengths = prediction.strengths or [None] * len(prediction.offsets)
    return [
        Mark(start, end, label, strength)
        for (start, end), label, strength in zip(prediction.offsets, labels, strengths, strict=True)
    ]
