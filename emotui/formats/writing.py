"""Writing a file of records: whole, or not at all."""

import csv
import errno
import io
import os
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from emotui.errors import BadInput
from emotui.formats import checks, marks, parquet
from emotui.formats.beside import lifted
from emotui.formats.columns import cell_kinds, free, marked
from emotui.formats.json_document import escaped, present
from emotui.formats.reading import ENDINGS, unknown_ending
from emotui.formats.rows import literal, shown
from emotui.formats.written import is_stream, refusal, replacing


def write(path: str | Path, records: Iterable[msgspec.Struct]) -> int:
    """Writes records of one kind in the format of the file's ending; `-` is standard output, JSONL.

    A file appears whole or not at all, and one that was there stays until then. What is written reads back equal.

    Returns: how many records were written.
    Raises: BadInput where the place cannot be written, or a record could not be read back; EmotuiError where the disk
        is full or fails.
    """
    name, kept = str(path), list(records)
    for number, record in enumerate(kept, start=1):
        if (wrong := checks.fault(record)) is not None:
            raise BadInput(f"{literal(name)}: record {number} cannot be written: {wrong}")
    ending = _ending(name)
    if ending == ".parquet" and not kept:
        raise BadInput(f"{literal(name)}: there is no record to write, and a Parquet file must say of what kind it is")
    try:
        lines = [msgspec.json.encode(lifted(type(record), present(record))) for record in kept]
        if name == "-":
            sys.stdout.buffer.write(b"".join(escaped(line.decode()).encode() + b"\n" for line in lines))
            sys.stdout.buffer.flush()
        elif is_stream(name):
            Path(name).write_bytes(b"".join(line + b"\n" for line in lines))
        else:
            with replacing(Path(name)) as beside:
                _fill(beside, ending, kept, lines)
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


def _fill(beside: Path, ending: str, records: list[msgspec.Struct], lines: list[bytes]) -> None:
    if ending == ".jsonl":
        beside.write_bytes(b"".join(line + b"\n" for line in lines))
    elif ending == ".parquet":
        json_lines = beside.with_suffix(".lines")
        try:
            kind, column = type(records[0]), marks.column_type(records)
            packed = [msgspec.json.encode(_in_columns(record, column)) for record in records]
            json_lines.write_bytes(b"\n".join(packed))
            parquet.write(json_lines, max(map(len, packed)), kind, column, beside)
        finally:
            json_lines.unlink(missing_ok=True)
    else:
        beside.write_bytes(_table(records, "\t" if ending == ".tsv" else ",").encode())


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
            fields[name] = marks.in_column(value, column)
    return fields


def _table(records: list[msgspec.Struct], separator: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\r\n")
    if records:
        kinds = cell_kinds(type(records[0]))
        writer.writerow(kinds)
        for record in records:
            fields = present(record)
            writer.writerow([_cell(fields.get(name), cell_kind == "text") for name, cell_kind in kinds.items()])
    return text.getvalue()


def _cell(value: object, is_text: bool) -> str:
    if value is None:
        return ""
    return str(value) if is_text else msgspec.json.encode(value).decode()


def _where_broken(records: list[msgspec.Struct]) -> str:
    for number, record in enumerate(records, start=1):
        try:
            msgspec.json.encode(record)
        except UnicodeEncodeError:
            names = [f"{field} {shown(getattr(record, field))}" for field in checks.key_fields(type(record))]
            return f"record {number} ({', '.join(names)})"
    return "a record"
