"""How samples come into the store, and what is told of where they are from."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from emotui.errors import BadInput
from emotui.formats import check_not_over, fingerprint
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import ILLUSTRATION, Experiments
from emotui.tasks.registry import task_named, tasks
from emotui.workbench.progress import OnStep, silent, told
from emotui.workbench.runs.plan import asked_fingerprint

# The files that a dataset came from, which nothing is written over.


def check_not_over_origin(path: str, dataset: Dataset) -> None:
    """Whether writing to `path` leaves the files as they are that the dataset was imported from, where these are known.

    Raises:
        BadInput: one of them would be overwritten.
    """
    target = Path(path)
    for name in dict.fromkeys((dataset.source, *dataset.source.split(", "))):
        try:
            origin = Path(name).expanduser()
            inside = target.exists() and origin.is_dir() and target.resolve().is_relative_to(origin.resolve())
        except (OSError, ValueError, RuntimeError):
            continue
        check_not_over(target, target if inside and target.is_file() else origin)


LABELS_ONLY = "labels only: "
"""Begins the source of a dataset whose texts are not at hand."""

COMPOSED = "composed for the sample data, no people"
"""What is said of annotators inside this package's own illustration."""


def add_samples(
    store: Store,
    task: str,
    name: str,
    samples: Sequence[Any],
    source: str,
    *,
    on_step: OnStep = silent,
    let_go: bool = False,
) -> Dataset:
    """Add samples of a task as a dataset, or return the one that holds the same under this name.

    Args:
        on_step: told how far it is; where it raises, nothing is added.
        let_go: the list is the caller's last use of them: each sample goes from it, in memory, once it is laid out.

    Raises:
        BadInput: the name belongs to other samples.
    """
    found = task_named(task)
    mark = fingerprint(samples)
    there = store.datasets.get(name)
    if there is not None:
        if there.fingerprint == mark and there.task == found.name:
            return there
        raise BadInput(f"the store has other samples under the name {name!r}: choose another (emotui import --name)")
    asked = asked_fingerprint(found, samples)
    each = _let_go(samples) if let_go and isinstance(samples, list) else iter(samples)
    rows = told((found.row(sample) for sample in each), "keeping", len(samples), on_step)
    return store.datasets.add(name, found.name, rows, source, mark, asked=asked)


def _let_go(samples: list[Any]) -> Iterator[Any]:
    """A million of them take as much as what the store needs to copy them, and the one comes after the other."""
    for place, sample in enumerate(samples):
        samples[place] = None
        yield sample


def has_texts(dataset: Dataset) -> bool:
    """Whether its samples have their texts, and not only labels."""
    return not dataset.source.startswith(LABELS_ONLY)


def is_sample_data(dataset: Dataset) -> bool:
    """Whether it is this package's own illustration."""
    return dataset.source == ILLUSTRATION


# Prompting experiments as datasets of a workspace.


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
