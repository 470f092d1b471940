"""Runs out of the store, as files that other commands and programs read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats import check_not_over, write
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.datasets.origins import check_not_over_origin

More = Callable[[int, msgspec.Struct], msgspec.Struct]
"""From a sample's number and a run's record of it to the record with what was said of the answer since."""


def _labelled(store: Store, run: Run) -> More:
    from emotui.workbench.generation.rating_files import labelled  # needed by one task alone

    return labelled(store, run)


_WITH_MORE: Mapping[str, Callable[[Store, Run], More]] = {"generation": _labelled}


def export_run(store: Store, run: str, path: str) -> int:
    """Write a run's predictions, format by ending. An answer that failed is written as an empty one.

    Of a run with repeats the first is written, where the task's records have no place for repeats.

    Returns:
        How many records were written.

    Raises:
        BadInput: no such run, an ending that no format has, the store itself, or a file that the samples came from.
    """
    check_not_over(path, store.path)
    found = store.run(run)
    if (dataset := store.dataset(found.dataset)) is not None:
        check_not_over_origin(path, dataset)
    written = run_records(store, found)
    if not written:
        raise BadInput(f"run {found.run} has no results yet")
    write(path, written)
    return len(written)


def run_records(store: Store, run: Run, numbers: Sequence[int] | None = None) -> list[msgspec.Struct]:
    """A run's answers as records in files, of these samples in this order; read from the store at once.

    Args:
        numbers: of samples; None: all that it was asked about.
    """
    task = task_named(run.task)
    decode, named = msgspec.json.Decoder(task.prediction).decode, msgspec.json.Decoder(_Named).decode
    whole, sample = task.files.whole, msgspec.json.Decoder(task.sample).decode
    found: list[tuple[int, int, msgspec.Struct]] = []
    more = _WITH_MORE[task.name](store, run) if task.name in _WITH_MORE else None
    wanted = None if numbers is None else {number: at for at, number in enumerate(numbers)}
    for one in store.outcomes(run.run):
        if (task.files.repeats or one.repeat == 0) and (wanted is None or one.sample in wanted):
            prediction = None if one.prediction is None else decode(one.prediction)
            if whole is not None:
                record = whole.joined(sample(one.record), prediction, run.model)
                record = record if more is None else more(one.sample, record)
            else:
                record = task.record(named(one.record).id, prediction, one.repeat)
            found.append((one.sample if wanted is None else wanted[one.sample], one.repeat, record))
    return [record for _, _, record in sorted(found, key=lambda one: one[:2])]


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
