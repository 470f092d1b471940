"""Tables as comma-separated values: a line a figure, so that tables of any columns stand in one file."""

import csv
import io
from collections.abc import Mapping, Sequence

from emotui.store.store import Store
from emotui.tables import NOT_ASKED, Cell
from emotui.workbench.reports.best import Best
from emotui.workbench.reports.escaping import one_line
from emotui.workbench.reports.values import Section, SizeOf
from emotui.workbench.task_words import metrics_of

# Over how many samples the figures of a run are.

_PARTS = ("task-1", "task-2")
"""Tables of the spans task about a part of a dataset end in its key."""

_OF_PEOPLE = ("spread", "reliability")
"""Tables of people's spread are of the texts with two annotators and a question of theirs, behind each cell."""


def sizes(store: Store, sections: Sequence[Section]) -> SizeOf:
    """A function from the key of a table and a run to that number; None where it is not known."""
    cells = [
        (table.key, cell)
        for section in sections
        for table in section.tables
        if table.key in _PARTS or table.key.startswith(_OF_PEOPLE)
        for row in table.rows
        for cell in row.cells
        if cell.run
    ]
    parts = {(key, cell.run): len(cell.samples) for key, cell in cells}
    kept: dict[str, int | None] = {}

    def size(key: str, run: str) -> int | None:
        if key.startswith(_OF_PEOPLE):
            return parts.get((key, run)) or None
        part = part_of(key)
        if part is not None and (part, run) in parts:
            return parts[part, run]
        if part is not None:
            return None
        if run not in kept:
            kept[run] = _scored(store, run)
        return kept[run]

    return size


def part_of(key: str) -> str | None:
    """The part of a dataset that a table is about; None: it is about all of it."""
    return next((part for part in _PARTS if key == part or key.endswith(f"-{part}") or f"-{part}-" in key), None)


def _scored(store: Store, run: str) -> int | None:
    """How many samples a run has any value of."""
    import numpy as np

    found = store.runs.get(run)
    metrics = metrics_of(store, found.dataset, found.task)
    values = [store.listing.metric_means(found.dataset, found.run, metric.name) for metric in metrics]
    return int((~np.isnan(np.array(values))).any(axis=0).sum()) if values else None


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
