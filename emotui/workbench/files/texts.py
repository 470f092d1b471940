"""The texts of a file one after the other, and the answers about them: never are all in memory.

All texts are checked before the first is used.
"""

import contextlib
import hashlib
import os
import stat
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

import msgspec

from emotui.errors import BadInput
from emotui.formats import MOST_PROBLEMS, capped, checks, jsonl
from emotui.formats.beside import lifted
from emotui.formats.conversion import to_record
from emotui.formats.json_document import present
from emotui.formats.layouts.registry import recognised
from emotui.formats.layouts.tables.names import NAMES, READERS, normal
from emotui.formats.parquet import shards
from emotui.formats.reading import ENDINGS, MOST_COUNTED, first_fields, opened
from emotui.formats.rows import Flaw, Rows, literal, shown
from emotui.formats.written import refusal
from emotui.records import Text

if TYPE_CHECKING:
    from emotui.workbench.datasets.foreign import Wish

_PART = 1 << 18
"""Ids that are looked at together for one that stands twice."""

_spooled = msgspec.json.Decoder(tuple[int, Text]).decode


class Texts:
    """The texts of a file, each with the line on which it starts; what comes through a pipe is kept on the disk.

    A file of emotui's own formats is gone through line by line. Any other that `emotui import` reads is read at once.
    All of it is checked, also where only a part is wanted: nothing is asked of a file that has bad lines.

    Attributes:
        n: how many there are in the part that is wanted.
        fingerprint: SHA-256 over all that a model can be asked about, in its order.
        skipped: one `FILE:LINE: what is wrong` for each line left out; empty unless `skip_bad`.
        taken: what a file of another program was taken for and why; None of one in emotui's own formats.

    Args:
        columns: keep columns that are none of emotui's own among those of `meta`, as an import does.

    Raises:
        BadInput: the file cannot be read, or has a bad line, as `emotui.formats.read`.
    """

    def __init__(
        self,
        path: str,
        *,
        wish: "Wish | None" = None,
        skip_bad: bool = False,
        part: Callable[[int], range] = range,
        columns: bool = False,
    ) -> None:
        """`wish`: what a person says of how the file is laid out; None: it is found out. `part`: of how many texts the
        file has, the places of those that are wanted."""
        self._path, self._place = path, literal(path)
        self._wish, self._columns = wish, columns
        self._foreign = wish is not None or _is_foreign(path)
        self._stamp = None if self._foreign else _stamp(path)
        self._left_out: set[int] = set()
        self.taken: str | None = None
        self._spool: BinaryIO | None = None if self._stamp else tempfile.TemporaryFile()  # noqa: SIM115 - see `close`
        self.n = 0
        try:
            problems, further = self._check(None if skip_bad else MOST_PROBLEMS)
            if problems and not skip_bad:
                raise BadInput(*capped(problems, further))
            if not self.n:
                what = "no good record" if problems else "no record"
                raise BadInput(*capped(problems), f"{self._place}:1: there is {what} in the file")
        except BaseException:
            self.close()
            raise
        self.skipped = tuple(problems)
        self._places = part(self.n)
        self.n = len(self._places)

    def __iter__(self) -> Iterator[tuple[int, Text]]:
        """The line and the text of each.

        Raises:
            BadInput: the file is another one by now.
        """
        return islice(self.whole(), self._places.start, self._places.stop)

    def whole(self) -> Iterator[tuple[int, Text]]:
        """The same of all the file's texts, whichever part is wanted. Raises BadInput as iterating does."""
        return ((line, text) for line, text in self._good() if line not in self._left_out)

    def close(self) -> None:
        """What was kept on the disk is gone."""
        if self._spool is not None:
            self._spool.close()

    def _check(self, most: int | None) -> tuple[list[str], int]:
        """Look at every line. Returns: the problems, at most so many of them, and how many there are beside those."""
        problems: list[tuple[int, str]] = []
        digest, further = hashlib.sha256(), 0
        with tempfile.TemporaryFile() as ids:
            with self._rows() as rows:
                for line, row in rows:
                    text = row if isinstance(row, Flaw) else to_record(Text, row, line)
                    problem = text.reason if isinstance(text, Flaw) else checks.fault(text)
                    if problem is not None and (most is None or len(problems) < most):
                        problems.append((line, problem))
                    elif problem is not None:
                        further += 1
                        if further == MOST_COUNTED:
                            break
                    elif not isinstance(text, Flaw):
                        self.n += 1
                        ids.write(_digest(text.id))
                        written = msgspec.json.encode((line, text), enc_hook=str)
                        digest.update(written.partition(b",")[2])
                        if self._spool is not None:
                            self._spool.write(written + b"\n")
            twice = _twice(ids, self.n)
        if twice:
            repeated = list(self._repeated(twice))
            self._left_out = {line for line, _ in repeated}
            self.n -= len(repeated)
            problems = sorted(problems + repeated)
            further += 0 if most is None else max(0, len(problems) - most)
        self.fingerprint = digest.hexdigest()
        return [f"{self._place}:{line}: {problem}" for line, problem in problems[:most]], further

    @contextmanager
    def _rows(self) -> Iterator[Rows]:
        if self._foreign:
            yield self._foreign_rows()
            return
        with opened(self._path, Text) as rows:
            yield map(_with_columns, rows) if self._columns else rows

    def _foreign_rows(self) -> Rows:
        """The rows of a file of another program, with what a model can be asked about.

        Raises:
            BadInput: it cannot be read, or nothing in it is a text.
        """
        from emotui.workbench.datasets.foreign import Wish, read_rows

        ((taken, rows),) = read_rows([self._path], self._wish or Wish())
        good = [row for _, row in rows if not isinstance(row, Flaw)]
        if good and not any("text" in row for row in good):
            raise BadInput(f"{self._place}: no column was found for the texts: name it by --map text=COLUMN")
        self.taken = f"{taken.layout.name}, because {taken.why}"
        for line, row in rows:
            yield line, row if isinstance(row, Flaw) else _askable(row)

    def _repeated(self, twice: set[bytes]) -> Iterator[tuple[int, str]]:
        """The lines whose id stood on an earlier one."""
        first: dict[str, int] = {}
        for line, text in self._good():
            if _digest(text.id) in twice and (at := first.setdefault(text.id, line)) != line:
                yield line, f"duplicate id {shown(text.id)}: already on line {at}"

    def _good(self) -> Iterator[tuple[int, Text]]:
        if self._spool is not None:
            self._spool.seek(0)
            yield from map(_spooled, self._spool)
            return
        if _stamp(self._path) != self._stamp:
            raise BadInput(f"{self._place}: has changed since it was first read")
        with self._rows() as rows:
            for line, row in rows:
                text = row if isinstance(row, Flaw) else to_record(Text, row, line)
                if not isinstance(text, Flaw) and checks.fault(text) is None:
                    yield line, text


_OF_ANY_FIELDS = ("jsonl", "table", "wide", "parquet")
"""Layouts whose fields may be emotui's own."""

_PEOPLE = frozenset((*NAMES["annotator"], *READERS))
"""What a column is called of which an import puts several rows together."""

_BY_NAME = _PEOPLE | {*NAMES["id"], "unnamed_0"}
"""And what one is called by which it tells texts apart."""


def _is_foreign(path: str) -> bool:
    """Whether a file is none of emotui's own formats: by its ending or its layout, as no field of its first record is
    `text`, or as the ids of its texts may stand under another name than `id`.

    Texts have the same ids here as an import of the file gives them.
    """
    try:
        if path == "-" or shards(Path(path)) or not (Path(path).is_file() or Path(path).is_dir()):
            return False
    except (OSError, ValueError):
        return False
    if Path(path).suffix.lower() not in ENDINGS:
        return True
    fields = _header(path) if Path(path).suffix.lower() in (".csv", ".tsv") else first_fields(path)
    if fields.issubset(Text.__struct_fields__):
        return False
    named = {normal(name) for name in fields - {"id"}}
    if "text" not in fields or (named & _BY_NAME if "id" not in fields else named & _PEOPLE):
        return True
    layout = recognised(path)
    return layout is not None and layout.name not in _OF_ANY_FIELDS


def _header(path: str) -> frozenset[str]:
    """The cells of the first line of a table, as its ending parts them; a byte that is no UTF-8 is passed over."""
    try:
        with Path(path).open("rb") as file:
            line = file.readline(_PART).decode("utf-8-sig", "replace").strip()
    except OSError:
        return frozenset()
    cells = line.split("\t" if Path(path).suffix.lower() == ".tsv" else ",")
    return frozenset(cell.strip().strip('"').lower() for cell in cells if cell)


def _askable(row: Mapping[str, Any]) -> dict[str, Any]:
    """What of a row is of the text, and not said of it."""
    return {name: row[name] for name in Text.__struct_fields__ if name in row}


def _with_columns(numbered: tuple[int, Mapping[str, Any] | Flaw]) -> tuple[int, Mapping[str, Any] | Flaw]:
    """A row of emotui's own formats with the columns that are nothing to emotui among those of its `meta`."""
    line, row = numbered
    if isinstance(row, Flaw) or not isinstance(meta := row.get("meta") or {}, Mapping):
        return line, row
    others = {name: said for name, said in row.items() if name not in Text.__struct_fields__}
    return line, {**row, "meta": {**others, **meta}}


def _stamp(path: str) -> tuple[int, ...] | None:
    """What changes with a file; None of what is no file and can be read once only."""
    try:
        if path != "-" and (files := shards(Path(path))):
            return tuple(number for file in files for number in _stamp(str(file)) or ())
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    if path == "-" or not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=8).digest()


def _twice(digests: BinaryIO, n: int) -> set[bytes]:
    """Those of the n digests in a file that stand there more than once."""
    import numpy as np

    found: set[bytes] = set()
    parts = -(-n // _PART)
    for part in range(parts):
        digests.seek(0, os.SEEK_SET)
        mine = []
        while block := digests.read(8 * _PART):
            values = np.frombuffer(block, np.uint64)
            mine.append(values[values % np.uint64(parts) == part])
        values = np.sort(np.concatenate(mine))
        found |= {value.tobytes() for value in values[1:][values[1:] == values[:-1]]}
    return found


# What a model has answered about the texts of a file, on the disk as it comes: it can be gone on with after a kill.

R = TypeVar("R", bound=msgspec.Struct)

_HEAD = b'{"emotui predict":'
"""With which a file of answers begins: what begins otherwise is somebody's, and is left as it is."""
_LONGEST_HEAD = 10_000
_OFFSET = struct.Struct("<Q")
_decode = msgspec.json.Decoder(tuple[int, int, str | None, msgspec.Raw]).decode


class Answered(msgspec.Struct, Generic[R], frozen=True):
    """A predicted record, the place and line of its text, and why it is an empty one."""

    place: int
    line: int
    record: R
    why: str | None = None


class Answers(Generic[R]):
    """The answers about n texts, each written once; in memory is none of them.

    Args:
        kind: of the records.
        path: of the file; None: one without a name, gone when this is closed.
        asked: names all that can change an answer.
        fresh: what the file holds is dropped.

    Attributes:
        done: how many texts have an answer.
        failed: how many of those are empty ones.

    Raises:
        BadInput: there is a file of other answers, another process writes it, or it cannot be written.
    """

    def __init__(self, kind: type[R], n: int, path: Path | None, asked: str, *, fresh: bool = False) -> None:
        self._kind, self._n, self._path = kind, n, path
        self.done = self.failed = 0
        self._offsets = tempfile.TemporaryFile()  # noqa: SIM115 - see `close`
        self._offsets.truncate(n * _OFFSET.size)
        head = _HEAD + msgspec.json.encode(asked) + b"}\n"
        try:
            self._file = tempfile.TemporaryFile() if path is None else path.open("a+b")  # noqa: SIM115 - see `close`
        except OSError as error:
            self._offsets.close()
            raise refusal(str(path), error) from None
        try:
            self._lock()
            self._file.seek(0)
            found = self._file.readline(_LONGEST_HEAD)
            if not (_HEAD.startswith(found) or found.startswith(_HEAD)):
                raise BadInput(
                    f"{literal(str(path))}: holds no answers of emotui's: move it away, or name another file"
                )
            if found.endswith(b"\n") and found != head and not fresh:
                raise BadInput(
                    f"{literal(str(path))}: holds answers to something else (other texts, model or settings): go on "
                    "with that, or start anew with --fresh"
                )
            if found == head and not fresh:
                self._index()
            else:
                self._file.truncate(0)
                self._file.write(head)
                self._file.flush()
        except BaseException:
            self.close()
            raise

    def __contains__(self, place: int) -> bool:
        return self._offset(place) > 0

    def __len__(self) -> int:
        return self.done

    def __iter__(self) -> Iterator[R]:
        """The records in the order of their texts."""
        return (one.record for one in self.in_order())

    def keep(self, answered: Iterable[Answered[R]]) -> None:
        """Write some answers, each about another text that had none."""
        at = self._file.seek(0, os.SEEK_END)
        for one in answered:
            said = msgspec.json.encode((one.place, one.line, one.why, msgspec.Raw(line_of(one.record)))) + b"\n"
            self._file.write(said)
            self._count(one.place, at, one.why)
            at += len(said)
        self._file.flush()

    def get(self, place: int) -> Answered[R] | None:
        """The answer about a text, if there is one."""
        offset = self._offset(place)
        return self._at(offset) if offset else None

    def in_order(self, start: int = 0) -> Iterator[Answered[R]]:
        """What is answered, from a place on, in the order of the texts."""
        for place in range(start, self._n):
            if (one := self.get(place)) is not None:
                yield one

    def failures(self, most: int) -> list[Answered[R]]:
        """The first of those that failed."""
        found: list[Answered[R]] = []
        if self.failed:
            for one in self.in_order():
                if one.why is not None:
                    found.append(one)
                if len(found) == min(most, self.failed):
                    break
        return found

    def close(self, *, remove: bool = False) -> None:
        """Let go of the file. `remove`: it is of no more use."""
        with contextlib.suppress(OSError):
            self._file.close()
        self._offsets.close()
        if remove and self._path is not None:
            self._path.unlink(missing_ok=True)

    def _lock(self) -> None:
        if self._path is None:
            return
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"{literal(str(self._path))}: another process is writing it") from None
        except OSError:  # a file system without locks
            return

    def _index(self) -> None:
        """Find the answers of an earlier start; a line that a kill cut short is dropped."""
        at = self._file.tell()
        for said in self._file:
            try:
                place, _, why, _ = _decode(said)
                whole = said.endswith(b"\n") and 0 <= place < self._n
            except (msgspec.MsgspecError, UnicodeDecodeError):
                whole = False
            if not whole:
                break
            if place not in self:
                self._count(place, at, why)
            at += len(said)
        self._file.truncate(at)

    def _count(self, place: int, at: int, why: str | None) -> None:
        self._offsets.seek(place * _OFFSET.size)
        self._offsets.write(_OFFSET.pack(at))
        self.done += 1
        self.failed += why is not None

    def _offset(self, place: int) -> int:
        """Where the answer about a text begins; 0: there is none, since the first line stands there."""
        self._offsets.seek(place * _OFFSET.size)
        (offset,) = _OFFSET.unpack(self._offsets.read(_OFFSET.size))
        return int(offset)

    def _at(self, offset: int) -> Answered[R]:
        self._file.seek(offset)
        place, line, why, raw = _decode(self._file.readline())
        record = to_record(self._kind, jsonl.decode(bytes(raw)), line)
        if isinstance(record, Flaw):
            raise BadInput(f"{literal(str(self._path))}: the answer about line {line} is damaged: {record.reason}")
        return Answered(place, line, record, why)


def unwritable(record: msgspec.Struct) -> str | None:
    """Why no file can hold a record; None where one can."""
    try:
        line_of(record)
    except UnicodeEncodeError:
        return "it holds half of a surrogate pair, which is no character"
    return checks.fault(record)


def line_of(record: msgspec.Struct) -> bytes:
    """A record as a line of a file of records has it."""
    return msgspec.json.encode(lifted(type(record), present(record)))
