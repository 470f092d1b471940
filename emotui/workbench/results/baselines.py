"""The baselines of the samples that runs cover, as rows beside them: what a task declares in `TaskFiles.baselines`.

Of spans they have figures by setting, and are counted here in one reading of the samples.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from emotui.lexicons import empath_keywords
from emotui.metrics.span_baselines import span_baselines
from emotui.metrics.span_errors import Labels, SpanErrors, Tally, over_repeats
from emotui.metrics.span_intervals import with_intervals
from emotui.metrics.span_scoring import CONVENTION, score_pairs
from emotui.records import SpanSample
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import FEW, Cell, Column, ResultsTable, Row, interval_notes, number_of, sure_of
from emotui.tasks.task import Task
from emotui.workbench.progress import Cancelled, IsCancelled
from emotui.workbench.results.span_figures import RunFigures
from emotui.workbench.runs.scores import LazyEmbedder
from emotui.workbench.texts import sample_reader

BASELINE_SAMPLES = 10_000
"""More are not scored: nobody waits for a baseline."""

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Coverage:
    """What some runs have scores of in one of `PARTS`: the first `BASELINE_SAMPLES` of these samples, by number.

    `n`: how many there are of all.
    """

    part: str
    numbers: tuple[int, ...]
    n: int
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BaselineFigures:
    """The baseline `name` over what runs cover. There is no Sim: no embedding model is asked."""

    name: str
    over: Coverage
    errors: SpanErrors
    convention: str = CONVENTION

    @property
    def n(self) -> int:
        """How many samples it is scored over."""
        return int(self.errors.figures["n"].value or 0)


def coverages(runs: Sequence[RunFigures]) -> list[Coverage]:
    """What the runs cover of each part, each such set of samples once, with its runs; the greatest first."""
    found: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for run in runs:
        for part, errors in run.parts.items():
            found.setdefault((part, errors.figures["n"].samples), []).append(run.run.run)
    made = [
        Coverage(part, numbers[:BASELINE_SAMPLES], len(numbers), tuple(names))
        for (part, numbers), names in found.items()
        if numbers
    ]
    return sorted(made, key=lambda one: -one.n)


def of_enough(covered: Sequence[Coverage]) -> list[Coverage]:
    """Of each part those of at least `FEW` texts, or all where none is: who has just begun needs no baseline."""
    parts = {one.part for one in covered if one.n >= FEW}
    return [one for one in covered if one.n >= FEW or one.part not in parts]


def best_baselines(
    store: Store,
    dataset: Dataset,
    covered: Sequence[Coverage],
    cancelled: IsCancelled,
    on_count: Callable[[int, int], None] = lambda so_far, n: None,
    groups: Mapping[int, int] | None = None,
    *,
    each: bool = False,
) -> list[BaselineFigures]:
    """For each coverage the baseline with the best F1 over it; each sample is scored once.

    Args:
        groups: as of `with_intervals`.
        each: every baseline, and not the best alone.

    Raises:
        Cancelled: between two batches.
    """
    wanted = [frozenset(one.numbers) for one in covered]
    numbers = sorted(frozenset().union(*wanted))
    tallies: list[dict[str, Tally]] = [{} for _ in covered]
    as_sample = sample_reader(store, dataset)
    for start in range(0, len(numbers), _BATCH):
        if cancelled():
            raise Cancelled
        on_count(start, len(numbers))
        page = store.samples.records(numbers[start : start + _BATCH])
        read: list[tuple[int, SpanSample]] = [(number, as_sample(record)) for number, record in page]
        batch = [(number, sample) for number, sample in read if sample.spans is not None]
        samples = [sample for _, sample in batch]
        for name, said in span_baselines(samples, empath_keywords()).items():
            triples = zip(samples, said, (0,) * len(said), strict=True)
            details = score_pairs(triples, None, empath_keywords())
            for (number, sample), detail in zip(batch, details, strict=True):
                labels = Labels(sample.emotion, sample.valence, sample.sentences)
                for among, held in zip(wanted, tallies, strict=True):
                    if number in among:
                        held.setdefault(name, Tally()).add(number, labels, detail)
    return [
        figures
        for held, over in zip(tallies, covered, strict=True)
        if held
        for figures in _figures(held, over, groups, each=each)
    ]


def _figures(
    tallies: dict[str, Tally], over: Coverage, groups: Mapping[int, int] | None, *, each: bool
) -> Iterator[BaselineFigures]:
    counted = {name: over_repeats([tally]) for name, tally in tallies.items()}
    best = max(counted, key=lambda name: counted[name].figures["f1"].value or 0.0)
    for name in counted if each else (best,):
        sure = with_intervals(counted[name], [tallies[name]], groups)
        # No run has these answers, so there is nothing to jump to.
        bare = {key: msgspec.structs.replace(figure, samples=()) for key, figure in sure.figures.items()}
        yield BaselineFigures(name, over, msgspec.structs.replace(sure, figures=bare))


# The baselines of any other task: the documents that it declares, as rows of the tables that have their figures.


def with_baselines(
    store: Store,
    dataset: Dataset,
    task: Task,
    covered: Mapping[str, Iterable[int]],
    tables: Sequence[ResultsTable],
) -> tuple[ResultsTable, ...]:
    """The tables with the task's baselines under the runs, over the samples with gold that these runs have scores of.

    A table that has baselines of its own keeps them. Args: covered: by run the numbers of its scored samples.
    """
    declared = task.files.baselines
    if declared is None or any(row.kind == "baseline" for table in tables for row in table.rows):
        return tuple(tables)
    runs_over: dict[frozenset[int], list[str]] = {}
    for run, numbers in covered.items():
        runs_over.setdefault(frozenset(numbers), []).append(run)
    rows: list[tuple[str, int, str, Mapping[str, Any]]] = []
    with LazyEmbedder() as embedder:
        for numbers, runs in runs_over.items():
            golds = _golds(store, dataset, task, numbers)
            if not golds:
                continue
            few, over = "", ""
            if len(runs_over) > 1:
                few = f", n {len(golds)}"
                over = f"over the {number_of(len(golds), 'sample')} of {', '.join(runs)}"
            for name, document in declared(golds, {}, embedder.use).items():
                rows.append((f"Baseline: {name}{few}", len(golds), over, document))
    return tuple(_under_runs(table, rows) for table in tables)


def _golds(store: Store, dataset: Dataset, task: Task, numbers: frozenset[int]) -> list[Any]:
    """Those of these samples that gold says something of, and can be scored."""
    read, files = sample_reader(store, dataset), task.files
    samples = [read(record) for _, record in store.samples.records(sorted(numbers))]
    return [
        sample
        for sample in samples
        if (files.labelled is None or files.labelled(sample)) and (files.fault is None or files.fault(sample) is None)
    ]


def _under_runs(table: ResultsTable, baselines: Sequence[tuple[str, int, str, Mapping[str, Any]]]) -> ResultsTable:
    """The table with a row a baseline behind its last run; of a table with a row a run and name, a row a name."""
    last = max((place for place, row in enumerate(table.rows) if row.kind == "run"), default=None)
    if last is None:
        return table
    rows, told = [], []
    for label, n, remark, document in baselines:
        for name, within, figures in _parts(table, document):
            cells = tuple(_cell(table, column, document, within, figures) for column in table.columns)
            rows.append(Row(f"{label} {name}".rstrip(), "baseline", number_of(n, "sample"), cells, remark, n=n))
            told.append(document)
    if not rows:
        return table
    more = [note for note in interval_notes(told) if note not in table.notes]
    there = (*table.rows[: last + 1], *rows, *table.rows[last + 1 :])
    return msgspec.structs.replace(table, rows=there, notes=(*table.notes, *more))


def _parts(table: ResultsTable, document: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    """What of a document the table has figures of: all of it, or of each name a part, behind the keys before it."""
    keys = [_figure(column) for column in table.columns if column.unit not in ("count", "words")]
    if any(key in document for key in keys):
        return [("", "", document)]
    return [
        (name, f"{key}.{name}.", part)
        for key, parts in document.items()
        if isinstance(parts, Mapping)
        for name, part in parts.items()
        if keys and isinstance(part, Mapping) and all(figure in part for figure in keys)
    ]


def _figure(column: Column) -> str:
    """What a column is of, whatever setting is told behind it."""
    return column.key.partition("/")[0]


def _cell(
    table: ResultsTable, column: Column, document: Mapping[str, Any], within: str, figures: Mapping[str, Any]
) -> Cell:
    """A baseline's figure under the column of that; of several settings under the first."""
    figure = _figure(column)
    if column is not next(other for other in table.columns if _figure(other) == figure) or figure not in figures:
        return Cell()
    value, key = figures[figure], f"{within}{figure}"
    if value is None:
        return Cell(why=(document.get("notes") or {}).get(key) or "undefined")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Cell()
    low, high, note = sure_of(document, key)
    return Cell(value, low=low, high=high, note=note)
