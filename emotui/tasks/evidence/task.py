"""Whether an answer survives without its evidence: a question about texts with spans (ERASER; DeYoung and others 2020).

The spans are gold's, or those that a run, a person or a file gives (`with_spans`). Of each text a model is asked about
the whole, about the text with each span masked, deleted and kept alone, with all spans together so, without as many
words elsewhere, and with shares of its words. Whatever gives labels a probability can be asked, as the `labels` task
asks it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from emotui.backends.base import ModelCard
from emotui.errors import ModelError
from emotui.metrics.beside import with_beside
from emotui.metrics.evidence import DRAWS, FILLER, SHARES
from emotui.metrics.metric import Metric
from emotui.metrics.span_scoring import Embed
from emotui.records import LabelsGold, Mark, SpanSample, Text
from emotui.store.rows import SampleRow, ScoreRow
from emotui.tables import Cell, Column, ResultsTable, Row, interval_notes, sure_of
from emotui.tasks.label_questions import CLASSIFY, HEADS, SCORE, LabelSets, filler_of, mark_for
from emotui.tasks.labels.task import Labels
from emotui.tasks.parts import Asking, Embedding, SaidLine, ScoredRun, TaskFiles, TaskWords, shared_of
from emotui.tasks.prompting.settings import DIRECT, NLI, Writing, options_from
from emotui.tasks.spans.task import Spans
from emotui.tasks.taken_away import (
    PARTS,
    Detail,
    Piece,
    Prediction,
    Removal,
    Trial,
    Variants,
    detail_of,
    fillers,
    intervals,
    report,
)
from emotui.tasks.task import Asked, AskModel, Parsed, Task

VERSION = "1"
CONVENTION = "evidence 1: drops of the explained label's probability; all spans of a text taken away together"

NOTHING = Prediction({})
"""An answer that says nothing."""

AT_ONCE = 256
"""Texts that a model is asked about in one call: a cancel is seen between calls."""

METRICS = (
    Metric("comprehensiveness", (-1, 1), True, "drop of the probability without the evidence", "comp"),
    Metric("sufficiency", (-1, 1), False, "drop of the probability with the evidence alone", "suff"),
    Metric("above_random", (-1, 1), True, "the first, above its mean for as many words elsewhere", "above"),
)


class Settings(Writing, frozen=True, omit_defaults=True):
    """What a run is asked with.

    `label_set`: names `labels` where they are the model's own. `spans`: whose spans are taken away; `marked`: the hash
    of these, where they are not gold's. `draws`: random stretches beside each. `filler`: what a masked word is to the
    model: `FILLER`, or the name of its own mask token.
    """

    labels: tuple[str, ...] = ()
    label_set: str | None = None
    spans: str = "gold"
    marked: str = ""
    removal: Removal = "mask"
    draws: Annotated[int, msgspec.Meta(ge=1, le=1000)] = DRAWS
    explain: Literal["own", "gold"] = "own"
    filler: str = FILLER


class EvidencePrediction(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of predictions has: no `evidence` where there is no answer."""

    id: str
    evidence: Prediction | None = None
    repeat: int = 0


class EvidenceLabels(LabelSets):
    """The model's own labels; of one without any, those given, those that texts and spans have, or those that gold
    gives the same texts.
    """

    of_texts = True

    def settled(
        self,
        card: ModelCard,
        samples: Callable[[], Iterable[Any]],
        way: str,
        options: Mapping[str, object],
        seed: int,
    ) -> Mapping[str, object]:
        """As `LabelSets.settled`, and with the model's own mask token as `filler`, where it has one and is to have it.

        Raises:
            BadInput: as there, or the model has no such token and is to have it.
        """
        seen: Callable[[], Iterable[LabelsGold]] = tuple
        if way in (SCORE, NLI):
            of_spans = [_labelled(one) for one in samples() if isinstance(one, SpanSample)]
            of_texts = (one for one in samples() if isinstance(one, LabelsGold))
            seen = partial(iter, of_spans if any(one.labels for one in of_spans) else of_texts)
        found = super().settled(card, seen, way, options, seed)
        own = {name: value for name, value in found.items() if name not in ("thresholds", "filler")}
        filler = filler_of(card, way, options.get("filler"))
        return own if filler == FILLER else own | {"filler": filler}


def _labelled(sample: SpanSample) -> LabelsGold:
    there = dict.fromkeys(filter(None, (sample.emotion, *(mark.label for mark in sample.spans or ()))))
    return LabelsGold(id=sample.id, labels=tuple(there))


def score_files(
    golds: Sequence[SpanSample],
    answers: Sequence[EvidencePrediction],
    given: Mapping[str, Any],
    embedding: Embedding,
) -> dict[str, Any]:
    """The document of `emotui score evidence`. Gold is looked at for the words of the evidence alone."""
    by_id = {one.id: one for one in golds}
    known = [(by_id[one.id], one) for one in answers if one.evidence is not None]
    details = [detail_of(sample, one.repeat, _checked(sample, one.evidence or NOTHING)) for sample, one in known]
    found = with_beside(report(details), intervals(details, shared_of(golds)))
    return found | {"failed": len(answers) - len(details)}


class Evidence(Task):
    """The task as those see it who run it."""

    name = "evidence"
    version = VERSION
    sample = SpanSample
    prediction = Prediction
    metrics = METRICS
    words = TaskWords(
        title="Evidence taken away",
        progress="taking evidence away from",
        runs="Run over the evidence",
        without_run="gold alone",
        asks="emotion classification with and without the evidence spans",
    )
    files = TaskFiles(
        kind="evidence",
        predicted=EvidencePrediction,
        score=score_files,
        about="Evidence taken away: comprehensiveness, sufficiency, their areas, and random stretches beside.",
        repeats=True,
        own=None if Spans.files.own is None else msgspec.structs.replace(Spans.files.own, at_first=False),
    )
    asking = Asking(ways=(CLASSIFY, HEADS, NLI, SCORE), offered=(CLASSIFY, HEADS, NLI, SCORE), named={DIRECT: CLASSIFY})
    labels = EvidenceLabels()

    def __init__(
        self,
        settings: Settings | None = None,
        spans: Mapping[str, Sequence[Mark]] | None = None,
        shares: Sequence[float] = SHARES,
    ) -> None:
        """`spans`: the evidence by the id of its text, where it is not gold's. `shares`: of words, for the areas."""
        self._settings, self._spans, self._shares = settings or Settings(), spans, shares

    def blank(self, text: Text, labels: Sequence[str] = ()) -> SpanSample:
        """The text, unmarked."""
        return SpanSample(id=text.id, text=text.text, subject=text.subject, meta=text.meta)

    def problem(self, sample: SpanSample, first: SpanSample) -> str | None:
        """A record without a text."""
        return None if sample.text.strip() else "the text is missing"

    def row(self, sample: SpanSample) -> SampleRow:
        """As the spans task lists it."""
        return Spans().row(sample)

    def question(self, sample: SpanSample) -> object:
        """The text with its spans, and gold's labels, which may be those explained."""
        return sample.text, sample.spans, sample.emotion

    def ways(self, card: ModelCard) -> tuple[str, ...]:
        """Those in which the labels task gets probabilities."""
        there = tuple(way for way in Labels().ways(card) if way in self.asking.ways)
        if not there:
            raise ModelError(f"{card.spec} writes, and evidence is followed by the probability of a label")
        return there

    def option_names(self, way: str) -> tuple[str, ...]:
        """The labels, whose spans, how they are taken away, and what is explained."""
        own = ("labels", "label_set", "spans", "marked", "removal", "draws", "explain", "filler")
        return (*own, *(("prompts",) if way == NLI else ()))

    def settings(self, way: str) -> Mapping[str, object]:
        """What the labels task asks by, and how evidence is taken away."""
        own = self._settings
        how = {"removal": own.removal, "draws": own.draws, "explain": own.explain, "filler": own.filler}
        return {**self._labels().settings(way), **how, "spans": own.marked}

    def with_options(self, options: Mapping[str, object], repeats: int) -> "Evidence":
        """Options are the fields of `Settings`. Raises BadInput where one of them is wrong; it is named."""
        return Evidence(options_from(self, options, repeats, Settings), self._spans, self._shares)

    def with_spans(self, spans: Mapping[str, Sequence[Mark]]) -> "Evidence":
        """The same task about other evidence than gold's."""
        return Evidence(self._settings, spans, self._shares)

    def at_a_glance(self) -> "Evidence":
        """Without the areas, which ask about many more variants of a text."""
        return Evidence(self._settings, self._spans, ())

    def _labels(self) -> Labels:
        own = self._settings
        chosen: dict[str, object] = {"labels": list(own.labels), "label_set": own.label_set}
        if own.prompts is not None:
            chosen["prompts"] = msgspec.to_builtins(own.prompts)
        return Labels().with_options(chosen, 1)

    def ask(self, samples: Sequence[SpanSample], model: AskModel, way: str, seeds: Sequence[int]) -> list[Asked]:
        """About each variant of each text once, the short ones first; one without an answer costs its text."""
        own, labels, sign = self._settings, self._labels(), FILLER
        if own.filler != FILLER:
            sign = mark_for(sample.text for sample in samples)
            labels = labels.with_mask(sign)
        each = [
            Variants(sample.text, self._marks(sample), own.removal, own.draws, seed, self._shares, sign)
            for sample, seed in zip(samples, seeds, strict=True)
        ]
        texts = sorted({text for variants in each for text in variants.texts}, key=len)
        asked: dict[str, Asked] = {}
        for start in range(0, len(texts), AT_ONCE):
            some = [LabelsGold(id=text, text=text) for text in texts[start : start + AT_ONCE]]
            answers = labels.ask(some, model, way, [0] * len(some))
            asked |= {one.id: answer for one, answer in zip(some, answers, strict=True)}
        return [
            self._kept(sample, variants, labels, way, asked) for sample, variants in zip(samples, each, strict=True)
        ]

    def _marks(self, sample: SpanSample) -> Sequence[Mark]:
        return (sample.spans or ()) if self._spans is None else self._spans.get(sample.id, ())

    def _kept(
        self, sample: SpanSample, variants: Variants, labels: Labels, way: str, asked: Mapping[str, Asked]
    ) -> Asked:
        answers = {text: asked[text] for text in variants.texts}
        failed = next((one for one in answers.values() if one.raw is None), None)
        prompt = answers[sample.text].prompt
        if failed is not None:
            return Asked(None, failed.why, prompt, again=failed.again)
        try:
            probs = {
                text: labels.parse(LabelsGold(id=sample.id, text=text), one.raw or "", way).probs
                for text, one in answers.items()
            }
            read = variants.read(probs, self._settings.explain, sample.emotion, self._settings.filler)
        except ValueError as error:
            return Asked(None, str(error), prompt)
        return Asked(msgspec.json.encode(read).decode(), prompt=prompt)

    def parse(self, sample: SpanSample, raw: str, way: str) -> Prediction:
        """Raises ValueError where it is not what `ask` keeps."""
        return _checked(sample, msgspec.json.decode(raw, type=Prediction))

    def record(self, key: str, prediction: Prediction | None, repeat: int = 0) -> EvidencePrediction:
        """All probabilities."""
        return EvidencePrediction(id=key, evidence=prediction, repeat=repeat)

    def taken(self, sample: SpanSample, said: Mapping[str, Any]) -> Prediction:
        """What a record of predictions has under `evidence`; without it nothing."""
        given = said.get("evidence")
        return NOTHING if given is None else _checked(sample, msgspec.convert(given, Prediction))

    def unread(self, prediction: Prediction) -> str | None:
        """Nothing: a text without evidence has an answer too."""
        return None

    def said(self, sample: SpanSample, prediction: Prediction | None) -> tuple[SaidLine, ...]:
        """A line a span, with the explained label's probability as it was and as it is without, alone and at random."""
        if prediction is None:
            return tuple(
                SaidLine(sample.text[mark.start : mark.end], mark.label or "marked", "", measured=True)
                for mark in sample.spans or ()
            )
        united = () if prediction.united is None else (prediction.united,)
        return tuple(_line(sample.text, trial, prediction.probs) for trial in (*prediction.spans, *united))

    def score(self, answers: Sequence[Parsed], embed: Embed | None) -> list[ScoreRow]:
        """The drops of each text's evidence; no value where nothing is marked."""
        return [_score(answer) for answer in answers]

    def report(self, samples: Sequence[SpanSample], scores: Sequence[ScoreRow]) -> dict[str, object]:
        """As `emotui score evidence`."""
        return report([msgspec.json.decode(row.detail, type=Detail) for row in scores])

    def intervals(self, samples: Sequence[SpanSample], scores: Sequence[ScoreRow]) -> dict[str, Any]:
        """Of every figure; those of repeats are averaged first."""
        return intervals([msgspec.json.decode(row.detail, type=Detail) for row in scores], shared_of(samples))

    def tables(self, runs: Sequence[ScoredRun], elsewhere: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
        """One, with a row a run, emotion and wording."""
        return tables(runs)


def _checked(sample: SpanSample, read: Prediction) -> Prediction:
    """Raises ValueError where evidence stands outside the text, or lacks a probability of the label it explains."""
    for trial in (*read.spans, *(() if read.united is None else (read.united,))):
        if not trial.places or any(not 0 <= start < end <= len(sample.text) for start, end in trial.places):
            raise ValueError(f"evidence {[list(place) for place in trial.places]} is not within the text")
        if any(trial.explains not in one for one in (read.probs, trial.masked, trial.deleted, trial.alone)):
            raise ValueError(f"there is no probability of {trial.explains!r} for every variant")
    return read


def _line(text: str, trial: Trial, probs: Mapping[str, float]) -> SaidLine:
    p, explains = probs[trial.explains], trial.explains
    parts = [f"{explains} {p:.2f}", f"masked {trial.masked[explains]:.2f}", f"deleted {trial.deleted[explains]:.2f}"]
    parts.append(f"alone {trial.alone[explains]:.2f}")
    if trial.random:
        parts.append(f"random {sum(trial.random) / len(trial.random):.2f}")
    words = " … ".join(text[start:end] for start, end in trial.places)
    return SaidLine(words, trial.label or "", ", ".join(parts), measured=True)


def _score(answer: Parsed) -> ScoreRow:
    detail = detail_of(answer.sample, answer.repeat, answer.prediction)
    found = {} if detail.whole is None else detail.whole.figures(detail.removal)
    values = {metric.name: found.get(metric.name) for metric in METRICS}
    masks = "" if detail.filler == FILLER else " by the model's own token"
    return ScoreRow(f"{CONVENTION}; {detail.removal}{masks}", values, "", msgspec.json.encode(detail))


ABOUT = (
    "Drop of the explained label's probability. Comprehensiveness: the evidence is taken away, higher is better; "
    "sufficiency: nothing else is left, lower is better (DeYoung and others 2020, section 4.2). Random: as many words "
    "elsewhere in the text are taken away. Area: mean over 1, 5, 10, 20 and 50% of the words, those of the evidence "
    "first. Explicit: EmoLex ties a word of the span to an emotion."
)

_COLUMNS = (
    Column("n", "n", unit="count"),
    Column("comprehensiveness", "comprehensiveness", unit="difference", short="comp"),
    Column("random", "random", unit="difference"),
    Column("above_random", "above random", unit="difference", short="above"),
    Column("sufficiency", "sufficiency", unit="difference", short="suff"),
)

_ORDER = tuple(column.key for column in _COLUMNS[1:])


def _is_of(of: Callable[[Piece], str], group: str, piece: Piece) -> bool:
    return of(piece) == group


def tables(runs: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
    """One table over all runs with evidence: of whole texts, and of spans by emotion and wording."""
    decoder = msgspec.json.Decoder(Detail)
    rows: list[Row] = []
    reports: list[Mapping[str, Any]] = []
    masked_as: dict[str, dict[str, None]] = {}
    for scored in runs:
        details = [(number, decoder.decode(detail)) for number, detail in scored.scores]
        known = [(number, one) for number, one in details if one.whole is not None]
        if not known:
            continue
        shared = scored.shared((number, one.id) for number, one in known)
        found = with_beside(report([one for _, one in known]), intervals([one for _, one in known], shared))
        reports.append(found)
        rows += _rows(scored, known, found)
        masked_as.setdefault(fillers(one for _, one in known), {})[scored.run.model] = None
    words = "; ".join(f"{how} ({', '.join(models)})" for how, models in masked_as.items())
    notes = (f"{ABOUT} A masked word is {words}.", *interval_notes(reports))
    return (ResultsTable("evidence", "Evidence taken away", _COLUMNS, tuple(rows), notes),) if rows else ()


def _rows(scored: ScoredRun, known: Sequence[tuple[int, Detail]], found: Mapping[str, Any]) -> list[Row]:
    run = scored.run
    options: Any = run.config.get("options") or {}
    name = f"{run.model} without {options.get('spans', 'gold')}"
    parts: list[tuple[str, str, Mapping[str, Any], Callable[[Piece], bool]]] = [
        (f"{name}: whole texts", "", found, lambda piece: True)
    ]
    for part, of in PARTS.items():
        for group, figures in found[part].items():
            parts.append((f"  {group}", f"{part}.{group}.", figures, partial(_is_of, of, group)))
    rows = []
    for label, beginning, figures, belongs in parts:
        samples = tuple(sorted({number for number, one in known if any(map(belongs, one.spans))}))
        cells = [Cell(figures["n"], samples=samples, run=run.run)]
        for key in _ORDER:
            why = "no random stretch fits" if figures[key] is None else None
            spread = found.get("sd", {}).get(key) if not beginning else None
            cells.append(Cell(figures[key], spread, "", why, samples, run.run, *sure_of(found, f"{beginning}{key}")))
        rows.append(Row(label, "run", run.run, tuple(cells)))
    return rows
