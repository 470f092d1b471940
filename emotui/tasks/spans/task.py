"""SEER: where in a text is the evidence of an emotion (Sampath et al., the SEER benchmark).

A run asks a model for the evidence in each sample (section 4), keeps its raw answer, parses it into spans, and scores
them against gold (section 6). An answer can be parsed and scored again without asking the model again.

A model that marks evidence itself (`embedded`, some of `hf:`) is asked in one way; one that writes in four: retrieve or
highlight, with or without reasoning first. Task 1 and Task 2 are told apart by the samples: those of Task 2 have
sentences.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import Evidence, Extract, ModelCard, Refused
from emotui.backends.relabelled import MAPPED, hash_of
from emotui.errors import BadInput, ModelError
from emotui.lexicons import empath_keywords, keywords_from
from emotui.metrics.locating import locate
from emotui.metrics.metric import Metric
from emotui.metrics.span_baselines import span_baselines
from emotui.metrics.span_errors import Facts
from emotui.metrics.span_output import STYLES, parse_output
from emotui.metrics.span_report import report, span_report, whole_report
from emotui.metrics.span_scoring import CONVENTION, Embed, SampleDetail, score_samples
from emotui.records import Mark, Sentence, Span, SpanPrediction, SpanSample, Text
from emotui.store.rows import ResultRow, SampleRow, ScoreRow
from emotui.tasks.measures import SPANS
from emotui.tasks.parts import (
    AGAINST_PEOPLE,
    Asking,
    Embedding,
    Experiments,
    OwnSamples,
    SaidLine,
    ScoreOption,
    TaskFiles,
    TaskWords,
    predictions_of,
    shared_by,
)
from emotui.tasks.prompting.settings import CONTEXT, DIRECT, WRITTEN, Writing, options_from
from emotui.tasks.published import published
from emotui.tasks.spans import experiments
from emotui.tasks.spans.label_maps import with_labels, with_mapped_labels
from emotui.tasks.spans.prompts import (
    ALL_WAYS,
    NAMED,
    WAYS,
    ask_in_words,
    bare,
    breach,
    described,
    read_prompts,
    style_of,
    way_of_experiment,
    ways_of_experiment,
)
from emotui.tasks.task import Asked, AskModel, Parsed, Task, unanswered

if TYPE_CHECKING:
    from emotui.metrics.label_sums import Figures

# One span as files have it: its words, or its offsets with a label, a strength or neither.


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


VERSION = "1"


class Prediction(msgspec.Struct, frozen=True):
    """What was parsed from one answer: the spans as text, their offsets where the model gave any, and its labels.

    `offsets`, `labels`, `strengths` and `attributes` are empty, or have one a span; of a span of which nothing is said
    that is None, and of labels the empty string.

    `sentences`: what a person says of sentences; of a text that is one sentence alone, of the text.

    Of a model that writes: `output`, its answer without what stood around it, in its style; `breach`: how that breaks
    the contract (SEER, Table 11), if it does.
    """

    spans: tuple[str, ...]
    offsets: tuple[Span | None, ...] = ()
    labels: tuple[str, ...] = ()
    strengths: tuple[float | None, ...] = ()
    output: str | None = None
    style: str | None = None
    cot: bool = False
    breach: str | None = None
    attributes: tuple[Mapping[str, Any] | None, ...] = ()
    sentences: tuple[Sentence, ...] = ()


def ask(sample: SpanSample) -> Extract:
    """The question to a model that marks evidence itself."""
    return Extract(sample.text)


def raw(answer: Sequence[Evidence]) -> str:
    """The answer as it is kept: JSON, one object a span. Strengths to four decimals: the sixth differs by processor."""
    return msgspec.json.encode(
        [{"start": e.start, "end": e.end, "label": e.label, "strength": round(e.strength, 4)} for e in answer]
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


def parse_written(sample: SpanSample, answer: str, way: str) -> Prediction:
    """From what a model wrote, asked in this way, to spans."""
    style, cot = style_of(way)
    output = bare(answer, cot)
    spans = parse_output(output, style, cot, sample.text).spans
    return Prediction(spans, output=output, style=style, cot=cot, breach=breach(output, style, cot, sample.text))


class _Marked(msgspec.Struct, frozen=True):
    start: int
    end: int
    label: str
    strength: float


def predicted(key: str, prediction: Prediction, repeat: int = 0) -> SpanPrediction:
    """The record that scoring and files use, for the sample of that id."""
    if prediction.output is not None:
        return SpanPrediction(
            id=key, output=prediction.output, style=prediction.style, repeat=repeat, cot=prediction.cot
        )
    return SpanPrediction(id=key, spans=marks_of(prediction), sentences=prediction.sentences, repeat=repeat)


def marks_of(prediction: Prediction) -> tuple[str | Mark, ...]:
    """The spans with what the model said of them, those that it gave no place for as strings."""
    if not prediction.offsets:
        return prediction.spans
    blanks = (None,) * len(prediction.spans)
    said = zip(
        prediction.spans,
        prediction.offsets,
        prediction.labels or blanks,
        prediction.strengths or blanks,
        prediction.attributes or blanks,
        strict=True,
    )
    return tuple(
        span if place is None else Mark(*place, label or None, strength, attributes or {})
        for span, place, label, strength, attributes in said
    )


def score(
    samples: Sequence[SpanSample], predictions: Sequence[SpanPrediction], embed: Embed | None
) -> list[SampleDetail]:
    """Score parsed answers against gold (section 6, with Empath's keywords of section 10.4).

    One entry for each sample in each repeat that occurs; a sample without an answer in it scores as one without spans.
    """
    return score_samples(samples, predictions, embed, empath_keywords())


METRICS = (
    Metric("f1", (0, 1), True, "the aligned pairs' token F1 over the greater number of spans (SEER, section 6)", "F1"),
    Metric("sim", (-1, 1), True, "the aligned pairs' cosine over the greater number of spans", "Sim"),
    Metric(
        "precision", (0, 1), True, "the aligned pairs' token F1 over the number of predicted spans", "P", pooled=True
    ),
    Metric("recall", (0, 1), True, "the aligned pairs' token F1 over the number of gold spans", "R", pooled=True),
)


LABELLED_F1 = Metric(
    "labelled_f1", (0, 1), True, "F1 where a pair whose labels differ counts 0", "F1 label", pooled=True
)
"""Of a text with labels on both sides."""


def score_row(detail: SampleDetail, convention: str = CONVENTION) -> ScoreRow:
    """A score as it is stored, under the convention it was computed by; without values where gold says nothing."""
    if detail.unlabelled:
        marks = "".join(mark for mark in detail.marks if mark in "H!")
        return ScoreRow(convention, {metric.name: None for metric in METRICS}, marks, msgspec.json.encode(detail))
    return ScoreRow(convention, detail.values, detail.marks, msgspec.json.encode(detail))


def score_files(
    golds: Sequence[SpanSample],
    answers: Sequence[SpanPrediction],
    given: Mapping[str, Any],
    embedding: Embedding,
) -> dict[str, object]:
    """The document of `emotui score spans`.

    Raises:
        BadInput: a predicted span ends behind its text, or the file of `map_labels` holds no mapping.
    """
    _check_places(golds, answers)
    keywords = _keywords(given)
    per_sample = bool(given.get("per_sample"))
    skip = given.get("missing") == "skip"
    said, unmapped = with_mapped_labels(golds, answers, given.get("map_labels"))
    report = partial(
        span_report,
        golds,
        said,
        keywords=keywords,
        per_sample=per_sample,
        skip_missing=skip,
        shared=[shared_by(sample.meta) for sample in golds],
    )
    if given.get("no_sim"):
        document = report(embed=None)
    else:
        with embedding() as embed:
            document = report(embed=embed)
    if given.get("map_labels"):
        document["unmapped_labels"] = unmapped
    return document


def score_people(
    golds: Sequence[SpanSample], answers: Sequence[SpanPrediction], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The figures of `emotui score spans --against people`. A record without an answer marks nothing."""
    from emotui.metrics.people_spread import SpanSaid, span_people_report

    ids = {gold.id for gold in golds}
    own = [one for one in answers if one.id in ids]
    _check_places(golds, own)
    said, _ = with_mapped_labels(golds, own, given.get("map_labels"))
    predicted = dict[str, list[list[tuple[int, int, str | None]]]]()
    for detail in score_samples(golds, said, None, frozenset()):
        labels = detail.predicted_labels or (None,) * len(detail.located)
        marks = [(*place, label) for place, label in zip(detail.located, labels, strict=True) if place is not None]
        predicted.setdefault(detail.id, []).append(marks)
    texts = [
        SpanSaid(
            gold.text,
            {name: [(mark.start, mark.end, mark.label) for mark in marks] for name, marks in gold.annotators.items()},
            predicted[gold.id],
        )
        for gold in golds
    ]
    return span_people_report(texts, [shared_by(gold.meta) for gold in golds])


def _check_places(golds: Sequence[SpanSample], answers: Sequence[SpanPrediction]) -> None:
    lengths = {sample.id: len(sample.text) for sample in golds}
    problems = [
        f"{answer.id}: span [{mark.start}, {mark.end}] ends behind the text, which has {lengths[answer.id]} characters"
        for answer in answers
        for mark in answer.spans or ()
        if isinstance(mark, Mark) and mark.end > lengths[answer.id]
    ]
    if problems:
        raise BadInput(*problems)


def score_baselines(
    golds: Sequence[SpanSample], given: Mapping[str, Any], embedding: Embedding
) -> dict[str, dict[str, object]]:
    """The same figures of baselines, by name."""
    plain = {**given, "per_sample": False, "map_labels": None}
    said = span_baselines(golds, _keywords(given))
    return {name: score_files(golds, answers, plain, embedding) for name, answers in said.items()}


def _keywords(given: Mapping[str, Any]) -> frozenset[str]:
    return keywords_from(Path(given["keywords"])) if given.get("keywords") else empath_keywords()


def _by_task(samples: Sequence[SpanSample], details: Sequence[SampleDetail]) -> dict[str, object]:
    """Task 1 (sentences) and Task 2 (passages) apart, where a dataset has both: they are scored on different scales."""
    passages = {sample.id for sample in samples if sample.sentences}
    if not 0 < len(passages) < len(samples):
        return {}
    found = {}
    for name, inside in (("task_1", False), ("task_2", True)):
        chosen = [detail for detail in details if (detail.id in passages) == inside]
        part = report(samples, chosen)
        found[name] = {figure: part[figure] for figure in ("n", "f1", "sim")}
    return {"by_task": found}


def _stored(sample: SpanSample) -> bytes:
    """A sample as the store keeps it: without what nobody says, and its marks as they are decoded."""
    from emotui.formats.conversion import as_arrays
    from emotui.formats.json_document import present

    marks = {"annotators": as_arrays(sample.annotators)} if sample.annotators else {}
    if sample.spans is not None:
        marks["spans"] = as_arrays(sample.spans)
    return msgspec.json.encode(present(sample) | marks)


class Spans(Task):
    """The task as those see it who run it."""

    name = "spans"
    version = VERSION
    sample = SpanSample
    metrics = METRICS
    further_metrics = (LABELLED_F1,)
    prediction = Prediction
    embeds = True
    words = TaskWords(
        title="Emotion evidence (SEER)",
        progress="marking",
        runs="Run beside gold",
        without_run="gold alone",
        compares=True,
        marks_errors=True,
        asks="extraction of the spans that are evidence of an emotion",
        measures=SPANS,
    )
    files = TaskFiles(
        kind="spans",
        predicted=SpanPrediction,
        score=score_files,
        about="Evidence spans (SEER): F1, Sim, hallucination, keyword fixation, neutral false positives.",
        score_options=(
            ScoreOption("no-sim", "Leave Sim out (no model is loaded).", switch=True),
            ScoreOption("keywords", "Keywords of your own, one a line, in place of Empath's."),
            ScoreOption("map-labels", 'TOML, theirs = "ours": what predicted labels are called in gold.'),
            ScoreOption("per-sample", "Add every sample's score and alignment (with --json).", switch=True),
            AGAINST_PEOPLE,
        ),
        annotators=lambda sample: sample.annotators,
        score_people=score_people,
        repeats=True,
        own=OwnSamples("sample", ("spans_passages.jsonl", "spans_sentences.jsonl")),
        labelled=lambda sample: sample.spans is not None,
        baselines=score_baselines,
    )
    asking = Asking(
        ways=ALL_WAYS,
        offered=WAYS,
        named={DIRECT: ""} | NAMED,
        styles=STYLES,
        prompts=read_prompts,
    )
    experiments = Experiments(
        experiments.EXPERIMENTS,
        "SEER, appendices A and B",
        samples=lambda number: experiments.experiment(number, experiments.hand_crafted()),
        ways=ways_of_experiment,
        way=way_of_experiment,
        style_of=style_of,
        prefix=experiments.PREFIX,
        figures=experiments.figures,
        half_of=experiments.half_of,
        goes_on=experiments.goes_on,
    )

    def __init__(self, settings: Writing | None = None, label_map: Mapping[str, str] | None = None) -> None:
        self._settings = settings or Writing()
        self._label_map = dict(label_map or {})

    def with_label_map(self, mapping: Mapping[str, str]) -> "Spans":
        """Predicted labels are scored by what this calls them, theirs to ours."""
        return Spans(self._settings, mapping)

    def blank(self, text: Text, labels: Sequence[str] = ()) -> SpanSample:
        """The text, unlabelled."""
        return SpanSample(id=text.id, text=text.text, subject=text.subject, meta=text.meta)

    def row(self, sample: SpanSample) -> SampleRow:
        """A sample as the store lists it: emotions and valences of all its sentences, and the labels of its spans."""
        emotions = [sample.emotion, *(sentence.emotion for sentence in sample.sentences)]
        emotions += [mark.label for mark in sample.spans or ()]
        valences = [sample.valence, *(sentence.valence for sentence in sample.sentences)]
        return SampleRow(
            id=sample.id,
            text=sample.text,
            emotion=sample.emotion,
            valence=sample.valence,
            emotions=tuple(dict.fromkeys(e for e in emotions if e)),
            valences=tuple(dict.fromkeys(v for v in valences if v)),
            record=_stored(sample),
        )

    def question(self, sample: SpanSample) -> object:
        """The text alone."""
        return sample.text

    def option_names(self, way: str) -> tuple[str, ...]:
        """Those of writing, with retries; none for a model that marks evidence itself."""
        return (*WRITTEN, "retries", *CONTEXT) if way else ()

    def with_options(self, options: Mapping[str, object], repeats: int) -> "Spans":
        """Options are those of `Writing`; several repeats are sampled, unless they say otherwise.

        Raises:
            BadInput: one of them is wrong; it is named.
        """
        return Spans(options_from(self, options, repeats, Writing))

    def with_turns(self, turns: Mapping[str, str]) -> "Spans":
        """Before the text in the question of a model that writes."""
        return Spans(msgspec.structs.replace(self._settings, turns=turns))

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """A model that marks evidence itself is asked in one way; one that writes in the others, `retrieve` first."""
        if "extract" in card.capabilities:
            return ()
        if "generate" not in card.capabilities:
            from emotui.backends.host import lacks  # processes: not before a model is asked

            raise ModelError(lacks(card.spec, "generate"))
        return ALL_WAYS

    def settings(self, way: str) -> Mapping[str, object]:
        """Prompt and sampling. Where the model marks evidence itself, nothing but the version changes an answer."""
        return described(self._settings, way) if way else {}

    def ask(self, samples: Sequence[SpanSample], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """One question a sample, in one batch; a model that writes is asked again where it breaks the contract."""
        if way:
            return ask_in_words(samples, model, way, seeds, self._settings)
        answers = model([ask(sample) for sample in samples])
        return [unanswered(answer) if isinstance(answer, Refused) else Asked(raw(answer)) for answer in answers]

    def parse(self, sample: SpanSample, raw: str, way: str) -> Prediction:
        """As `parse`, or `parse_written`."""
        return parse_written(sample, raw, way) if way else parse(sample, raw)

    def record(self, key: str, prediction: Prediction | None, repeat: int = 0) -> SpanPrediction:
        """As `predicted`; no spans where there is no answer."""
        if prediction is None:
            return SpanPrediction(id=key, spans=(), repeat=repeat)
        return predicted(key, prediction, repeat)

    def taken(self, sample: SpanSample, said: Mapping[str, Any]) -> Prediction:
        """Spans as text or with offsets, or a raw output in its style."""
        if (output := said.get("output")) is not None:
            style, cot = str(said["style"]), bool(said.get("cot"))
            spans = parse_output(output, style, cot, sample.text).spans
            return Prediction(
                spans, output=output, style=style, cot=cot, breach=breach(output, style, cot, sample.text)
            )
        marked = [marked_span(sample.text, item) for item in said.get("spans") or ()]
        placed = any(span.place is not None for span in marked)
        return Prediction(
            spans=tuple(span.words for span in marked),
            offsets=tuple(span.place for span in marked) if placed else (),
            labels=tuple(span.label or "" for span in marked) if any(span.label for span in marked) else (),
            strengths=tuple(span.score for span in marked) if any(span.score is not None for span in marked) else (),
            attributes=tuple(span.attributes for span in marked) if any(span.attributes for span in marked) else (),
            sentences=tuple(msgspec.convert(said.get("sentences") or (), tuple[Sentence, ...])),
        )

    def marks(self, prediction: Prediction) -> tuple[str | Mark, ...]:
        """The spans with what the model said of them, those that it gave no place for as strings."""
        return marks_of(prediction)

    def as_gold(self, sample: SpanSample, prediction: Prediction) -> SpanSample:
        """With the spans where the prediction has them, or where their words stand; one that stands nowhere is none."""
        said = marks_of(prediction)
        found = iter(locate(sample.text, [span for span in said if isinstance(span, str)]))
        marks = [
            span if isinstance(span, Mark) else None if (at := next(found)) is None else Mark(*at) for span in said
        ]
        there = {mark: None for mark in marks if mark is not None}
        gold = msgspec.structs.replace(sample, spans=tuple(sorted(there, key=lambda mark: mark.place)))
        if sample.sentences and prediction.sentences:
            return msgspec.structs.replace(gold, sentences=prediction.sentences)
        for one in prediction.sentences[:1]:
            gold = msgspec.structs.replace(gold, emotion=one.emotion, valence=one.valence)
        return gold

    def said(self, sample: SpanSample, prediction: Prediction | None) -> tuple[SaidLine, ...]:
        """A line for each gold and each predicted span, those of equal words beside each other."""
        gold = [sample.text[start:end] for start, end in sample.places]
        if prediction is None:
            return tuple(SaidLine(f"span {place}", span, "") for place, span in enumerate(gold, 1))
        waiting = list(prediction.spans)
        lines = []
        for place, span in enumerate(gold, 1):
            found = span in waiting
            if found:
                waiting.remove(span)
            lines.append(SaidLine(f"span {place}", span, span if found else "", "" if found else "M"))
        return (*lines, *(SaidLine("", "", span, "X") for span in waiting))

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """As `score`, with every distinct text embedded once, and labels by the names that gold has for them."""
        golds = list({answer.sample.id: answer.sample for answer in answers}.values())
        said = [predicted(answer.sample.id, answer.prediction, answer.repeat) for answer in answers]
        convention = CONVENTION
        if self._label_map:
            said = [with_labels(one, self._label_map) for one in said]
            convention += MAPPED + hash_of(self._label_map)
        details = {(detail.id, detail.repeat): detail for detail in score(golds, said, embed)}
        return [score_row(details[one.id, one.repeat], convention) for one in said]

    def report(self, samples: Sequence[SpanSample], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """As `emotui score spans` names the figures; of a prompting experiment also its own."""
        every = [msgspec.json.decode(row.detail, type=SampleDetail) for row in scores]
        details = [detail for detail in every if not detail.unlabelled]
        unlabelled = {"unlabelled": len({detail.id for detail in every if detail.unlabelled})}
        figures = whole_report(samples, details) | unlabelled
        return figures | _by_task(samples, details) | experiments.figures(samples, details)

    def intervals(self, samples: Sequence[SpanSample], scores: Sequence[ScoreRow]) -> dict[str, Any]:
        """Of the means and rates."""
        from emotui.metrics.beside import beside
        from emotui.metrics.span_intervals import span_intervals

        every = [msgspec.json.decode(row.detail, type=SampleDetail) for row in scores]
        details = [detail for detail in every if not detail.unlabelled]
        ids = {detail.id for detail in details}
        known = [sample for sample in samples if sample.id in ids]
        shared = [shared_by(sample.meta) for sample in known]
        return beside(span_intervals(known, details, shared), shared)

    def sums(self, samples: Sequence[SpanSample], details: Sequence[str | bytes]) -> "Figures":
        """Means, rates over spans and sentences, matches, and of labels of spans that met; unlabelled texts have no
        say.
        """
        from emotui.metrics.span_intervals import span_sums

        return span_sums(samples, [msgspec.json.decode(one, type=Facts) for one in details])

    def printed(self, metric: str) -> Sequence[tuple[str, str, str, float | None]]:
        """SEER's Tables 3 and 4."""
        tables = {"task-1": "seer_table3", "task-2": "seer_table4"}
        return [
            (row.model, f"{setting} {part}", row.kind, one.mean if (one := figures.get(metric)) else None)
            for part, table in tables.items()
            for row in published(table).rows
            for setting, figures in row.settings.items()
        ]

    def diagnostics(self, rows: Sequence[ResultRow]) -> dict[str, object]:
        """Under `answers`, of all repeats: what had to be asked again, what broke the contract to the end, and how,
        and what kept it and was empty.
        """
        kept = predictions_of(rows, Prediction)
        attempts = Counter((row.sample, row.repeat) for row in rows if row.raw is not None)
        broken = Counter(one.breach for one in kept if one.breach is not None)
        counts = {
            "n": len(kept),
            "retried": sum(times > 1 for times in attempts.values()),
            "retries": sum(attempts.values()) - len(attempts),
            "failed_format": sum(broken.values()),
            "failed_format_by_kind": dict(broken.most_common()),
            "empty": sum(not one.spans and one.breach is None for one in kept),
        }
        return {"answers": counts}
