"""SEER's prompting experiments as datasets of a workspace."""

from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.spans.experiments import EXPERIMENTS, experiment, hand_crafted
from emotui.workbench.datasets.samples import add_spans

_SOURCE = "SEER, appendices A and B"


def add_experiment(store: Store, number: int) -> Dataset:
    """The samples of an experiment as the dataset `experiment-N`; added where they are not there yet.

    Raises:
        BadInput: no such experiment, or other samples have this name.
    """
    return add_spans(store, experiment_name(number), experiment(number, hand_crafted()), _SOURCE)


def experiment_name(number: int) -> str:
    """The name of an experiment's dataset."""
    return f"experiment-{number}"


def experiment_of(dataset: Dataset) -> int | None:
    """Which experiment a dataset is of; None for any other dataset."""
    names = {experiment_name(number): number for number in EXPERIMENTS}
    return names.get(dataset.name) if dataset.source == _SOURCE else None


def asked_alone(number: int | None, task: str, dataset: str | None) -> None:
    """Raises BadInput where an experiment is asked for together with what it brings itself."""
    if number is not None and task != "spans":
        raise BadInput(f"the prompting experiments are of the spans task, not of {task}")
    if number is not None and dataset is not None:
        raise BadInput("--experiment has samples of its own: leave --dataset out")
