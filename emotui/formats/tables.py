"""Comma- and tab-separated tables: a header, a record a row, nested fields as JSON in the cell."""

import ast
import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import msgspec

from emotui.formats import jsonl
from emotui.formats.columns import (
    FOUND,
    CellKind,
    LabelColumns,
    cell_kinds,
    found_columns,
    labels_of,
    missing,
    number_in,
    said_in_columns,
    takes_columns,
)
from emotui.formats.rows import Flaw, Rows, UnreadableFile, numbered, shown

_LONGEST_CELL = 2**31 - 1
_LOOKED_AT = 1000
"""Rows that are looked at to find the columns that are labels."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_BOOLS = {"true": True, "1": True, "false": False, "0": False}


def rows(lines: Iterable[bytes], kind: type[msgspec.Struct], separator: str, columns: LabelColumns = FOUND) -> Rows:
    """The rows of a table, each with the number of the line on which it starts (a quoted cell may span lines).

    Raises: UnreadableFile where the header is missing or does not fit the kind of record.
    """
    read = _cells(lines, separator)
    for line, cells in read:
        if isinstance(cells, Flaw):
            raise UnreadableFile(cells.reason, line)
        if any(cells):
            break
    else:
        return
    header = [name.strip() for name in cells]
    names: tuple[str, ...] = ()
    if takes_columns(kind, header, columns):
        ahead = list(islice(read, _LOOKED_AT))
        good = [cells for _, cells in ahead if not isinstance(cells, Flaw)]
        names = found_columns(kind, header, good, line) if columns.names is None else columns.names
        read = chain(ahead, read)
    _check_header([*header, said_in_columns(kind)] if names else header, kind, separator, line)
    kinds = cell_kinds(kind)
    for line, cells in read:
        if isinstance(cells, Flaw):
            yield line, cells
        elif cells and len(cells) != len(header):
            yield line, Flaw(f"has {counted(len(cells))} where the header has {len(header)}")
        elif cells:
            row = _row(zip(header, cells, strict=True), kinds)
            if names and not isinstance(row, Flaw):
                labels = _labels(dict(zip(header, cells, strict=True)), names, kind, columns)
                if isinstance(labels, Flaw) and columns.names is None:
                    raise UnreadableFile(labels.reason, line)
                row = labels if isinstance(labels, Flaw) else row | ({said_in_columns(kind): labels} if labels else {})
            yield line, row


def _cells(lines: Iterable[bytes], separator: str) -> Iterator[tuple[int, list[str] | Flaw]]:
    """The cells of each row that has any, or what is wrong with it, and the line on which it starts."""
    # The csv module refuses cells over 128 KB unless told otherwise, and only for the whole process.
    csv.field_size_limit(_LONGEST_CELL)
    damaged: dict[int, str] = {}
    reader = csv.reader(_decoded(lines, damaged), delimiter=separator, strict=True)
    while True:
        line = reader.line_num + 1
        value: list[str] | Flaw
        try:
            value = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            value = Flaw(reworded(str(error)))
        if damaged:
            value = Flaw(damaged[min(damaged)])
            damaged.clear()
        if value:
            yield line, value


def _labels(
    row: Mapping[str, str], names: Iterable[str], kind: type[msgspec.Struct], columns: LabelColumns
) -> dict[str, float] | Flaw:
    numbers: dict[str, float | None] = {}
    for name in names:
        numbers[name] = number_in(row[name])
        if numbers[name] is None and row[name].strip():
            return Flaw(f"{shown(name)} must be a number, or true or false, not {shown(row[name])}")
    return labels_of(kind, numbers, columns)


def _decoded(lines: Iterable[bytes], damaged: dict[int, str]) -> Iterator[str]:
    """Each line as text; what is wrong with one that is not UTF-8 goes to `damaged` under its number."""
    for number, line in numbered(lines):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            damaged[number] = jsonl.why_not_utf8(line)
            yield line.decode(errors="replace")


def _check_header(header: list[str], kind: type[msgspec.Struct], separator: str, line: int) -> None:
    known = cell_kinds(kind)
    twice = [name for name in known if header.count(name) > 1]
    if twice:
        raise UnreadableFile(f"column `{twice[0]}` comes twice", line)
    if absent := missing(kind, header):
        names = ", ".join(f"`{name}`" for name in absent)
        hint = ""
        if len(header) == 1:
            word = "tabs" if separator == "\t" else "commas"
            hint = f"; its only column is {shown(header[0])}: are the cells separated by {word}?"
        raise UnreadableFile(f"the header has no column {names}{hint}", line)


def _row(cells: Iterable[tuple[str, str]], kinds: Mapping[str, CellKind]) -> dict[str, Any] | Flaw:
    row: dict[str, Any] = {}
    for name, cell in cells:
        if (cell_kind := kinds.get(name)) is None:
            continue
        if cell_kind == "text":
            row[name] = cell
        elif stripped := cell.strip():
            value = from_cell(stripped, cell_kind)
            if isinstance(value, Flaw):
                return Flaw(f"`{name}`: {value.reason}")
            row[name] = value
    # An empty cell cannot tell a model that said nothing from an answer given in another column; what is in it can.
    if row.get("output") == "" and ("spans" in row or not row.get("style")):
        del row["output"]
    if row.get("label") == "" and ("probs" in row or "labels" in kinds):
        del row["label"]
    return row


def from_cell(cell: str, cell_kind: CellKind) -> object:
    """The value of a cell that is not text and not empty, or what is wrong with it."""
    if cell_kind == "nested":
        value = jsonl.decode(cell.encode(errors="replace"))
        if isinstance(value, Flaw):
            return Flaw(f"{value.reason} (lists and objects stand as JSON in the cell)")
        return value
    if cell_kind == "labels":
        return labels_in(cell)
    if cell_kind == "bool":
        found = _BOOLS.get(cell.lower())
        return Flaw(f"must be true or false, not {shown(cell)}") if found is None else found
    if cell_kind == "int":
        return int(cell) if _WHOLE.fullmatch(cell) else Flaw(f"must be a whole number, not {shown(cell)}")
    return float(cell) if _NUMBER.fullmatch(cell) else Flaw(f"must be a number, not {shown(cell)}")


def labels_in(cell: str) -> object:
    """Labels that stand in one cell: JSON, a list or dict as Python writes it, or names between commas."""
    if not cell.startswith(("[", "{")):
        return [name.strip() for name in cell.split(",")]
    value = jsonl.decode(cell.encode(errors="replace"))
    if not isinstance(value, Flaw):
        return value
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return Flaw(f"{value.reason} (labels stand as JSON in the cell, or as names between commas)")
    return list(found) if isinstance(found, list | tuple | set) else found


def counted(cells: int) -> str:
    """So many cells, in words."""
    return "1 cell" if cells == 1 else f"{cells} cells"


def reworded(complaint: str) -> str:
    """What the csv module complains of, as a person reads it."""
    if "unexpected end of data" in complaint:
        return "a quote that opens in this row is never closed"
    if "expected after" in complaint:
        return "text stands after a closing quote: double the quotes inside a quoted cell"
    if "new-line character" in complaint:
        return "a carriage return stands outside quotes: lines must end with LF or CRLF"
    return f"not a row of a table: {complaint}"
