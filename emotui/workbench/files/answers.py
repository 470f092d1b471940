"""What a model has answered about the texts of a file, on the disk as it comes: it can be gone on with after a kill.

A file of answers is JSON Lines: what was asked on its first line, then `[place, line, why, record]` in the order in
which answers came. `place`: of the text, from 0; `line`: in the file of the texts; `why`: of an answer that failed.
"""

import contextlib
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from emotui.errors import BadInput
from emotui.formats import checks, jsonl
from emotui.formats.beside import lifted
from emotui.formats.conversion import to_record
from emotui.formats.json_document import present
from emotui.formats.rows import Flaw, literal
from emotui.formats.written import refusal

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
            said = msgspec.json.encode((one.place, one.line, one.why, msgspec.Raw(_written(one.record)))) + b"\n"
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
        _written(record)
    except UnicodeEncodeError:
        return "it holds half of a surrogate pair, which is no character"
    return checks.fault(record)


def _written(record: msgspec.Struct) -> bytes:
    """A record as a line of a file of records has it."""
    return msgspec.json.encode(lifted(type(record), present(record)))
