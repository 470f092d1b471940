"""Runs by saved slice: a row a run, a column a slice."""

from collections.abc import Sequence

import numpy as np

from emotui.errors import BadInput
from emotui.metrics.metric import Metric
from emotui.metrics.resampling import BESIDE, convention, group_numbers, ratio_intervals, resamples_for
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import INTERVAL, Cell, Column, ResultsTable, Row
from emotui.workbench.notes import NoteBook
from emotui.workbench.runs.scores import groups_of
from emotui.workbench.slices.table import Facets

KEY = "slices"


def slice_table(store: Store, dataset: Dataset, runs: Sequence[Run], metric: Metric) -> tuple[ResultsTable, ...]:
    """The mean of a metric over the samples of each saved slice; nothing where no slice was saved, or no run scored."""
    saved = store.slices.all(dataset.dataset)
    if not saved or not runs:
        return ()
    facets = Facets(store, dataset, NoteBook(store).notes(dataset.dataset))
    shared = groups_of(store, dataset.dataset)
    groups = None if shared is None else group_numbers(list(shared[1].values()))
    rows = []
    for run in runs:
        values = store.metric_means(dataset.dataset, run.run, metric.name)
        there = ~np.isnan(values)
        if not there.any():
            continue
        plain = np.where(there, values, 0.0)
        sides, why = [there], [""]
        for _, line, _ in saved:
            try:
                sides.append(facets.keeps(line, run.run) & there)
                why.append("no sample of this slice has a value")
            except BadInput as problem:
                sides.append(np.zeros_like(there))
                why.append(str(problem))
        sure = ratio_intervals([(plain * side, side) for side in sides], groups)
        cells = []
        for side, reason, interval in zip(sides, why, sure, strict=True):
            n = int(side.sum())
            numbers = (np.flatnonzero(side) + facets.first).tolist()
            mean = float(values[side].mean()) if n else None
            cells.append(
                Cell(
                    mean,
                    None,
                    "",
                    None if n else reason,
                    tuple(numbers),
                    run.run,
                    interval.low,
                    interval.high,
                    interval.note,
                )
            )
        way = str(run.config.get("way") or "")
        rows.append(Row(" ".join(part for part in (run.model, way) if part), "run", run.run, tuple(cells)))
    if not rows:
        return ()
    columns = (Column("all", "All"), *(Column(name, name) for name, _, _ in saved))
    n = dataset.n if groups is None else int(groups.max()) + 1
    of = "samples" if groups is None else "groups of samples that share a text"
    notes = (
        *(f"{name}: {line}" for name, line, _ in saved),
        f"{INTERVAL} {convention(n, of, resamples_for(n, BESIDE), 0)}",
    )
    return (ResultsTable(KEY, f"{dataset.name}: {metric.title} by slice", columns, tuple(rows), notes),)
