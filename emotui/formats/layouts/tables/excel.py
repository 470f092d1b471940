"""Excel workbooks (.xlsx), read and written by openpyxl, which is loaded only when one comes up."""

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.tables.layouts import read_shaped, settle
from emotui.formats.layouts.tables.names import is_header
from emotui.formats.layouts.tables.table import Table, named_once
from emotui.formats.layouts.tables.writing import table_cells
from emotui.formats.parquet import check_unpacked
from emotui.formats.rows import Flaw, UnreadableFile, said_by_library

_ZIP = b"PK\x03\x04"
_ENDINGS = (".xlsx", ".xlsm")
LONGEST = 32_767
"""Characters that a cell of Excel holds."""
_ESCAPED = re.compile(r"_x(?!D[89A-F])([0-9A-F]{4})_", re.IGNORECASE)
"""A character as the format writes it where XML cannot hold it (ST_Xstring): _x000D_ is a carriage return."""
_LIKE_ESCAPED = re.compile(r"_(?=x[0-9A-F]{4}_)", re.IGNORECASE)


def read_sheet(path: Path, options: ReadOptions) -> Table:
    """The sheet that `_read_of` tells."""
    with _opened(path) as book:
        sheet = _read_of(book)
        if sheet is not None:
            return _table(_filled(sheet))
    raise UnreadableFile("there is nothing in any of its sheets", 1)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A workbook for reading; what goes wrong in reading it is said as UnreadableFile."""
    _check_size(path)
    from openpyxl import load_workbook

    try:
        book = load_workbook(path, read_only=True, data_only=True)
        try:
            yield book
        finally:
            book.close()
    except (OSError, UnreadableFile):
        raise
    except IndexError:
        raise UnreadableFile("not a readable workbook: a cell names a text or style that is not in it") from None
    except Exception as error:  # openpyxl says nothing of what it may raise
        raise UnreadableFile(f"not a readable workbook: {said_by_library(error)}") from None


def _read_of(book: Any) -> Any:
    """The first sheet with two rows of two cells, so that a page of notes before it is passed over; where there is
    none, the first with anything; None where all are empty.
    """
    some = [(sheet, list(islice(_filled(sheet), 2))) for sheet in book.worksheets]
    tables = [sheet for sheet, rows in some if len(rows) == 2 and all(len(_said(row)) > 1 for _, row in rows)]
    return next(iter(tables or [sheet for sheet, rows in some if rows]), None)


def _filled(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """The rows with something in them, by their numbers."""
    sheet.reset_dimensions()  # what a program says of them is often wrong
    for line, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if _said(row):
            yield line, [_value(value) for value in row]


def _said(row: Sequence[Any]) -> list[Any]:
    return [value for value in row if value is not None and str(value).strip()]


def _check_size(path: Path) -> None:
    try:
        if path.exists() and not path.is_file():
            raise UnreadableFile("not a workbook of Excel (.xlsx), but a pipe or device: save it as a file")
        with zipfile.ZipFile(path) as parts:
            check_unpacked(path, sum(part.file_size for part in parts.infolist()))
    except FileNotFoundError:
        raise UnreadableFile("there is no such file") from None
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise UnreadableFile("not a workbook of Excel (.xlsx): save it as one, or as CSV") from None


def _table(rows: Iterable[tuple[int, list[Any]]]) -> Table:
    cells = list(rows)
    first = ["" if value is None else str(value) for value in cells[0][1]]
    others = [["" if value is None else str(value) for value in row] for _, row in cells[1:200]]
    headed = is_header(first, others)
    width = max(len(row) for _, row in cells)
    header = named_once(first) if headed else [str(number) for number in range(1, width + 1)]
    found: list[tuple[int, dict[str, Any] | Flaw]] = []
    for line, row in cells[headed:]:
        if any(value is not None for value in row[len(header) :]):
            found.append((line, Flaw(f"has {len(row)} cells where the header has {len(header)}")))
        else:
            found.append((line, {name: value for name, value in zip(header, row, strict=False) if name}))
    return Table(tuple(name for name in header if name), found, headed=headed, worded=True)


def _value(value: object) -> object:
    """A cell's value: escaped characters as themselves, whole numbers without a fraction, dates as ISO 8601."""
    if isinstance(value, str):
        return _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), value) if "_x" in value else value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value if isinstance(value, int | float | bool) or value is None else str(value)


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """One sheet, a row a text; what is nested stands as JSON in its cell.

    Raises:
        ValueError: a text is longer than a cell may be, or has a character that no workbook holds.
    """
    from openpyxl import Workbook
    from openpyxl.utils.exceptions import IllegalCharacterError

    book = Workbook(write_only=True)
    sheet = book.create_sheet("texts")
    for number, row in enumerate(table_cells(rows)):
        try:
            sheet.append([_cell(sheet, value) for value in row])
        except (IllegalCharacterError, OverflowError) as error:
            sheet.close()  # left open, its XML complains on standard error when it is thrown away
            long = isinstance(error, OverflowError)
            why = str(error) if long else "has a control character, which no workbook holds"
            raise ValueError(f"row {number} {why}") from None
    book.save(path)
    return []


def _cell(sheet: Any, value: Any) -> Any:
    """What stands in a cell; a text that begins with = is no formula, and one with # no error.

    Raises:
        OverflowError: it is longer than a cell may be.
    """
    if not isinstance(value, str):
        return value
    if len(value) > LONGEST:
        raise OverflowError(f"has {len(value):,} characters in a cell, and Excel holds {LONGEST:,}")
    text = _LIKE_ESCAPED.sub("_x005F_", value).replace("\r", "_x000D_")
    if not text.startswith(("=", "#")):
        return text
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, text)
    cell.data_type = "s"
    return cell


def _recognise(path: Path, head: bytes) -> str | None:
    if not head.startswith(_ZIP) or path.suffix.lower() not in _ENDINGS:
        return None
    return "it is a workbook of Excel" + _other_sheets(path)


def _other_sheets(path: Path) -> str:
    """Which sheet of several is read; nothing where there is one, or where it cannot be told."""
    try:
        with _opened(path) as book:
            there, chosen = book.sheetnames, _read_of(book)
    except UnreadableFile:
        return ""
    if chosen is None or len(there) < 2:
        return ""
    others = ", ".join(repr(name) for name in there if name != chosen.title)
    return f", of which the sheet {chosen.title!r} is read ({others}: save it as a file of its own to import it)"


EXCEL = Layout(
    name="xlsx",
    about="A sheet of Excel, with columns as a table's.",
    recognise=_recognise,
    rows=partial(read_shaped, read_sheet),
    write=write,
    settled=partial(settle, read_sheet),
)
