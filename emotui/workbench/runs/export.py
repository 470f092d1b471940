"""Runs out of the store, as files that other commands and programs read."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats import write
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.runs.scores import last_attempts


def export_run(store: Store, run: str, path: str) -> int:
    """Write a run's predictions, format by ending. An answer that failed is written as an empty one.

    Of a run with repeats the first is written, where the task's records have no place for repeats.

    Returns:
        How many records were written.

    Raises:
        BadInput: no such run, or an ending that no format has.
    """
    found = store.run(run)
    written = run_records(store, found)
    if not written:
        raise BadInput(f"run {found.run} has no results yet")
    write(path, written)
    return len(written)


def run_records(store: Store, run: Run, numbers: Sequence[int] | None = None) -> list[msgspec.Struct]:
    """A run's answers as records in files, of these samples in this order; read from the store at once.

    Args:
        numbers: of samples; None: all that it has answers about, as they came.
    """
    task = task_named(run.task)
    rows = [row for row in last_attempts(store.results(run.run, numbers)) if task.files.repeats or row.repeat == 0]
    wanted = sorted({row.sample for row in rows}) if numbers is None else list(numbers)
    if numbers is not None:
        place = {number: at for at, number in enumerate(numbers)}
        rows.sort(key=lambda row: (place[row.sample], row.repeat))
    ids = {number: msgspec.json.decode(record, type=_Named).id for number, record in store.samples(wanted)}
    decode = msgspec.json.Decoder(task.prediction).decode
    return [
        task.record(ids[row.sample], None if row.prediction is None else decode(row.prediction), row.repeat)
        for row in rows
    ]


def gold_records(store: Store, dataset: str | int, numbers: Iterable[int]) -> list[Any]:
    """The records of samples of a dataset in this order, read from the store at once.

    Raises:
        BadInput: there is no such dataset.
    """
    found = store.dataset(dataset)
    if found is None:
        raise BadInput(f"there is no dataset {dataset!r}")
    decode = msgspec.json.Decoder(task_named(found.task).sample).decode
    return [decode(record) for _, record in store.samples(list(numbers))]


class _Named(msgspec.Struct):
    id: str
