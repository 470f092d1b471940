"""How samples come into the store, and what is told of where they are from."""

from collections.abc import Sequence
from typing import Any

from emotui.errors import BadInput
from emotui.formats import fingerprint
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import ILLUSTRATION
from emotui.tasks.registry import task_named
from emotui.workbench.progress import OnStep, silent, told
from emotui.workbench.runs.plan import asked_fingerprint

LABELS_ONLY = "labels only: "
"""Begins the source of a dataset whose texts are not at hand."""

COMPOSED = "composed for the sample data, no people"
"""What is said of annotators inside this package's own illustration."""


def add_samples(
    store: Store, task: str, name: str, samples: Sequence[Any], source: str, *, on_step: OnStep = silent
) -> Dataset:
    """Add samples of a task as a dataset, or return the one that holds the same under this name.

    Args:
        on_step: told how far it is; where it raises, nothing is added.

    Raises:
        BadInput: the name belongs to other samples.
    """
    found = task_named(task)
    mark = fingerprint(samples)
    there = store.dataset(name)
    if there is not None:
        if there.fingerprint == mark and there.task == found.name:
            return there
        raise BadInput(f"the store has other samples under the name {name!r}: choose another (emotui import --name)")
    rows = told((found.row(sample) for sample in samples), "keeping", len(samples), on_step)
    return store.add_dataset(name, found.name, rows, source, mark, asked=asked_fingerprint(found, samples))


def has_texts(dataset: Dataset) -> bool:
    """Whether its samples have their texts, and not only labels."""
    return not dataset.source.startswith(LABELS_ONLY)


def is_sample_data(dataset: Dataset) -> bool:
    """Whether it is this package's own illustration."""
    return dataset.source == ILLUSTRATION
