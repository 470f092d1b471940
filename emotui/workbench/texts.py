"""The texts of a store as samples of any task: whichever question they came for, and whichever is asked now."""

from collections.abc import Callable, Collection, Iterator
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats.columns import required
from emotui.records import PLUTCHIK
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.texts import RENAMED, own_fields, said_of_text, sample_of_text

MOST_LABELS = 20
"""Labels that a vector is decoded over: MAP goes through all of its values."""

ReadSample = Callable[[bytes], Any]
"""From a record that a store keeps to a sample of a task."""

_DENSE = 8
"""Samples that are read for one that is asked for, at most."""

_NAMED = 3
"""Ids that a refusal names."""

_ONE_LABEL_SET = ("labels", "rephrase")
"""Tasks whose datasets list their labels, and nothing else, as what texts are found by."""


def sample_reader(store: Store, dataset: Dataset) -> ReadSample:
    """What reads the records of a dataset as samples of the task that it is read as."""
    asked = task_named(dataset.task)
    if dataset.task == dataset.kept_as:
        return msgspec.json.Decoder(asked.sample).decode
    kept = task_named(dataset.kept_as)
    vector = asked.files.label_columns and "labels" in required(asked.sample)
    labels = asked_labels(store, dataset) if vector else ()
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    return lambda record: sample_of_text(asked, said_of_text(kept, decode(record)), labels)


def read_sample(store: Store, dataset: Dataset, record: bytes) -> Any:
    """One record of a dataset as a sample of the task that it is read as."""
    return sample_reader(store, dataset)(record)


def run_dataset(store: Store, run: Run) -> Dataset | None:
    """The dataset of a run as the run's task reads it; None where it is gone."""
    found = store.datasets.get(run.dataset)
    return None if found is None else found.read_as(run.task)


def runs_of(store: Store, dataset: Dataset) -> list[Run]:
    """The runs over a dataset that answer the task that it is read as, newest first."""
    return [run for run in store.runs.all(dataset.dataset) if run.task == dataset.task]


def stored_samples(store: Store, dataset: Dataset, n: int, *, first: int = 0) -> Iterator[tuple[int, Any]]:
    """The first n samples of a dataset (from place `first` on), as its task reads them, by number."""
    read = sample_reader(store, dataset)
    for number, record in store.samples.of_dataset(dataset.dataset, first, n):
        yield number, read(record)


def samples_of(store: Store, dataset: Dataset, numbers: Collection[int]) -> dict[int, Any]:
    """The samples with these numbers, as the task of the dataset reads them; where many are asked for, in one scan."""
    if not numbers:
        return {}
    there, low, high = store.samples.file_order(dataset.dataset), min(numbers), max(numbers)
    if high - low < _DENSE * len(numbers):
        first, stop = max(low - there.start, 0), min(high + 1 - there.start, dataset.n)
        return {key: one for key, one in stored_samples(store, dataset, stop, first=first) if key in numbers}
    read = sample_reader(store, dataset)
    return {key: read(record) for key, record in store.samples.records(sorted(numbers)) if key in there}


def said_counts(store: Store, dataset: Dataset) -> dict[str, int]:
    """How many texts of a dataset gold says something of, by the key of records (`emotui.tasks.texts.SAID`)."""
    try:
        task = task_named(dataset.kept_as)
    except BadInput:  # of a package that is not here
        return store.samples.said_counts(dataset.dataset, {})
    return store.samples.said_counts(dataset.dataset, RENAMED.get(task.files.kind, {}), own_fields(task))


def check_needs(store: Store, dataset: Dataset) -> None:
    """See that every text of a dataset has what its task asks about, where it came for another one.

    Raises:
        BadInput: one line that counts the texts that lack it, and names the first of them.
    """
    if dataset.task == dataset.kept_as:
        return
    task = task_named(dataset.task)
    first: Any = None
    lacking: list[tuple[str, str]] = []
    for _, sample in stored_samples(store, dataset, dataset.n):
        first = sample if first is None else first
        if (why := task.problem(sample, first)) is not None:
            lacking.append((sample.id, why))
    if lacking:
        ids = ", ".join(key for key, _ in lacking[:_NAMED]) + (", …" if len(lacking) > _NAMED else "")
        raise BadInput(
            f"{dataset.name} cannot be asked the {task.name} task: of {len(lacking):,} of its {dataset.n:,} texts "
            f"({ids}) {lacking[0][1]}; `emotui import FILE --into {dataset.name}` adds what another file says"
        )


def asked_labels(store: Store, dataset: Dataset) -> tuple[str, ...]:
    """The labels that a task asks about one by one: those of Plutchik's eight among the labels that gold gives whole
    texts, all of gold's where it has other names for them, and the eight where it has none or too many.
    """
    there = _labels_of(store, dataset)
    known = tuple(label for label in PLUTCHIK if label in there)
    if len(known) > 1:
        return known
    return there if 1 < len(there) <= MOST_LABELS else PLUTCHIK


_label_sets: dict[tuple[str, int, str], tuple[str, ...]] = {}
"""Those that were looked for in all texts, by the store's path, the dataset's number and its fingerprint."""


def _labels_of(store: Store, dataset: Dataset) -> tuple[str, ...]:
    """The labels that gold gives whole texts, in the order in which they come."""
    if dataset.kept_as in _ONE_LABEL_SET:
        return tuple(store.samples.emotions(dataset.dataset))
    key = str(store.path), dataset.dataset, dataset.fingerprint
    if key not in _label_sets:
        kept, found = task_named(dataset.kept_as), dict[str, None]()
        for _, record in store.samples.of_dataset(dataset.dataset):
            said = said_of_text(kept, msgspec.json.decode(record, type=dict[str, Any]))
            found |= dict.fromkeys(said.get("labels") or ())
            if one := said.get("label"):
                found[one] = None
        _label_sets[key] = tuple(found)
    return _label_sets[key]
