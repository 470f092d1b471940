"""Parquet of any columns, and folders of the library `datasets`: Parquet, JSON Lines, CSV or `save_to_disk`'s Arrow."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.tables.json_records import read_json_lines
from emotui.formats.layouts.tables.layouts import read_cells, read_shaped, settle
from emotui.formats.layouts.tables.names import INFO, is_described, names_beside, names_in_folder, names_in_json
from emotui.formats.layouts.tables.table import Table
from emotui.formats.layouts.tables.writing import NESTED, PLAIN, cell, table_cells
from emotui.formats.layouts.tools.said import all_labels, is_number
from emotui.formats.parquet import ENGINE, NOTHING_FETCHED, check_unpacked, rows_at_once
from emotui.formats.rows import Flaw, UnreadableFile, literal
from emotui.installing import install

# Rows as a folder that `datasets.load_from_disk` opens: an Arrow file, and two JSON files that say what is in it.

MISSING = f"a folder of datasets is written with pyarrow: {install('arrow')}, or write Parquet (--format parquet)"
_BATCH = 1000
_DATA, _DATASET_INFO, _DATASET_STATE = "data-00000-of-00001.arrow", "dataset_info.json", "state.json"
_TEXT, _WHOLE, _REAL = "string", "int64", "float64"

Feature = Any
"""What a column holds, as `dataset_info.json` has it: an object with `_type`, or a list or an object of such."""


def write_datasets(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """A folder with a row a text. What is nested and of no one shape stands as JSON in its column.

    Raises:
        ValueError: pyarrow is not there.
    """
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise ValueError(MISSING) from None
    features = {key: _feature(key, rows) for key in _keys(rows)}
    described = {"features": features}
    metadata = {"huggingface": msgspec.json.encode({"info": described}).decode()}
    schema = pyarrow.schema([(key, _type(pyarrow, feature)) for key, feature in features.items()], metadata)
    path.mkdir()
    with pyarrow.OSFile(str(path / _DATA), "wb") as sink, pyarrow.ipc.new_stream(sink, schema) as writer:
        for batch in _dataset_batches(rows, features):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema))
    info = {"citation": "", "description": "", "features": features, "homepage": "", "license": ""}
    (path / _DATASET_INFO).write_bytes(msgspec.json.format(msgspec.json.encode(info)))
    state: dict[str, object] = {
        "_data_files": [{"filename": _DATA}],
        "_fingerprint": hashlib.sha256((path / _DATA).read_bytes()).hexdigest()[:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    (path / _DATASET_STATE).write_bytes(msgspec.json.format(msgspec.json.encode(state)))
    return []


def _keys(rows: Sequence[TextRow]) -> list[str]:
    return [key for key in (*PLAIN, *NESTED) if key in ("id", "text") or any(row.get(key) is not None for row in rows)]


def _feature(key: str, rows: Sequence[TextRow]) -> Feature:
    """What the column of a key holds."""
    said = [row[key] for row in rows if row.get(key) is not None]
    if key == "label":
        return _names(all_labels([{"label": one} for one in said]))
    if key == "labels" and all(isinstance(one, list | tuple) for one in said):
        return {"feature": _names(all_labels([{"labels": one} for one in said])), "_type": "Sequence"}
    if key == "values" and any(said) and all(is_number(number) for one in said for number in one.values()):
        return {name: _value(_REAL) for name in dict.fromkeys(name for one in said for name in one)}
    if key == "spans":
        marks = [mark for one in said for mark in one]
        held: dict[str, Feature] = {"start": _value(_WHOLE), "end": _value(_WHOLE)}
        if names := all_labels(marks):
            held["label"] = _names(names)
        if any(mark.get("score") is not None for mark in marks):
            held["score"] = _value(_REAL)
        if any(mark.get("attributes") for mark in marks):
            held["attributes"] = _value(_TEXT)
        return [held]
    return _value(_TEXT)


def _value(kind: str) -> Feature:
    return {"dtype": kind, "_type": "Value"}


def _names(names: Sequence[str]) -> Feature:
    return {"names": list(names), "_type": "ClassLabel"}


def _type(pyarrow: Any, feature: Feature) -> Any:
    """The Arrow type of what a column holds."""
    if isinstance(feature, list):
        return pyarrow.list_(_type(pyarrow, feature[0]))
    kind = feature.get("_type")
    if kind == "Sequence":
        return pyarrow.list_(_type(pyarrow, feature["feature"]))
    if kind == "ClassLabel":
        return pyarrow.int64()
    if kind == "Value":
        return {_TEXT: pyarrow.string(), _WHOLE: pyarrow.int64(), _REAL: pyarrow.float64()}[feature["dtype"]]
    return pyarrow.struct([(name, _type(pyarrow, one)) for name, one in feature.items()])


def _dataset_batches(rows: Sequence[TextRow], features: Mapping[str, Feature]) -> Iterator[list[dict[str, Any]]]:
    numbers = {key: _numbers(feature) for key, feature in features.items()}
    for start in range(0, len(rows), _BATCH):
        yield [
            {key: _held(key, row.get(key), features[key], numbers[key]) for key in features}
            for row in rows[start : start + _BATCH]
        ]


def _numbers(feature: Feature) -> dict[str, int]:
    """The number of each name of the labels in a column."""
    inner = feature[0].get("label", {}) if isinstance(feature, list) else feature.get("feature", feature)
    return {name: number for number, name in enumerate(inner.get("names", ()))}


def _held(key: str, value: Any, feature: Feature, numbers: Mapping[str, int]) -> Any:
    """A value as its column holds it."""
    if value is None:
        return None
    if key == "spans":
        return [
            {
                "start": mark["start"],
                "end": mark["end"],
                "label": None if mark.get("label") is None else numbers[mark["label"]],
                "score": mark.get("score"),
                "attributes": cell(mark["attributes"]) if mark.get("attributes") else None,
            }
            for mark in value
        ]
    if key == "label":
        return numbers[value]
    if isinstance(feature, Mapping) and feature.get("_type") == "Sequence":
        return [numbers[name] for name in value]
    if key == "values" and "_type" not in feature:
        return {name: float(number) for name, number in value.items()}
    return cell(value)


_MAGIC = b"PAR1"
_STATE, _SPLITS = "state.json", "dataset_dict.json"
_IN_TEXT = {".jsonl": read_json_lines, ".ndjson": read_json_lines, ".csv": read_cells, ".tsv": read_cells}
"""How files are read that are taken for a data set where a card describes them."""
_SHARD = re.compile(r"^(.+?)-\d{5}-of-\d{5}(-[0-9a-f]+)?$")

Found = list[tuple[int, dict[str, Any] | Flaw]]


def read_parquet(path: Path, options: ReadOptions) -> Table:
    """One Parquet file, with the names of labels that its metadata has, or what describes the data set beside it."""
    header, rows, names = _parquet(path)
    names = names or names_beside(path)
    return Table(header, [(line, row) for line, row in enumerate(rows, start=1)], names=names)


def read_folder(path: Path, options: ReadOptions) -> Table:
    """All splits of a folder; where there are several, each row has its own under `split`."""
    parts = _parts(path)
    if not parts:
        raise UnreadableFile("there is no Parquet or Arrow file in the folder, and no JSON Lines or CSV with a card")
    names = names_in_folder(path)
    header: dict[str, None] = {}
    found: Found = []
    several = len({split for split, _ in parts}) > 1
    for split, file in parts:
        columns: tuple[str, ...]
        rows: Iterator[dict[str, Any] | Flaw]
        if file.suffix == ".arrow":
            columns, rows = _arrow(file)
        elif (read := _IN_TEXT.get(file.suffix)) is not None:
            table = read(file, options)
            columns, rows = table.header, _with_its_place(file, table)
        else:
            columns, rows, own = _parquet(file)
            names = names | own
        if several and "split" not in columns:
            columns, rows = (*columns, "split"), _in_split(rows, split)
        header |= dict.fromkeys(columns)
        found += [(line, row) for line, row in enumerate(rows, start=len(found) + 1)]
    return Table(tuple(header), found, names=names)


def _with_its_place(file: Path, table: Table) -> Iterator[dict[str, Any] | Flaw]:
    for line, row in table.rows:
        yield Flaw(f"{literal(file.name)}:{line}: {row.reason}") if isinstance(row, Flaw) else row


def _in_split(rows: Iterable[dict[str, Any] | Flaw], split: str) -> Iterator[dict[str, Any] | Flaw]:
    for row in rows:
        yield row if isinstance(row, Flaw) else row | {"split": split}


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
    """The files with data by split: those that `save_to_disk` names, else every Parquet file, else JSON Lines or
    CSV that a card or `dataset_infos.json` describes.
    """
    splits = [path] if (path / _STATE).is_file() else sorted(one.parent for one in path.glob(f"*/{_STATE}"))
    arrow = [(one.name, file) for one in splits for file in sorted(one.glob("data-*.arrow"))]
    if arrow:
        return arrow
    files = _files(path, ".parquet") or sorted(path.glob("*.arrow"))
    if not files and is_described(path):
        files = _files(path, *_IN_TEXT)
    return [(_split(file), file) for file in files]


def _files(path: Path, *endings: str) -> list[Path]:
    """The files of these endings in a folder and two levels below."""
    return sorted(
        file
        for level in ("*", "*/*", "*/*/*")
        for file in path.glob(level)
        if file.suffix in endings and file.is_file()
    )


def _split(file: Path) -> str:
    shard = _SHARD.fullmatch(file.stem)
    return shard[1] if shard else file.stem if not file.stem.isdigit() else file.parent.name


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
    there = [name for name in (_SPLITS, _STATE, INFO) if (path / name).is_file()]
    if there:
        return f"it is a folder with {there[0]}, as save_to_disk of the library datasets writes"
    shards = [file for _, file in _parts(path)]
    if not shards:
        return None
    described = shards[0].suffix in _IN_TEXT
    kind = f"file{'s' * (len(shards) != 1)}"
    return f"it is a folder with {len(shards)} {f'{kind} of data and a card' if described else f'Parquet {kind}'}"


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
    about="A folder of the library datasets: save_to_disk's Arrow files, or Parquet, JSON Lines or CSV with a card.",
    recognise=_recognise_folder,
    rows=partial(read_shaped, read_folder),
    write=write_datasets,
    settled=partial(settle, read_folder),
)
