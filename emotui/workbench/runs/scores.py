"""From kept outputs to scores and figures; no model is asked."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from emotui.metrics.metric import Metric
from emotui.store.query import Run
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Parsed, Task
from emotui.workbench.runs.plan import RunConfig, stored_samples
from emotui.workbench.runs.similarity import Embedder

Key = tuple[int, int]
"""A sample's number and the repeat."""


def scored(
    task: Task, way: str, outputs: Sequence[ResultRow], samples: dict[int, Any], embed: Embedder | None
) -> list[ResultRow]:
    """Parse kept outputs and score them; an output that cannot be parsed keeps its reason as the error.

    Of several attempts at one question the last is its answer. The others stay as they came.
    """
    last = {(row.sample, row.repeat): place for place, row in enumerate(outputs) if row.raw is not None}
    rows: list[ResultRow] = []
    places: list[int] = []
    answers: list[Parsed] = []
    for place, row in enumerate(outputs):
        if row.raw is not None and last[row.sample, row.repeat] == place:
            sample = samples[row.sample]
            try:
                prediction = task.parse(sample, row.raw, way)
            except (ValueError, msgspec.DecodeError) as error:
                row = replace(row, error=f"the output cannot be parsed: {error}")
            else:
                row = replace(row, prediction=msgspec.json.encode(prediction), error=None)
                places.append(len(rows))
                answers.append(Parsed(sample, row.repeat, prediction))
        rows.append(row)
    for place, score in zip(places, task.score(answers, embed), strict=True):
        rows[place] = replace(rows[place], score=score)
    return rows


def metrics_of(store: Store, dataset: int) -> tuple[Metric, ...]:
    """What the samples of a dataset are scored by: the metrics of its task."""
    found = store.dataset(dataset)
    return () if found is None else task_named(found.task).metrics


def last_attempts(rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Of each question the attempt that counts: the last that brought an answer, else the last one."""
    last: dict[Key, ResultRow] = {}
    for row in rows:
        key = (row.sample, row.repeat)
        if row.raw is not None or key not in last or last[key].raw is None:
            last[key] = row
    return list(last.values())


def metrics(store: Store, run: Run) -> dict[str, object]:
    """The figures of a run, as `emotui score` of its task names them, over what is done so far."""
    dataset = store.dataset(run.dataset)
    rows = list(store.results(run.run))
    numbers = {row.sample for row in rows if row.score is not None}
    if dataset is None or not numbers:
        return {}
    golds = [sample for number, sample in stored_samples(store, dataset, dataset.n) if number in numbers]
    settings = msgspec.convert(run.config, RunConfig)
    task = task_named(dataset.task).with_options(settings.options, settings.repeats)
    figures = task.report(golds, [row.score for row in rows if row.score is not None]) | task.diagnostics(rows)
    why = settings.trained_on
    if settings.flattered:
        why = f"{run.model} was fitted on these samples, so its figures here flatter it"
    if why:
        figures["notes"] = msgspec.convert(figures.get("notes") or {}, dict[str, str]) | {"run": why}
    return figures
