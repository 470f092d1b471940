"""Whose spans are taken away in a run of the evidence task (gold's, a run's, a person's or a file's), and the figures
of such runs beside the F1 of those whose spans they are.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from emotui.errors import BadInput
from emotui.metrics.beside import SEED, Drawn, drawn, with_beside
from emotui.metrics.locating import locate
from emotui.metrics.resampled_order import resampled_spearman
from emotui.metrics.resampling import Replicates, interval_of, mean_replicates
from emotui.metrics.span_scoring import SampleDetail
from emotui.records import Mark, Span, SpanSample
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row, interval_notes, sure_of
from emotui.tasks.prompting.settings import check_options
from emotui.tasks.registry import SPANS, task_named
from emotui.tasks.taken_away import FIGURES, Detail, Prediction, detail_of, fillers, intervals, report
from emotui.workbench.compare.sources import Compared, details_of, rows_now, source_named, values_of
from emotui.workbench.progress import Cancelled, IsCancelled
from emotui.workbench.runs.scores import groups_of
from emotui.workbench.texts import stored_samples

GOLD = "gold"

Evidence = Mapping[str, Sequence[Mark]]
"""Spans by the id of their text; a text that is absent has none."""


def evidence_of(store: Store, dataset: Dataset, source: str) -> Evidence:
    """The spans that a source gives; of several repeats the first. Words without a place in the text are left out.

    Raises:
        BadInput: there is no such source, or several.
    """
    read = dataset.read_as(SPANS)
    named = source_named(store, read, source)
    samples = dict(stored_samples(store, read, read.n))
    rows = rows_now(store, read, named) if named.run is None else store.results.of_run(named.run)
    task = task_named(SPANS)
    decode = msgspec.json.Decoder(task.prediction).decode
    found: dict[str, Sequence[Mark]] = {}
    for row in rows:
        if row.repeat == 0 and row.prediction is not None:
            sample = samples[row.sample]
            given: Any = task.record(sample.id, decode(row.prediction))
            found[sample.id] = _placed(sample.text, given.spans or ())
    return found


def _placed(text: str, spans: Sequence[str | Mark]) -> Sequence[Mark]:
    """Marks, words where they stand."""
    words = [span if isinstance(span, str) else text[span.start : span.end] for span in spans]
    placed = []
    for span, place in zip(spans, locate(text, words), strict=True):
        if isinstance(span, Mark):
            placed.append(Mark(span.start, span.end, span.label, span.score))
        elif place is not None:
            placed.append(Mark(*place))
    return placed


def marked(evidence: Evidence) -> str:
    """A hash of whose words are taken away, for a run's identity."""
    return hashlib.sha256(msgspec.json.encode(dict(evidence), order="sorted")).hexdigest()


def with_evidence(
    store: Store, dataset: Dataset, options: Mapping[str, object]
) -> tuple[Mapping[str, object], Evidence | None]:
    """A run's options with the hash of the spans that they name, and these; None where they are gold's.

    Raises:
        BadInput: the task that the dataset is read as asks about no spans, there is no such source, or what it says is
            not what the options, of a run to go on with, had.
    """
    check_options(task_named(dataset.task), options)
    source = str(options.get("spans") or GOLD)
    if source == GOLD:
        return options, None
    found = evidence_of(store, dataset, source)
    hashed = marked(found)
    if options.get("marked", hashed) != hashed:
        raise BadInput(f"the spans of {source} have changed since the run began: start another")
    return {**options, "marked": hashed}, found


# Does a source's evidence carry the answer, and is the span that fits gold best the one that does?

TABLE = "evidence-f1"
"""The key of the table."""

BESIDE_F1 = (
    "F1: the source's (SEER, section 6), over the texts that the run was asked about. Comprehensiveness, sufficiency "
    "and what is above random: as in the table of evidence, over texts with such spans; 'than gold': above random, "
    "less the same of gold's spans by the same model, over texts that have both."
)
RANKS = (
    "Rank correlations (Spearman) of F1 against the drop above random: of single spans each span's F1 with the gold "
    "span that it is aligned with (0 without one), of texts the text's F1 and all its spans taken away together. Above "
    "0: what fits gold better carries more of the answer. Of several repeats of a source the first."
)
_COLUMNS = (
    Column("asked", "asked", unit="words"),
    Column("f1", "F1"),
    Column("comprehensiveness", "comprehensiveness", unit="difference", short="comp"),
    Column("random", "random", unit="difference"),
    Column("above_random", "above random", unit="difference", short="above"),
    Column("above_gold", "than gold", unit="difference"),
    Column("sufficiency", "sufficiency", unit="difference", short="suff", lower=True),
    Column("n_spans", "spans", "F1 against the drop", "count"),
    Column("rank_spans", "by span", "F1 against the drop", "difference"),
    Column("n_texts", "texts", "F1 against the drop", "count"),
    Column("rank_texts", "by text", "F1 against the drop", "difference"),
)
_CONSTANT = "one side does not vary"


@dataclass(frozen=True, slots=True)
class _Taken:
    """A run over the evidence of a source (None: gold). `first`: of its first repeat, by the number of the text."""

    run: Run
    source: Compared | None
    details: Sequence[tuple[int, Detail]]
    first: Mapping[int, tuple[Prediction, Detail]]

    @property
    def asked_by(self) -> tuple[object, ...]:
        """What two such runs must have in common to be set beside each other."""
        options: Any = self.run.config.get("options") or {}
        how = (options.get(name) for name in ("removal", "explain", "filler"))
        return self.run.model, self.run.config.get("way"), *how

    def above(self) -> dict[int, float]:
        """The drop above random of all evidence of a text, by its number."""
        each = {number: _above(detail, at=None) for number, (_, detail) in self.first.items()}
        return {number: value for number, value in each.items() if value is not None}


def beside_f1(
    store: Store,
    dataset: Dataset,
    sources: Collection[str] | None = None,
    cancelled: IsCancelled = lambda: False,
) -> ResultsTable | None:
    """What taking evidence away does, beside the F1 of the source whose evidence it is; a row a source and model.

    Args:
        sources: the keys of those that are wanted, as of `Compared.key`; gold stands beside them. None: all.

    Returns:
        None where no run over the evidence is of such a source.

    Raises:
        Cancelled: between two runs.
    """
    read = dataset.read_as(SPANS)
    taken, notes = _taken_away(store, dataset, read, sources, cancelled)
    if all(one.source is None for one in taken):
        return None
    shared = groups_of(store, dataset.dataset)

    def group_of(number: int) -> int | None:
        return None if shared is None else shared[1].get(number)

    gold = {one.asked_by: one.above() for one in taken if one.source is None}
    reports, rows = [], []
    for one in taken:
        if cancelled():
            raise Cancelled
        found = _figures(store, one, group_of)
        reports.append(found)
        rows.append(_row(store, read, one, found, gold.get(one.asked_by, {}), group_of))
    words = fillers(detail for one in taken for _, detail in one.details)
    told = (BESIDE_F1, RANKS, f"A masked word is {words}.", *interval_notes(reports), *_answers(rows), *notes)
    return ResultsTable(TABLE, "F1, and what the evidence carries", _COLUMNS, tuple(rows), told)


def evidence_document(table: ResultsTable) -> dict[str, dict[str, Any]]:
    """The figures of a table of `beside_f1` by source and model, with the ends of their intervals."""
    found: dict[str, dict[str, Any]] = {}
    for row in table.rows:
        cells = {column.key: cell for column, cell in zip(table.columns, row.cells, strict=True) if cell.asked}
        known = {key: cell.value for key, cell in cells.items() if key != "asked"}
        sure = {key: [cell.low, cell.high] for key, cell in cells.items() if cell.low is not None}
        found[f"{row.label} by {cells['asked'].value}"] = known | ({"ci95": sure} if sure else {})
    return found


def _taken_away(
    store: Store, dataset: Dataset, read: Dataset, wanted: Collection[str] | None, cancelled: IsCancelled
) -> tuple[list[_Taken], list[str]]:
    """The newest run of each source and way of asking, gold's last; and which are left out, and why.

    One that is done comes before others.
    """
    samples: dict[int, SpanSample] = {}
    found: dict[tuple[object, ...], _Taken] = {}
    notes = []
    over = [run for run in store.runs.all(dataset.dataset) if run.task == "evidence" and run.done]
    for run in sorted(over, key=lambda run: run.state != "done"):
        if cancelled():
            raise Cancelled
        options: Any = run.config.get("options") or {}
        name = str(options.get("spans") or GOLD)
        try:
            source = None if name == GOLD else source_named(store, read, name)
        except BadInput:
            notes.append(f"Run {run.run} took away the spans of {name}, which is here no more: it is left out.")
            continue
        if source is not None and wanted is not None and source.key not in wanted:
            continue
        if source is not None and options.get("marked") != marked(evidence_of(store, dataset, source.key)):
            notes.append(f"The spans of {name} have changed since run {run.run} took them away: it is left out.")
            continue
        samples = samples or dict(stored_samples(store, read, read.n))
        one = _read(store, run, source, samples)
        found.setdefault((None if source is None else source.key, *one.asked_by), one)
    return sorted(found.values(), key=lambda one: one.source is None), notes


def _read(store: Store, run: Run, source: Compared | None, samples: Mapping[int, SpanSample]) -> _Taken:
    details: list[tuple[int, Detail]] = []
    first: dict[int, tuple[Prediction, Detail]] = {}
    decode = msgspec.json.Decoder(Prediction).decode
    for row in store.results.of_run(run.run):
        if row.prediction is not None:
            prediction = decode(row.prediction)
            detail = detail_of(samples[row.sample], row.repeat, prediction)
            details.append((row.sample, detail))
            if row.repeat == 0:
                first[row.sample] = prediction, detail
    return _Taken(run, source, details, first)


def _figures(store: Store, one: _Taken, group_of: Callable[[int], int | None]) -> dict[str, Any]:
    known = [(number, detail) for number, detail in one.details if detail.whole is not None]
    shared = {detail.id: None if (group := group_of(number)) is None else str(group) for number, detail in known}
    every = [detail for _, detail in known]
    return with_beside(report(every), intervals(every, shared))


def _row(
    store: Store,
    read: Dataset,
    one: _Taken,
    found: Mapping[str, Any],
    gold: Mapping[int, float],
    group_of: Callable[[int], int | None],
) -> Row:
    run, source = one.run, one.source
    there = tuple(sorted(number for number, (_, detail) in one.first.items() if detail.whole is not None))
    cells = {"asked": Cell(_asked_words(run))}
    for name in FIGURES:
        value = found.get(name)
        why = "no random stretch fits" if value is None else None
        cells[name] = Cell(value, None, "", why, there, run.run, *sure_of(found, name))
    if source is not None:
        above = one.above()
        f1 = values_of(store, read, source, "f1")
        start = store.samples.file_order(read.dataset).start
        scored = {number: float(f1[number - start]) for number in one.first if not np.isnan(f1[number - start])}
        cells["f1"] = _mean(scored, group_of, source.run)
        both = {number: value - gold[number] for number, value in above.items() if number in gold}
        cells["above_gold"] = _mean(both, group_of, run.run, (-2.0, 2.0)) if both else Cell()
        texts = [(number, scored[number], value) for number, value in above.items() if number in scored]
        cells |= _ranks("texts", texts, group_of, run.run)
        cells |= _ranks("spans", list(_spans(store, read, one, source)), group_of, run.run)
    every = tuple(cells.get(column.key, Cell()) for column in _COLUMNS)
    remark = f"{run.done} of {run.n} answered" if run.done < run.n else ""
    if source is None:
        return Row("gold", "gold", run.run, every, remark)
    return Row(source.name, "people" if source.kind == "person" else "run", run.run, every, remark)


def _asked_words(run: Run) -> str:
    options: Any = run.config.get("options") or {}
    return f"{run.model}, deleted" if options.get("removal") == "delete" else run.model


def _above(detail: Detail, at: int | None) -> float | None:
    """The drop above random of a span by its place among them, or of all evidence; None where there is no random."""
    if detail.whole is None:
        return None
    piece = detail.whole if at is None else detail.spans[at]
    return piece.figures(detail.removal)["above_random"]


def _spans(store: Store, read: Dataset, one: _Taken, source: Compared) -> Iterator[tuple[int, float, float]]:
    """Of each span that was taken away the text's number, its F1 with the gold span that it is aligned with, its drop.

    Spans of one place count once, by the best of their F1.
    """
    decode = msgspec.json.Decoder(SampleDetail).decode
    kept = details_of(store, read, source)
    for number, (prediction, detail) in one.first.items():
        score = kept.get((number, 0))
        if score is None:
            continue
        scored = decode(score)
        of_span = {pair.predicted: pair.f1 for pair in scored.pairs}
        by_place: dict[Span, float] = {}
        for at, place in enumerate(scored.located):
            if place is not None:
                by_place[place] = max(by_place.get(place, 0.0), of_span.get(at, 0.0))
        for at, trial in enumerate(prediction.spans):
            f1 = by_place.pop(trial.places[0], None)
            above = _above(detail, at)
            if f1 is not None and above is not None:
                yield number, f1, above


def _by(numbers: Sequence[int], group_of: Callable[[int], int | None]) -> Drawn:
    """Rows are drawn by what their texts share, else by their texts."""
    groups = (group_of(number) for number in numbers)
    return drawn([number if group is None else f"group {group}" for number, group in zip(numbers, groups, strict=True)])


def _mean(
    values: Mapping[int, float],
    group_of: Callable[[int], int | None],
    run: str | None,
    bounds: tuple[float, float] | None = None,
) -> Cell:
    """The mean over texts, by their numbers, with its interval."""
    if not values:
        return Cell(why="no such text has a score")
    numbers = list(values)
    table, by = np.array(list(values.values()))[:, None], _by(numbers, group_of)
    (figure,) = mean_replicates(table, by, seed=SEED, bounds=bounds)
    return _cell(figure, numbers, run)


def _ranks(
    of: str, rows: Sequence[tuple[int, float, float]], group_of: Callable[[int], int | None], run: str
) -> dict[str, Cell]:
    """How many spans, or texts, and their rank correlation. Args: rows: number of the text, F1, drop."""
    numbers, f1, drop = [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    count = Cell(len(rows), samples=tuple(sorted(set(numbers))), run=run)
    if len(set(f1)) < 2 or len(set(drop)) < 2:
        return {f"n_{of}": count, f"rank_{of}": Cell(why=_CONSTANT)}
    figure = resampled_spearman(f1, drop, _by(numbers, group_of), SEED)
    return {f"n_{of}": count, f"rank_{of}": _cell(figure, numbers, run)}


def _cell(figure: Replicates, numbers: Sequence[int], run: str | None) -> Cell:
    sure = interval_of(figure)
    texts = tuple(sorted(set(numbers)))
    return Cell(figure.whole, None, "", None, texts, run, sure.low, sure.high, sure.note)


def _answers(rows: Sequence[Row]) -> list[str]:
    """Of each source, in words: is the span with the best F1 the one that matters?"""
    told = []
    for row in rows:
        cells = dict(zip((column.key for column in _COLUMNS), row.cells, strict=True))
        rank, n = cells["rank_spans"], cells["n_spans"].value
        if not n:
            continue
        head = f"Is the span of {row.label} with the best F1 the one that matters to {cells['asked'].value}?"
        if not isinstance(rank.value, float):
            told.append(f"{head} Nobody can tell over {n} spans: {rank.why}.")
            continue
        verdict, ends = "not certain", ""
        if rank.low is not None and rank.high is not None:
            ends = f" [{rank.low:+.2f}, {rank.high:+.2f}]"
            if rank.low > 0 or rank.high < 0:
                verdict = "rather" if rank.value > 0 else "rather not"
        told.append(f"{head} {verdict.capitalize()}: rank correlation {rank.value:+.2f}{ends} over {n} spans.")
    return told
