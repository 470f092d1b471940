"""Two sets of span labels brought together: what a source calls an emotion, and what gold does."""

from collections.abc import Mapping, Sequence

import msgspec

from emotui.backends.relabelled import read_label_map
from emotui.metrics.span_labels import mapped
from emotui.records import Mark, SpanPrediction, SpanSample


def with_mapped_labels(
    golds: Sequence[SpanSample], answers: Sequence[SpanPrediction], path: str | None
) -> tuple[Sequence[SpanPrediction], list[str]]:
    """The predictions with gold's labels, by the mapping of a file; and the labels that have no image in gold's.

    A label of gold's that the mapping does not name stands for itself. One without an image stays, and is wrong.
    """
    if path is None:
        return answers, []
    own = [mark.label for sample in golds for mark in sample.spans or () if mark.label is not None]
    theirs = [mark.label for one in answers for mark in one.spans or () if isinstance(mark, Mark) and mark.label]
    images, without = mapped(theirs, read_label_map(path), own)
    return [with_labels(answer, images) for answer in answers], without


def with_labels(answer: SpanPrediction, images: Mapping[str, str]) -> SpanPrediction:
    """A prediction whose labels have other names; a label that is not named keeps its own."""
    if not answer.spans:
        return answer
    spans = tuple(
        msgspec.structs.replace(span, label=images[span.label])
        if isinstance(span, Mark) and span.label is not None and span.label in images
        else span
        for span in answer.spans
    )
    return msgspec.structs.replace(answer, spans=spans)
