"""What further models said of a dataset's texts, as the store keeps it for scores."""

from collections.abc import Callable
from typing import Any

from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.task import Task


def with_measured(store: Store, task: Task, dataset: Dataset) -> Task:
    """The task with what is kept of the dataset; itself where nothing is."""
    kept = measured(store, dataset)
    return task.with_measured(kept) if kept else task


def measured(store: Store, dataset: Dataset) -> Any:
    """What is kept, in the task's own shape; empty where nothing is."""
    return store.setting(_key(dataset), {})


def change_measured(store: Store, dataset: Dataset, change: Callable[[Any], Any]) -> None:
    """Put what `change` makes of it in the place of what is kept."""
    store.change_setting(_key(dataset), change)


def _key(dataset: Dataset) -> str:
    return f"measured/{dataset.dataset}"
