"""Marks as they stand in files: a list of offsets, with a label behind them, or an object that says more."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from emotui.formats import jsonl
from emotui.formats.columns import marked
from emotui.formats.rows import Flaw
from emotui.records import Mark

PLAIN, STRUCTS, STRINGS, JSON = (
    "BIGINT[][]",
    'STRUCT("start" BIGINT, "end" BIGINT, "label" VARCHAR, "score" DOUBLE, "attributes" VARCHAR)[]',
    "VARCHAR[]",
    "VARCHAR",
)
"""The types that a column with lists of marks has in Parquet."""


class _MarkObject(msgspec.Struct, frozen=True):
    start: int
    end: int
    label: str | None = None
    score: float | None = None
    attributes: Mapping[str, Any] | None = None


def written(value: Any) -> Any:
    """Marks, in a list or in a list a name, as they are written: as short as what they say allows."""
    if isinstance(value, Mapping):
        return {name: written(marks) for name, marks in value.items()}
    return [_written(mark) if type(mark) is Mark else mark for mark in value]


def _written(mark: Mark) -> Any:
    if mark.score is None and not mark.attributes:
        return (mark.start, mark.end) if mark.label is None else (mark.start, mark.end, mark.label)
    return {name: said for name, said in _object(mark).items() if said is not None and said != {}}


def as_arrays(value: Any) -> Any:
    """Marks, in a list or in a list a name, as arrays of what they say, which decode as marks without being read as a
    file is.
    """
    if isinstance(value, Mapping):
        return {name: as_arrays(marks) for name, marks in value.items()}
    return [_array(mark) for mark in value]


def _array(mark: Mark) -> tuple[Any, ...]:
    if mark.score is None and not mark.attributes:
        return (mark.start, mark.end) if mark.label is None else (mark.start, mark.end, mark.label)
    said = (mark.start, mark.end, mark.label, mark.score)
    return (*said, mark.attributes) if mark.attributes else said


def _object(mark: Mark) -> dict[str, Any]:
    return {name: getattr(mark, name) for name in mark.__struct_fields__}


def listed(row: dict[str, Any], kind: type[msgspec.Struct]) -> Flaw | None:
    """Brings the marks of a row, in place, into the one form in which `Mark` is read; None where nothing is wrong.

    Raises:
        msgspec.ValidationError: an object is none; the place in `row` is said as msgspec says it.
    """
    for name in marked(kind):
        value = row.get(name)
        found: object
        if isinstance(value, list):
            found = _listed(value, name)
        elif name == "annotators" and isinstance(value, dict):
            found = _listed_by_name(value, name)
        else:
            continue
        if isinstance(found, Flaw):
            return found
        row[name] = found
    return None


def _listed_by_name(said: dict[str, Any], field: str) -> dict[str, Any] | Flaw:
    """By name the spans; whoever says nothing of spans is left out."""
    by_name = {}
    for name, value in said.items():
        place = f"{field}[...]"
        if isinstance(value, dict):
            value, place = value.get("spans"), f"{field}[...].spans"
        if value is None:
            continue
        found = _listed(value, place) if isinstance(value, list) else value
        if isinstance(found, Flaw):
            return found
        by_name[name] = found
    return by_name


def _listed(items: list[Any], place: str) -> list[Any] | Flaw:
    found: list[Any] = []
    for number, item in enumerate(items):
        if type(item) is dict:
            try:
                mark = msgspec.convert(item, _MarkObject)
            except msgspec.ValidationError as error:
                raise msgspec.ValidationError(_placed(str(error), f"{place}[{number}]")) from None
            found.append([mark.start, mark.end, mark.label or None, mark.score, mark.attributes or {}])
        elif type(item) is list and len(item) == 3:
            found.append([*item[:2], item[2] if item[2] != "" else None])
        elif type(item) is list and len(item) != 2:
            return Flaw(f"`{place}[{number}]` must be [start, end] or [start, end, label], not a list of {len(item)}")
        else:
            found.append(item)
    return found


def _placed(complaint: str, place: str) -> str:
    said, _, inner = complaint.partition(" - at ")
    return f"{said} - at `$.{place}{inner.strip('`').removeprefix('$')}`"


def column_type(records: Iterable[msgspec.Struct]) -> str:
    """The type in Parquet of the columns with lists of marks, one of the four, by what stands in them."""
    kinds = set()
    for record in records:
        for name in marked(type(record)):
            value = getattr(record, name)
            for marks in value.values() if isinstance(value, Mapping) else (value or (),):
                kinds |= {STRINGS if type(mark) is str else PLAIN if mark.plain else STRUCTS for mark in marks}
    if STRINGS in kinds:
        return STRINGS if len(kinds) == 1 else JSON
    return STRUCTS if STRUCTS in kinds else PLAIN


def in_column(value: Any, column: str) -> Any:
    """Marks as they stand in a column of that type, as JSON that DuckDB reads."""
    if isinstance(value, Mapping):
        return {name: in_column(marks, column) for name, marks in value.items()}
    if column == STRUCTS:
        objects = [_object(mark) for mark in value]
        return [one | {"attributes": msgspec.json.encode(one["attributes"]).decode()} for one in objects]
    return msgspec.json.encode(written(value)).decode() if column == JSON else written(value)


def out_of_column(value: Any) -> Any:
    """Marks as they came out of a column, with their attributes unpacked."""
    if isinstance(value, dict) and isinstance(packed := value.get("attributes"), str):
        attributes = jsonl.decode(packed.encode())
        return value | {"attributes": packed if isinstance(attributes, Flaw) else attributes}
    if isinstance(value, dict):
        return {name: out_of_column(marks) for name, marks in value.items()}
    return [out_of_column(mark) for mark in value] if isinstance(value, list) else value
