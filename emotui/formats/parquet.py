"""Parquet, read and written by DuckDB, which is loaded only when such a file comes up."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.filesize import decimal

from emotui.formats import jsonl
from emotui.formats.columns import (
    FOUND,
    LabelColumns,
    cell_kinds,
    duckdb_types,
    free,
    labels_of,
    marked,
    missing,
    number_in,
    said_in_columns,
    takes_columns,
)
from emotui.formats.conversion import out_of_column
from emotui.formats.rows import MOST_LINE, Flaw, Rows, UnreadableFile, literal, shown
from emotui.formats.tables import labels_in

if TYPE_CHECKING:
    import duckdb

# How much a packed file may become: a few kilobytes of Parquet can say a terabyte.

SURELY = 512 * 2**20
"""Bytes that any file may unpack to."""

TIMES = 20
"""As often its own size may be added; texts are packed to a third, tables of few words to a tenth."""

ENGINE = "4GB"
"""Of memory, for DuckDB while it reads Parquet: it refuses what does not fit, page by page."""

NOTHING_FETCHED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""Settings of DuckDB: to read a file, nothing comes from the network."""

_OF_A_ROW = 100
"""Bytes that a row takes, whatever stands in it."""

_BATCH, _BATCH_BYTES = 4096, 64 * 2**20


def check_unpacked(path: Path, size: int) -> None:
    """Raises: UnreadableFile where `size` bytes are more than a file like this may unpack to."""
    packed = path.stat().st_size
    most = SURELY + TIMES * packed
    if size > most:
        raise UnreadableFile(
            f"unpacks to {decimal(size)}, and of a file of {decimal(packed)} at most {decimal(most)} are read"
        )


def rows_at_once(path: Path, connection: "duckdb.DuckDBPyConnection", source: str, columns: Sequence[str]) -> int:
    """How many rows of a Parquet file may be fetched together, once DuckDB has gone through it and found it no bomb.

    Args:
        source: what stands behind FROM.
        columns: those that will be read, quoted.

    Raises:
        UnreadableFile: the file, or a row, unpacks to more than is read.
    """
    lengths = " + ".join(f"coalesce(strlen({column}::VARCHAR), 0)" for column in columns) or "0"
    asked = f"SELECT max(size), sum(size + {_OF_A_ROW}) FROM (SELECT {lengths} AS size FROM {source})"
    longest, size = (int(number or 0) for number in connection.execute(asked).fetchall()[0])
    check_unpacked(path, size)
    if longest > MOST_LINE:
        raise UnreadableFile(f"a row unpacks to {decimal(longest)}, and at most {decimal(MOST_LINE)} are read")
    return max(1, min(_BATCH, _BATCH_BYTES // max(1, longest)))


_NUMERIC = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BOOLEAN)$")
_ROOM = 1 << 24
"""DuckDB's own limit for one JSON object, in bytes; raised where a record is larger."""


def shards(folder: Path) -> list[Path]:
    """The Parquet files in and below a folder, by their names; none where it is no folder, or has none.

    Names that begin with a point or a low line are left out, as those who write such folders do (`_metadata`).
    """
    try:
        if not folder.is_dir():
            return []
        found = [path for path in folder.rglob("*.parquet") if path.exists() and not path.is_dir()]
    except (OSError, ValueError):
        return []
    return sorted(path for path in found if not any(p[0] in "._" for p in path.relative_to(folder).parts))


def check_on_disk(path: Path) -> None:
    """Raises: UnreadableFile where it is a pipe or a device, of which DuckDB would wait for an end."""
    if path.exists() and not path.is_file():
        raise UnreadableFile("is a pipe or device, and Parquet is read from a file on a disk alone")


def rows_of_all(folder: Path, files: Sequence[Path], kind: type[msgspec.Struct], columns: LabelColumns = FOUND) -> Rows:
    """The rows of the files of a folder one after the other, numbered through all of them.

    Raises: UnreadableFile, which names the file.
    """
    before = 0
    for path in files:
        last = 0
        try:
            check_on_disk(path)
            for last, row in rows(path, kind, columns):
                yield before + last, row
        except UnreadableFile as error:
            line = None if error.line is None else before + error.line
            raise UnreadableFile(f"{literal(str(path.relative_to(folder)))}: {error}", line) from None
        before += last


def rows(path: Path, kind: type[msgspec.Struct], columns: LabelColumns = FOUND) -> Rows:
    """The rows of a Parquet file, numbered from 1. Nested columns may be lists, structs and maps, or JSON in a string.

    Labels may also stand in columns of numbers or booleans, one a label.

    Raises: UnreadableFile where it is no Parquet file or lacks a column.
    """
    import duckdb

    source = f"read_parquet({_quoted(_unglobbed(path))}, hive_partitioning=false)"
    kinds = cell_kinds(kind)
    try:
        with _connection() as connection:
            described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            present = {str(row[0]): str(row[1]) for row in described}
            labels = _label_columns(kind, present, columns)
            if absent := missing(kind, {*present, said_in_columns(kind)} if labels else present):
                names = ", ".join(f"`{name}`" for name in absent)
                raise UnreadableFile(f"there is no column {names}", 1)
            names_read = [name for name in kinds if name in present]
            wanted = ['"' + name.replace('"', '""') + '"' for name in (*names_read, *labels)]
            at_once = rows_at_once(path, connection, source, wanted)
            cursor = connection.execute(f"SELECT {', '.join(wanted)} FROM {source}")
            line = 0
            while batch := cursor.fetchmany(at_once):
                for values in batch:
                    line += 1
                    row = _row(zip(names_read, values[: len(names_read)], strict=True), kind)
                    if labels and not isinstance(row, Flaw):
                        numbers = dict(zip(labels, values[len(names_read) :], strict=True))
                        said = _labels(numbers, kind, columns)
                        if isinstance(said, Flaw) and columns.names is None:
                            raise UnreadableFile(said.reason, line)
                        row = said if isinstance(said, Flaw) else row | ({said_in_columns(kind): said} if said else {})
                    yield line, row
    except (duckdb.Error, ImportError, TypeError, ValueError, OverflowError) as error:
        # Not only DuckDB's own errors: it has no Python value for some of what Parquet can hold.
        raise UnreadableFile(f"not a readable Parquet file: {_last_words(error)}") from None


def write(lines: Path, longest: int, kind: type[msgspec.Struct], names: Sequence[str], marks: str, to: Path) -> None:
    """Turns a JSONL file of records into a Parquet file with native lists, maps and structs.

    Args:
        longest: bytes of the longest line.
        names: of the columns.
        marks: the type of a column with lists of marks.

    Raises: OSError where DuckDB cannot write.
    """
    import duckdb

    all_types = duckdb_types(kind, marks)
    types = ", ".join(f"{_quoted(name)}: {_quoted(all_types[name])}" for name in names)
    source = (
        f"read_json({_quoted(_unglobbed(lines))}, format='newline_delimited', columns={{{types}}}, "
        f"maximum_object_size={max(_ROOM, 2 * longest)}, compression='none')"
    )
    try:
        with _connection() as connection:
            connection.execute(f"COPY (SELECT * FROM {source}) TO {_quoted(str(to))} (FORMAT parquet)")
    except duckdb.Error as error:
        raise OSError(_last_words(error)) from None


def _connection() -> "duckdb.DuckDBPyConnection":
    import duckdb

    return duckdb.connect(config={**NOTHING_FETCHED, "memory_limit": ENGINE})


def _label_columns(kind: type[msgspec.Struct], present: Mapping[str, str], columns: LabelColumns) -> tuple[str, ...]:
    """Those of the `present` columns (name to type) that are labels."""
    if not takes_columns(kind, list(present), columns):
        return ()
    if columns.names is not None:
        return columns.names
    return tuple(name for name, column in present.items() if _NUMERIC.match(column) and name not in cell_kinds(kind))


def _labels(values: Mapping[str, Any], kind: type[msgspec.Struct], columns: LabelColumns) -> dict[str, float] | Flaw:
    numbers: dict[str, float | None] = {}
    for name, value in values.items():
        if value is None:
            numbers[name] = None
            continue
        numbers[name] = number_in(str(value))
        if numbers[name] is None:
            return Flaw(f"{shown(name)} must be a number, or true or false, not {shown(value)}")
    return labels_of(kind, numbers, columns)


def _row(values: Iterable[tuple[str, Any]], kind: type[msgspec.Struct]) -> dict[str, Any] | Flaw:
    row: dict[str, Any] = {}
    kinds, with_marks, of_anything = cell_kinds(kind), marked(kind), free(kind)
    for name, value in values:
        if kinds[name] in ("nested", "labels"):
            if isinstance(value, str):
                value = labels_in(value.strip()) if kinds[name] == "labels" else jsonl.decode(value.encode())
                if isinstance(value, Flaw):
                    return Flaw(f"`{name}`: {value.reason}")
            else:
                value = _without_nulls(value)
            if name in with_marks:
                value = out_of_column(value)
            elif name in of_anything:
                value = _plain(value)
        if value is not None:
            row[name] = value
    return row


def _without_nulls(value: Any) -> Any:
    """Without the fields that a struct column gives to every row, although only some rows have them."""
    if type(value) is dict:
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if type(value) is list and value and type(value[0]) in (dict, list):
        return [_without_nulls(inner) for inner in value]
    return value


def _plain(value: Any) -> Any:
    """As JSON can say it: dates and the like as text, and null for what is no number."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _unglobbed(path: Path) -> str:
    """The path as DuckDB takes it literally: `*`, `?` and `[` are patterns to it."""
    return re.sub(r"([*?\[])", r"[\1]", str(path.absolute()))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _last_words(error: Exception) -> str:
    """What an error says first. DuckDB may quote bytes of the file, which must not reach a terminal as they are."""
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return literal(first.rpartition("Error: ")[2][:200])
