"""How the fields of a record stand in the columns of a table."""

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

import msgspec

CellKind = Literal["text", "int", "float", "bool", "nested", "labels"]


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


@cache
def duckdb_types(kind: type[msgspec.Struct]) -> dict[str, str]:
    """The DuckDB type of each column: lists, maps and structs for what is nested."""
    return {field.name: _duckdb_type(field.type) for field in msgspec.structs.fields(kind)}


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


def _duckdb_type(annotation: Any) -> str:
    annotation = _without_none(annotation)
    plain = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
    if annotation in plain:
        return plain[annotation]
    if isinstance(annotation, UnionType):
        return "VARCHAR"  # a column has one type: a list or an object stands in it as JSON
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is tuple:
        return f"{_duckdb_type(args[0])}[]"
    if origin is Mapping:
        return f"MAP({_duckdb_type(args[0])}, {_duckdb_type(args[1])})"
    fields = ", ".join(f'"{name}" {column}' for name, column in duckdb_types(annotation).items())
    return f"STRUCT({fields})"
