"""Tables as comma-separated values: a line a figure, so that tables of any columns stand in one file."""

import csv
import io
from collections.abc import Mapping, Sequence

from emotui.tables import NOT_ASKED, Cell
from emotui.workbench.reports.best import Best
from emotui.workbench.reports.escaping import one_line
from emotui.workbench.reports.values import Section, SizeOf

HEADER = (
    *("section", "table", "row", "kind", "source", "group", "column", "unit"),
    *("value", "sd", "low", "high", "best", "run", "n", "why"),
)


def comma_separated(sections: Sequence[Section], tested: Mapping[tuple[int, str], Best], size_of: SizeOf) -> str:
    """Every figure that was asked, unrounded, with its interval; `best` is 1 where it is the best, and surely so.

    A name or word that a spreadsheet would take for a formula has an apostrophe before it.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(HEADER)
    for at, section in enumerate(sections):
        for table in section.tables:
            best = tested.get((at, table.key), Best()).cells
            for number, row in enumerate(table.rows):
                for place, (cell, column) in enumerate(zip(row.cells, table.columns, strict=True)):
                    if cell.asked and cell.value != NOT_ASKED:
                        n = size_of(table.key, cell.run) if cell.run else None
                        told = (section.title, table.key, row.label, row.kind, row.source, column.group, column.title)
                        writer.writerow(
                            [
                                *map(_words, (*told, column.unit)),
                                *_numbers(cell),
                                int((number, place) in best),
                                _words(cell.run or ""),
                                "" if n is None else n,
                                _words(cell.why or ""),
                            ]
                        )
    return text.getvalue()


def _numbers(cell: Cell) -> tuple[str, ...]:
    value = _words(cell.value) if isinstance(cell.value, str) else _number(cell.value)
    return value, *(_number(each) for each in (cell.sd, cell.low, cell.high))


def _number(value: float | int | bool | None) -> str:
    return "" if value is None else str(value)


def _words(text: str) -> str:
    plain = one_line(text)
    return f"'{plain}" if plain[:1] in ("=", "+", "-", "@") else plain
