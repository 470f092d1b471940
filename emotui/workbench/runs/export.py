"""Runs out of the store, as files that other commands and programs read."""

import msgspec

from emotui.errors import BadInput
from emotui.formats import write
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
    rows = last_attempts(store.results(found.run))
    if not rows:
        raise BadInput(f"run {found.run} has no results yet")
    task = task_named(found.task)
    numbers = sorted({row.sample for row in rows})
    ids = {number: msgspec.json.decode(record, type=_Named).id for number, record in store.samples(numbers)}
    written = [
        task.record(
            ids[row.sample],
            None if row.prediction is None else msgspec.json.decode(row.prediction, type=task.prediction),
            row.repeat,
        )
        for row in rows
        if task.files.repeats or row.repeat == 0
    ]
    write(path, written)
    return len(written)


class _Named(msgspec.Struct):
    id: str
