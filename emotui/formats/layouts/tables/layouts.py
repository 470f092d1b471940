"""Tables in text files as layouts: cells between delimiters, a column a label, a row a span."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from emotui.formats.layouts.layout import Layout, ReadOptions
from emotui.formats.layouts.tables.decoding import decoded_head
from emotui.formats.layouts.tables.guess import settled
from emotui.formats.layouts.tables.names import NAMES, normal
from emotui.formats.layouts.tables.shape import shaped
from emotui.formats.layouts.tables.table import Table, read_table, table_of
from emotui.formats.layouts.tables.writing import write_cells, write_long, write_wide
from emotui.formats.rows import Flaw, Rows, UnreadableFile

ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".psv")
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}

Reader = Callable[[Path, ReadOptions], Table]


def read_shaped(read: Reader, path: Path, options: ReadOptions) -> Rows:
    """The rows of texts of a file that is read as a table."""
    table = read(path, options)
    yield from shaped(table, settled(table, options))


def settle(read: Reader, path: Path, options: ReadOptions) -> ReadOptions:
    """The options for it with what was found out."""
    return settled(read(path, options), options)


def _looked_at(path: Path, head: bytes) -> tuple[Table, dict[str, str]] | None:
    """The table in the first bytes of a file, without its last line, which may be cut; None where there is none."""
    if path.suffix.lower() not in ENDINGS or not head.strip():
        return None
    try:
        found = decoded_head(head)
        table = table_of(found.text, ReadOptions(), found.encoding, prefer_tab=path.suffix.lower() == ".tsv")
        columns = dict(settled(table, ReadOptions()).columns)
    except UnreadableFile:
        return None
    return None if path.suffix.lower() == ".txt" and not _is_certain(table) else (table, columns)


def _is_certain(table: Table) -> bool:
    """Whether what may be plain text is a table: its columns have a usual name for texts, or tabs part all rows."""
    if len(table.header) < 2 or any(isinstance(row, Flaw) for _, row in table.rows):
        return False
    named = any(normal(name) in NAMES["text"] for name in table.header)
    return (table.headed and named) or (table.delimiter == "\t" and len(table.rows) > 1)


def told(table: Table) -> str:
    """How a table is written, in words."""
    between = _MARKS.get(table.delimiter or "", repr(table.delimiter))
    written = f"cells between {between}" if len(table.header) > 1 else "one column"
    encoding = {"utf-8": "UTF-8", "cp1252": "Windows-1252"}.get(table.encoding or "", table.encoding or "")
    return f"it has {written} in {encoding}, {'with' if table.headed else 'without'} names above them"


def _is_wide(columns: Iterable[str]) -> bool:
    return sum(key.startswith("labels.") for key in columns) > 1


def _recognise(wanted: str, path: Path, head: bytes) -> str | None:
    found = _looked_at(path, head)
    if found is None:
        return None
    table, columns = found
    kind = "long" if "start" in columns else "wide" if _is_wide(columns) else "table"
    if kind != wanted:
        return None
    if kind == "wide":
        names = [key.removeprefix("labels.") for key in columns if key.startswith("labels.")]
        return f"{told(table)}, and a column a label: {', '.join(names[:12])}"
    if kind == "long":
        return f"{told(table)}, and a row a span, from {columns['start']} to {columns.get('end', '?')}"
    return told(table)


_rows = partial(read_shaped, read_table)
_settled = partial(settle, read_table)

WIDE = Layout(
    name="wide",
    about="A table with a column a label, 0 or 1 in each (CSV, TSV or any other delimiter).",
    recognise=partial(_recognise, "wide"),
    rows=_rows,
    write=write_wide,
    settled=_settled,
)
LONG = Layout(
    name="long",
    about="A table with a row a span: its text or id again in each, start, end and label.",
    recognise=partial(_recognise, "long"),
    rows=_rows,
    write=write_long,
    settled=_settled,
)
TABLE = Layout(
    name="table",
    about="A table of any columns: CSV, TSV or any other delimiter; a row a text.",
    recognise=partial(_recognise, "table"),
    rows=_rows,
    write=write_cells,
    settled=_settled,
)
