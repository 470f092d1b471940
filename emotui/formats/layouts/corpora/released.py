"""What the tables of releases have in common: they are told by their header, and their columns are known."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from emotui.formats.layouts.layout import Layout, ReadOptions
from emotui.formats.layouts.tables.decoding import decoded_head
from emotui.formats.layouts.tables.several import remarks
from emotui.formats.layouts.tables.shape import shaped
from emotui.formats.layouts.tables.table import Table, read_table, table_of
from emotui.formats.rows import Flaw, Rows, UnreadableFile

Columns = Callable[[Table], Mapping[str, str]]
"""By the key of a row its column, in a table of the release."""


def first_table(path: Path, head: bytes, headed: bool | None = None) -> Table | None:
    """The table in the first bytes of a file, without its last line, which may be cut; None where there is none."""
    if not head.strip() or path.is_dir():
        return None
    try:
        found = decoded_head(head)
        return table_of(found.text, ReadOptions(), found.encoding, headed=headed)
    except UnreadableFile:
        return None


def good_rows(table: Table) -> list[dict[str, str]]:
    """The rows of a table that can be read."""
    return [row for _, row in table.rows if not isinstance(row, Flaw)]


def settle(columns: Columns, path: Path, options: ReadOptions) -> ReadOptions:
    """The options with the columns of the release; what the person says goes before."""
    return _settled(read_table(path, options, headed=True), columns, options)


def rows(columns: Columns, path: Path, options: ReadOptions) -> Rows:
    """The rows of texts of such a table."""
    table = read_table(path, options, headed=True)
    yield from shaped(table, _settled(table, columns, options))


def _settled(table: Table, columns: Columns, options: ReadOptions) -> ReadOptions:
    known = {**columns(table), **options.columns}
    if lacking := [column for column in known.values() if column and column not in table.header]:
        raise UnreadableFile(f"there is no column {lacking[0]!r}, which the release has", 1)
    kept = {key: column for key, column in known.items() if column}
    return replace(
        options,
        delimiter=table.delimiter,
        encoding=table.encoding,
        columns=kept,
        remarks=remarks(table, kept),
    )


def table_of_release(name: str, about: str, recognise: Callable[[Path, bytes], str | None], columns: Columns) -> Layout:
    """A layout of tables with known columns."""
    return Layout(name, about, recognise, partial(rows, columns), settled=partial(settle, columns))
