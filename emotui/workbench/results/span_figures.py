"""What a run of the spans task comes to, and what its annotators come to, from the store in one pass each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

import msgspec

from emotui.formats.rows import literal
from emotui.lexicons import empath_keywords
from emotui.metrics.annotators import best_each, score_annotators
from emotui.metrics.span_errors import Facts, Figure, Labels, SpanErrors, Tally, keyword_sentences, over_repeats
from emotui.metrics.span_intervals import with_intervals
from emotui.metrics.span_scoring import CONVENTION, Embed, SampleDetail
from emotui.metrics.transitions import TransitionCounts, ordered
from emotui.records import ALL_SENTENCES, Sentence, Span, SpanSample
from emotui.store.query import Dataset, Run
from emotui.store.rows import Outcome, ValueSum
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.tasks.parts import Experiments
from emotui.tasks.registry import SPANS, task_named
from emotui.workbench.progress import Cancelled, IsCancelled, OnCount
from emotui.workbench.runs.scores import former_gold, groups_of

PARTS = ("task-1", "task-2")
"""Single sentences, and passages; told apart by whether a sample has sentences (section 4)."""

_PASSAGE = '"sentences":[{'
"""What the record of a passage holds, letter by letter."""

_BATCH = 1000
_PEOPLE_BATCH = 200
"""Embedding what annotators marked takes most of the time that they take, so they are told of more often."""


def untold(so_far: int) -> None:
    """Nobody wants to know."""


class _Answer(msgspec.Struct, frozen=True):
    """The part of a kept prediction that is counted."""

    spans: tuple[str, ...] = ()
    breach: str | None = None


_ANSWER, _SAMPLE = msgspec.json.Decoder(_Answer), msgspec.json.Decoder(SpanSample)


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A run in figures. `parts`: what of `PARTS` its samples have. `asking`: counts over all repeats, with samples.

    `experiment`: what the `figures` of `Experiments` say, and `halves` which samples its halves have.
    """

    run: Run
    way: str
    parts: Mapping[str, SpanErrors]
    asking: Mapping[str, Figure]
    conventions: tuple[str, ...]
    scored: int
    experiment: Mapping[str, object]
    halves: Mapping[str, tuple[int, ...]]

    @property
    def convention(self) -> str:
        """What its scores were computed under; one score of another time is enough to say so."""
        return "; or, of other samples: ".join(self.conventions)


@dataclass(frozen=True, slots=True)
class AnnotatorFigures:
    """Annotators as if they were models (section 9): `average` over annotators, `best` over samples.

    `ranges`: by figure the least and the greatest that one of them reaches.
    """

    annotators: int
    average: SpanErrors
    best: SpanErrors
    convention: str = CONVENTION
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class _Asking:
    """What had to be asked again, what came to nothing, and which samples that concerns."""

    NAMES = ("questions", "unanswered", "failed_format", "retried", "retries", "empty")

    def __init__(self) -> None:
        self.count = dict.fromkeys(self.NAMES, 0)
        self.samples: dict[str, set[int]] = {name: set() for name in self.NAMES}

    def add(self, outcome: Outcome) -> None:
        self._note("questions", outcome.sample)
        if outcome.attempts > 1:
            self._note("retried", outcome.sample)
            self._note("retries", outcome.sample, outcome.attempts - 1)
        if outcome.prediction is None:
            self._note("unanswered", outcome.sample)
            return
        answer = _ANSWER.decode(outcome.prediction)
        if answer.breach is not None:
            self._note("failed_format", outcome.sample)
        elif not answer.spans:
            self._note("empty", outcome.sample)

    def _note(self, name: str, sample: int, times: int = 1) -> None:
        self.count[name] += times
        self.samples[name].add(sample)

    def figures(self) -> dict[str, Figure]:
        return {name: Figure(self.count[name], None, tuple(sorted(self.samples[name]))) for name in self.NAMES}


def run_figures(store: Store, run: Run, cancelled: IsCancelled, on_count: OnCount = untold) -> RunFigures:
    """All that is scored of a run so far. `on_count` is told how many of its answers have been read.

    Raises:
        Cancelled: between two thousand samples or so.
    """
    asking = _Asking()
    tallies: dict[str, dict[int, Tally]] = {part: {} for part in PARTS}
    conventions: dict[str, None] = {}
    scored = 0
    experimental: list[tuple[int, str, str]] = []
    experiments = task_named(SPANS).experiments
    assert experiments is not None
    facts, labels = msgspec.json.Decoder(Facts), msgspec.json.Decoder(Labels)
    for at, outcome in enumerate(store.results.outcomes(run.run)):
        if at % _BATCH == 0:
            if cancelled():
                raise Cancelled
            on_count(at)
        asking.add(outcome)
        if outcome.detail is None or outcome.convention is None:
            continue
        scored += 1
        conventions[outcome.convention] = None
        label = labels.decode(outcome.record)
        scored_one = facts.decode(outcome.detail)
        if scored_one.unlabelled:
            continue
        by_repeat = tallies["task-2" if label.sentences else "task-1"]
        tally = by_repeat.get(outcome.repeat)
        if tally is None:
            tally = by_repeat[outcome.repeat] = Tally()
        tally.add(outcome.sample, label, scored_one, _keyed(scored_one, label, outcome.record))
        if experiments.prefix in outcome.record:
            experimental.append((outcome.sample, outcome.record, outcome.detail))
    experiment, halves = _experiment(experiments, experimental) if len(experimental) == scored else ({}, {})
    with store.together():
        sums = store.results.value_sums(run.run, _PASSAGE)
        under = former_gold(store, run)
        groups = groups_of_samples(store, run.dataset)
    parts = {}
    for part, held in tallies.items():
        if held:
            errors = in_all([held[n] for n in sorted(held)], groups)
            parts[part] = with_metrics(errors, [one for one in sums if _part_of(one) == part])
    return RunFigures(
        run=run,
        way=str(run.config.get("way", "")),
        parts=parts,
        asking=asking.figures(),
        conventions=tuple(f"{one}; {under}" if under else one for one in conventions),
        scored=scored,
        experiment=experiment,
        halves=halves,
    )


def groups_of_samples(store: Store, dataset: int) -> dict[int, int] | None:
    """By the number of each sample that of what it shares with others; None where samples share nothing."""
    found = groups_of(store, dataset)
    return None if found is None else found[1]


def in_all(tallies: Sequence[Tally], groups: Mapping[int, int] | None) -> SpanErrors:
    """The figures over repeats, or annotators, with their intervals."""
    return with_intervals(over_repeats(tallies), tallies, groups)


def with_metrics(errors: SpanErrors, sums: Sequence[ValueSum]) -> SpanErrors:
    """The same with the means of all other metrics; by label only of single sentences, as they have no values by
    sentence of a passage.
    """
    further = [one for one in sums if one.metric not in ("f1", "sim")]
    labelled = [one for one in further if not one.holds]
    return msgspec.structs.replace(
        errors,
        figures=_joined(errors.figures, further),
        by_emotion={
            name: _joined(figures, [one for one in labelled if one.emotion == name])
            for name, figures in errors.by_emotion.items()
        },
        by_valence={
            name: _joined(figures, [one for one in labelled if one.valence == name])
            for name, figures in errors.by_valence.items()
        },
    )


def _joined(figures: Mapping[str, Figure], sums: Sequence[ValueSum]) -> dict[str, Figure]:
    """These figures, and of each metric the mean over repeats and its deviation, with the samples that were scored."""
    found = dict(figures)
    for metric in dict.fromkeys(one.metric for one in sums):
        by_repeat: dict[int, list[ValueSum]] = {}
        for one in sums:
            if one.metric == metric:
                by_repeat.setdefault(one.repeat, []).append(one)
        means = [sum(one.total for one in held) / sum(one.n for one in held) for held in by_repeat.values()]
        sd = stdev(means) if len(means) > 1 else None
        found.setdefault(metric, Figure(fmean(means), sd, figures["n"].samples))
    return found


def _part_of(one: ValueSum) -> str:
    return PARTS[one.holds]


def _keyed(scored: Facts, labels: Labels, record: str) -> list[Span]:
    if not scored.keyword or not labels.sentences:
        return []
    return keyword_sentences(_SAMPLE.decode(record), empath_keywords())


def _experiment(
    experiments: Experiments, kept: Sequence[tuple[int, str, str]]
) -> tuple[Mapping[str, object], Mapping[str, tuple[int, ...]]]:
    """The figures of a prompting experiment, and the samples of its halves; empty for any other run."""
    samples = {number: msgspec.json.decode(record, type=SpanSample) for number, record, _ in kept}
    details = [msgspec.json.decode(detail, type=SampleDetail) for _, _, detail in kept]
    found = experiments.figures(list(samples.values()), details).get("experiment", {})
    if not isinstance(found, dict) or not found:
        return {}, {}
    halves: dict[str, list[int]] = {"all": sorted(samples)}
    for number, sample in samples.items():
        half = experiments.half_of(sample)
        if half is not None:
            halves.setdefault(half, []).append(number)
    return found, {name: tuple(sorted(numbers)) for name, numbers in halves.items()}


def annotator_figures(
    store: Store,
    dataset: Dataset,
    embed: Embed | None,
    cancelled: IsCancelled,
    on_count: Callable[[int, int], None] = lambda so_far, n: None,
) -> dict[str, AnnotatorFigures]:
    """What annotators reach against gold, in each of `PARTS` that they annotated.

    A sample that someone did not annotate is no failure of theirs. Rates, too, are means over annotators.

    Args:
        on_count: told how many annotated samples have been scored, and how many there are.

    Raises:
        Cancelled: between two batches.
    """
    named: dict[str, dict[str, Tally]] = {part: {} for part in PARTS}
    best: dict[str, Tally] = {part: Tally() for part in PARTS}
    for batch in _annotated(store, dataset, cancelled, on_count):
        numbers = {sample.id: number for number, sample in batch}
        label_of = {sample.id: Labels(sample.emotion, sample.valence, sample.sentences) for _, sample in batch}
        keyed = {sample.id: keyword_sentences(sample, empath_keywords()) for _, sample in batch}
        scored = score_annotators([sample for _, sample in batch], embed, empath_keywords())
        for name, details in scored.items():
            for detail in details:
                tally = named[_part(label_of[detail.id])].setdefault(name, Tally())
                tally.add(numbers[detail.id], label_of[detail.id], detail, keyed[detail.id])
        for detail in best_each(scored):
            tally = best[_part(label_of[detail.id])]
            tally.add(numbers[detail.id], label_of[detail.id], detail, keyed[detail.id])
    groups = groups_of_samples(store, dataset.dataset)
    return {
        part: AnnotatorFigures(
            len(held),
            in_all([held[name] for name in sorted(held)], groups),
            in_all([best[part]], groups),
            ranges=_ranges(list(held.values())),
        )
        for part, held in named.items()
        if held
    }


def _ranges(each: Sequence[Tally]) -> dict[str, tuple[float, float]]:
    """By figure the least and the greatest of these in which it is defined."""
    figures = [{name: value for name, (value, _) in one.figures().items() if value is not None} for one in each]
    known = {
        name: [one[name] for one in figures if name in one] for name in dict.fromkeys(n for f in figures for n in f)
    }
    return {name: (min(values), max(values)) for name, values in known.items()}


def _part(labels: Labels) -> str:
    return PARTS[bool(labels.sentences)]


def count_transitions(store: Store, dataset: Dataset, by: str, cancelled: IsCancelled) -> TransitionCounts:
    """Transitions between adjacent sentences of all passages of a dataset (appendix C), by emotion or valence.

    Sentences that have labels and no place in the text count too (`emotui.records.ALL_SENTENCES`).

    Raises:
        Cancelled: between two batches.
    """
    counts = TransitionCounts()
    decoder = msgspec.json.Decoder(_Order)
    unplaced = store.samples.holding(dataset.dataset, f'"{ALL_SENTENCES}":[{{')
    numbers = sorted({*store.samples.holding(dataset.dataset, _PASSAGE), *unplaced})
    for start in range(0, len(numbers), _BATCH):
        if cancelled():
            raise Cancelled
        for number, record in store.samples.records(numbers[start : start + _BATCH]):
            counts.add(number, decoder.decode(record).labels(by))
    return counts


class _Order(msgspec.Struct, frozen=True):
    """The labels of a passage's sentences, in order: all of them, or those that have a place."""

    sentences: tuple[Sentence, ...] = ()
    meta: Mapping[str, Any] = {}

    def labels(self, by: str) -> list[str | None]:
        known = self.meta.get(ALL_SENTENCES)
        if isinstance(known, list) and known and all(isinstance(one, dict) for one in known):
            return [found if isinstance(found := one.get(by), str) else None for one in known]
        return [getattr(sentence, by) for sentence in self.sentences]


_TASKS = {"task-1": "Task 1: one sentence", "task-2": "Task 2: five sentences"}
_ELSE = {"task-1": "texts", "task-2": "passages"}


def titles_of(store: Store, dataset: Dataset) -> dict[str, str]:
    """What the samples of each of `PARTS` that a dataset has are to be called.

    The paper's name of a task stands only where every sample is what it says (sections 4.1 and 4.2): one sentence with
    an emotion, or five sentences; else the dataset's name does.
    """
    texts, single, passages, five = store.samples.shapes(dataset.dataset, _PASSAGE)
    found = {}
    for part, n, fitting in (("task-1", texts, single), ("task-2", passages, five)):
        if n:
            both = f", {_ELSE[part]}" if texts and passages else ""
            found[part] = _TASKS[part] if n == fitting else f"{literal(dataset.name)}{both}"
    return found


def _annotated(
    store: Store, dataset: Dataset, cancelled: IsCancelled, on_count: Callable[[int, int], None]
) -> Iterator[list[tuple[int, SpanSample]]]:
    """The samples that have annotators, in batches."""
    numbers = store.samples.holding(dataset.dataset, '"annotators":{"')
    for start in range(0, len(numbers), _PEOPLE_BATCH):
        if cancelled():
            raise Cancelled
        on_count(start, len(numbers))
        found = store.samples.records(numbers[start : start + _PEOPLE_BATCH])
        batch = [(number, msgspec.json.decode(record, type=SpanSample)) for number, record in found]
        yield [one for one in batch if one[1].annotators and one[1].spans is not None]


# Which label of a span a model takes for which: a table for each run with labels, where gold has some too.

LABELS_MET = (
    "Spans that met (aligned, with F1 above 0) and have a label on both sides, over all repeats: gold labels by row, "
    "the model's by column."
)


def confusion_tables(title: str, part: str, run: RunFigures, setting: str) -> list[ResultsTable]:
    """The table of one run in one part; none where no two spans with labels met."""
    found = run.parts[part].confusion if part in run.parts else {}
    if not found:
        return []
    gold, said = (ordered({pair[side] for pair in found}) for side in (0, 1))
    columns = tuple(Column(f"label/{name}", name, "the model's label", "count") for name in said)
    rows = []
    for label in gold:
        figures = [found.get((label, name)) for name in said]
        cells = (Cell(0) if one is None else Cell(one.value, samples=one.samples, run=run.run.run) for one in figures)
        rows.append(Row(label, "gold", "gold", tuple(cells)))
    wrong = sum(int(one.value or 0) for pair, one in found.items() if pair[0] != pair[1])
    whole = sum(int(one.value or 0) for one in found.values())
    notes = (LABELS_MET, f"{whole} such pairs, of which {wrong} have different labels.")
    head = f"{title}: labels of spans, {run.run.model}{f', {setting}' if run.way else ''}"
    return [ResultsTable(f"span-labels-{part}-{run.run.run}", head, columns, tuple(rows), notes, heat=True)]
