"""A table as the values that report templates are filled with."""

import re
from collections.abc import Callable, Mapping, Sequence, Set

import msgspec

from emotui.store.query import Dataset, Run
from emotui.tables import Cell, Column, ResultsTable, Row, shown_cell
from emotui.workbench.reports.best import Best
from emotui.workbench.reports.escaping import Verbatim
from emotui.workbench.reports.notes import notes_of, without_commands
from emotui.workbench.results.span_tables import SETTINGS

# A table of counts that is too wide for a page: a square a count, and the greatest of those off the diagonal.

MOST_COLUMNS = 12
"""Columns up to which counts stand as a table in a paper."""

_NAMED = 10
_SMALLEST = 0.08
"""The side of the smallest square that is drawn, in cells."""


class Pair(msgspec.Struct, frozen=True):
    """A count off the diagonal, and its share of the row's."""

    row: str
    column: str
    n: int
    share: str


def is_heat(table: ResultsTable) -> bool:
    """Whether all of a table is counts of one thing against another."""
    return bool(table.rows) and all(row.kind == "gold" for row in table.rows) and len(table.columns) > 1


def is_wide_heat(table: ResultsTable) -> bool:
    """Whether counts are of so many labels that nobody reads them as a table."""
    return is_heat(table) and len(table.columns) > MOST_COLUMNS


def shares_of(table: ResultsTable) -> list[list[float]]:
    """Each count as a share of its row's; of a plane, of all."""
    counts = [
        [float(cell.value) if isinstance(cell.value, int | float) else 0.0 for cell in row.cells] for row in table.rows
    ]
    whole = sum(map(sum, counts))
    totals = [whole if table.plane else sum(row) for row in counts]
    return [[count / total if total else 0.0 for count in row] for row, total in zip(counts, totals, strict=True)]


def greatest(table: ResultsTable) -> list[Pair]:
    """The greatest counts off the diagonal, at most ten."""
    found = [
        Pair(row.label, column.title, int(cell.value), f"{share:.0%}")
        for row, shares in zip(table.rows, shares_of(table), strict=True)
        for column, cell, share in zip(table.columns, row.cells, shares, strict=True)
        if isinstance(cell.value, int | float) and cell.value > 0 and row.label != column.title
    ]
    return sorted(found, key=lambda pair: -pair.n)[:_NAMED]


def counts_values(table: ResultsTable) -> dict[str, object]:
    """What a template draws it from: squares whose area is the share of the row, from the top left, in cells.

    Columns are numbered, by the rows' numbers where both are the same labels.
    """
    rows, columns = [row.label for row in table.rows], [column.title for column in table.columns]
    squares = []
    for at, shares in enumerate(shares_of(table)):
        for place, share in enumerate(shares):
            side = max(share**0.5 * 0.94, _SMALLEST)
            if share:
                corner = f"{place + (1 - side) / 2:.3f}", f"{len(rows) - at - 1 + (1 - side) / 2:.3f}"
                squares.append({"x": Verbatim(corner[0]), "y": Verbatim(corner[1]), "side": Verbatim(f"{side:.3f}")})
    group = table.columns[0].group
    return {
        "rows": [
            {"n": at, "label": label, "y": Verbatim(f"{len(rows) - at + 0.5:.1f}")} for at, label in enumerate(rows, 1)
        ],
        "columns": [{"n": at, "x": Verbatim(f"{at - 0.5:.1f}")} for at in range(1, len(columns) + 1)],
        "squares": squares,
        "width": len(columns),
        "height": len(rows),
        "unit": Verbatim(f"{min(0.5, 12.5 / len(columns)):.3f}cm"),
        "group": group or "column",
        "row_head": "gold",
        "named": ", ".join(f"{at} {title}" for at, title in enumerate(columns, 1)) if columns != rows else "",
        "greatest": greatest(table),
    }


DAGGER = "†"

SizeOf = Callable[[str, str], int | None]
"""Over how many samples a run's figures in a table are: (key of the table, run)."""

_WIDE = 6
"""Columns from which on a table stands across both columns of a page."""

_STACKED = 3
"""Numbers side by side from which on an interval stands under its figure."""


class Section(msgspec.Struct, frozen=True):
    """A heading and its tables; `dataset`: the one that all of them are over, if there is one."""

    title: str
    tables: tuple[ResultsTable, ...]
    dataset: Dataset | None = None


def run_values(run: Run, dataset: Dataset, *, model: str) -> dict[str, object]:
    """A line about a run."""
    config = run.config
    way = str(config.get("way", ""))
    return {
        "run": run.run,
        "model": model,
        "dataset": dataset.name,
        "setting": SETTINGS.get(way, way) if way else "–",
        "answered": f"{run.done} of {run.n}",
        "repeats": config.get("repeats", 1),
        "seed": config.get("seed", 0),
        "started": run.started[:16].replace("T", " "),
        "version": config.get("emotui") or "–",
    }


def imported(name: str) -> str:
    """What a source is called in a paper that no model here is: its predictions came from a file."""
    return f"{name} (imported)"


def told_imported(table: ResultsTable, files: Set[str]) -> ResultsTable:
    """The table with sources that are files named as such, in rows, columns and its title. Args: files: their names."""
    if not files:
        return table
    words = "|".join(sorted(map(re.escape, files), key=len, reverse=True))
    at_first = re.compile(rf"({words})(?=$|:| by label| \()")

    def told(text: str) -> str:
        return at_first.sub(lambda found: imported(found[0]), text, count=1) if at_first.match(text) else text

    return msgspec.structs.replace(
        table,
        title=told(table.title),
        columns=tuple(msgspec.structs.replace(column, title=told(column.title)) for column in table.columns),
        rows=tuple(
            msgspec.structs.replace(row, label=told(row.label)) if row.kind == "run" else row for row in table.rows
        ),
    )


def asked_only(table: ResultsTable) -> ResultsTable:
    """The table without the columns in which no row was asked."""
    kept = [at for at in range(len(table.columns)) if any(row.cells[at].asked for row in table.rows)]
    if len(kept) == len(table.columns):
        return table
    rows = tuple(msgspec.structs.replace(row, cells=tuple(row.cells[at] for at in kept)) for row in table.rows)
    return msgspec.structs.replace(table, columns=tuple(table.columns[at] for at in kept), rows=rows)


def table_values(table: ResultsTable, best: Best, size_of: SizeOf, *, dataset: str, label: str) -> dict[str, object]:
    """The values of one table.

    Args:
        table: without columns that nobody was asked for (`asked_only`).
        label: by which a text refers to it, of letters, digits and hyphens.
    """
    counts = [cell.value for row in table.rows for cell in row.cells]
    most = max((value for value in counts if isinstance(value, int | float)), default=0)
    sizes = [_sizes(table.key, row, size_of) for row in table.rows]
    known = {size for size in sizes if size}
    alike = len(known) == 1
    numbers = sum(column.unit != "words" for column in table.columns)
    notes = notes_of(table, best)
    intervals = any(cell.low is not None for row in table.rows for cell in row.cells)
    return {
        "key": table.key,
        "title": table.title,
        "label": Verbatim(label),
        "caption": _caption(table.title, dataset, next(iter(known)) if alike else "", intervals, best),
        "size": samples(next(iter(known))) if alike else "",
        "sizes": bool(known) and not alike,
        "wide": numbers > _WIDE,
        "stacked": intervals and numbers > _STACKED,
        "columns": [
            {
                "title": column.title,
                "heading": f"{column.group} {column.title}".strip(),
                "words": column.unit == "words",
            }
            for column in table.columns
        ],
        "grouped": any(column.group for column in table.columns),
        "groups": column_groups(table.columns),
        "rows": [
            {
                "label": f"{row.label} {DAGGER}" if row.published else row.label,
                "kind": row.kind,
                "source": row.source,
                "size": sizes[at],
                "mark": Verbatim(notes.rows.get(at, "")),
                "intervals": any(cell.low is not None for cell in row.cells),
                "parted": row.published and at > 0 and not table.rows[at - 1].published,
                "cells": [
                    {
                        **_parts(cell, column),
                        "about": without_commands(cell.why or "") or cell.convention,
                        "words": column.unit == "words",
                        "shade": _shade(cell, most) if row.kind == "gold" else 0,
                        "best": (at, place) in best.cells,
                        "mark": Verbatim(notes.cells.get((at, place), "")),
                    }
                    for place, (cell, column) in enumerate(zip(row.cells, table.columns, strict=True))
                ],
            }
            for at, row in enumerate(table.rows)
        ],
        "notes": notes.general,
        "marked": [{"mark": Verbatim(mark), "note": note} for mark, note in notes.marked],
        "counts": counts_values(table) if is_wide_heat(table) else None,
    }


def labels_of(sections: Sequence[Section]) -> dict[tuple[int, int], str]:
    """A label for each table, by the places of its section and its own; no two are the same."""
    found: dict[tuple[int, int], str] = {}
    for at, section in enumerate(sections):
        name = section.dataset.name if section.dataset is not None else section.title
        for place, table in enumerate(section.tables):
            plain = slug(f"{name}-{table.key}")
            taken = set(found.values())
            found[at, place] = next(
                label
                for count in range(1, 2 + len(taken))
                if (label := plain if count == 1 else f"{plain}-{count}") not in taken
            )
    return found


def slug(name: str) -> str:
    """A name in ASCII letters, digits and hyphens, at most 80 of them."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:80].strip("-") or "x"


def _caption(title: str, dataset: str, size: str, intervals: bool, best: Best) -> str:
    parts = [f"{title.rstrip('.')}." if not dataset or dataset in title else f"{title.rstrip('.')} ({dataset})."]
    if size:
        parts.append(samples(size))
    if intervals:
        parts.append("In brackets: 95% intervals.")
    if best.cells:
        parts.append("Bold: significantly better than every other run (see the notes).")
    return " ".join(parts)


def samples(size: str) -> str:
    """`n = 1 sample.`"""
    return f"n = {size} sample{'s' * (size != '1')}."


def _sizes(key: str, row: Row, size_of: SizeOf) -> str:
    """Over how many samples a row's figures are; with several runs in it the range."""
    runs = dict.fromkeys(cell.run for cell in row.cells if cell.run)
    found = sorted({n for run in runs if (n := size_of(key, run)) is not None})
    return "–".join(f"{n:,}" for n in dict.fromkeys(found[:1] + found[-1:]))


def _parts(cell: Cell, column: Column) -> Mapping[str, str]:
    """A cell's text, and the same in two parts: the figure, and its interval."""
    text = shown_cell(cell, column.unit)
    figure, _, interval = text.partition(" [") if cell.low is not None else (text, "", "")
    return {"text": text, "figure": figure, "interval": f"[{interval}" if interval else ""}


def _shade(cell: Cell, most: float) -> int:
    """How dark a cell of a heatmap is, in percent of its colour; the largest has 70."""
    return round(70 * cell.value / most) if isinstance(cell.value, int | float) and most else 0


def column_groups(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """The headings over columns, each with the number of columns under it."""
    found: list[tuple[str, int]] = []
    for column in columns:
        if found and found[-1][0] == column.group:
            found[-1] = (column.group, found[-1][1] + 1)
        else:
            found.append((column.group, 1))
    return found
