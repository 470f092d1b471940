"""Files that other hands wrote, as samples of a task: looked at, read by their layout, fitted, and checked."""

import errno
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from emotui import scratch
from emotui.bounded import chunks, is_there, opened
from emotui.errors import BadInput
from emotui.formats import capped
from emotui.formats.beside import SAID, kept_beside
from emotui.formats.columns import cell_kinds, required
from emotui.formats.conversion import kept_once, spans_once
from emotui.formats.layouts.layout import ReadOptions, TextRow
from emotui.formats.layouts.registry import Taken, rows, take
from emotui.formats.layouts.tools.said import all_labels
from emotui.formats.reading import Read, Warn, gathered
from emotui.formats.rows import MOST_LINE, Flaw, Rows, literal, too_long
from emotui.formats.seer import task_in
from emotui.records import MASKED
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import kinds, task_named
from emotui.tasks.task import Task
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.progress import OnStep, silent, told

# Rows of texts as records of a task: which task they are for, and what has no place in its records goes to `meta`.

_VALUES = "values"


def guessed_kind(rows: Iterable[TextRow]) -> str:
    """The kind of record that rows are for, by what is said in them; `spans`, unlabelled, where nothing is."""
    said: set[str] = set()
    masks = texts = 0
    for row in rows:
        said |= {key for key in ("spans", "labels", "label", _VALUES) if row.get(key) is not None}
        for one in (row.get("annotators") or {}).values():
            said |= {key for key in ("spans", "labels", "label", _VALUES) if isinstance(one, dict) and key in one}
        masks += MASKED in (row.get("text") or "") and "labels" in row
        texts += 1
    if "spans" in said:
        return "spans"
    if masks and masks == texts:
        return "masked"
    if said & {"label", "labels"}:
        return "labels"
    return _VALUES if _VALUES in said and _VALUES in kinds() else "spans"


class Fitting:
    """Brings rows into the form of a task's samples, and counts what has no place of its own there."""

    def __init__(self, task: Task, rows: Sequence[TextRow]) -> None:
        self._fields = cell_kinds(task.sample)
        self._required = required(task.sample)
        # What people say is parted where the record is made.
        self._beside = {"annotators"} if kept_beside(task.sample) else set()
        self._one_label = "label" in self._required
        self._vector = "labels" in self._required and task.files.label_columns
        self._labels = all_labels(rows) if self._vector else []
        self._moved: dict[str, int] = {}
        self._twice = 0

    def fitted(self, row: TextRow) -> TextRow:
        """A row with the fields of the record alone; an object of its own."""
        row = dict(row)
        self._twice += spans_once(row)
        self._fit_labels(row)
        rest = {key: value for key, value in row.items() if key not in self._fields and key not in self._beside}
        for key in rest:
            del row[key]
            self._moved[key] = self._moved.get(key, 0) + 1
        if rest and "meta" in self._fields:
            row["meta"] = {**(row.get("meta") or {}), **rest}
        return row

    def notes(self) -> tuple[str, ...]:
        """A line for each thing that such records have no field for."""

        def where(key: str) -> str:
            if "meta" not in self._fields:
                return "are left out"
            return "are said beside" if key in SAID else "are kept in meta"

        moved = {key: n for key, n in self._moved.items() if key != "meta"}
        lines = [f"{key} ({n:,} text{'s' * (n != 1)}) {where(key)}" for key, n in moved.items()]
        return (*lines, *([kept_once(self._twice)] if self._twice else []))

    def _fit_labels(self, row: dict[str, Any]) -> None:
        several, one = row.get("labels"), row.get("label")
        if "labels" not in self._fields and "label" not in self._fields:
            if one is not None and "emotion" in self._fields and "emotion" not in row:
                row["emotion"] = one
            return
        if self._one_label and one is None and isinstance(several, list | dict):
            there = _there(several)
            if len(there) == 1:
                row["label"] = there[0]
                del row["labels"]
            return
        if several is None and one is not None and "label" not in self._fields:
            several = row["labels"] = [row.pop("label")]
        if self._vector and isinstance(several, list):
            row["labels"] = {name: int(name in several) for name in self._labels}
        if "labels" in row and "label" in row and "label" in self._fields and not self._one_label:
            row["meta"] = {**(row.get("meta") or {}), "label": row.pop("label")}


def _there(labels: Any) -> list[str]:
    return [name for name, value in labels.items() if value] if isinstance(labels, dict) else list(labels)


FileRows = list[tuple[int, "TextRow | Flaw"]]


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person says about files; None: it is found out.

    Attributes:
        kind: of record, as tasks name theirs.
        layout: by its name.
        options: how the files are read.
    """

    kind: str | None = None
    layout: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)


@dataclass(frozen=True, slots=True)
class Foreign:
    """What files hold.

    Attributes:
        taken: what each was taken for.
        task: whose samples they are.
        places: `FILE:LINE` of each sample.
        skipped: a line for each row that was left out.
        notes: what of the rows has no field of its own in such records.
    """

    taken: tuple[Taken, ...]
    task: Task
    samples: list[Any]
    places: list[str]
    skipped: tuple[str, ...]
    notes: tuple[str, ...]


def read_rows(
    paths: Sequence[str], wish: Wish, on_step: OnStep = silent, *, number: bool = True
) -> list[tuple[Taken, FileRows]]:
    """What each file was taken for, and its rows by line, each with an id.

    A row without an id gets the number of its line, behind the file's name where there are several files; it stays
    without one where `number` is false.

    Raises:
        BadInput: one of them cannot be read.
    """
    if wish.layout is None and not wish.options.columns:
        _check_no_release(paths)
    found = []
    for path in paths:
        prefix = f"{Path(path).stem}-" if len(paths) > 1 else ""
        with _at_hand(path) as there:
            taken = take(there, wish.layout, wish.options)
            each = _with_ids(rows(taken), prefix) if number else rows(taken)
            read = list(told(each, "reading", 0, on_step))
        found.append((taken if there == path else replace(taken, path=Path(path), place=path), read))
    return found


def read_foreign(paths: Sequence[str], wish: Wish, *, skip_bad: bool = False, on_step: OnStep = silent) -> Foreign:
    """The samples of files, all or none.

    Args:
        on_step: told how far it is; what it raises ends it.

    Raises:
        BadInput: a file cannot be read; rows of it are wrong, a line each; an id stands in two of the files.
    """
    files = read_rows(paths, wish, on_step)
    good = [row for _, found in files for _, row in found if not isinstance(row, Flaw)]
    if good and not any("text" in row for row in good):
        raise BadInput(f"{files[0][0].place}: no column was found for the texts: name it by --map text=COLUMN")
    task = task_named(wish.kind or guessed_kind(good))
    fitting = Fitting(task, good)
    samples: list[Any] = []
    places: list[str] = []
    problems: list[str] = []
    seen: dict[str, str] = {}
    for taken, found in files:
        fitted: Rows = ((line, row if isinstance(row, Flaw) else fitting.fitted(row)) for line, row in found)
        checked = told(fitted, "checking", len(found), on_step)
        got: Read[Any] = gathered(taken.place, task.sample, checked, skip_bad=skip_bad)
        problems += got.skipped
        for sample, line in zip(got.records, got.lines, strict=True):
            if (why := _disagrees(task, sample, samples, seen)) is not None:
                problems.append(f"{taken.place}:{line}: {why}")
                continue
            seen[sample.id] = taken.place
            samples.append(sample)
            places.append(f"{taken.place}:{line}")
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    if not samples:
        raise BadInput(*capped(problems), f"{files[0][0].place}:1: there is no good record in the file")
    return Foreign(tuple(taken for taken, _ in files), task, samples, places, tuple(problems), fitting.notes())


def import_foreign(
    store: Store,
    paths: Sequence[str],
    wish: Wish,
    name: str | None = None,
    *,
    skip_bad: bool = False,
    warn: Warn,
    on_step: OnStep = silent,
) -> tuple[Dataset, Foreign]:
    """Add the samples of files as one dataset; the same samples under the same name are added once.

    Args:
        on_step: told how far it is; where it raises, nothing is added.

    Raises:
        BadInput: as `read_foreign`; or the name belongs to other samples.
    """
    found = read_foreign(paths, wish, skip_bad=skip_bad, on_step=on_step)
    for line in found.skipped:
        warn(f"skipped {line}")
    called, source = name or dataset_name(paths[0]), ", ".join(paths)
    dataset = add_samples(store, found.task.name, called, found.samples, source, on_step=on_step)
    return dataset, found


def dataset_name(path: str) -> str:
    """What a dataset is called that comes from this file or folder."""
    return "stdin" if path == "-" else Path(path).stem or Path(path).resolve().name


def _check_no_release(paths: Sequence[str]) -> None:
    """Raises BadInput where files are of SEER's release, whose texts stand in other files: it has a command."""
    parts = {path: task for path in paths if (task := task_in(path)) is not None}
    if not parts:
        return
    named = {task: path for path, task in parts.items()}
    options = " ".join(f"--task{task} {shlex.quote(named.get(task, f'TASK{task}.csv'))}" for task in (1, 2))
    raise BadInput(
        *(
            f"{literal(path)}:1: a file of SEER's release (Task {task}), which is read by: "
            f"emotui import seer {literal(options)} --transcripts FOLDER"
            for path, task in parts.items()
        )
    )


@contextmanager
def _at_hand(path: str) -> Iterator[str]:
    """A path that can be read twice: what is no file on a disk lies in one as long as it is read.

    Standard input (`-`), and a pipe whose name says nothing else, are JSON Lines.
    """
    if path != "-" and (not is_there(path) or Path(path).is_file() or Path(path).is_dir()):
        yield path
        return
    with scratch.folder() as folder:
        file = Path(folder) / ("stdin.jsonl" if not Path(path).suffix else Path(path).name)
        try:
            with nullcontext(sys.stdin.buffer) if path == "-" else opened(path) as stream:
                _copy(stream, file)
        except OSError as error:
            raise BadInput(f"{literal(path)}: cannot be read: {error.strerror}") from None
        try:
            yield str(file)
        except BadInput as error:
            raise BadInput(*(line.replace(str(file), literal(path)) for line in error.problems)) from None


def _copy(stream: BinaryIO, file: Path) -> None:
    """Raises: OSError where it has no end, or a line of it."""
    line = 0
    with file.open("wb") as copy:
        for piece in chunks(stream, 1 << 20):
            last = piece.rfind(b"\n")
            line = line + len(piece) if last < 0 else len(piece) - last
            if line > MOST_LINE:
                raise OSError(errno.EFBIG, too_long())
            copy.write(piece)


def _with_ids(found: Rows, prefix: str) -> Rows:
    for line, row in found:
        if not isinstance(row, Flaw) and row.get("id") is None:
            row["id"] = f"{prefix}{line}"
        yield line, row


def _disagrees(task: Task, sample: Any, samples: Sequence[Any], seen: dict[str, str]) -> str | None:
    """What is wrong with a sample beside those before it."""
    if sample.id in seen:
        return f"the id {sample.id!r} stands in {seen[sample.id]} too"
    return task.problem(sample, samples[0] if samples else sample)
