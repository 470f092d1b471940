"""People beside models: annotators' spans scored as if a model had written them (SEER, section 9)."""

from collections.abc import Iterable, Mapping, Sequence

from emotui.metrics.span_scoring import Embed, SampleDetail, score_pairs
from emotui.records import SpanPrediction, SpanSample


def annotator_predictions(samples: Iterable[SpanSample]) -> dict[str, list[SpanPrediction]]:
    """Each annotator's spans as predictions, by name, in the order of the samples; only samples that have them."""
    predictions: dict[str, list[SpanPrediction]] = {}
    for sample in samples:
        for name, spans in sample.annotators.items():
            marks = tuple(sorted(spans, key=lambda mark: (mark.place, mark.label or "")))
            predictions.setdefault(name, []).append(SpanPrediction(id=sample.id, spans=marks))
    return predictions


def score_annotators(
    samples: Sequence[SpanSample], embed: Embed | None, keywords: frozenset[str]
) -> dict[str, list[SampleDetail]]:
    """Every annotator's details, by name. A sample that someone did not annotate is left out: it is no failure.

    Args:
        embed, keywords: as for `score_samples`; `embed` is called at most once, for all annotators together.
    """
    sample_of = {sample.id: sample for sample in samples}
    named = [
        (name, prediction) for name, predictions in annotator_predictions(samples).items() for prediction in predictions
    ]
    details = score_pairs([(sample_of[prediction.id], prediction, 0) for _, prediction in named], embed, keywords)
    scored: dict[str, list[SampleDetail]] = {}
    for (name, _), detail in zip(named, details, strict=True):
        scored.setdefault(name, []).append(detail)
    return scored


def best_each(scored: Mapping[str, Sequence[SampleDetail]]) -> list[SampleDetail]:
    """The best annotation of each sample, by F1 and then by Sim; of equal ones the annotator first by name.

    The paper leaves open whether its best Sim is that of the annotation with the best F1. It speaks of the annotation
    of the best annotator over each sample, so it is one annotation here, and its F1 and Sim belong together.

    Returns:
        in the order in which samples first occur.

    Source: SEER, section 9, Tables 3 and 4.
    """
    best: dict[str, SampleDetail] = {}
    for name in sorted(scored):
        for detail in scored[name]:
            held = best.setdefault(detail.id, detail)
            if _rank(detail) > _rank(held):
                best[detail.id] = detail
    return list(best.values())


def _rank(detail: SampleDetail) -> tuple[float, float]:
    return detail.f1, -1.0 if detail.sim is None else detail.sim
