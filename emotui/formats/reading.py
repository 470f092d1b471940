"""Reading a whole file of records, or nothing of it."""

import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

import msgspec

from emotui import bounded
from emotui.bounded import is_there
from emotui.errors import BadInput
from emotui.formats import checks, jsonl, parquet, tables
from emotui.formats.beside import kept_beside
from emotui.formats.columns import FOUND, LabelColumns
from emotui.formats.conversion import kept_once, line_decoder, spans_once, to_record
from emotui.formats.layouts.tables.several import as_label, may_be_several, several_in
from emotui.formats.rows import Flaw, Rows, UnreadableFile, literal, shown
from emotui.records import ClassGold, LabelsGold, SpanSample, Text

R = TypeVar("R", bound=msgspec.Struct)

Warn = Callable[[str], None]
"""Takes one line about something that is not as it should be, and does not stop the work."""

ENDINGS = (".jsonl", ".csv", ".tsv", ".parquet")
MOST_PROBLEMS = 20
"""Lines of problems that are shown of one file; then comes a count of the rest."""
MOST_COUNTED = 100_000
"""Problems that are counted beyond those; then the rest of the file is not looked at."""
_MOST_ALIKE = 10_000
"""Different sets of labels that records share; where there are more, few are alike."""


class Read(msgspec.Struct, Generic[R], frozen=True):
    """What a file holds, in its order.

    `lines[i]` is the line on which `records[i]` starts (in Parquet the row, from 1). `skipped` has one
    `FILE:LINE: what is wrong` for each line left out, and is empty unless `skip_bad` was asked for. `remarks` tell
    what is read otherwise than it stands, a line each.
    """

    records: list[R]
    lines: list[int]
    skipped: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def read(
    path: str | Path,
    kind: type[R],
    *,
    skip_bad: bool = False,
    limit: int | None = None,
    columns: LabelColumns = FOUND,
) -> Read[R]:
    """Reads a file of records of one kind, by its ending; `-` is standard input, JSONL.

    A pipe or device without a known ending (`/dev/stdin`, a shell's `<(...)`) is read as JSONL too.

    Args:
        skip_bad: leaves bad lines out and reports them, instead of refusing the file. A file of which nothing can be
            read, or nothing is good, is refused all the same.
        columns: how labels are read that stand in a column each of a table.
        limit: stops after so many records (at least 1); what comes after is not looked at.

    Raises: BadInput, with a line a problem, up to 20 and then a count; then nothing was read.
    """
    name = str(path)
    with opened(name, kind, columns, at_once=True) as rows:
        return gathered(literal(name), kind, rows, skip_bad=skip_bad, limit=limit)


@contextmanager
def opened(
    name: str, kind: type[msgspec.Struct], columns: LabelColumns = FOUND, *, at_once: bool = False
) -> Iterator[Rows]:
    """The rows of a file for records of a kind, as `read` takes it; none of them is checked yet.

    Args:
        at_once: whether a record may stand in place of a row that it is the same as.

    Raises: BadInput, where nothing of the file can be read, or nothing from some line on.
    """
    place = literal(name)
    try:
        with _rows(name, kind, columns, line_decoder(kind) if at_once else None) as rows:
            yield rows
    except UnreadableFile as error:
        raise BadInput(f"{place}: {error}" if error.line is None else f"{place}:{error.line}: {error}") from None


def first_fields(path: str) -> frozenset[str]:
    """The names of the fields of a file's first row that is an object; none where it has none, cannot be read, or can
    be read only once, as a pipe can.
    """
    if is_there(path) and not Path(path).is_file():
        return frozenset()
    try:
        with _rows(path, Text, FOUND) as rows:
            for _, row in rows:
                if isinstance(row, dict):
                    return frozenset(row)
    except UnreadableFile:
        pass
    return frozenset()


def gathered(place: str, kind: type[R], rows: Rows, *, skip_bad: bool = False, limit: int | None = None) -> Read[R]:
    """The records of rows, all or none, as `read` has them; `place` is the file's name in messages."""
    file = _File(kind, place, most=None if skip_bad else MOST_PROBLEMS)
    for line, row in rows:
        file.take(line, row)
        if file.further == MOST_COUNTED:
            break
        if len(file.records) == limit:
            break
    if file.problems and not skip_bad:
        raise BadInput(*capped(file.problems, file.further))
    if not file.records:
        what = "no good record" if file.problems else "no record"
        raise BadInput(*capped(file.problems), f"{place}:1: there is {what} in the file")
    remarks = tuple(f"{place}: {literal(line)}" for line in (*file.part_labels(), *file.once()))
    return Read(file.records, file.lines, tuple(file.problems), remarks)


def capped(problems: list[str] | tuple[str, ...], further: int = 0) -> tuple[str, ...]:
    """The first 20 problems and, where there are more, a line that counts the rest.

    Args:
        further: how many there are that are not among them.
    """
    rest = len(problems) - MOST_PROBLEMS + further
    if rest <= 0:
        return tuple(problems)
    return (*problems[:MOST_PROBLEMS], f"... and {rest} more problem{'s' * (rest > 1)}")


class _File(Generic[R]):
    """The records and problems of one file so far, and what a later line must agree with.

    Args:
        most: problems that are kept; those after them are counted. None: all are kept.
    """

    def __init__(self, kind: type[R], place: str, most: int | None) -> None:
        self.kind = kind
        self.place = place
        self.records: list[R] = []
        self.lines: list[int] = []
        self.problems: list[str] = []
        self.further = 0
        self._most = most
        self._key_fields = checks.key_fields(kind)
        self._key = attrgetter(*self._key_fields)
        self._fault, self._is_vector = checks.fault_of(kind), kind in checks.VECTORS
        self._seen: dict[object, int] = {}
        self._alike: dict[tuple[str, ...], tuple[str, ...]] | None = {} if "labels" in kind.__struct_fields__ else None
        self._labels: set[str] | None = None
        self._has_label = kind in (ClassGold, LabelsGold) or "label" in kept_beside(kind)
        self._cells: Counter[str] = Counter()
        self._joined: dict[int, str] = {}
        self._twice = 0

    def take(self, line: int, row: object) -> None:
        """Keeps the record of a row, or the problem with it."""
        label = row.get("label") if self._has_label and isinstance(row, dict) and row.get("labels") is None else None
        if self.kind is SpanSample and isinstance(row, dict):
            self._twice += spans_once(row)
        record = row if type(row) is self.kind or isinstance(row, Flaw) else to_record(self.kind, row, line)
        if isinstance(record, Flaw):
            problem: str | None = record.reason
        else:
            problem = self._fault(record) or self._disagreement(record, line)
            if problem is None:
                if isinstance(label, str):
                    self._cells[label] += 1
                    if may_be_several(label):
                        self._joined[len(self.records)] = as_label(label)
                if self._alike is not None:
                    self._share(record, self._alike)
                self.records.append(record)
                self.lines.append(line)
        if problem is not None and len(self.problems) == self._most:
            self.further += 1
        elif problem is not None:
            self.problems.append(f"{self.place}:{line}: {problem}")

    def _share(self, record: R, alike: dict[tuple[str, ...], tuple[str, ...]]) -> None:
        """Let records that have the same labels have the same tuple of them: of a million that is a fifth of memory."""
        labels = record.labels  # type: ignore[attr-defined]
        if type(labels) is tuple and (labels in alike or len(alike) < _MOST_ALIKE):
            msgspec.structs.force_setattr(record, "labels", alike.setdefault(labels, labels))

    def part_labels(self) -> Iterator[str]:
        """Read a label such as `joy, sadness` as several where its parts are labels elsewhere in the file.

        Returns: what is to be told of it, a line each.
        """
        if not self._joined:
            return
        several = several_in(self._cells)
        for place, cell in self._joined.items():
            if (parts := several.labels.get(cell)) is not None:
                self.records[place] = _with_labels(self.records[place], parts)
        yield from several.parted("label")
        yield from several.kept("label")

    def once(self) -> Iterator[str]:
        """That spans stood twice, a line where some did."""
        if self._twice:
            yield kept_once(self._twice)

    def _disagreement(self, record: R, line: int) -> str | None:
        """What is wrong with a record beside those before it."""
        if self._is_vector and (labels := checks.label_set(record)) is not None:
            if self._labels is None:
                self._labels = set(labels)
            elif labels.keys() != self._labels:
                return checks.label_set_fault(labels, self._labels, f"of line {self.lines[0]}")
        key = self._key(record)
        first = self._seen.setdefault(key, line)
        if first == line:
            return None
        values = key if len(self._key_fields) > 1 else (key,)
        named = ", ".join(f"{field} {shown(value)}" for field, value in zip(self._key_fields, values, strict=True))
        return f"duplicate {named}: already on line {first}"


def _with_labels(record: R, labels: tuple[str, ...]) -> R:
    """A record with the labels that its one label holds; several are in its `meta` where it has no field for them."""
    fields = record.__struct_fields__
    if len(labels) == 1 and "label" in fields:
        return msgspec.structs.replace(record, label=labels[0])
    if "labels" in fields and "label" in fields:
        return msgspec.structs.replace(record, labels=labels, label=None)
    rest = {name: value for name, value in record.meta.items() if name != "label"}  # type: ignore[attr-defined]
    meta = rest | ({"labels": list(labels)} if len(labels) > 1 else {"label": labels[0]})
    return msgspec.structs.replace(record, meta=meta, **({"label": None} if "label" in fields else {}))


@contextmanager
def _rows(
    name: str,
    kind: type[msgspec.Struct],
    columns: LabelColumns,
    at_once: jsonl.AtOnce | None = None,
) -> Iterator[Rows]:
    """The rows of the file of this name, open for as long as the context lasts.

    Raises: UnreadableFile.
    """
    try:
        if name == "-":
            yield jsonl.rows(_standard_input(), at_once)
            return
        if shards := parquet.shards(Path(name)):
            yield parquet.rows_of_all(Path(name), shards, kind, columns)
            return
        ending = ending_of(name)
        if ending == ".parquet":
            parquet.check_on_disk(Path(name))
            yield parquet.rows(Path(name), kind, columns)
            return
        with bounded.opened(name) as stream:
            if ending == ".jsonl":
                yield jsonl.rows(stream, at_once)
            else:
                yield tables.rows(stream, kind, "\t" if ending == ".tsv" else ",", columns)
    except OSError as error:
        raise UnreadableFile(_why_not_open(error)) from None


def ending_of(name: str) -> str:
    """Which of `ENDINGS` a file to be read has; a pipe or device counts as JSONL.

    Raises: UnreadableFile for a missing file, a folder, or another ending; OSError where it cannot be looked at.
    """
    try:
        mode = Path(name).stat().st_mode
    except ValueError:  # a NUL in the name
        raise UnreadableFile("there is no such file") from None
    if stat.S_ISDIR(mode):
        raise UnreadableFile("is a folder, not a file")
    ending = Path(name).suffix.lower()
    if ending in ENDINGS:
        return ending
    if not stat.S_ISREG(mode):
        return ".jsonl"
    raise UnreadableFile(unknown_ending(ending))


def unknown_ending(ending: str) -> str:
    """What to say of a file whose ending is none of `ENDINGS`."""
    begins = f"unknown ending {shown(ending)}" if ending else "the name has no ending"
    return f"{begins}: the format goes by it, and is one of {', '.join(ENDINGS)}"


def _standard_input() -> BinaryIO:
    if sys.stdin is None or sys.stdin.closed:
        raise UnreadableFile("there is no standard input")
    return sys.stdin.buffer


def _why_not_open(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def warn_skipped(answers: Read[R], warn: Warn) -> None:
    """Say what `--skip-bad` left out, and what is read otherwise than it stands."""
    for problem in answers.skipped:
        warn(f"skipped {problem}")
    for remark in answers.remarks:
        warn(remark)
