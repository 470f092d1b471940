"""The tables of any task's runs: those that the task draws itself, or its figures with a row a run."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from emotui.backends.host import Cancelled
from emotui.store.query import Dataset, Run
from emotui.store.rows import ValueSum
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row, interval_notes, metric_column, sure_of
from emotui.tasks.label_answers import LabelAnswers, change_tables, confusion_table
from emotui.tasks.parts import Experiments, ScoredRun
from emotui.tasks.published import PublishedRow, published
from emotui.tasks.registry import SPANS, task_named
from emotui.workbench.annotate.log import settled_among
from emotui.workbench.datasets.sources import PERSON
from emotui.workbench.masked.lexicons import with_lexicon
from emotui.workbench.progress import IsCancelled, OnCount
from emotui.workbench.results.baselines import with_baselines
from emotui.workbench.results.span_figures import RunFigures
from emotui.workbench.results.span_tables import GATE, OWN, PUBLISHED, SCORES, SETTINGS, remark_of
from emotui.workbench.runs.scores import former_gold, groups_of, metrics
from emotui.workbench.task_words import metrics_of
from emotui.workbench.texts import runs_of

if TYPE_CHECKING:
    from emotui.tasks.parts import Lexicon

# SEER's tables of the prompting experiments (Tables 7, 8 and 9) with the gate to the main tasks (section 7.2).

_SLOTS = {
    "experiment-1": "Exp 1",
    "experiment-2-categorical": "Exp 2: categorical",
    "experiment-2-valence": "Exp 2: valence",
    "experiment-3-categorical": "Exp 3: categorical",
    "experiment-3-valence": "Exp 3: valence",
}
_STYLES = {"retrieve": "seer_table8", "highlight": "seer_table9"}
EXACT = "EM: spans equal to the gold ones, case, punctuation and articles aside (appendix B.3); the text is one span."
LETTERS = "EM, letters: the text given back letter by letter, only white space at its ends aside."


def prompting_tables(runs: Sequence[RunFigures]) -> list[ResultsTable]:
    """Table 7, and Tables 8 and 9 with the gate.

    Args:
        runs: of the prompting experiments, newest first; of several with one model and setting the first counts.
    """
    return [_reproduction(runs), *(_spans(runs, style) for style in _STYLES)]


def _experiments() -> Experiments:
    found = task_named(SPANS).experiments
    assert found is not None
    return found


def _number(run: RunFigures) -> int:
    number = run.experiment.get("number")
    return number if isinstance(number, int) else -1


def _reproduction(runs: Sequence[RunFigures]) -> ResultsTable:
    names = ("em", "em_letters", "f1")
    columns = (Column("em", "EM"), Column("em_letters", "EM, letters"), Column("f1", "F1"))
    rows = [
        Row(model, "run", run.run.run, tuple(_cell(run, "all", name) for name in names), remark_of(run))
        for model, run in _newest(run for run in runs if _number(run) == 0).items()
    ]
    table = published("seer_table7")
    rows += [_published(row, [("experiment-0", name) for name in names]) for row in table.rows]
    title, papers = "Prompting experiment 0: the text given back", (f"{PUBLISHED} {table.cite}.", *table.notes)
    notes = (EXACT, LETTERS, *_told(run for run in runs if _number(run) == 0))
    return ResultsTable("experiment-0", title, columns, tuple(rows), notes, published_notes=papers)


def _newest(runs: Iterable[RunFigures]) -> dict[str, RunFigures]:
    found: dict[str, RunFigures] = {}
    for run in runs:
        found.setdefault(run.run.model, run)
    return found


def _spans(runs: Sequence[RunFigures], style: str) -> ResultsTable:
    titles = {"em": ("EM", "share"), "f1": ("F1", "share"), "sim": ("Sim", "cosine")}
    figures = [(slot, name) for slot in _SLOTS for name in titles]
    columns = [Column(f"{slot}/{name}", titles[name][0], _SLOTS[slot], titles[name][1]) for slot, name in figures]
    columns.append(Column("goes_on", "Goes on", "Gate", "words"))
    held: dict[tuple[str, bool], dict[str, RunFigures]] = {}
    for run in runs:
        own, reasons = _experiments().style_of(run.way)
        if _number(run) in (1, 2, 3) and own == style:
            held.setdefault((run.run.model, reasons), {}).setdefault(f"experiment-{_number(run)}", run)
    rows = []
    for (model, reasoned), by_number in held.items():
        cells = [_half(by_number, slot, name) for slot, name in figures]
        remark = "; ".join(dict.fromkeys(r for run in by_number.values() if (r := remark_of(run))))
        ids = ", ".join(run.run.run for run in by_number.values())
        label = f"{model} (CoT)" if reasoned else model
        rows.append(Row(label, "run", ids, (*cells, _own_gate(by_number.get("experiment-3"))), remark))
    table = published(_STYLES[style])
    for row in table.rows:
        plain = _published(row, figures)
        rows.append(Row(plain.label, plain.kind, plain.source, (*plain.cells, _gate(row))))
    title = f"Prompting experiments 1 to 3, {style}"
    drawn = [run for by_number in held.values() for run in by_number.values()]
    notes, papers = (
        (EXACT, SCORES, GATE, *_told(drawn)),
        (f"{PUBLISHED} {table.cite}, which print no EM.", *table.notes),
    )
    return ResultsTable(f"experiments-{style}", title, tuple(columns), tuple(rows), notes, published_notes=papers)


def _half(by_number: Mapping[str, RunFigures], slot: str, name: str) -> Cell:
    experiment, half = slot[:12], slot[13:] or "all"
    run = by_number.get(experiment)
    return Cell() if run is None else _cell(run, half, name)


def _cell(run: RunFigures, half: str, name: str) -> Cell:
    figures = run.experiment.get(half)
    if not isinstance(figures, dict):
        return Cell(why="none of these samples were asked")
    value, sd = figures.get(name), figures.get("sd", {}).get(name)
    why = None if value is not None else "no embedding model was asked"
    ends = sure_of(figures, name) if value is not None else ()
    return Cell(value, sd, run.convention, why, run.halves.get(half, ()), run.run.run, *ends)


def _told(runs: Iterable[RunFigures]) -> tuple[str, ...]:
    """Under which convention intervals are."""
    return interval_notes(part for run in runs for part in run.experiment.values() if isinstance(part, dict))


def _own_gate(run: RunFigures | None) -> Cell:
    if run is None:
        return Cell()
    if not {"categorical", "valence"} <= run.experiment.keys():
        return Cell(why="one half of experiment 3 was not asked", run=run.run.run)
    return Cell("yes" if run.experiment.get("goes_on") else "no", None, GATE, None, (), run.run.run)


def _gate(row: PublishedRow) -> Cell:
    halves = [row.settings.get(f"experiment-3-{half}", {}).get("f1") for half in ("categorical", "valence")]
    known = [half.mean for half in halves if half is not None]
    return Cell("yes" if _experiments().goes_on(*known) else "no", None, GATE) if len(known) == 2 else Cell()


def _published(row: PublishedRow, figures: Sequence[tuple[str, str]]) -> Row:
    printed = [row.settings.get(slot, {}).get(name) for slot, name in figures]
    cells = tuple(Cell() if one is None else Cell(one.mean, one.sd, row.source) for one in printed)
    return Row(row.model, "published", row.source, cells)


# What people answer is kept as models' answers are; among sources they are annotators.


def with_people(tables: Sequence[ResultsTable], store: Store, dataset: Dataset) -> tuple[ResultsTable, ...]:
    """The tables with the rows of people's runs among annotators, behind all runs and baselines.

    The result of an adjudication is nobody's, and stays where it is.
    """
    runs = [run for run in store.runs.all(dataset.dataset) if run.source == PERSON]
    people = {run.run for run in runs}
    if people:
        people -= settled_among(store, dataset, runs)
    return tuple(_with_people(table, people) for table in tables) if people else tuple(tables)


def _with_people(table: ResultsTable, people: Collection[str]) -> ResultsTable:
    def is_theirs(row: Row) -> bool:
        return row.kind == "run" and bool(row.source) and all(name in people for name in row.source.split(", "))

    stay = [row for row in table.rows if not is_theirs(row)]
    if len(stay) == len(table.rows):
        return table
    moved = [replace(row, kind="people") for row in table.rows if is_theirs(row)]
    behind = max((at + 1 for at, row in enumerate(stay) if row.kind in ("run", "baseline")), default=0)
    return replace(table, rows=(*stay[:behind], *moved, *stay[behind:]))


# Rows whose figures are of a former version of gold say so where they stand.


def told_of_gold(tables: Sequence[ResultsTable], store: Store, dataset: Dataset) -> tuple[ResultsTable, ...]:
    """The tables, with the rows of runs marked that are scored under an older gold, and baselines beside such."""
    if dataset.gold == 1:
        return tuple(tables)
    under = {
        run.run: versions
        for run in runs_of(store, dataset)
        if min(versions := store.gold.all_scored_under(run.run), default=dataset.gold) < dataset.gold
    }
    return tuple(_marked(table, under, dataset.gold) for table in tables)


def _marked(table: ResultsTable, under: dict[str, tuple[int, ...]], today: int) -> ResultsTable:
    versions = [_versions(row, under) for row in table.rows]
    if not any(versions):
        return table
    rows = []
    for row, version in zip(table.rows, versions, strict=True):
        if version:
            mixed = " and ".join(map(str, version)) + (", mixed," if len(version) > 1 else "")
            said = f"under gold {mixed} of {today}: rescore"
        elif row.kind == "baseline":
            said = f"under gold {today}, unlike runs above"
        else:
            rows.append(row)
            continue
        rows.append(replace(row, gold=said, remark="; ".join(filter(None, (row.remark, said)))))
    return replace(table, rows=tuple(rows))


def _versions(row: Row, under: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The versions of gold that the row's figures are of, where they are not all today's."""
    return tuple(sorted({version for cell in row.cells if cell.run in under for version in under[cell.run]}))


# The means of runs alone: what can be shown at once, while tables with their intervals are still counted.

_PASSAGE = '"sentences":[{'
"""What the record of a passage holds, letter by letter."""

_AS_TABLED = ("f1", "sim")
"""Of spans the means over samples that the main tables print as they are; precision and recall are over all spans."""


def means(store: Store, dataset: int, runs: Sequence[Run], titles: Mapping[str, str]) -> tuple[ResultsTable, ...]:
    """A table a part of the dataset with a row a run, from one sum in the store for each.

    Args:
        titles: of spans the parts of the dataset with their titles; empty for other tasks.
    """
    metrics = metrics_of(store, dataset)
    sums = {run.run: store.results.value_sums(run.run, _PASSAGE) for run in runs}
    found = store.datasets.get(dataset)
    if found is None:
        return ()
    parts = titles or {found.task: task_named(found.task).words.title}
    tables = []
    for part, title in parts.items():
        wanted = [one for one in metrics if not titles or one.name in _AS_TABLED]
        setting = Column("setting", "Setting", unit="words")
        columns = (setting, *map(metric_column, wanted))
        rows = []
        for run in runs:
            here = [one for one in sums[run.run] if not titles or one.holds == (part == "task-2")]
            values = [_mean([one for one in here if one.metric == metric.name]) for metric in wanted]
            if any(value is not None for value in values):
                way = str(run.config.get("way") or "")
                told = SETTINGS.get(way or OWN, way) if titles else way
                cells = (Cell(told), *(Cell(value, run=run.run) for value in values))
                rows.append(Row(run.model, "run", run.run, cells))
        tables.append(ResultsTable(part, title, columns, tuple(rows)))
    return tuple(table for table in tables if table.rows)


def _mean(sums: Sequence[ValueSum]) -> float | None:
    """Over samples, then over repeats."""
    repeats = {one.repeat for one in sums}
    held = [[one for one in sums if one.repeat == repeat] for repeat in repeats]
    each = [sum(one.total for one in own) / sum(one.n for one in own) for own in held]
    return fmean(each) if each else None


_BATCH = 1000
_OF_F1 = re.compile("(macro|micro|samples|weighted)_f1")
_SUBSCRIPT = re.compile("[A-Za-z][0-9]?_[A-Za-z]+")
"""A letter with an index, such as T_correct."""


def run_tables(
    store: Store,
    dataset: Dataset,
    runs: Sequence[Run],
    elsewhere: Sequence[Run],
    cancelled: IsCancelled,
    told: OnCount,
    lexicon: "Lexicon | None" = None,
    *,
    baselines: bool = False,
) -> tuple[ResultsTable, ...]:
    """Tables of runs over one dataset.

    Args:
        elsewhere: runs over other datasets of the task, by which a task may choose what it must not choose here.
        told: how many answers have been read so far.
        lexicon: what masked words of all runs are compared by; None: that of the first run's scores.
        baselines: whether the baselines that the task declares stand under the runs.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    names, groups = {one.dataset: one.name for one in store.datasets.all()}, groups_of(store, dataset.dataset)
    read = partial(_scored, store, names, None if groups is None else groups[1], cancelled)
    own, before = [], 0
    for run in (*runs, *elsewhere):
        own.append(read(run, before, told))
        before += run.done
    task = task_named(dataset.task)
    if lexicon is not None:
        task = task.with_lexicon(lexicon)
    elif runs:
        task = with_lexicon(store, task, runs[0])
    here = own[: len(runs)]
    tables = task.tables(here, own[len(runs) :])
    if not tables or len(here) > 1:
        answers = [found for one in here if (found := LabelAnswers.of(one, task.label_sets)) is not None]
        drawn = tables or (*_figures(store, dataset, here), *map(confusion_table, answers))
        tables = (*drawn, *change_tables(answers))
    tables = _with_further_metrics(store, dataset, runs, tables)
    if not baselines:
        return tables
    covered = {one.run.run: {number for number, _ in one.scores} for one in here}
    return with_baselines(store, dataset, task, covered, tables)


def _with_further_metrics(
    store: Store, dataset: Dataset, runs: Sequence[Run], tables: Sequence[ResultsTable]
) -> tuple[ResultsTable, ...]:
    """The tables, of which the first has the means of metrics that other packages add to the task.

    Where a run has several rows, they stand in its first.
    """
    task = task_named(dataset.task)
    own = {metric.name for metric in (*task.metrics, *task.further_metrics)}
    further = [one for one in metrics_of(store, dataset.dataset, task.name) if one.name not in own]
    further = [one for one in further if task.metric_named(one.name) is None]
    there = {key for table in tables for column in table.columns for key in column.key.split("/")}
    further = [one for one in further if one.name not in there]
    if not further or not tables or not any(row.kind == "run" for row in tables[0].rows):
        return tuple(tables)
    sums = {run.run: store.results.value_sums(run.run, _PASSAGE) for run in runs}
    rows, told = [], set()
    for row in tables[0].rows:
        run = row.source if row.kind == "run" and row.source in sums and row.source not in told else None
        told.add(run)
        means = [_mean([one for one in sums.get(run or "", []) if one.metric == metric.name]) for metric in further]
        cells = [Cell() if value is None else Cell(value, run=run) for value in means]
        rows.append(replace(row, cells=(*row.cells, *cells)))
    notes = [f"{one.title}: {one.help}; means over samples that have a value." for one in further]
    columns = (*tables[0].columns, *map(metric_column, further))
    first = replace(tables[0], columns=columns, rows=tuple(rows), notes=(*tables[0].notes, *notes))
    return (first, *tables[1:])


_NAMES = {"n": "Texts"}


def figure_name(key: str) -> str:
    """A figure of a report as papers head it: `macro_f1` Macro-F1, `r1_m` R1_m, `hamming_loss` Hamming loss."""
    if key in _NAMES:
        return _NAMES[key]
    if _OF_F1.fullmatch(key):
        return f"{key[:-3].capitalize()}-F1"
    if _SUBSCRIPT.fullmatch(key):
        return key[0].upper() + key[1:]
    words = key.replace("_", " ")
    return words[:1].upper() + words[1:]


def _scored(
    store: Store,
    names: dict[int, str],
    groups: dict[int, int] | None,
    cancelled: IsCancelled,
    run: Run,
    before: int,
    told: OnCount,
) -> ScoredRun:
    scores, conventions = [], set()
    for at, outcome in enumerate(store.results.outcomes(run.run)):
        if at % _BATCH == 0:
            if cancelled():
                raise Cancelled
            told(before + at)
        if outcome.detail is not None:
            scores.append((outcome.sample, outcome.detail))
            conventions.add(outcome.convention or "")
    return ScoredRun(run, names.get(run.dataset, ""), scores, groups or {}, frozenset(conventions), _rated(store, run))


def _rated(store: Store, run: Run) -> dict[int, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The labels that people gave a run's versions here."""
    if run.task != "generation":
        return {}
    from emotui.workbench.generation.rating import labels_given, rating_log
    from emotui.workbench.generation.rating_batches import EMOTIONAL, NEUTRAL

    given = labels_given(rating_log(store, run.dataset))
    samples = {sample for name, sample, _ in given if name == run.run}
    return {
        sample: (
            tuple(given.get((run.run, sample, EMOTIONAL), ())),
            tuple(given.get((run.run, sample, NEUTRAL), ())),
        )
        for sample in samples
    }


def _figures(store: Store, dataset: Dataset, runs: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
    """Every figure of the runs' reports that is a number, with all samples that were scored behind it."""
    reports = [(one, metrics(store, one.run)) for one in runs]
    found = {
        key: isinstance(value, int)
        for _, report in reports
        for key, value in report.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if not any(report.get("unlabelled") for _, report in reports):
        found.pop("unlabelled", None)
    if not found:
        return ()
    lower = {one.name for one in metrics_of(store, dataset.dataset, dataset.task) if not one.higher_is_better}
    columns = tuple(
        Column(key, figure_name(key), unit="count" if whole else "share", lower=key in lower)
        for key, whole in found.items()
    )
    rows = tuple(
        Row(_name(one.run), "run", one.run.run, _cells(one, report, tuple(found)), former_gold(store, one.run))
        for one, report in reports
    )
    title = task_named(dataset.task).words.title
    notes = (*interval_notes(report for _, report in reports), *without_interval(columns, rows))
    return (ResultsTable(dataset.task, title, columns, rows, notes),)


def without_interval(columns: Sequence[Column], rows: Sequence[Row]) -> tuple[str, ...]:
    """Why a figure has no interval, a line for each that says why; of several runs with their name."""
    return tuple(
        f"{column.title}{f' of {row.label}' if len(rows) > 1 else ''}: {cell.note}"
        for row in rows
        for column, cell in zip(columns, row.cells, strict=True)
        if cell.note.startswith("no interval")
    )


def _cells(one: ScoredRun, report: dict[str, object], keys: tuple[str, ...]) -> tuple[Cell, ...]:
    spread, notes = report.get("sd"), report.get("notes")
    run, samples = one.run.run, tuple(dict.fromkeys(sample for sample, _ in one.scores))
    cells = []
    for key in keys:
        value: Any = report.get(key)
        sd = spread.get(key) if isinstance(spread, dict) else None
        why = notes.get(key) if isinstance(notes, dict) else None
        known = isinstance(value, int | float) and not isinstance(value, bool)
        sure = sure_of(report, key) if known else (None, None, "")
        why = None if known else why or "undefined"
        cells.append(Cell(value if known else None, sd, "", why, samples if known else (), run, *sure))
    return tuple(cells)


def _name(run: Run) -> str:
    way = run.config.get("way")
    return f"{run.model} {way}" if way else run.model
