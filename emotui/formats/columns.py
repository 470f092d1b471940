"""How the fields of a record stand in the columns of a table."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

import msgspec

from emotui.formats.rows import Flaw, UnreadableFile, shown
from emotui.records import (
    ClassGold,
    LabelsGold,
    LabelsPrediction,
    Mark,
    MaskedGold,
    ScenesGold,
    ScenesPrediction,
    SpanSample,
    Text,
    ValuesGold,
    ValuesPrediction,
)

CellKind = Literal["text", "int", "float", "bool", "nested", "labels"]

NUMBERED = (SpanSample, LabelsGold, ClassGold, ScenesGold, MaskedGold, ValuesGold, Text)
"""Records of a text, which need no `id`: without one it is the number of the line."""

_WHERE_SAID: Mapping[type[msgspec.Struct], tuple[str, ...]] = {ScenesGold: ("unknown",)}
"""Fields that have a column only where a record has something in them."""


@cache
def cell_kinds(kind: type[msgspec.Struct]) -> dict[str, CellKind]:
    """The columns of a kind of record, in the record's order; `nested` ones are JSON in a cell of CSV and TSV.

    `labels` are a list or an object: in a cell JSON too, or Python's way of writing it, or names between commas.
    """
    return {field.name: _cell_kind(field.type) for field in msgspec.structs.fields(kind)}


@cache
def required(kind: type[msgspec.Struct]) -> frozenset[str]:
    """The fields that every record of this kind must have."""
    return frozenset(field.name for field in msgspec.structs.fields(kind) if field.required)


def missing(kind: type[msgspec.Struct], names: Collection[str]) -> list[str]:
    """The fields that a record must have and that are not among these, in the record's order."""
    numbered = kind in NUMBERED and "text" in names
    return [
        name
        for name in cell_kinds(kind)
        if name in required(kind) and name not in names and not (numbered and name == "id")
    ]


@cache
def marked(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields that hold marks, in a list or in a list a name."""
    return tuple(field.name for field in msgspec.structs.fields(kind) if _holds(field.type, Mark))


@cache
def free(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields that hold objects of anybody's making."""
    return tuple(field.name for field in msgspec.structs.fields(kind) if field.type == Mapping[str, Any])


def columns_of(records: Iterable[msgspec.Struct]) -> list[str]:
    """The columns in which records of one kind are written, in the record's order; none where there is no record."""
    names: list[str] = []
    unsaid: set[str] = set()
    for record in records:
        if not names:
            names, unsaid = list(cell_kinds(type(record))), set(_WHERE_SAID.get(type(record), ()))
        unsaid -= {name for name in unsaid if getattr(record, name)}
        if not unsaid:
            break
    return [name for name in names if name not in unsaid]


def duckdb_types(kind: type[msgspec.Struct], marks: str) -> dict[str, str]:
    """The DuckDB type of each column: lists, maps and structs for what is nested; JSON for what has no one type.

    Args:
        marks: the type of a list of marks.
    """
    return {field.name: _duckdb_type(field.type, marks) for field in msgspec.structs.fields(kind)}


def _holds(annotation: Any, kind: type) -> bool:
    return annotation is kind or any(_holds(each, kind) for each in get_args(annotation))


def _without_none(annotation: Any) -> Any:
    """`X` for `X | None`; a union of several is left as it is."""
    if isinstance(annotation, UnionType):
        others = [each for each in get_args(annotation) if each is not NoneType]
        return others[0] if len(others) == 1 else annotation
    return annotation


def _cell_kind(annotation: Any) -> CellKind:
    plain: dict[Any, CellKind] = {str: "text", int: "int", float: "float", bool: "bool"}
    bare = _without_none(annotation)
    return "labels" if isinstance(bare, UnionType) else plain.get(bare, "nested")


def _duckdb_type(annotation: Any, marks: str) -> str:
    annotation = _without_none(annotation)
    plain = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
    if annotation in plain:
        return plain[annotation]
    if isinstance(annotation, UnionType) or annotation == Mapping[str, Any]:
        return "VARCHAR"  # a column has one type: what has several stands in it as JSON
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return plain[type(args[0])]
    if origin is tuple:
        return marks if _holds(args[0], Mark) else f"{_duckdb_type(args[0], marks)}[]"
    if origin is Mapping:
        return f"MAP({_duckdb_type(args[0], marks)}, {_duckdb_type(args[1], marks)})"
    fields = ", ".join(f'"{name}" {column}' for name, column in duckdb_types(annotation, marks).items())
    return f"STRUCT({fields})"


# Tables with a column a label: which columns those are, and what a cell says of its label.

_NUMBER = re.compile(r"[+-]?(\d{1,300}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_WORDS = {"true": 1.0, "false": 0.0}
_SAID = ("labels", "scores", "label", "values")
"""The fields that say a record's labels in one cell."""


class LabelColumns(msgspec.Struct, frozen=True):
    """How a table with a column a label is read.

    Attributes:
        names: the columns that are labels; None for all that hold numbers (or true and false) and are no field of the
            record.
        threshold: a label is there where its number is at least this; None where numbers must be 0 or 1 (of a
            prediction: from 0 to 1).
    """

    names: tuple[str, ...] | None = None
    threshold: float | None = None


_OF_VALUES = (ValuesGold, ValuesPrediction)

FOUND = LabelColumns()
"""As a table is read where nothing is said about it."""


def said_in_columns(kind: type[msgspec.Struct]) -> str:
    """The field that columns of numbers stand for."""
    return "values" if kind in _OF_VALUES else "labels"


def takes_columns(kind: type[msgspec.Struct], header: Sequence[str], columns: LabelColumns) -> bool:
    """Whether labels of this kind of record are to be found in columns of their own.

    Raises:
        UnreadableFile: a named column is not there, or comes twice, or the labels stand in one cell already.
    """
    if kind not in (ScenesGold, ScenesPrediction, LabelsGold, LabelsPrediction, *_OF_VALUES):
        return False
    if columns.threshold is not None and kind in _OF_VALUES:
        raise UnreadableFile("numbers are kept as they are: leave --label-threshold out", 1)
    said = [name for name in _SAID if name in header and name in cell_kinds(kind)]
    if columns.names is None:
        return not said
    if said:
        raise UnreadableFile(f"column `{said[0]}` has the {said_in_columns(kind)}: leave --labels out", 1)
    for name in columns.names:
        if name not in header:
            raise UnreadableFile(f"there is no column {shown(name)} to take for a label", 1)
        if name in cell_kinds(kind):
            raise UnreadableFile(f"column `{name}` cannot be a label: it is a field of the record", 1)
        if header.count(name) > 1:
            raise UnreadableFile(f"column {shown(name)} comes twice", 1)
    return True


def found_columns(
    kind: type[msgspec.Struct], header: Sequence[str], rows: Iterable[Sequence[str]], line: int
) -> tuple[str, ...]:
    """The columns whose first cell with something in it is a number, or true or false.

    Args:
        header: the names of the columns.
        rows: cells; as many rows are looked at as it takes to see something in every column.
        line: of the header.

    Raises:
        UnreadableFile: one of them comes twice.
    """
    unseen = {place for place, name in enumerate(header) if name and name not in cell_kinds(kind)}
    numbers: set[int] = set()
    for cells in rows:
        for place in [place for place in unseen if place < len(cells) and cells[place].strip()]:
            unseen.discard(place)
            if number_in(cells[place]) is not None:
                numbers.add(place)
        if not unseen:
            break
    names = [header[place] for place in sorted(numbers)]
    for name in names:
        if header.count(name) > 1:
            raise UnreadableFile(f"column {shown(name)} comes twice", line)
    return tuple(names)


def number_in(cell: str) -> float | None:
    """The number in a cell, 1 and 0 for true and false; None where there is neither."""
    stripped = cell.strip()
    if _NUMBER.fullmatch(stripped):
        return float(stripped)
    return _WORDS.get(stripped.lower())


def labels_of(
    kind: type[msgspec.Struct], numbers: Mapping[str, float | None], columns: LabelColumns
) -> dict[str, float] | Flaw:
    """`labels` from the numbers of a row's label columns; None says nothing of its label.

    Of a prediction without a threshold they are kept as they are; else they become 0 and 1.
    """
    found: dict[str, float] = {}
    for name, number in numbers.items():
        if number is None:
            continue
        if kind in _OF_VALUES:
            found[name] = number
        elif columns.threshold is not None:
            found[name] = int(number >= columns.threshold)
        elif kind is LabelsPrediction and 0 <= number <= 1:
            found[name] = number
        elif number in (0, 1):
            found[name] = int(number)
        else:
            asked = "from 0 to 1" if kind is LabelsPrediction else "0 or 1"
            return Flaw(
                f"{shown(name)} is {shown(number)}, and a label is {asked}: name the columns that are labels by "
                "--labels, or give the number from which one is there by --label-threshold"
            )
    return found
