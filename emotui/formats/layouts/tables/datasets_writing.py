"""Rows as a folder that `datasets.load_from_disk` opens: an Arrow file, and two JSON files that say what is in it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.lost import all_labels
from emotui.formats.layouts.tables.writing import NESTED, PLAIN, cell
from emotui.formats.layouts.tools.said import is_number
from emotui.installing import install

MISSING = f"a folder of datasets is written with pyarrow: {install('arrow')}, or write Parquet (--format parquet)"
_BATCH = 1000
_DATA, _INFO, _STATE = "data-00000-of-00001.arrow", "dataset_info.json", "state.json"
_TEXT, _WHOLE, _REAL = "string", "int64", "float64"

Feature = Any
"""What a column holds, as `dataset_info.json` has it: an object with `_type`, or a list or an object of such."""


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
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
        for batch in _batches(rows, features):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema))
    info = {"citation": "", "description": "", "features": features, "homepage": "", "license": ""}
    (path / _INFO).write_bytes(msgspec.json.format(msgspec.json.encode(info)))
    state: dict[str, object] = {
        "_data_files": [{"filename": _DATA}],
        "_fingerprint": hashlib.sha256((path / _DATA).read_bytes()).hexdigest()[:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    (path / _STATE).write_bytes(msgspec.json.format(msgspec.json.encode(state)))
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


def _batches(rows: Sequence[TextRow], features: Mapping[str, Feature]) -> Iterator[list[dict[str, Any]]]:
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
