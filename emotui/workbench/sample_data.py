"""The sample data of every task, with what a place adds to its samples."""

from collections.abc import Callable, Mapping
from importlib.resources import as_file, files

from emotui.records import SpanSample
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import OwnSamples
from emotui.tasks.registry import SPANS, task_named, tasks
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.whole_records import add_own_samples, own_records
from emotui.workbench.rephrase.chains import REPHRASE, add_sample_rephrasings

_WITH_MORE: Mapping[str, Callable[[Store], Dataset]] = {REPHRASE: add_sample_rephrasings}
"""Tasks whose samples come with something that was written about them."""


MIXED = OwnSamples("mixed", ("mixed.jsonl",))
"""Texts of which gold and annotators say everything: spans, a label, eight emotions and numbers."""

_ASKED_OF_MIXED = (SPANS, "labels", "scenes")
"""What a model is asked about each of these texts."""


def add_first_samples(store: Store) -> list[tuple[Dataset, str]]:
    """Add what a new workspace has, where it is not there yet: each dataset with a task that a model is asked."""
    found = [(add_sample_data(store, task), task) for task in tasks_with_samples()]
    mixed = add_samples(store, SPANS, MIXED.dataset, own_records(MIXED, SpanSample), MIXED.source)
    return [*found, *((mixed, task) for task in _ASKED_OF_MIXED)]


FURTHER = ("dialogues", "diaries")
"""Sample files that a workspace has when it is asked for them by name: conversations in MELD's shape, and what people
wrote over weeks in that of SemEval-2026 task 2."""


def add_further_samples(store: Store, name: str) -> Dataset:
    """Add one of `FURTHER`, where it is not there yet."""
    from emotui.workbench.datasets.foreign import Wish, import_foreign

    there = store.datasets.get(name)
    if there is not None:
        return there
    with as_file(files("emotui.sample_data") / f"{name}.csv") as path:
        return import_foreign(store, [str(path)], Wish(), name, skip_bad=False, warn=lambda line: None)[0]


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
