"""Writing a file of records: whole, or not at all."""

import csv
import errno
import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol, TextIO, runtime_checkable

import msgspec

from emotui.errors import BadInput
from emotui.formats import checks, conversion, parquet
from emotui.formats.beside import lifted
from emotui.formats.columns import cell_kinds, columns_of, free, marked
from emotui.formats.json_document import escaped, present
from emotui.formats.reading import ENDINGS, unknown_ending
from emotui.formats.rows import literal, shown
from emotui.formats.written import is_stream, refusal, replacing


@runtime_checkable
class Rereadable(Protocol):
    """Records that can be gone through several times, and need not be in memory."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[msgspec.Struct]: ...


def write(path: str | Path, records: Iterable[msgspec.Struct]) -> int:
    """Writes records of one kind in the format of the file's ending; `-` is standard output, JSONL.

    A file appears whole or not at all, and one that was there stays until then. What is written reads back equal.
    Records that can be gone through again (`Rereadable`) are not taken into memory together.

    Returns: how many records were written.
    Raises: BadInput where the place cannot be written, or a record could not be read back; EmotuiError where the disk
        is full or fails.
    """
    name = str(path)
    kept = records if isinstance(records, Rereadable) else list(records)
    for number, record in enumerate(kept, start=1):
        if (wrong := checks.fault(record)) is not None:
            raise BadInput(f"{literal(name)}: record {number} cannot be written: {wrong}")
    ending = _ending(name)
    if ending == ".parquet" and not kept:
        raise BadInput(f"{literal(name)}: there is no record to write, and a Parquet file must say of what kind it is")
    try:
        if name == "-":
            sys.stdout.buffer.write(b"".join(escaped(line[:-1].decode()).encode() + b"\n" for line in _lines(kept)))
            sys.stdout.buffer.flush()
        elif is_stream(name):
            Path(name).write_bytes(b"".join(_lines(kept)))
        else:
            with replacing(Path(name)) as beside:
                _fill(beside, ending, kept)
    except UnicodeEncodeError:
        problem = f"{_where_broken(kept)} holds half of a surrogate pair, which is no character"
        raise BadInput(f"{literal(name)}: {problem}") from None
    except OSError as error:
        raise refusal(name, error) from None
    return len(kept)


def check_writable(path: str | Path) -> None:
    """Whether `write` could write there now: for work that takes long and would be lost at its end.

    Raises: as `write`, over the place alone.
    """
    name = str(path)
    _ending(name)
    if name == "-" or is_stream(name):
        return
    target = Path(os.path.realpath(name))
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder, not a file")
        beside.touch(exist_ok=False)
        beside.unlink()
    except OSError as error:
        raise refusal(name, error) from None


def _ending(name: str) -> str:
    ending = Path(name).suffix.lower()
    if name == "-" or is_stream(name):
        return ".jsonl"
    if ending not in ENDINGS:
        raise BadInput(f"{literal(name)}: {unknown_ending(ending)}")
    return ending


def _lines(records: "Rereadable") -> Iterator[bytes]:
    return (msgspec.json.encode(lifted(type(record), present(record))) + b"\n" for record in records)


def _fill(beside: Path, ending: str, records: "Rereadable") -> None:
    if ending == ".jsonl":
        with beside.open("wb") as file:
            file.writelines(_lines(records))
    elif ending == ".parquet":
        json_lines = beside.with_suffix(".lines")
        try:
            kind, column, longest = type(next(iter(records))), conversion.column_type(records), 0
            with json_lines.open("wb") as file:
                for record in records:
                    longest = max(longest, file.write(msgspec.json.encode(_in_columns(record, column)) + b"\n"))
            parquet.write(json_lines, longest, kind, columns_of(records), column, beside)
        finally:
            json_lines.unlink(missing_ok=True)
    else:
        with beside.open("w", encoding="utf-8", newline="") as file:
            _write_table(file, records, "\t" if ending == ".tsv" else ",")


def _in_columns(record: msgspec.Struct, column: str) -> dict[str, object]:
    """The fields of a record as they stand in the columns of a Parquet file.

    Args:
        column: the type of one with lists of marks.
    """
    fields = present(record)
    kind = type(record)
    for name in fields.keys() & {*marked(kind), *free(kind)}:
        value = getattr(record, name)
        if name in free(kind):
            fields[name] = msgspec.json.encode(value).decode()
        elif value is not None:
            fields[name] = conversion.in_column(value, column)
    return fields


def _write_table(file: TextIO, records: "Rereadable", separator: str) -> None:
    writer = csv.writer(file, delimiter=separator, lineterminator="\r\n")
    columns = columns_of(records)
    if columns:
        writer.writerow(columns)
    for record in records:
        kinds, fields = cell_kinds(type(record)), present(record)
        writer.writerow([_cell(fields.get(name), kinds[name] == "text") for name in columns])


def _cell(value: object, is_text: bool) -> str:
    if value is None:
        return ""
    return str(value) if is_text else msgspec.json.encode(value).decode()


def _where_broken(records: "Rereadable") -> str:
    for number, record in enumerate(records, start=1):
        try:
            msgspec.json.encode(record)
        except UnicodeEncodeError:
            names = [f"{field} {shown(getattr(record, field))}" for field in checks.key_fields(type(record))]
            return f"record {number} ({', '.join(names)})"
    return "a record"
