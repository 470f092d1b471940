"""Prompting experiments as datasets of a workspace."""

from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import Experiments
from emotui.tasks.registry import task_named, tasks
from emotui.workbench.datasets.samples import add_samples


def add_experiment(store: Store, number: int, task: str | None = None) -> Dataset:
    """The samples of an experiment as the dataset `experiment-N`; added where they are not there yet.

    Args:
        task: None for the first that has experiments.

    Raises:
        BadInput: no such experiment, or other samples have this name.
    """
    task = task or next(one.name for one in tasks().values() if one.experiments is not None)
    found = _experiments(task)
    return add_samples(store, task, experiment_name(number), found.samples(number), found.source)


def experiment_name(number: int) -> str:
    """The name of an experiment's dataset."""
    return f"experiment-{number}"


def experiment_of(dataset: Dataset) -> int | None:
    """Which experiment a dataset is of; None for any other dataset."""
    if not dataset.name.startswith("experiment-"):
        return None
    found = task_named(dataset.task).experiments
    if found is None or dataset.source != found.source:
        return None
    return {experiment_name(number): number for number in found.numbers}.get(dataset.name)


def asked_alone(number: int | None, task: str, dataset: str | None) -> None:
    """Raises BadInput where an experiment is asked for together with what it brings itself."""
    if number is not None:
        _experiments(task)
        if dataset is not None:
            raise BadInput("--experiment has samples of its own: leave --dataset out")


def _experiments(task: str) -> Experiments:
    found = task_named(task).experiments
    if found is None:
        there = " and ".join(one.name for one in tasks().values() if one.experiments is not None)
        raise BadInput(f"the prompting experiments are of the {there} task, not of {task}")
    return found
