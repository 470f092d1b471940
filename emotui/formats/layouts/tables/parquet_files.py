"""Parquet of any columns, and folders of the library `datasets`: Parquet shards, or Arrow files of `save_to_disk`."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from emotui.bounded import read_bytes
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.tables import datasets_writing
from emotui.formats.layouts.tables.features import names_in_card, names_in_json
from emotui.formats.layouts.tables.layouts import read_shaped, settle
from emotui.formats.layouts.tables.table import Table
from emotui.formats.layouts.tables.writing import table_cells
from emotui.formats.rows import Flaw, UnreadableFile, literal
from emotui.formats.unpacked import ENGINE, NOTHING_FETCHED, check_unpacked, rows_at_once
from emotui.installing import install

_MAGIC = b"PAR1"
_INFO, _STATE, _SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"
_SHARD = re.compile(r"^(.+?)-\d{5}-of-\d{5}(-[0-9a-f]+)?$")

Found = list[tuple[int, dict[str, Any] | Flaw]]


def read_parquet(path: Path, options: ReadOptions) -> Table:
    """One Parquet file, with the names of labels that its metadata has."""
    header, rows, names = _parquet(path)
    return Table(header, [(line, row) for line, row in enumerate(rows, start=1)], names=names)


def read_folder(path: Path, options: ReadOptions) -> Table:
    """All splits of a folder; where there are several, each row has its own under `split`."""
    parts = _parts(path)
    if not parts:
        raise UnreadableFile("there is no Parquet or Arrow file in the folder")
    names = _names_in(path)
    header: dict[str, None] = {}
    found: Found = []
    several = len({split for split, _ in parts}) > 1
    for split, file in parts:
        if file.suffix == ".arrow":
            columns, rows = _arrow(file)
        else:
            columns, rows, own = _parquet(file)
            names = names | own
        if several and "split" not in columns:
            columns, rows = (*columns, "split"), (row | {"split": split} for row in rows)
        header |= dict.fromkeys(columns)
        found += [(line, row) for line, row in enumerate(rows, start=len(found) + 1)]
    return Table(tuple(header), found, names=names)


def _parquet(path: Path) -> tuple[tuple[str, ...], Iterator[dict[str, Any]], dict[str, tuple[str, ...]]]:
    import duckdb

    if not path.is_file():
        raise UnreadableFile("there is no such file")
    file = _quoted(_unglobbed(path))
    try:
        connection = duckdb.connect(config={**NOTHING_FETCHED, "memory_limit": ENGINE})
        keys = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({file})").fetchall()
        source = f"SELECT * FROM read_parquet({file}, hive_partitioning=false, file_row_number=false)"
        described = connection.execute(f"DESCRIBE {source}").fetchall()
    except (duckdb.Error, ValueError) as error:
        raise UnreadableFile(f"not a readable Parquet file: {_last_words(error)}") from None
    names = next((names_in_json(bytes(value)) for key, value in keys if bytes(key) == b"huggingface"), {})
    # What no text can be: pictures and sounds.
    wanted = [str(name) for name, kind, *_ in described if "BLOB" not in str(kind)]
    return tuple(wanted), _fetched(path, connection, source, wanted), names


def _fetched(path: Path, connection: Any, source: str, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    import duckdb

    columns = ['"' + name.replace('"', '""') + '"' for name in wanted]
    try:
        with connection:
            at_once = rows_at_once(path, connection, f"({source})", columns)
            cursor = connection.execute(f"SELECT {', '.join(columns)} FROM ({source})")
            while batch := cursor.fetchmany(at_once):
                for values in batch:
                    yield dict(zip(wanted, values, strict=True))
    except (duckdb.Error, ImportError, TypeError, ValueError, OverflowError) as error:
        raise UnreadableFile(f"not a readable Parquet file: {_last_words(error)}") from None


def _arrow(path: Path) -> tuple[tuple[str, ...], Iterator[dict[str, Any]]]:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise UnreadableFile(
            f"Arrow files are read with pyarrow: {install('arrow')}, or write the data set as Parquet (to_parquet)"
        ) from None
    if not path.is_file():
        raise UnreadableFile(f"{literal(path.name)} is a pipe or device, or not there")
    try:
        with pyarrow.memory_map(str(path)) as source:
            batches = _batches(pyarrow, source)
            schema = next(batches)
            kept = [name for name in schema.names if not pyarrow.types.is_binary(schema.field(name).type)]
            size, rows = 0, []
            for batch in batches:
                batch.validate(full=True)  # what lies about its lengths would end the program
                for start in range(0, batch.num_rows, _ROWS):
                    part = batch.slice(start, _ROWS).select(kept)
                    size += part.nbytes
                    check_unpacked(path, size)
                    rows += part.to_pylist()
                    # What a dictionary says once stands in each of its rows.
                    size += sum(len(value) for row in rows[-part.num_rows :] for value in row.values() if _long(value))
            return tuple(kept), iter(rows)
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise UnreadableFile(f"not a readable Arrow file: {_last_words(error)}") from None


_ROWS = 1024
"""Of an Arrow file that are looked at together."""


def _batches(pyarrow: Any, source: Any) -> Iterator[Any]:
    """The schema of an Arrow file, then its batches: of one that is written as a stream, or with an index."""
    try:
        stream = pyarrow.ipc.open_stream(source)
    except pyarrow.ArrowInvalid:
        source.seek(0)
        file = pyarrow.ipc.open_file(source)
        yield file.schema
        yield from (file.get_batch(number) for number in range(file.num_record_batches))
    else:
        yield stream.schema
        yield from stream


def _long(value: object) -> bool:
    return isinstance(value, str | list) and len(value) > _ROWS


def _parts(path: Path) -> list[tuple[str, Path]]:
    """The files with data by split: those that `save_to_disk` names, else every Parquet file."""
    splits = [path] if (path / _STATE).is_file() else sorted(one.parent for one in path.glob(f"*/{_STATE}"))
    arrow = [(one.name, file) for one in splits for file in sorted(one.glob("data-*.arrow"))]
    if arrow:
        return arrow
    files = sorted((*path.glob("*.parquet"), *path.glob("*/*.parquet"), *path.glob("*/*/*.parquet")))
    return [(_split(file), file) for file in files] or [(_split(file), file) for file in sorted(path.glob("*.arrow"))]


def _split(file: Path) -> str:
    shard = _SHARD.fullmatch(file.stem)
    return shard[1] if shard else file.stem if not file.stem.isdigit() else file.parent.name


def _names_in(path: Path) -> dict[str, tuple[str, ...]]:
    """The names of labels that a folder tells beside its data."""
    for file in (path / _INFO, *sorted(path.glob(f"*/{_INFO}"))):
        try:
            if names := names_in_json(read_bytes(file)):
                return names
        except OSError:
            continue
    for card in (path / "README.md", path.parent / "README.md"):
        try:
            if names := names_in_card(read_bytes(card).decode("utf-8", "replace")):
                return names
        except OSError:
            continue
    return {}


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """A row a text; what is nested stands as JSON in its column."""
    import duckdb

    header, *cells = table_cells(rows)
    written = b"".join(msgspec.json.encode(dict(zip(header, row, strict=True))) + b"\n" for row in cells)
    columns = ", ".join(f"{_quoted(str(name))}: 'VARCHAR'" for name in header)
    beside = path.with_name(f".{path.name}.lines")
    try:
        beside.write_bytes(written)
        longest = max(map(len, written.split(b"\n")))
        source = (
            f"read_json({_quoted(_unglobbed(beside))}, format='newline_delimited', compression='none',"
            f" columns={{{columns}}}, maximum_object_size={max(1 << 24, 2 * longest)})"
        )
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT * FROM {source}) TO {_quoted(str(path))} (FORMAT parquet)")
    except duckdb.Error as error:
        raise OSError(_last_words(error)) from None
    finally:
        beside.unlink(missing_ok=True)
    return []


def _unglobbed(path: Path) -> str:
    return re.sub(r"([*?\[])", r"[\1]", str(path.absolute()))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _last_words(error: Exception) -> str:
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return literal(first.rpartition("Error: ")[2][:200])


def _recognise_file(path: Path, head: bytes) -> str | None:
    return "it begins as Parquet does" if head.startswith(_MAGIC) else None


def _recognise_folder(path: Path, head: bytes) -> str | None:
    if not path.is_dir():
        return None
    there = [name for name in (_SPLITS, _STATE, _INFO) if (path / name).is_file()]
    if there:
        return f"it is a folder with {there[0]}, as save_to_disk of the library datasets writes"
    shards = [file for _, file in _parts(path)]
    return f"it is a folder with {len(shards)} Parquet file{'s' * (len(shards) != 1)}" if shards else None


PARQUET = Layout(
    name="parquet",
    about="Parquet with any columns: lists, structs, ClassLabel numbers with their names.",
    recognise=_recognise_file,
    rows=partial(read_shaped, read_parquet),
    write=write,
    settled=partial(settle, read_parquet),
)
DATASETS = Layout(
    name="datasets",
    about="A folder of the library datasets: save_to_disk's Arrow files, or Parquet shards with their README.md.",
    recognise=_recognise_folder,
    rows=partial(read_shaped, read_folder),
    write=datasets_writing.write,
    settled=partial(settle, read_folder),
)
