"""Parquet of any columns, and folders of the library `datasets`: Parquet shards, or Arrow files of `save_to_disk`."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from emotui.bounded import read_bytes
from emotui.formats import jsonl
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.tables.layouts import read_shaped, settle
from emotui.formats.layouts.tables.table import Table
from emotui.formats.layouts.tables.writing import NESTED, PLAIN, cell, table_cells
from emotui.formats.layouts.tools.said import all_labels, is_number
from emotui.formats.parquet import ENGINE, NOTHING_FETCHED, check_unpacked, rows_at_once
from emotui.formats.rows import Flaw, UnreadableFile, literal
from emotui.installing import install

# Rows as a folder that `datasets.load_from_disk` opens: an Arrow file, and two JSON files that say what is in it.

# The names of labels that files of the library `datasets` have as numbers.

Names = Mapping[str, tuple[str, ...]]


def names_of(features: object) -> dict[str, tuple[str, ...]]:
    """By column the names of its labels, of `features` as `dataset_info.json` or a Parquet file's metadata has them."""
    found = {}
    for column, feature in features.items() if isinstance(features, Mapping) else ():
        if (names := _class_label(feature)) is not None:
            found[str(column)] = names
    return found


def names_in_json(text: bytes) -> dict[str, tuple[str, ...]]:
    """Those in a document that is `{features: ...}`, or has it below `info` or below each configuration's name; none
    where it is something else.
    """
    value = jsonl.decode(text)
    if isinstance(value, Flaw) or not isinstance(value, dict):
        return {}
    inner = value.get("info")
    whole = inner if isinstance(inner, dict) else value
    if "features" in whole:
        return names_of(whole["features"])
    return _together(
        [names_of(one["features"]) for one in whole.values() if isinstance(one, dict) and "features" in one]
    )


def _together(each: Sequence[dict[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """Those of all configurations; of a column that two of them name otherwise, none."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for one in each:
        for column, names in one.items():
            found.setdefault(column, set()).add(names)
    return {column: names for column, (names, *others) in found.items() if not others}


def names_in_card(card: str) -> dict[str, tuple[str, ...]]:
    """Those in the head of a README.md on the Hub, of all its configurations."""
    import yaml

    parts = card.split("---\n", 2)
    if len(parts) < 3 or parts[0].strip():
        return {}
    try:
        head = yaml.safe_load(parts[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    described = head.get("dataset_info") if isinstance(head, dict) else None
    each = []
    for one in described if isinstance(described, list) else [described]:
        features = one.get("features") if isinstance(one, dict) else None
        there = [feature for feature in features if isinstance(feature, dict)] if isinstance(features, list) else []
        named = ((str(feature.get("name")), _in_card(feature)) for feature in there)
        each.append({name: names for name, names in named if names is not None})
    return _together(each)


def _class_label(feature: Any) -> tuple[str, ...] | None:
    if isinstance(feature, list):
        return next((names for one in feature if (names := _class_label(one)) is not None), None)
    if not isinstance(feature, Mapping):
        return None
    if feature.get("_type") == "ClassLabel" and isinstance(feature.get("names"), list):
        return tuple(map(str, feature["names"]))
    return next((names for one in feature.values() if (names := _class_label(one)) is not None), None)


def _in_card(feature: Any) -> tuple[str, ...] | None:
    """`class_label: names: {'0': joy}`, wherever it stands below."""
    if isinstance(feature, list):
        return next((names for one in feature if (names := _in_card(one)) is not None), None)
    if not isinstance(feature, dict):
        return None
    label = feature.get("class_label")
    names = label.get("names") if isinstance(label, dict) else None
    if isinstance(names, dict):
        try:
            return tuple(str(names[key]) for key in sorted(names, key=int))
        except (ValueError, TypeError):
            return None
    if isinstance(names, list):
        return tuple(map(str, names))
    return next((found for one in feature.values() if (found := _in_card(one)) is not None), None)


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
_INFO, _STATE, _SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"
_INFOS = "dataset_infos.json"
"""What older versions of the library wrote: an object by the name of the configuration."""
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


def names_beside(path: Path) -> dict[str, tuple[str, ...]]:
    """The names of labels that what describes a data set tells beside one of its files."""
    folder = path.absolute().parent
    return _names_told(folder, (folder / _INFO,))


def _names_in(path: Path) -> dict[str, tuple[str, ...]]:
    """The names of labels that a folder tells beside its data."""
    return _names_told(path, (path / _INFO, *sorted(path.glob(f"*/{_INFO}"))))


def _names_told(path: Path, infos: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Those in the first of these files, of older ones and of cards of a folder and the one above it that has some."""
    for file in (*infos, path / _INFOS, path.parent / _INFOS):
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
    write=write_datasets,
    settled=partial(settle, read_folder),
)
