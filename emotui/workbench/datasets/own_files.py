"""Files of the project's own records, as datasets: those of a person, and the sample data that comes with a task."""

from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import msgspec

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.formats import capped, read
from emotui.formats.reading import Warn, warn_skipped
from emotui.formats.wide import FOUND, LabelColumns
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import OwnSamples
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.whole_records import add_whole_records, holds_whole_records, read_whole_records


def import_files(
    store: Store,
    task: str,
    paths: Sequence[str],
    name: str | None = None,
    *,
    columns: LabelColumns = FOUND,
    skip_bad: bool = False,
    warn: Warn,
) -> Dataset:
    """Add the samples of one or several files as one dataset; the same samples under the same name are added once.

    Args:
        task: its name, or that of its records in files.
        columns: of a table with a column a label.

    Raises:
        BadInput: a file cannot be read, an id occurs in two of the files, the task finds a record wrong
            (`Task.problem`), or the name belongs to other samples.
    """
    dataset = name or ("stdin" if paths[0] == "-" else Path(paths[0]).stem)
    if holds_whole_records(task_named(task), paths[0]):
        records = read_whole_records(task_named(task), paths, skip_bad=skip_bad, warn=warn)
        return add_whole_records(store, task, dataset, records, ", ".join(paths))
    samples = _read(task_named(task), paths, columns, skip_bad=skip_bad, warn=warn)
    return add_samples(store, task, dataset, samples, ", ".join(paths))


def add_own_samples(store: Store, task: str, *, cancelled: IsCancelled = lambda: False) -> Dataset:
    """Add the samples that come with a task, where they are not there yet.

    Raises:
        Cancelled: `cancelled()` became true.
        BadInput: it comes without any.
    """
    found = task_named(task)
    own = found.files.own
    if own is None:
        raise BadInput(f"the {found.name} task comes without samples: name a dataset or a file by --dataset")
    samples = own_records(own, found.sample if found.files.whole is None else found.files.whole.record)
    if found.files.whole is not None:
        return add_whole_records(store, found.name, own.dataset, samples, own.source, cancelled=cancelled)
    return add_samples(store, found.name, own.dataset, samples, own.source)


def own_records(own: OwnSamples, kind: type[msgspec.Struct]) -> list[Any]:
    """The records of samples that come with this package or another one."""
    records: list[Any] = []
    for file in own.files:
        with as_file(files(own.package) / file) as path:
            records += read(str(path), kind).records
    return records


def _read(task: Task, paths: Sequence[str], columns: LabelColumns, *, skip_bad: bool, warn: Warn) -> list[Any]:
    """The records of all files."""
    samples: list[Any] = []
    seen: dict[str, str] = {}
    problems: list[str] = []
    for path in paths:
        got = read(path, task.sample, skip_bad=skip_bad, columns=columns)
        warn_skipped(got, warn)
        for sample, line in zip(got.records, got.lines, strict=True):
            key = sample.id  # type: ignore[attr-defined]
            if key in seen:
                raise BadInput(f"{path}:{line}: the id {key!r} stands in {seen[key]} too")
            why = task.problem(sample, samples[0] if samples else sample)
            if why is not None:
                problems.append(f"{path}:{line}: {why}")
                continue
            seen[key] = path
            samples.append(sample)
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    for skipped in problems:
        warn(f"skipped {skipped}")
    return samples
