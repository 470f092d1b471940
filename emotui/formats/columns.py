"""How the fields of a record stand in the columns of a table."""

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

import msgspec

from emotui.records import ClassGold, LabelsGold, Mark, MaskedGold, ScenesGold, SpanSample, Text, ValuesGold

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
