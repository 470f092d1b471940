"""The sample data of every task, with what a place adds to its samples."""

from collections.abc import Callable, Mapping

from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import task_named, tasks
from emotui.tasks.rephrase.task import Rephrase
from emotui.workbench.datasets.own_files import add_own_samples
from emotui.workbench.rephrase.chains import add_sample_rephrasings

_WITH_MORE: Mapping[str, Callable[[Store], Dataset]] = {Rephrase.name: add_sample_rephrasings}
"""Tasks whose samples come with something that was written about them."""


def add_sample_data(store: Store, task: str) -> Dataset:
    """Add the samples that come with a task, where they are not there yet. Raises BadInput where there are none."""
    add = _WITH_MORE.get(task)
    return add_own_samples(store, task) if add is None else add(store)


def sample_dataset(task: str) -> str | None:
    """The name of the dataset that comes with a task."""
    own = task_named(task).files.own
    return None if own is None else own.dataset


def tasks_with_samples() -> list[str]:
    """Names of the tasks with samples that a new workspace has."""
    return [name for name, task in tasks().items() if task.files.own is not None and task.files.own.at_first]
