"""SEER: where in a text is the evidence of an emotion (Sampath et al., the SEER benchmark).

A run asks a model for the evidence in each sample (section 4), keeps its raw answer, parses it into spans, and scores
them against gold (section 6). An answer can be parsed and scored again without asking the model again.
"""

from collections.abc import Mapping, Sequence

import msgspec

from emotui.backends.base import Evidence, Extract, ModelCard, Refused
from emotui.lexicons import empath_keywords
from emotui.metrics.span_report import report
from emotui.metrics.span_scoring import Embed, SampleDetail, score_samples
from emotui.records import Span, SpanPrediction, SpanSample
from emotui.store.rows import ScoreRow
from emotui.tasks.task import Asked, AskModel, Parsed

VERSION = "1"
CONVENTION = (
    "spans 1: token F1 as SQuAD, Kuhn-Munkres by F1 then cosine, sum over max(gold, predicted); "
    "sim all-MiniLM-L6-v2; keywords Empath positive and negative emotion"
)
"""What a stored score was computed under."""


class Prediction(msgspec.Struct, frozen=True):
    """What was parsed from one answer: the spans as text, their offsets where the model gave any, and its labels."""

    spans: tuple[str, ...]
    offsets: tuple[Span, ...] = ()
    labels: tuple[str, ...] = ()
    strengths: tuple[float, ...] = ()


def ask(sample: SpanSample) -> Extract:
    """The question to a model that marks evidence itself."""
    return Extract(sample.text)


def raw(answer: Sequence[Evidence]) -> str:
    """The answer as it is kept: JSON, one object a span."""
    return msgspec.json.encode(
        [{"start": e.start, "end": e.end, "label": e.label, "strength": round(e.strength, 6)} for e in answer]
    ).decode()


def parse(sample: SpanSample, answer: str) -> Prediction:
    """From a kept answer to spans, in text order.

    Raises:
        ValueError: the answer is not what `raw` writes, or points outside the text.
    """
    spans = sorted(msgspec.json.decode(answer, type=list[_Marked]), key=lambda s: (s.start, s.end))
    for span in spans:
        if not 0 <= span.start < span.end <= len(sample.text):
            raise ValueError(f"span [{span.start}, {span.end}] lies outside the text")
    return Prediction(
        spans=tuple(sample.text[s.start : s.end] for s in spans),
        offsets=tuple((s.start, s.end) for s in spans),
        labels=tuple(s.label for s in spans),
        strengths=tuple(s.strength for s in spans),
    )


class _Marked(msgspec.Struct, frozen=True):
    start: int
    end: int
    label: str
    strength: float


def predicted(sample: SpanSample, prediction: Prediction, repeat: int = 0) -> SpanPrediction:
    """The record that scoring and files use."""
    return SpanPrediction(id=sample.id, spans=prediction.spans, repeat=repeat)


def score(
    samples: Sequence[SpanSample], predictions: Sequence[SpanPrediction], embed: Embed | None
) -> list[SampleDetail]:
    """Score parsed answers against gold (section 6, with Empath's keywords of section 10.4).

    One entry for each sample in each repeat that occurs; a sample without an answer in it scores as one without spans.
    """
    return score_samples(samples, predictions, embed, empath_keywords())


def refused(answer: object) -> str | None:
    """Why the model did not answer this sample, or None."""
    return answer.why if isinstance(answer, Refused) else None


def score_row(detail: SampleDetail) -> ScoreRow:
    """A score as it is stored, under the convention it was computed by."""
    return ScoreRow(CONVENTION, detail.f1, detail.sim, detail.marks, msgspec.json.encode(detail))


class Spans:
    """The task as those see it who run it."""

    name = "spans"
    doing = "marking"
    version = VERSION
    sample = SpanSample
    embeds = True

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """There is one way: the model marks the evidence."""
        return ()

    def settings(self, way: str) -> Mapping[str, object]:
        """Nothing but the version changes an answer."""
        return {}

    def ask(self, samples: Sequence[SpanSample], model: AskModel, way: str) -> list[Asked]:
        """One question a sample, in one batch."""
        answers = model([ask(sample) for sample in samples])
        return [Asked(None, refused(answer)) if refused(answer) else Asked(raw(answer)) for answer in answers]

    def parse(self, sample: SpanSample, raw: str) -> Prediction:
        """As `parse`."""
        return parse(sample, raw)

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """As `score`, with every distinct text embedded once."""
        golds = list({answer.sample.id: answer.sample for answer in answers}.values())
        said = [predicted(answer.sample, answer.prediction, answer.repeat) for answer in answers]
        details = {(detail.id, detail.repeat): detail for detail in score(golds, said, embed)}
        return [score_row(details[one.id, one.repeat]) for one in said]

    def report(self, samples: Sequence[SpanSample], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """As `emotui score spans` names the figures."""
        return report(samples, [msgspec.json.decode(row.detail, type=SampleDetail) for row in scores])
