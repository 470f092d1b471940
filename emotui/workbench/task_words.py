"""What the screens call things of a task."""

from collections.abc import Iterable

from emotui.errors import BadInput
from emotui.metrics.metric import Metric
from emotui.store.store import Store
from emotui.tasks.parts import TaskWords
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task

# By which metrics the samples of a dataset are scored: known before anything of a run is read.


def metrics_of(store: Store, dataset: int, task: str | None = None) -> tuple[Metric, ...]:
    """What runs of a task over a dataset are scored by: the task's metrics, and others that its runs have values of.

    Args:
        task: None: the one that the dataset's file came for.
    """
    found = store.datasets.get(dataset)
    if found is None:
        return ()
    asked = task_named(task or found.task)
    others = store.results.metric_names(dataset, besides={metric.name for metric in asked.metrics}, task=asked.name)
    return metrics_named(asked, others)


def metrics_named(task: Task, names: Iterable[str]) -> tuple[Metric, ...]:
    """The metrics of a task, and behind them those of these names that are not its own."""
    own = {metric.name for metric in task.metrics}
    kept = [name for name in dict.fromkeys(names) if name not in own]
    if not kept:
        return task.metrics
    from emotui.tasks.added_metrics import added_metrics

    added = {one.metric.name: one.metric for one in added_metrics(task)}
    added |= {metric.name: metric for metric in task.further_metrics}
    unknown = "a metric of a package that is not installed here"
    return (
        *task.metrics,
        *(added.get(name) or task.metric_named(name) or Metric(name, (None, None), True, unknown) for name in kept),
    )


__all__ = ["TaskWords", "words_of"]


def words_of(task: str) -> TaskWords:
    """The words about a task by its name; plain ones for a task that this version does not know."""
    try:
        return task_named(task).words
    except BadInput:
        return TaskWords(title=task)
