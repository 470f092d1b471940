"""The figures of `emotui score spans` over many samples: means, rates, and their spread over repeats."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import msgspec

from emotui.metrics.repeats import known_mean, known_sd
from emotui.metrics.span_labels import labels_report
from emotui.metrics.span_scoring import (
    NEUTRAL,
    Embed,
    SampleDetail,
    SentenceScore,
    score_pairs,
    score_samples,
)
from emotui.metrics.span_tokens import TokenCounts
from emotui.metrics.spans import Pair
from emotui.records import Sentence, SpanPrediction, SpanSample

if TYPE_CHECKING:
    from emotui.metrics.beside import Shared

__all__ = ["Embed", "Pair", "SampleDetail", "SentenceScore", "report", "score_pairs", "score_samples", "span_report"]

Figure = int | float | None
Figures = dict[str, "Figure | Figures"]
Label = Callable[[SpanSample | Sentence], str | None]


def span_report(
    gold: Sequence[SpanSample],
    predicted: Sequence[SpanPrediction],
    embed: Embed | None,
    keywords: frozenset[str],
    per_sample: bool = False,
    skip_missing: bool = False,
    shared: "Shared | None" = None,
) -> dict[str, object]:
    """The whole JSON document of `emotui score spans`; with `per_sample` also `samples`.

    Args:
        skip_missing: a sample without a prediction is left out of its repeat; else it counts as one without spans.
        shared: of each gold sample what it shares with others; where given, intervals stand beside (`ci95`).

    Raises:
        ValueError: as `score_samples`.
    """
    details = score_samples(gold, predicted, embed, keywords)
    if skip_missing:
        details = [detail for detail in details if not detail.missing]
    document = whole_report(gold, details)
    if shared is not None:
        # Imported here because they need numpy, and the figures themselves do not.
        from emotui.metrics.beside import beside, with_beside
        from emotui.metrics.span_intervals import span_intervals

        document = with_beside(document, beside(span_intervals(gold, details, shared), shared))
    if per_sample:
        document["samples"] = [sample_entry(detail) for detail in details]
    return document


def sample_entry(detail: SampleDetail) -> dict[str, object]:
    """One entry of `samples`. Spans stand there as strings: a reader has no other place to see what was parsed."""
    return {
        "id": detail.id,
        "repeat": detail.repeat,
        "f1": detail.f1,
        "sim": detail.sim,
        "pairs": [[detail.gold[pair.gold], detail.predicted[pair.predicted], pair.f1] for pair in detail.pairs],
        "hallucinated": [detail.predicted[index] for index in detail.hallucinated],
        "gold": list(detail.gold),
        "predicted": list(detail.predicted),
        "invalid": detail.invalid,
        "precision": detail.precision,
        "recall": detail.recall,
        "missed": [detail.gold[index] for index in detail.missed],
        "extra": [detail.predicted[index] for index in detail.extra],
        "repeated": [detail.predicted[index] for index in detail.repeated],
        "places": list(detail.located),
        "gold_labels": list(detail.gold_labels),
        "predicted_labels": list(detail.predicted_labels),
        "labelled_f1": detail.labelled_f1 if detail.labelled else None,
        "wrong_labels": [detail.predicted[index] for index in detail.wrong_labels],
        "tokens": None if detail.tokens is None else msgspec.structs.asdict(detail.tokens),
    }


def report(gold: Sequence[SpanSample], details: Sequence[SampleDetail]) -> dict[str, object]:
    """All figures over all samples, without the samples themselves.

    With more than one repeat (or one that is not 0) each figure is the mean over repeats in which it is defined, and
    `sd` holds the sample standard deviation (n-1) of each; null over fewer than two. A rate over nothing is null, with
    the cause under `notes`.

    Args:
        gold: the samples that the details are of, in any order; samples without a detail are not counted.

    Source: SEER, sections 6 and 10 and Figures 3 to 6.
    """
    sample_of = {sample.id: sample for sample in gold}
    repeats = sorted({detail.repeat for detail in details}) or [0]
    each = [_figures(sample_of, [d for d in details if d.repeat == repeat]) for repeat in repeats]
    document: dict[str, object] = dict(_over_repeats(each, known_mean))
    notes = _notes(each, bool(details))
    without = sum(detail.sim is None for detail in details)
    if 0 < without < len(details):
        notes["sim"] = f"{without} of {len(details)} answers have none, and are left out: {_NOT_EMBEDDED}"
    if repeats != [0]:
        document["repeats"] = len(repeats)
        document["sd"] = _over_repeats(each, known_sd)
    if notes:
        document["notes"] = notes
    return document


def whole_report(gold: Sequence[SpanSample], details: Sequence[SampleDetail]) -> dict[str, object]:
    """As `report`, with the figures of `emotui.metrics.span_matching`."""
    from emotui.metrics.span_matching import has_labels, matching_report  # numpy, which the others do not need

    document, sample_of, labelled = report(gold, details), {sample.id: sample for sample in gold}, has_labels(details)
    own = [[one for one in details if one.repeat == repeat] for repeat in sorted({one.repeat for one in details})]
    each = [matching_report([sample_of[one.id] for one in part], part, labelled=labelled) for part in own or [[]]]
    if isinstance(deviations := document.get("sd"), dict):
        document["sd"] = deviations | _over_repeats(each, known_sd)
    return document | _over_repeats(each, known_mean)


def _figures(sample_of: Mapping[str, SpanSample], details: Sequence[SampleDetail]) -> Figures:
    """The figures of one repeat."""
    sound = [detail for detail in details if not detail.void]
    spans = sum(detail.predicted_once for detail in details)
    hallucinated = sum(len(detail.hallucinated) for detail in details)
    keyword = sum(detail.keyword for detail in details)
    fixated = sum(bool(detail.fixated) for detail in details)
    neutral = sum(s.emotion == NEUTRAL for detail in details for s in sample_of[detail.id].sentences)
    hit = sum(_neutral_sentences_hit(sample_of[detail.id], detail) for detail in sound)
    in_neutral = sum(len(detail.neutral_hits) for detail in sound)
    placed = sum(
        span is not None and at not in detail.repeated for detail in sound for at, span in enumerate(detail.located)
    )
    met = sum(sum([pair.f1 for pair in detail.pairs]) for detail in details)
    marked = [detail for detail in details if detail.gold]
    return {
        "n": len(details),
        "f1": _average(detail.f1 for detail in details),
        "precision": _rate(met, spans),
        "recall": _rate(met, sum(len(detail.gold) for detail in details)),
        "f1_gold": _average(detail.f1 for detail in marked),
        "empty_gold": len(details) - len(marked),
        "empty_both": sum(detail.f1 == 1 for detail in details if not detail.gold),
        "missed_spans": sum(len(detail.missed) for detail in details),
        "extra_spans": sum(len(detail.extra) for detail in details),
        "repeated_spans": sum(len(detail.repeated) for detail in details),
        "tokens": _token_figures([detail.tokens for detail in details]),
        **_label_figures(details),
        "sim": _known_average(detail.sim for detail in details),
        "predicted_spans": spans,
        "hallucinated_spans": hallucinated,
        "hallucination_rate": _rate(hallucinated, spans),
        "keyword_samples": keyword,
        "fixated_samples": fixated,
        "fixation_rate": _rate(fixated, keyword),
        "neutral_sentences": neutral,
        "neutral_sentences_hit": hit,
        "neutral_sentence_fpr": _rate(hit, neutral),
        "neutral_span_share": _rate(in_neutral, placed),
        "by_emotion": _by_name(sample_of, details, _emotion),
        "by_valence": _by_name(sample_of, details, _valence),
        "invalid_outputs": sum(detail.invalid is not None for detail in details),
        "missing_predictions": sum(detail.missing for detail in details),
    }


def _token_figures(counts: Sequence[TokenCounts | None]) -> Figures:
    """Precision, recall and F1 of all tokens together; undefined where some sample's were not counted."""
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return dict.fromkeys(("precision", "recall", "f1"))
    gold, predicted = sum(count.gold for count in known), sum(count.predicted for count in known)
    shared = sum(count.shared for count in known)
    return {
        "precision": _rate(shared, predicted),
        "recall": _rate(shared, gold),
        "f1": _rate(2 * shared, gold + predicted),
    }


def _label_figures(details: Sequence[SampleDetail]) -> Figures:
    """`labelled_f1` and `labels`, where there are labels on both sides."""
    if not (any(detail.gold_labels for detail in details) and any(detail.predicted_labels for detail in details)):
        return {}
    return {
        "labelled_f1": _average(detail.labelled_f1 for detail in details),
        "labels": labels_report(pair for detail in details for pair in detail.label_pairs),
    }


def _neutral_sentences_hit(sample: SpanSample, detail: SampleDetail) -> int:
    return sum(
        any(span and span[0] < sentence.end and sentence.start < span[1] for span in detail.located)
        for sentence in sample.sentences
        if sentence.emotion == NEUTRAL
    )


def _by_name(sample_of: Mapping[str, SpanSample], details: Sequence[SampleDetail], label: Label) -> Figures:
    """F1 and Sim by emotion or valence: of sentences that are not neutral, or of samples that have no sentences."""
    scores: dict[str, list[tuple[float, float | None]]] = {}
    for detail in details:
        sample = sample_of[detail.id]
        if not sample.sentences:
            name = label(sample)
            if name is not None:
                scores.setdefault(name, []).append((detail.f1, detail.sim))
        for score in detail.sentences:
            name = label(sample.sentences[score.index])
            if name is not None and name != NEUTRAL:
                scores.setdefault(name, []).append((score.f1, score.sim))
    return {
        name: {"n": len(found), "f1": _average(f1 for f1, _ in found), "sim": _known_average(sim for _, sim in found)}
        for name, found in sorted(scores.items())
    }


def _emotion(labelled: SpanSample | Sentence) -> str | None:
    return labelled.emotion


def _valence(labelled: SpanSample | Sentence) -> str | None:
    return labelled.valence


def _average(values: Iterable[float | None]) -> float | None:
    """The mean; None over nothing, and where a value is undefined."""
    numbers = list(values)
    known = [number for number in numbers if number is not None]
    return fmean(known) if known and len(known) == len(numbers) else None


def _known_average(values: Iterable[float | None]) -> float | None:
    """The mean of those that are defined."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _rate(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _over_repeats(each: Sequence[Figures], combine: Callable[[Sequence[int | float]], Figure]) -> Figures:
    """One figure of each name from those of all repeats; names may lack in some (an emotion without a sentence)."""
    combined: Figures = {}
    for name in dict.fromkeys(name for figures in each for name in figures):
        values = [figures[name] for figures in each if name in figures]
        parts = [value for value in values if isinstance(value, dict)]
        if parts:
            combined[name] = _over_repeats(parts, combine)
        else:
            combined[name] = combine([value for value in values if isinstance(value, int | float)])
    return combined


def _notes(each: Sequence[Figures], samples: bool) -> dict[str, str]:
    """Why a figure is null, by its name, also where it is so in some of the repeats; and what F1 counts as 1."""
    notes = {}
    causes = _CAUSES | (_LABEL_CAUSES if all("labels" in figures for figures in each) else {})
    for name, cause in causes.items():
        undefined = sum(_found(figures, name) is None for figures in each)
        if undefined:
            notes[name] = cause if samples else "no samples"
            if undefined < len(each):
                notes[name] += f" in {undefined} of {len(each)} repeats, which the mean leaves out"
    if any(figures["repeated_spans"] for figures in each):
        notes["repeated_spans"] = REPEATED_RULE
    empty = each[0]["empty_gold"]
    if empty:
        without = "1 sample has" if empty == 1 else f"{empty} samples have"
        notes["f1"] = f"{EMPTY_RULE}; {without} no gold span, and f1_gold leaves {'it' if empty == 1 else 'them'} out"
    return notes


def _found(figures: Figures, name: str) -> object:
    group, _, rest = name.partition(".")
    found = figures[group]
    return found.get(rest) if isinstance(found, dict) else found


REPEATED_RULE = (
    "a span that an answer gives again (equal place, or words without a further place; equal label) counts once"
)
"""What has to be known where answers repeat spans."""

EMPTY_RULE = "a sample with neither gold nor predicted spans counts 1, so silence is rewarded"
"""What has to be known wherever F1 stands (SEER, section 6)."""

_NOT_EMBEDDED = "the model that embeds did not finish a span of theirs"

_CAUSES = {
    "f1": "no samples",
    "sim": "no embedding model was asked",
    "precision": "no predicted spans",
    "recall": "no gold spans",
    "f1_gold": "no sample has gold spans",
    "tokens.precision": "no predicted tokens, or a sample was scored before they were counted",
    "tokens.recall": "no gold tokens, or a sample was scored before they were counted",
    "tokens.f1": "no tokens in spans, or a sample was scored before they were counted",
    "hallucination_rate": "no predicted spans",
    "fixation_rate": "no gold span holds a keyword",
    "neutral_sentence_fpr": "no neutral sentences",
    "neutral_span_share": "no predicted span was found in its text",
}
_LABEL_CAUSES = dict.fromkeys(("labels.accuracy", "labels.macro_f1"), "no two spans with labels meet")
