"""Records that hold a sample with what a source says of it, as a dataset with its sources, and the other way round."""

from collections.abc import Sequence
from typing import Any

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import BadInput
from emotui.formats import capped, read
from emotui.formats.reading import Warn, first_fields, warn_skipped
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import WholeRecords
from emotui.tasks.registry import task_named, tasks
from emotui.tasks.task import Task
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.progress import Cancelled
from emotui.workbench.runs.elsewhere import FILE, Said, keep_said
from emotui.workbench.runs.run import EMBEDDING
from emotui.workbench.runs.similarity import Embedder


def read_whole_records(task: Task, paths: Sequence[str], *, skip_bad: bool = False, warn: Warn) -> list[Any]:
    """The records of all files.

    Raises:
        BadInput: a file cannot be read, a record stands in two of them, or two records of one sample disagree;
            `FILE:LINE: what`.
    """
    whole = _whole(task)
    found: dict[str, tuple[str, Any]] = {}
    problems: list[str] = []
    for path in paths:
        got = read(path, whole.record, skip_bad=skip_bad)
        warn_skipped(got, warn)
        for record, line in zip(got.records, got.lines, strict=True):
            place = whole.place(record)
            if place in found:
                problems.append(f"{path}:{line}: {place}: already in {found[place][0]}")
            else:
                found[place] = f"{path}:{line}", record
    records = [record for _, record in found.values()]
    try:
        whole.parted(records)
    except BadInput as error:
        problems += [_placed(problem, found) for problem in error.problems]
    if problems:
        raise BadInput(*capped(problems))
    return records


def add_whole_records(
    store: Store,
    task: str,
    name: str,
    records: Sequence[Any],
    source: str,
    *,
    cancelled: IsCancelled = lambda: False,
) -> Dataset:
    """Add the samples of records as a dataset, with each of their sources beside it; the same ones are kept once.

    Raises:
        Cancelled: `cancelled()` became true; what is there stays, and goes on when it is asked for again.
        BadInput: the name belongs to other samples, or the dataset has another source of one of the names.
    """
    found = task_named(task)
    parts = _whole(found).parted(records)
    problems = [f"{sample.id}: {why}" for sample in parts.samples if (why := found.problem(sample, parts.samples[0]))]
    if problems:
        raise BadInput(*capped(problems))
    dataset = add_samples(store, found.name, name, parts.samples, source)
    numbers = store.numbers_by_id(dataset.dataset)
    with ModelProcess(EMBEDDING) as model:
        embed = Embedder(model, cancelled)  # loaded when the first source has something to score
        for name_of_source, said in parts.said.items():
            if cancelled():
                raise Cancelled
            lines = [Said(numbers[key], 0, keys) for key, keys in said.items()]
            keep_said(store, dataset, name_of_source, FILE, lines, embed=embed, cancelled=cancelled)
    return dataset


def holds_whole_records(task: Task, path: str) -> bool:
    """Whether a file's first row is of a sample with what a source says of it; standard input always is."""
    whole = task.files.whole
    if whole is None:
        return False
    return path == "-" or all(mark in first_fields(path) for mark in whole.marks)


def task_of_whole_records(path: str) -> Task | None:
    """The task whose whole records a file holds; None where it holds none."""
    for task in tasks().values():
        if path != "-" and holds_whole_records(task, path):
            return task
    return None


def _whole(task: Task) -> WholeRecords:
    assert task.files.whole is not None
    return task.files.whole


def _placed(problem: str, found: dict[str, tuple[str, Any]]) -> str:
    for end in [at for at, letter in enumerate(problem) if letter == ":"]:
        if problem[:end] in found:
            return f"{found[problem[:end]][0]}: {problem}"
    return problem
