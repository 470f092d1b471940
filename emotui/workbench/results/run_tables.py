"""The tables of any task's runs: those that the task draws itself, or its figures with a row a run."""

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from emotui.backends.host import Cancelled
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row, interval_notes, sure_of
from emotui.tasks.label_answers import LabelAnswers, change_tables, confusion_table
from emotui.tasks.parts import ScoredRun
from emotui.tasks.registry import task_named
from emotui.workbench.masked.lexicons import with_lexicon
from emotui.workbench.progress import IsCancelled, OnCount
from emotui.workbench.runs.scores import former_gold, groups_of, metrics

if TYPE_CHECKING:
    from emotui.tasks.masked.lexicon import WordVectors

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
    lexicon: "WordVectors | None" = None,
) -> tuple[ResultsTable, ...]:
    """Tables of runs over one dataset.

    Args:
        elsewhere: runs over other datasets of the task, by which a task may choose what it must not choose here.
        told: how many answers have been read so far.
        lexicon: what masked words of all runs are compared by; None: that of the first run's scores.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    names, groups = {one.dataset: one.name for one in store.datasets()}, groups_of(store, dataset.dataset)
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
    if tables and len(here) == 1:
        return tables
    answers = [found for one in here if (found := LabelAnswers.of(one, task.label_sets)) is not None]
    tables = tables or (*_figures(store, dataset, here), *map(confusion_table, answers))
    return (*tables, *change_tables(answers))


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
    for at, outcome in enumerate(store.outcomes(run.run)):
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
    if not found:
        return ()
    columns = tuple(Column(key, figure_name(key), unit="count" if whole else "share") for key, whole in found.items())
    rows = tuple(
        Row(_name(one.run), "run", one.run.run, _cells(one, report, tuple(found)), former_gold(store, one.run))
        for one, report in reports
    )
    title = task_named(dataset.task).words.title
    return (ResultsTable(dataset.task, title, columns, rows, interval_notes(report for _, report in reports)),)


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
