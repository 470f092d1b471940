"""Records that hold a sample with what a source says of it, as a dataset with its sources, and the other way round."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import msgspec

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import BadInput
from emotui.formats import capped, fingerprint, read
from emotui.formats.columns import FOUND, LabelColumns
from emotui.formats.reading import Warn, first_fields, warn_skipped
from emotui.formats.rows import literal
from emotui.formats.seer import Reading, read_release, transcripts_in
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import OwnSamples, WholeRecords
from emotui.tasks.registry import SPANS, task_named, tasks
from emotui.tasks.task import Task
from emotui.workbench.datasets.samples import LABELS_ONLY, add_samples, is_sample_data
from emotui.workbench.progress import Cancelled
from emotui.workbench.runs.elsewhere import FILE, Said, keep_said
from emotui.workbench.runs.run import EMBEDDING
from emotui.workbench.runs.scores import Embedder

# SEER's release in a workspace: its samples where their texts are at hand, and its labels where they are not.

NAME = "seer"


@dataclass(frozen=True, slots=True)
class Imported:
    """`samples`: the dataset of those with texts. `labels`: of those without. `missing`: the transcripts they lack."""

    samples: Dataset | None
    labels: Dataset | None
    missing: tuple[str, ...]


def import_seer(
    store: Store,
    task1: Sequence[str],
    task2: Sequence[str],
    transcripts: str | None = None,
    name: str | None = None,
    *,
    readable: bool = False,
    trim: bool = False,
    skip_bad: bool = False,
    warn: Warn,
) -> Imported:
    """Add both tasks as one dataset, and as a second one, `NAME-labels`, the samples whose transcripts are missing.

    A sample without its text keeps emotions, valences, sentences, and spans by words, each word a `▯`; it counts among
    transitions and in filters, and no model is asked about it.

    Args:
        transcripts: the folder with MSP-Podcast's transcripts, `NAME.txt` each; None: they are not at hand.
        name: of the dataset (`seer`).
        readable: count only words with a letter or digit, as the release's program does (`emotui.formats.seer`).
        trim: cut passages to their five sentences.

    Raises:
        BadInput: no file is given; a file is bad (`FILE:LINE: why`); or the name belongs to other samples.
    """
    if not task1 and not task2:
        raise BadInput("name the release's files: --task1 CSV, --task2 CSV, or both")
    how = Reading(transcripts_in(transcripts), readable, trim)
    release = read_release(task1, task2, how, skip_bad=skip_bad)
    if not release.samples and not release.labels_only:
        raise BadInput(*release.skipped, f"{', '.join((*task1, *task2))}: there is no good row")
    for problem in release.skipped:
        warn(f"skipped {problem}")
    for remark in release.remarks:
        warn(remark)
    where = literal(transcripts) if transcripts else "--transcripts is not given"
    for lacking in release.missing:
        warn(f"{literal(lacking)} is missing ({where})")
    name = name or NAME
    source = ", ".join((*task1, *task2))
    labels = None
    if release.labels_only:
        warn(f"{len(release.labels_only)} samples lack their transcripts: their labels alone are imported")
        labels = add_samples(store, SPANS, f"{name}-labels", release.labels_only, f"{LABELS_ONLY}{source}")
    samples = add_samples(store, SPANS, name, release.samples, source) if release.samples else None
    return Imported(samples, labels, tuple(release.missing))


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
    numbers = store.samples.numbers_by_id(dataset.dataset)
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


# Files of the project's own records, as datasets: those of a person, and the sample data that comes with a task.


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
    return add_samples(store, task, dataset, samples, ", ".join(paths), let_go=True)


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
    there = store.datasets.get(own.dataset)
    if there is not None and is_sample_data(there) and there.fingerprint == fingerprint(samples):
        return there  # texts that another task brought in
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
    several, seen = len(paths) > 1, dict[str, str]()
    problems: list[str] = []
    for path in paths:
        got = read(path, task.sample, skip_bad=skip_bad, columns=columns)
        warn_skipped(got, warn)
        for sample, line in zip(got.records, got.lines, strict=True):
            key = sample.id  # type: ignore[attr-defined]
            if several and key in seen:
                raise BadInput(f"{path}:{line}: the id {key!r} stands in {seen[key]} too")
            why = task.problem(sample, samples[0] if samples else sample)
            if why is not None:
                problems.append(f"{path}:{line}: {why}")
                continue
            if several:  # within a file no id stands twice
                seen[key] = path
            samples.append(sample)
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    for skipped in problems:
        warn(f"skipped {skipped}")
    return samples
