"""A table of counts that is too wide for a page: a square a count, and the greatest of those off the diagonal."""

import msgspec

from emotui.tables import ResultsTable
from emotui.workbench.reports.escaping import Verbatim

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
