"""The means of runs alone: what can be shown at once, while tables with their intervals are still counted."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from emotui.store.query import Run
from emotui.store.rows import ValueSum
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.tasks.registry import task_named
from emotui.workbench.results.span_tables import OWN, SETTINGS
from emotui.workbench.task_words import metrics_of

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
    sums = {run.run: store.value_sums(run.run, _PASSAGE) for run in runs}
    found = store.dataset(dataset)
    if found is None:
        return ()
    parts = titles or {found.task: task_named(found.task).words.title}
    tables = []
    for part, title in parts.items():
        wanted = [one for one in metrics if not titles or one.name in _AS_TABLED]
        setting = Column("setting", "Setting", unit="words")
        columns = (setting, *(Column(one.name, one.title) for one in wanted))
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
